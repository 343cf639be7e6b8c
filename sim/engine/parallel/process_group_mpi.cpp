// ProcessGroup over MPI. Only in builds that found one (sim/CMakeLists.txt).
#include <mpi.h>

#include <cstdlib>

#include "sim/base/checks.hpp"
#include "sim/engine/parallel/process_group.hpp"

namespace rehearse {

namespace {

struct Announcement {  // what one process tells another before each exchange
    std::int64_t earliest, bytes;
};

constexpr int tag = 0;

}  // namespace

bool ProcessGroup::is_available() { return true; }

ProcessGroup::ProcessGroup() {
    MPI_Init(nullptr, nullptr);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_ = static_cast<std::uint32_t>(rank);
    size_ = static_cast<std::uint32_t>(size);
}

ProcessGroup::~ProcessGroup() { MPI_Finalize(); }

std::int64_t ProcessGroup::exchange(std::int64_t earliest, std::span<const Box> out, std::span<Box> in) {
    REHEARSE_CHECK(out.size() == size_ && in.size() == size_, "one box per process");
    std::vector<Announcement> told(size_), heard(size_);
    for (std::uint32_t r = 0; r < size_; ++r) told[r] = {earliest, static_cast<std::int64_t>(out[r].size())};
    MPI_Alltoall(told.data(), 2, MPI_INT64_T, heard.data(), 2, MPI_INT64_T, MPI_COMM_WORLD);
    std::vector<MPI_Request> pending;
    pending.reserve(2 * std::size_t{size_});
    for (std::uint32_t r = 0; r < size_; ++r) {
        if (heard[r].earliest < earliest) earliest = heard[r].earliest;
        if (r == rank_) continue;
        in[r].resize(static_cast<std::size_t>(heard[r].bytes));
        if (!in[r].empty()) {
            MPI_Irecv(in[r].data(), static_cast<int>(in[r].size()), MPI_BYTE, static_cast<int>(r), tag, MPI_COMM_WORLD,
                      &pending.emplace_back());
        }
        if (!out[r].empty()) {
            MPI_Isend(out[r].data(), static_cast<int>(out[r].size()), MPI_BYTE, static_cast<int>(r), tag,
                      MPI_COMM_WORLD, &pending.emplace_back());
        }
    }
    MPI_Waitall(static_cast<int>(pending.size()), pending.data(), MPI_STATUSES_IGNORE);
    return earliest;
}

std::int64_t ProcessGroup::least(std::int64_t value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    return value;
}

std::int64_t ProcessGroup::greatest(std::int64_t value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

void ProcessGroup::add_up(std::span<std::uint64_t> values) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

void ProcessGroup::abort(int exit_code) {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::abort();
}

}  // namespace rehearse
