#include "kernels/cuda/device.hpp"

#include "kernels/cuda/check.hpp"

namespace rehearse::kernels {

namespace {

int attribute(cudaDeviceAttr which) {
    int value = 0;
    REHEARSE_CUDA(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

}  // namespace

DeviceProbe probe_device() {
    DeviceProbe probe;
    const cudaError_t result = cudaGetDeviceCount(&probe.count);
    if (result == cudaErrorInsufficientDriver || result == cudaErrorNoDevice ||
        (result == cudaSuccess && !probe.count)) {
        probe.count = 0;
        probe.absent = std::string("no GPU: ") + cudaGetErrorString(result == cudaSuccess ? cudaErrorNoDevice : result);
        cudaGetLastError();
        return probe;
    }
    REHEARSE_CUDA(result);
    cudaDeviceProp properties{};
    REHEARSE_CUDA(cudaGetDeviceProperties(&properties, 0));
    probe.name = properties.name;
    probe.compute_capability = 10 * properties.major + properties.minor;
    probe.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    probe.multiprocessors = properties.multiProcessorCount;
    probe.clock_khz = attribute(cudaDevAttrClockRate);
    probe.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate);
    REHEARSE_CUDA(cudaDriverGetVersion(&probe.driver_version));
    REHEARSE_CUDA(cudaRuntimeGetVersion(&probe.runtime_version));
    cublasHandle_t handle = nullptr;
    REHEARSE_CUDA(cublasCreate(&handle));
    REHEARSE_CUDA(cublasGetVersion(handle, &probe.cublas_version));
    REHEARSE_CUDA(cublasDestroy(handle));
    return probe;
}

}  // namespace rehearse::kernels
