// What needs no GPU: the probe, and errors that say where.
#include "kernels/cuda/device.hpp"

#include "kernels/cuda/check.hpp"
#include "tests/kernels_cuda/on_device.hpp"
#ifdef REHEARSE_NCCL_FOUND
#include "kernels/cuda/nccl_communicator.hpp"
#endif

namespace rehearse::kernels::test {
namespace {

std::string thrown_by(const std::function<void()>& call) {
    try {
        call();
    } catch (const DeviceError& error) {
        return error.what();
    }
    return "nothing";
}

TEST(Device, IsThereOrTheReasonIsGiven) {
    const DeviceProbe probe = probe_device();
    EXPECT_EQ(probe.count == 0, !probe.absent.empty());
    if (probe.count > 0) {
        EXPECT_GE(probe.compute_capability, 75);
    }
}

TEST(Device, ErrorsNameFileLineAndCall) {
    EXPECT_EQ(thrown_by([] { check_device_call(cudaSuccess, "f", 1, "c"); }), "nothing");
    const std::string text =
        thrown_by([] { check_device_call(cudaErrorInvalidValue, "kernels/x.cpp", 7, "cudaMemcpy(a, b)"); });
    EXPECT_EQ(text.find("kernels/x.cpp:7: cudaMemcpy(a, b): "), 0u);
    EXPECT_NE(text.find("cudaErrorInvalidValue, error 1"), text.npos);
    const std::string blas =
        thrown_by([] { check_device_call(CUBLAS_STATUS_NOT_SUPPORTED, "kernels/x.cpp", 8, "cublasGemmEx()"); });
    EXPECT_NE(blas.find("CUBLAS_STATUS_NOT_SUPPORTED"), blas.npos);
}

TEST(Device, OutOfMemoryIsAnErrorOfItsOwn) {
    EXPECT_THROW(check_device_call(cudaErrorMemoryAllocation, "f", 1, "c"), DeviceOutOfMemory);
    EXPECT_THROW(check_device_call(CUBLAS_STATUS_ALLOC_FAILED, "f", 1, "c"), DeviceOutOfMemory);
    const std::string text = thrown_by([] { check_device_call(cudaErrorMemoryAllocation, "f", 1, "c"); });
    EXPECT_NE(text.find("the device is out of memory"), text.npos);
}

class BigDevice : public OnDevice {};

TEST_F(BigDevice, AskingForTooMuchLeavesItUsable) {
    EXPECT_THROW(DeviceArray<float>(std::int64_t{1} << 50), DeviceOutOfMemory);
    const auto values = drawn<float>("v", 1000);
    EXPECT_EQ(get(put(values)), values);
}

#ifdef REHEARSE_NCCL_FOUND
TEST(Nccl, ErrorsNameTheCall) {
    const std::string text =
        thrown_by([] { cuda::check_nccl_call(ncclInvalidUsage, "kernels/x.cpp", 9, "ncclSend()"); });
    EXPECT_EQ(text.find("kernels/x.cpp:9: ncclSend(): "), 0u);
    EXPECT_NE(text.find("result 5"), text.npos);
}

class NcclOnDevice : public OnDevice {
protected:
    template <class T>
    void check() {
        cuda::NcclCommunicator alone(cuda::NcclCommunicator::make_id(), 1, 0);
        const auto values = drawn<T>("v", 1001);
        const auto from = put(values);
        const auto expect_kept = [&](const auto& collective) {
            const auto to = put_poisoned<T>(1001);
            collective(to);
            expect_close<T>(get(to), [&](std::int64_t i) { return Exact{to_float(values[i]), 0}; });
        };
        const cudaStream_t stream = context().stream();
        if (cuda::NcclCommunicator::has_native_all_to_all()) {
            expect_kept([&](const auto& to) {
                alone.all_to_all<T>(cuda::AllToAll::native, from.span(), to.span(), stream);
            });
        }
        expect_kept([&](const auto& to) {
            alone.all_to_all<T>(cuda::AllToAll::send_receive, from.span(), to.span(), stream);
        });
        expect_kept([&](const auto& to) { alone.all_gather<T>(from.span(), to.span(), stream); });
        expect_kept([&](const auto& to) { alone.reduce_scatter<T>(from.span(), to.span(), stream); });
        expect_kept([&](const auto& to) { alone.all_reduce<T>(from.span(), to.span(), stream); });
        alone.check_health();
    }
};

// One rank: every collective is the identity.
TEST_F(NcclOnDevice, CollectivesOfOneRank) { check<float>(), check<Bf16>(), check<Fp16>(); }
#endif

}  // namespace
}  // namespace rehearse::kernels::test
