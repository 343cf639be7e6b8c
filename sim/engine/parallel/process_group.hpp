// The processes that share one run, numbered from 0 on: those that mpirun started. Every call but rank() and size() is
// collective: all processes make it, in the same order.
//
// Built without MPI there is no group to be had, and everything else works.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rehearse {

class ProcessGroup {
public:
    using Box = std::vector<std::byte>;

    static bool is_available();  // built with MPI

    // Begins and ends MPI: once per program. Needs is_available().
    ProcessGroup();
    ~ProcessGroup();
    ProcessGroup(const ProcessGroup&) = delete;
    ProcessGroup& operator=(const ProcessGroup&) = delete;

    std::uint32_t rank() const { return rank_; }
    std::uint32_t size() const { return size_; }

    // out[r] goes to process r, in[r] comes from it; nothing goes from a process to itself. Returns the least
    // `earliest` of all. Both have one box per process.
    std::int64_t exchange(std::int64_t earliest, std::span<const Box> out, std::span<Box> in);
    std::int64_t least(std::int64_t value);
    std::int64_t greatest(std::int64_t value);
    void add_up(std::span<std::uint64_t> values);  // each becomes its sum over the processes
    // Ends all processes. Not collective: for an error that the others don't know of.
    [[noreturn]] void abort(int exit_code);

private:
    std::uint32_t rank_ = 0, size_ = 1;
};

}  // namespace rehearse
