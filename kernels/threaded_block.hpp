// A block of real threads with a real barrier: the kernel bodies as a GPU would interleave them, under the eyes of the
// address and thread sanitizers. For tests; SerialBlock is the fast path.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "kernels/block.hpp"

namespace rehearse::kernels {

// What the threads of a block have in common.
struct BlockTeam {
    BlockTeam(int count, std::size_t shared_size)
        : threads(count),
          barrier(count),
          partial_sums(static_cast<std::size_t>(count)),
          partial_most(static_cast<std::size_t>(count)),
          shared(new(std::align_val_t{shared_alignment}) std::byte[shared_size + shared_alignment]) {}

    struct Free {
        void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{shared_alignment}); }
    };

    int threads;
    std::barrier<> barrier;
    std::vector<float> partial_sums;
    std::vector<std::int64_t> partial_most;
    std::unique_ptr<std::byte[], Free> shared;
};

class ThreadedBlock {
public:
    ThreadedBlock(BlockTeam& team, int thread) : team_(team), thread_(thread), shared_(team.shared.get()) {}

    template <class F>
    void for_each(std::int64_t n, F&& f) {
        for (std::int64_t i = thread_; i < n; i += team_.threads) f(i);
    }

    template <class T, class F>
    void for_each_pack(std::int64_t n, F&& f) {
        constexpr int lanes = 4;
        for_each(n / lanes, [&](std::int64_t pack) { f(Width<lanes>{}, pack * lanes); });
        const std::int64_t first = n / lanes * lanes;
        for_each(n - first, [&](std::int64_t i) { f(Width<1>{}, first + i); });
    }

    template <class T, class F>
    float sum(std::int64_t n, F&& f) {
        float mine = 0;
        for_each_pack<T>(n, [&](auto width, std::int64_t i) {
            const auto pack = f(width, i);
            if constexpr (decltype(width)::value == 1) mine += pack;
            else for (int lane = 0; lane < decltype(width)::value; ++lane) mine += pack[lane];
        });
        const std::vector<float>& parts = gather(team_.partial_sums, mine);
        float total = 0;
        for (const float part : parts) total += part;
        wait();
        return total;
    }

    float most(std::int64_t n, const float* values) {
        float mine = -std::numeric_limits<float>::infinity();
        for_each(n, [&](std::int64_t i) { mine = values[i] > mine ? values[i] : mine; });
        const std::vector<float>& parts = gather(team_.partial_sums, mine);
        const float most = *std::max_element(parts.begin(), parts.end());
        wait();
        return most;
    }

    template <class F>
    std::int64_t max(std::int64_t n, F&& f) {
        std::int64_t mine = lowest;
        for_each(n, [&](std::int64_t i) { mine = std::max<std::int64_t>(mine, f(i)); });
        const std::vector<std::int64_t>& parts = gather(team_.partial_most, mine);
        const std::int64_t most = *std::max_element(parts.begin(), parts.end());
        wait();
        return most;
    }

    void sync() { wait(); }
    void add(std::int32_t* counter, std::int32_t n) { std::atomic_ref(*counter).fetch_add(n); }

    template <class T>
    T* shared(std::int64_t n) {
        return shared_.take<T>(n);
    }

private:
    // Puts this thread's part beside the others'; they may be read until the next wait.
    template <class V>
    const std::vector<V>& gather(std::vector<V>& parts, V mine) {
        parts[static_cast<std::size_t>(thread_)] = mine;
        wait();
        return parts;
    }
    void wait() { team_.barrier.arrive_and_wait(); }

    BlockTeam& team_;
    int thread_;
    SharedMemory shared_;
};

// Runs `count` blocks of `threads` threads one after the other.
template <class Block = ThreadedBlock, class Body>
void run_threaded(std::int64_t count, int threads, const Body& body) {
    BlockTeam team(threads, body.shared_bytes());
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            for (std::int64_t index = 0; index < count; ++index) {
                Block block(team, thread);
                body(block, index);
                team.barrier.arrive_and_wait();
            }
        });
    }
}

}  // namespace rehearse::kernels
