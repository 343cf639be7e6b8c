// The roofs of the machine that runs the program: its fastest packaged GEMM and its plain copy, on one thread.
#pragma once

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <vector>

#include "tests/bench/packaged_gemm.hpp"

namespace rehearse::bench {

// Processor seconds of this thread, so that a neighbour on a shared machine does not count.
inline double thread_seconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class F>
double seconds_of(const F& f) {
    const double start = thread_seconds();
    f();
    return thread_seconds() - start;
}

// The fastest of several calls after one to warm up; at least 0.1 s of them.
template <class F>
double fastest_seconds(const F& f) {
    f();
    double fastest = 1e300, total = 0;
    for (int calls = 0; calls < 5 || total < 0.1; ++calls) {
        const double seconds = seconds_of(f);
        fastest = std::min(fastest, seconds);
        total += seconds;
    }
    return fastest;
}

class MachineRoof {
public:
    // Bytes per second, read and written together, of a memcpy that moves about `bytes` in all. Measured at each call:
    // a neighbour's traffic then slows both it and the kernel that it stands beside.
    double copy(double bytes) const {
        const auto half = static_cast<std::size_t>(std::max(64.0, bytes / 2));
        const std::vector<char> from(half, 1);
        std::vector<char> to(half, 2);
        return 2 * static_cast<double>(half) / fastest_seconds([&] {
                   std::memcpy(to.data(), from.data(), half);
                   asm volatile("" : : "r"(to.data()) : "memory");
               });
    }

    // FLOP/s of the fastest packaged GEMM of 512 and of 1024 cubed.
    template <class T>
    double gemm() {
        double& rate = gemms_[sizeof(T)];
        if (rate != 0) return rate;
        for (const std::int64_t n : {512, 1024}) {
            const std::vector<T> a(static_cast<std::size_t>(n * n), kernels::from_float<T>(0.5f));
            std::vector<T> c(a.size());
            for (const auto& package : packaged_gemms(T{})) {
                const double seconds = fastest_seconds([&] { package.run(n, n, n, a.data(), a.data(), c.data()); });
                rate = std::max(rate, 2.0 * static_cast<double>(n * n * n) / seconds);
            }
        }
        return rate;
    }

private:
    std::map<std::size_t, double> gemms_;  // by size of the element
};

}  // namespace rehearse::bench
