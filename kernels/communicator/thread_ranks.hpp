// Ranks as threads of this process: a collective publishes where each member's data stand, and every member copies, or
// sums, what it needs straight from there.
#pragma once

#include <functional>

#include "kernels/communicator/communicator.hpp"

namespace rehearse {

// What the other ranks get from their next call when one of them has failed.
struct RanksGaveUp : std::runtime_error {
    RanksGaveUp() : std::runtime_error("another rank has failed") {}
};

// Runs body(communicator) on `ranks` threads, each pinned to a core of its own where there are enough. When a rank
// throws, the others leave their next call with RanksGaveUp, and the first exception is thrown again here.
void run_thread_ranks(std::uint32_t ranks, const std::function<void(Communicator&)>& body);

}  // namespace rehearse
