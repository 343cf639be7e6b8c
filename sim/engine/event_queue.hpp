// The event queue of the simulator: the fastest of this folder by tests/bench/event_queue_bench.cpp (table in
// README.md).
#pragma once

#include "sim/engine/ladder_queue.hpp"

namespace rehearse {

using EventQueue = LadderQueue;

}  // namespace rehearse
