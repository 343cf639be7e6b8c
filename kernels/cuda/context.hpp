// Streams, events, device memory and cuBLAS of the CUDA back-end. Nothing here waits for the device except what says
// so.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/matrix.hpp"

namespace rehearse::kernels {

template <auto destroy>
struct DestroyHandle {
    template <class Handle>
    void operator()(Handle handle) const {
        destroy(handle);  // an error here was an error of earlier work, which its own calls report
    }
};

class DeviceStream {
public:
    DeviceStream();
    cudaStream_t get() const { return stream_.get(); }
    void wait_on_host() const { REHEARSE_CUDA(cudaStreamSynchronize(get())); }  // blocks the caller

private:
    std::unique_ptr<CUstream_st, DestroyHandle<cudaStreamDestroy>> stream_;
};

class DeviceEvent {
public:
    DeviceEvent();
    void record(cudaStream_t stream) { REHEARSE_CUDA(cudaEventRecord(event_.get(), stream)); }
    void make_wait(cudaStream_t stream) const { REHEARSE_CUDA(cudaStreamWaitEvent(stream, event_.get(), 0)); }
    double seconds_since(const DeviceEvent& earlier) const;  // blocks until this event has happened

private:
    std::unique_ptr<CUevent_st, DestroyHandle<cudaEventDestroy>> event_;
};

// Elements in device memory.
template <class T>
class DeviceArray {
public:
    explicit DeviceArray(std::int64_t n) : n_(n) {
        REHEARSE_CHECK(n >= 0, "an array of " + std::to_string(n) + " elements");
        void* bytes = nullptr;
        if (n > 0) REHEARSE_CUDA(cudaMalloc(&bytes, static_cast<std::size_t>(n) * sizeof(T)));
        data_.reset(static_cast<T*>(bytes));
    }
    std::span<T> span() const { return {data_.get(), static_cast<std::size_t>(n_)}; }
    T* data() const { return data_.get(); }
    std::int64_t size() const { return n_; }

    // In the order of the stream; `values` stays alive until the stream has passed it.
    void upload(std::span<const T> values, cudaStream_t stream) {
        REHEARSE_CHECK(static_cast<std::int64_t>(values.size()) <= n_, "more values than the array holds");
        REHEARSE_CUDA(cudaMemcpyAsync(data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream));
    }
    // Blocks until the values are there.
    std::vector<T> download(cudaStream_t stream) const {
        std::vector<T> values(static_cast<std::size_t>(n_));
        REHEARSE_CUDA(
            cudaMemcpyAsync(values.data(), data(), values.size() * sizeof(T), cudaMemcpyDeviceToHost, stream));
        REHEARSE_CUDA(cudaStreamSynchronize(stream));
        return values;
    }

private:
    std::int64_t n_;
    std::unique_ptr<T[], DestroyHandle<cudaFree>> data_;
};

// One stream with a cuBLAS handle whose work goes there, side streams that fork from it and join it again, and device
// memory that is kept between calls.
class CudaContext {
public:
    CudaContext();

    cudaStream_t stream() const { return stream_.get(); }
    cublasHandle_t cublas() const { return cublas_.get(); }
    const DeviceStream& main_stream() const { return stream_; }

    // Runs f(i) for i < count with the handle on side streams, by turns; later work of stream() follows all of it.
    template <class F>
    void fork(std::int64_t count, const F& f) {
        fork_begin();
        for (std::int64_t i = 0; i < count; ++i) {
            REHEARSE_CUDA(cublasSetStream(cublas(), sides_[static_cast<std::size_t>(i) % sides_.size()].get()));
            f(i);
        }
        fork_end();
    }

    // `n` elements of device memory under a name, valid until more is asked for under that name.
    template <class T>
    T* scratch(const std::string& name, std::int64_t n) {
        return reinterpret_cast<T*>(scratch_bytes(name, n * static_cast<std::int64_t>(sizeof(T))));
    }

private:
    std::byte* scratch_bytes(const std::string& name, std::int64_t bytes);
    void fork_begin();
    void fork_end();

    DeviceStream stream_;
    std::array<DeviceStream, 4> sides_;
    DeviceEvent forked_;
    std::array<DeviceEvent, 4> joined_;
    std::unique_ptr<cublasContext, DestroyHandle<cublasDestroy>> cublas_;
    std::map<std::string, DeviceArray<std::byte>> scratch_;
};

}  // namespace rehearse::kernels
