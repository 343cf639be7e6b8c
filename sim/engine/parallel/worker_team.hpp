// Threads that take the same steps side by side and wait for each other in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace rehearse {

class WorkerTeam {
public:
    // The calling thread is member 0; the others sleep until run().
    explicit WorkerTeam(std::uint32_t members);
    ~WorkerTeam();
    WorkerTeam(const WorkerTeam&) = delete;
    WorkerTeam& operator=(const WorkerTeam&) = delete;

    std::uint32_t size() const { return size_; }
    // Calls work(member) in every member, and returns when all have returned; throws what the first of them threw.
    void run(const std::function<void(std::uint32_t)>& work);
    // Within work: goes on once every member has come here, and sees all that they did before. A waiting member spins
    // for some microseconds, then gives its core away, so that more threads than cores still make headway. When a
    // member has thrown, the others leave their work here.
    void meet();

private:
    struct Broken {};

    void serve(std::uint32_t member);
    void take_part(std::uint32_t member);

    std::uint32_t size_;
    std::vector<std::thread> threads_;
    const std::function<void(std::uint32_t)>* work_ = nullptr;  // null: the threads end
    std::exception_ptr thrown_;
    // Each on a cache line of its own: they change hands all the time.
    alignas(64) std::atomic<std::uint32_t> calls_{0};    // of run()
    alignas(64) std::atomic<std::uint32_t> busy_{0};     // threads that have not come back from this call
    alignas(64) std::atomic<std::uint32_t> arrived_{0};  // members at the meeting point
    alignas(64) std::atomic<std::uint32_t> meetings_{0};
    std::atomic<bool> is_broken_{false};
};

}  // namespace rehearse
