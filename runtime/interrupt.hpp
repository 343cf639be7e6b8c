// Tidying up when the user or the system ends the program: Ctrl-C, SIGTERM, a terminal that closes.
//
//     const Interrupt interrupt([&] { remove(what_is_half_done); });
//     long_work();                                          // threads that it starts inherit the mask of signals
//
// While the object lives the signals are blocked, and a thread of its own waits for them: on the first one it calls
// `tidy_up` and lets the signal end the program as it would have without. `tidy_up` is an ordinary function, not a
// signal handler, but runs beside the work. Signals that are ignored stay ignored (nohup). Nothing waits for SIGKILL.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace rehearse {

class Interrupt {
public:
    explicit Interrupt(std::function<void()> tidy_up);
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

private:
    void wait();

    std::function<void()> tidy_up_;
    sigset_t signals_{};
    sigset_t before_{};  // mask to go back to
    std::thread thread_;
};

}  // namespace rehearse
