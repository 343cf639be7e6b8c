#include "kernels/cuda/context.hpp"

namespace rehearse::kernels {

DeviceStream::DeviceStream() {
    cudaStream_t stream = nullptr;
    REHEARSE_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_.reset(stream);
}

DeviceEvent::DeviceEvent() {
    cudaEvent_t event = nullptr;
    REHEARSE_CUDA(cudaEventCreate(&event));
    event_.reset(event);
}

double DeviceEvent::seconds_since(const DeviceEvent& earlier) const {
    REHEARSE_CUDA(cudaEventSynchronize(event_.get()));
    float milliseconds = 0;
    REHEARSE_CUDA(cudaEventElapsedTime(&milliseconds, earlier.event_.get(), event_.get()));
    return 1e-3 * static_cast<double>(milliseconds);
}

CudaContext::CudaContext() {
    cublasHandle_t handle = nullptr;
    REHEARSE_CUDA(cublasCreate(&handle));
    cublas_.reset(handle);
    REHEARSE_CUDA(cublasSetStream(handle, stream()));
}

std::byte* CudaContext::scratch_bytes(const std::string& name, std::int64_t bytes) {
    auto found = scratch_.find(name);
    if (found != scratch_.end() && found->second.size() >= bytes) return found->second.data();
    if (found != scratch_.end()) {
        stream_.wait_on_host();  // work under way may still use the smaller piece
        scratch_.erase(found);
    }
    return scratch_.emplace(name, DeviceArray<std::byte>(bytes)).first->second.data();
}

void CudaContext::fork_begin() {
    forked_.record(stream());
    for (const DeviceStream& side : sides_) forked_.make_wait(side.get());
}

void CudaContext::fork_end() {
    for (std::size_t i = 0; i < sides_.size(); ++i) {
        joined_[i].record(sides_[i].get());
        joined_[i].make_wait(stream());
    }
    REHEARSE_CUDA(cublasSetStream(cublas(), stream()));
}

}  // namespace rehearse::kernels
