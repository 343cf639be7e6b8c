// Runs a body's blocks on a stream, each as a thread block or as a warp.
#pragma once

#include "kernels/cuda/block.cuh"
#include "kernels/cuda/check.hpp"
#include "sim/base/checks.hpp"

namespace rehearse::kernels {

// A body may share what every device gives without being asked: 48 KiB per thread block.
constexpr std::size_t shared_bytes_most = 48 * 1024;
constexpr int warps_per_block = 4;

template <class Body>
__global__ void run_as_blocks(const Body body) {
    extern __shared__ __align__(64) std::byte shared[];
    CudaBlock block(shared);
    body(block, static_cast<std::int64_t>(blockIdx.x));
}

template <class Body>
__global__ void run_as_warps(const Body body, const std::int64_t count) {
    extern __shared__ __align__(64) std::byte shared[];
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * warps_per_block + threadIdx.y;
    if (index >= count) return;  // a whole warp: no barrier of the block follows
    CudaWarp warp(shared + threadIdx.y * body.shared_bytes());
    body(warp, index);
}

template <class Body>
void launch_blocks(cudaStream_t stream, std::int64_t count, int threads, const Body& body) {
    if (count == 0) return;
    REHEARSE_CHECK(count > 0 && count <= 0x7fffffff, "a grid of " + std::to_string(count) + " blocks");
    REHEARSE_CHECK(body.shared_bytes() <= shared_bytes_most, "a block shares at most 48 KiB");
    run_as_blocks<<<static_cast<unsigned>(count), threads, body.shared_bytes(), stream>>>(body);
    REHEARSE_CUDA(cudaGetLastError());
}

template <class Body>
void launch_warps(cudaStream_t stream, std::int64_t count, const Body& body) {
    if (count == 0) return;
    const std::size_t shared = warps_per_block * body.shared_bytes();
    if (shared > shared_bytes_most) return launch_blocks(stream, count, warp_threads, body);
    const std::int64_t blocks = (count + warps_per_block - 1) / warps_per_block;
    REHEARSE_CHECK(count > 0 && blocks <= 0x7fffffff, "a grid of " + std::to_string(blocks) + " blocks");
    run_as_warps<<<static_cast<unsigned>(blocks), dim3(warp_threads, warps_per_block), shared, stream>>>(body, count);
    REHEARSE_CUDA(cudaGetLastError());
}

}  // namespace rehearse::kernels
