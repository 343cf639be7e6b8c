#include "kernels/cuda/check.hpp"

#include <fmt/core.h>

namespace rehearse::kernels {

namespace {

std::string place(const char* file, int line, const char* call) { return fmt::format("{}:{}: {}", file, line, call); }

}  // namespace

void check_device_call(cudaError_t result, const char* file, int line, const char* call) {
    if (result == cudaSuccess) return;
    if (result == cudaErrorMemoryAllocation) {
        std::size_t free = 0, total = 0;
        cudaGetLastError();  // an allocation that failed leaves the context usable
        const bool known = cudaMemGetInfo(&free, &total) == cudaSuccess;
        throw DeviceOutOfMemory(place(file, line, call) + ": the device is out of memory" +
                                (known ? fmt::format(" ({} of {} MiB are free)", free >> 20, total >> 20) : "") +
                                "; take fewer tokens or experts");
    }
    throw DeviceError(fmt::format("{}: {} ({}, error {})", place(file, line, call), cudaGetErrorString(result),
                                  cudaGetErrorName(result), static_cast<int>(result)));
}

void check_device_call(cublasStatus_t result, const char* file, int line, const char* call) {
    if (result == CUBLAS_STATUS_SUCCESS) return;
    if (result == CUBLAS_STATUS_ALLOC_FAILED) {
        throw DeviceOutOfMemory(place(file, line, call) + ": cuBLAS found no memory on the device");
    }
    throw DeviceError(fmt::format("{}: {} ({})", place(file, line, call), cublasGetStatusString(result),
                                  cublasGetStatusName(result)));
}

}  // namespace rehearse::kernels
