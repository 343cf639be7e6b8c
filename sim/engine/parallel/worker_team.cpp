#include "sim/engine/parallel/worker_team.hpp"

#include "sim/base/checks.hpp"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace rehearse {

namespace {

constexpr int spins_most = 300;  // some ten microseconds

void pause_a_little() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// Members that meet every few microseconds sleep too little for the scheduler to see that two of them share a core. So
// each gets one of the cores that the process may use, where there are enough.
void take_core([[maybe_unused]] std::uint32_t member, [[maybe_unused]] std::uint32_t members) {
#if defined(__linux__)
    cpu_set_t allowed, own;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    if (static_cast<std::uint32_t>(CPU_COUNT(&allowed)) < members) return;
    std::uint32_t seen = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed) || seen++ != member) continue;
        CPU_ZERO(&own);
        CPU_SET(cpu, &own);
        pthread_setaffinity_np(pthread_self(), sizeof own, &own);
        return;
    }
#endif
}

}  // namespace

WorkerTeam::WorkerTeam(std::uint32_t members) : size_(members) {
    REHEARSE_CHECK(members > 0, "a team without members");
    for (std::uint32_t member = 1; member < members; ++member) threads_.emplace_back([this, member] {
            take_core(member, size_);
            serve(member);
        });
}

WorkerTeam::~WorkerTeam() {
    work_ = nullptr;
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::run(const std::function<void(std::uint32_t)>& work) {
    work_ = &work;
    thrown_ = nullptr;
    is_broken_ = false;
    arrived_ = 0;
    busy_ = size_ - 1;
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_all();
    take_part(0);
    for (std::uint32_t left = busy_.load(std::memory_order_acquire); left > 0; left = busy_.load()) busy_.wait(left);
    if (thrown_) std::rethrow_exception(thrown_);
}

void WorkerTeam::serve(std::uint32_t member) {
    for (std::uint32_t seen = 0;; ++seen) {
        while (calls_.load(std::memory_order_acquire) == seen) calls_.wait(seen);
        if (work_ == nullptr) return;
        take_part(member);
        busy_.fetch_sub(1, std::memory_order_release);
        busy_.notify_one();
    }
}

void WorkerTeam::take_part(std::uint32_t member) {
    try {
        (*work_)(member);
    } catch (const Broken&) {
        return;  // another one has thrown
    } catch (...) {
        if (!is_broken_.exchange(true)) thrown_ = std::current_exception();
    }
}

void WorkerTeam::meet() {
    const std::uint32_t meeting = meetings_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
        arrived_.store(0, std::memory_order_relaxed);
        meetings_.store(meeting + 1, std::memory_order_release);
        return;
    }
    for (int spins = 0; meetings_.load(std::memory_order_acquire) == meeting; ++spins) {
        if (is_broken_.load(std::memory_order_relaxed)) throw Broken{};
        if (spins < spins_most) pause_a_little();
        else std::this_thread::yield();
    }
}

}  // namespace rehearse
