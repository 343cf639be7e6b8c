#include "runtime/interrupt.hpp"

#include <pthread.h>

#include <utility>

namespace rehearse {

namespace {

constexpr int the_end_of_the_object = SIGUSR2;  // sent by the destructor to its own thread only

bool is_ignored(int signal) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt(std::function<void()> tidy_up) : tidy_up_(std::move(tidy_up)) {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        if (!is_ignored(signal)) sigaddset(&signals_, signal);
    }
    sigset_t blocked = signals_;
    sigaddset(&blocked, the_end_of_the_object);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
    thread_ = std::thread([this] { wait(); });
}

Interrupt::~Interrupt() {
    pthread_kill(thread_.native_handle(), the_end_of_the_object);
    thread_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupt::wait() {
    sigset_t awaited = signals_;
    sigaddset(&awaited, the_end_of_the_object);
    int signal = 0;
    if (sigwait(&awaited, &signal) != 0 || signal == the_end_of_the_object) return;
    tidy_up_();
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    raise(signal);  // to this thread, which has it unblocked: its default action ends the program
}

}  // namespace rehearse
