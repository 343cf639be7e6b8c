// The fast CPU path of kernels/block.hpp: one thread is the block, every operation a plain loop that the compiler turns
// into vector instructions.
#pragma once

#include <limits>

#include "kernels/block.hpp"

namespace rehearse::kernels {

class SerialBlock {
public:
    static constexpr int lanes = 16;  // elements of a pack: 64 bytes of fp32

    explicit SerialBlock(std::byte* shared) : shared_(shared) {}

    template <class F>
    void for_each(std::int64_t n, F&& f) {
        for (std::int64_t i = 0; i < n; ++i) f(i);
    }

    template <class T, class F>
    void for_each_pack(std::int64_t n, F&& f) {
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes) f(Width<lanes>{}, i);
        for (; i < n; ++i) f(Width<1>{}, i);
    }

    template <class T, class F>
    float sum(std::int64_t n, F&& f) {
        Pack<lanes> part{};
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes) part = part + f(Width<lanes>{}, i);
        float total = 0;
        for (; i < n; ++i) total += f(Width<1>{}, i);
        for (int lane = 0; lane < lanes; ++lane) total += part[lane];
        return total;
    }

    float most(std::int64_t n, const float* values) {
        Pack<lanes> part = Pack<lanes>{} - std::numeric_limits<float>::infinity();
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes) {
            const Pack<lanes> value = load<lanes>(values + i);
            part = value > part ? value : part;
        }
        float most = -std::numeric_limits<float>::infinity();
        for (; i < n; ++i) most = values[i] > most ? values[i] : most;
        for (int lane = 0; lane < lanes; ++lane) most = part[lane] > most ? part[lane] : most;
        return most;
    }

    template <class F>
    std::int64_t max(std::int64_t n, F&& f) {
        std::int64_t most = lowest;
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t value = f(i);
            most = value > most ? value : most;
        }
        return most;
    }

    void sync() {}
    void add(std::int32_t* counter, std::int32_t n) { *counter += n; }

    template <class T>
    T* shared(std::int64_t n) {
        return shared_.take<T>(n);
    }

private:
    SharedMemory shared_;
};

}  // namespace rehearse::kernels
