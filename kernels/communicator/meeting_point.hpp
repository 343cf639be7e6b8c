// MeetingPoint: where n threads wait for each other, some thousand times a second. It spins, because a thread that
// sleeps takes longer to wake than most collectives last, and yields when the wait grows: there may be more threads
// than cores.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace rehearse {

class MeetingPoint {
public:
    // `failed`: a member that waits leaves when it becomes true.
    MeetingPoint(std::uint32_t members, const std::atomic<bool>& failed) : members_(members), failed_(failed) {}
    // Returns when all have come: the time at which the last one did. Nothing after a failure.
    std::optional<std::chrono::steady_clock::time_point> wait();

private:
    std::uint32_t members_;
    const std::atomic<bool>& failed_;
    std::atomic<std::uint32_t> arrived_{0}, generation_{0};
    std::atomic<std::int64_t> last_{0};
};

}  // namespace rehearse
