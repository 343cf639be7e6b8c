// Every call of the CUDA runtime, cuBLAS and NCCL goes through REHEARSE_CUDA(call): another result than success throws
// a DeviceError with the place, the call's text and the library's words.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace rehearse::kernels {

struct DeviceError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The device has no memory left for what was asked; nothing was written.
struct DeviceOutOfMemory : DeviceError {
    using DeviceError::DeviceError;
};

void check_device_call(cudaError_t result, const char* file, int line, const char* call);
void check_device_call(cublasStatus_t result, const char* file, int line, const char* call);

}  // namespace rehearse::kernels

#define REHEARSE_CUDA(call) ::rehearse::kernels::check_device_call((call), __FILE__, __LINE__, #call)
