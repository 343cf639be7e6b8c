#include "kernels/communicator/meeting_point.hpp"

#include <thread>

namespace rehearse {

namespace {

constexpr int spins_before_yield = 4000;  // some 50 us: a core that waits so long is better lent to another thread

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

std::optional<std::chrono::steady_clock::time_point> MeetingPoint::wait() {
    using Clock = std::chrono::steady_clock;
    const std::uint32_t generation = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
        last_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
        arrived_.store(0, std::memory_order_relaxed);
        generation_.store(generation + 1, std::memory_order_release);
    } else {
        for (int spins = 0; generation_.load(std::memory_order_acquire) == generation; ++spins) {
            if (failed_.load(std::memory_order_acquire)) return std::nullopt;
            if (spins < spins_before_yield) {
                pause();
            } else {
                std::this_thread::yield();
            }
        }
    }
    return Clock::time_point{Clock::duration{last_.load(std::memory_order_relaxed)}};
}

}  // namespace rehearse
