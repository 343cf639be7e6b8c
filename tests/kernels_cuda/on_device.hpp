// A test that needs a GPU: skipped, with the reason, where there is none.
#pragma once

#include <memory>

#include "kernels/cuda/context.hpp"
#include "kernels/cuda/device.hpp"
#include "tests/kernels/reference.hpp"

namespace rehearse::kernels::test {

class OnDevice : public testing::Test {
protected:
    void SetUp() override {
        const DeviceProbe probe = probe_device();
        if (probe.count == 0) GTEST_SKIP() << probe.absent;
        context_ = std::make_unique<CudaContext>();
    }
    CudaContext& context() { return *context_; }

    // The values in device memory.
    template <class T>
    DeviceArray<T> put(const std::vector<T>& values) {
        DeviceArray<T> array(static_cast<std::int64_t>(values.size()));
        if (!values.empty()) array.upload(values, context().stream());
        context().main_stream().wait_on_host();
        return array;
    }
    template <class T>
    DeviceArray<T> put_poisoned(std::int64_t n) {
        return put(poisoned<T>(n));
    }
    template <class T>
    std::vector<T> get(const DeviceArray<T>& array) {
        return array.download(context().stream());
    }

private:
    std::unique_ptr<CudaContext> context_;
};

}  // namespace rehearse::kernels::test
