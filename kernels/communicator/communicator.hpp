// Communicator: what the ranks of a group say to each other on real devices. Two back-ends run on a CPU, threads that
// share memory (thread_ranks.hpp) and processes of Open MPI (mpi_ranks.hpp), and agree bit for bit.
//
// All calls but post() and poll() are collective: every member makes them, in the same order; they block. Sizes are
// bytes, sums are taken in single precision in the order of ranks, so that every member gets the same bits.
// Members that disagree on a size are InvariantBroken where it is seen.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rehearse {

class Communicator {
public:
    using Clock = std::chrono::steady_clock;
    using Bytes = std::span<const std::byte>;
    using Room = std::span<std::byte>;

    virtual ~Communicator() = default;
    virtual std::uint32_t rank() const = 0;
    virtual std::uint32_t size() const = 0;

    // Returns when the last member has arrived: the time at which it did.
    virtual Clock::time_point meet() = 0;

    // What goes to (or comes from) one member: pieces of memory, one after the other. The two ends may cut it in
    // different ways.
    using Parts = std::vector<std::vector<Bytes>>;
    using Rooms = std::vector<std::vector<Room>>;
    // parts[p] goes to member p and lands in its into[this rank]; both have one entry per member, empty or not.
    virtual void all_to_all(const Parts& parts, const Rooms& into) = 0;
    // all = what each member brings, in the order of ranks; equal sizes.
    virtual void all_gather(Bytes mine, Room all) = 0;
    // Of n equal slices of `all`, summed over the members, this rank gets its own: all.size() = n mine.size().
    virtual void reduce_scatter(std::span<const float> all, std::span<float> mine) = 0;
    virtual void all_reduce(std::span<float> data) = 0;

    // Messages outside the order of collectives: post() copies and returns at once, poll() takes the oldest that has
    // arrived, of any member. Two messages from one member arrive in their order.
    struct Message {
        std::uint32_t from = 0;
        std::vector<std::byte> data;
    };
    virtual void post(std::uint32_t to, Bytes data) = 0;
    virtual std::optional<Message> poll() = 0;

    // Collective: the members that name the same colour form a group of their own, in the order of ranks.
    virtual std::unique_ptr<Communicator> split(std::uint32_t colour) = 0;
};

}  // namespace rehearse
