// Operator costs on a device with round numbers: 100 multiprocessors, peak 100 TFLOP/s, memory 1 TB/s, no overheads.
#include "models/compute/cost.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rehearse {
namespace {

DeviceProfile round_device() {
    DeviceProfile profile;
    profile.peak = {100e12};
    profile.multiprocessors = 100;
    profile.memory = gigabytes_per_second(1000);
    profile.gemm_efficiency = {1.0};
    profile.memory_efficiency = {1.0};
    profile.kernel_overhead = {};
    profile.tiles = {{128, 128, {1.0}}};
    return profile;
}

// Far from the memory roof, 100 tiles fill one wave and the 101st opens a second.
TEST(GemmCost, WavesOfTiles) {
    const DeviceProfile device = round_device();
    const double k = 1 << 16;
    const double wave = 2 * 128 * 128 * k / 1e12;
    EXPECT_NEAR(gemm_seconds(device, {1, 1280, 1280, 1 << 16}), wave, 0.01 * wave);
    EXPECT_NEAR(gemm_seconds(device, {1, 1280, 1288, 1 << 16}), 2 * wave, 0.01 * wave);
    DeviceProfile split = device;
    split.gemm_tail = {0.0};
    EXPECT_NEAR(gemm_seconds(split, {1, 1280, 1288, 1 << 16}), 1.1 * wave, 0.01 * wave);
}

TEST(GemmCost, MemoryRoof) {
    const DeviceProfile device = round_device();
    // k = 8: 2 (m k + k n) + 2 m n bytes with m = n = 12,800; compute takes a fifth of it.
    const double bytes = 2.0 * 2 * 12800 * 8 + 2.0 * 12800 * 12800;
    EXPECT_NEAR(gemm_seconds(device, {1, 12800, 12800, 8}), bytes / 1e12, 0.01 * bytes / 1e12);
}

TEST(GemmCost, SmoothMaxIsBetweenItsLargerArgumentAndNinePerCentMore) {
    EXPECT_NEAR(smooth_max(1, 1), std::pow(2, 0.125), 1e-12);
    EXPECT_NEAR(smooth_max(1, 0.1), 1, 1e-8);
    EXPECT_DOUBLE_EQ(smooth_max(0, 0), 0);
}

TEST(GemmCost, MisalignedShapesAreSlower) {
    DeviceProfile device = round_device();
    device.misaligned_efficiency = {0.25};
    const double aligned = gemm_seconds(device, {1, 1280, 1280, 1 << 16});
    EXPECT_NEAR(gemm_seconds(device, {1, 1280, 1279, 1 << 16}), 4 * aligned, 0.02 * aligned);
}

TEST(LocalCollective, PassesLatencyAndBus) {
    DeviceProfile device = round_device();
    device.local_links = {{4, microseconds(10), gigabytes_per_second(100)},
                          {8, microseconds(20), gigabytes_per_second(200)}};
    // All-gather of 80 MB over 8: 20 us + 7/8 * 80 MB / 200 GB/s = 370 us; all-reduce twice that.
    EXPECT_NEAR(local_collective_seconds(device, CollectiveKind::all_gather, 80e6, 8), 370e-6, 1e-12);
    EXPECT_NEAR(local_collective_seconds(device, CollectiveKind::all_reduce, 80e6, 8), 740e-6, 1e-12);
    EXPECT_NEAR(local_collective_seconds(device, CollectiveKind::all_gather, 80e6, 4), 10e-6 + 0.75 * 80e6 / 100e9,
                1e-12);
    EXPECT_DOUBLE_EQ(local_collective_seconds(device, CollectiveKind::all_gather, 80e6, 1), 0);
}

}  // namespace
}  // namespace rehearse
