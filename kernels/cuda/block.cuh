// kernels/block.hpp on a GPU: a thread block, and a warp that is a block by itself. Bodies run on the device alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/block.hpp"

namespace rehearse::kernels {

constexpr int warp_threads = 32;

template <class V, class Join>
__device__ V join_warp(V value, const Join& join) {
    for (int distance = warp_threads / 2; distance > 0; distance /= 2) {
        value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return value;
}

__device__ inline float total_of(float pack) { return pack; }
template <int width>
__device__ float total_of(const Lanes<width>& pack) {
    float total = 0;
#pragma unroll
    for (int i = 0; i < width; ++i) total += pack.lane[i];
    return total;
}

// What both have in common. Derived gives rank(), size(), sync() and join(value, operation).
template <class Derived>
class CudaThreads {
public:
    __device__ explicit CudaThreads(std::byte* shared) : shared_(shared) {}

    template <class F>
    __device__ void for_each(std::int64_t n, F&& f) {
        for (std::int64_t i = self().rank(); i < n; i += self().size()) f(i);
    }

    // 16 bytes of T at a time.
    template <class T, class F>
    __device__ void for_each_pack(std::int64_t n, F&& f) {
        constexpr int lanes = 16 / sizeof(T);
        for_each(n / lanes, [&](std::int64_t pack) { f(Width<lanes>{}, pack * lanes); });
        const std::int64_t first = n / lanes * lanes;
        for_each(n - first, [&](std::int64_t i) { f(Width<1>{}, first + i); });
    }

    template <class T, class F>
    __device__ float sum(std::int64_t n, F&& f) {
        float mine = 0;
        for_each_pack<T>(n, [&](auto width, std::int64_t i) { mine += total_of(f(width, i)); });
        return self().join(mine, [](float a, float b) { return a + b; });
    }

    __device__ float most(std::int64_t n, const float* values) {
        float mine = float_of(0xff800000u);
        for_each(n, [&](std::int64_t i) { mine = values[i] > mine ? values[i] : mine; });
        return self().join(mine, [](float a, float b) { return a > b ? a : b; });
    }

    template <class F>
    __device__ std::int64_t max(std::int64_t n, F&& f) {
        long long mine = lowest;
        for_each(n, [&](std::int64_t i) {
            const long long value = f(i);
            mine = value > mine ? value : mine;
        });
        return self().join(mine, [](long long a, long long b) { return a > b ? a : b; });
    }

    __device__ void add(std::int32_t* counter, std::int32_t n) { atomicAdd(counter, n); }

    template <class T>
    __device__ T* shared(std::int64_t n) {
        return shared_.take<T>(n);
    }

private:
    __device__ Derived& self() { return static_cast<Derived&>(*this); }

    SharedMemory shared_;
};

class CudaWarp : public CudaThreads<CudaWarp> {
public:
    using CudaThreads::CudaThreads;
    __device__ int rank() const { return static_cast<int>(threadIdx.x); }
    __device__ int size() const { return warp_threads; }
    __device__ void sync() { __syncwarp(); }
    template <class V, class Join>
    __device__ V join(V value, const Join& operation) {
        return join_warp(value, operation);
    }
};

class CudaBlock : public CudaThreads<CudaBlock> {
public:
    using CudaThreads::CudaThreads;
    __device__ int rank() const { return static_cast<int>(threadIdx.x); }
    __device__ int size() const { return static_cast<int>(blockDim.x); }
    __device__ void sync() { __syncthreads(); }
    template <class V, class Join>
    __device__ V join(V value, const Join& operation) {
        __shared__ V part_of_warp[warp_threads];
        value = join_warp(value, operation);
        if (threadIdx.x % warp_threads == 0) part_of_warp[threadIdx.x / warp_threads] = value;
        __syncthreads();
        V joined = part_of_warp[0];
        for (unsigned warp = 1; warp < blockDim.x / warp_threads; ++warp)
            joined = operation(joined, part_of_warp[warp]);
        __syncthreads();
        return joined;
    }
};

}  // namespace rehearse::kernels
