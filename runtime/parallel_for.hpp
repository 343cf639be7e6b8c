// parallel_for: independent pieces of work on a few threads; every piece writes its own result, so that the outcome
// does not depend on their number.
#pragma once

#include <cstdint>
#include <functional>

namespace rehearse {

// Runs task(0) .. task(count - 1) on up to `threads` threads (0 = as many as the machine has). The first exception is
// thrown again when all have stopped.
void parallel_for(std::size_t count, std::int64_t threads, const std::function<void(std::size_t)>& task);

}  // namespace rehearse
