// Every profile that is shipped reads, says where its numbers come from, and prices kernels below the device's roofs; a
// device that differs from another in one number differs in what that number bounds, and in nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "models/compute/cost.hpp"
#include "models/compute/profile_keys.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(REHEARSE_SOURCE_DIR) / "models/compute/profiles";

DeviceProfile shipped(const std::string& name) { return read_profile((folder / (name + ".yaml")).string()); }

std::vector<std::string> shipped_names() {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

GemmShape cube(std::int64_t side) {
    GemmShape shape;
    shape.m = shape.n = shape.k = side;
    return shape;
}

double gemm_rate(const DeviceProfile& profile, std::int64_t side) {
    const double s = static_cast<double>(side);
    return 2 * s * s * s / gemm_seconds(profile, cube(side));
}

constexpr double gigabyte = 1e9;

TEST(ShippedProfiles, TheNamedDevicesAreThere) {
    const std::vector<std::string> names = shipped_names();
    for (const char* name : {"a100-sxm-80g", "a800-sxm", "h100-sxm", "h800-sxm", "h200-sxm", "b200-sxm", "local-cpu"})
        EXPECT_TRUE(std::ranges::binary_search(names, name)) << name;
}

// Of GPUs: a core's products and collectives are measured, and no eight of them share a node.
TEST(ShippedProfiles, StayBelowTheRoofs) {
    for (const std::string& name : shipped_names()) {
        if (name == "local-cpu") continue;
        const DeviceProfile profile = shipped(name);
        EXPECT_EQ(profile.name, name);
        for (const std::int64_t side : {512, 2048, 8192, 32768}) {
            EXPECT_LT(gemm_rate(profile, side), profile.peak.value) << name << " " << side;
            EXPECT_GT(gemm_rate(profile, 2 * side), gemm_rate(profile, side) * 0.95) << name << " " << side;
        }
        EXPECT_GT(gemm_rate(profile, 8192), 0.45 * profile.peak.value) << name;
        const double pass = memory_seconds(profile, "pass", gigabyte, 1);
        EXPECT_GT(pass, gigabyte / profile.memory.bytes_per_second()) << name;
        EXPECT_LT(pass, 2 * gigabyte / profile.memory.bytes_per_second() * profile.kernel_slowdown.value) << name;
        const double gather = local_collective_seconds(profile, CollectiveKind::all_gather, gigabyte, 8);
        EXPECT_GT(gather, 7.0 / 8 * gigabyte / 900e9) << name;  // no NVLink here is faster
        EXPECT_LT(gather, 7.0 / 8 * gigabyte / 100e9) << name;
        EXPECT_DOUBLE_EQ(local_collective_seconds(profile, CollectiveKind::all_reduce, gigabyte, 8), 2 * gather)
            << name;
    }
}

TEST(ShippedProfiles, EveryPublishedOrFittedNumberNamesItsSource) {
    for (const std::string& name : shipped_names()) {
        for (const ProfileNote& note : shipped(name).notes)
            EXPECT_TRUE(note.provenance == Provenance::assumed || !note.source.empty()) << name << " " << note.key;
    }
}

// H200: the arithmetic and NVLink of H100, 4800 / 3350 of its memory.
TEST(ShippedProfiles, MemoryIsWhatH200Changes) {
    const DeviceProfile h100 = shipped("h100-sxm"), h200 = shipped("h200-sxm");
    EXPECT_DOUBLE_EQ(gemm_seconds(h200, cube(4096)), gemm_seconds(h100, cube(4096)));
    EXPECT_DOUBLE_EQ(local_collective_seconds(h200, CollectiveKind::all_reduce, gigabyte, 8),
                     local_collective_seconds(h100, CollectiveKind::all_reduce, gigabyte, 8));
    EXPECT_NEAR(memory_seconds(h100, "pass", gigabyte, 0) / memory_seconds(h200, "pass", gigabyte, 0), 4800.0 / 3350,
                1e-9);
    EXPECT_GT(h200.memory_size, h100.memory_size);
}

// A800: an A100 with two thirds of its NVLink. H800: less NVLink than H100.
TEST(ShippedProfiles, NvlinkIsWhatA800AndH800Change) {
    const DeviceProfile a100 = shipped("a100-sxm-80g"), a800 = shipped("a800-sxm");
    EXPECT_DOUBLE_EQ(gemm_seconds(a800, cube(4096)), gemm_seconds(a100, cube(4096)));
    EXPECT_DOUBLE_EQ(memory_seconds(a800, "pass", gigabyte, 1), memory_seconds(a100, "pass", gigabyte, 1));
    for (const std::uint32_t gpus : {2, 4, 8})
        EXPECT_NEAR(local_collective_seconds(a800, CollectiveKind::all_reduce, 100 * gigabyte, gpus) /
                        local_collective_seconds(a100, CollectiveKind::all_reduce, 100 * gigabyte, gpus),
                    1.5, 0.01);
    EXPECT_GT(local_collective_seconds(shipped("h800-sxm"), CollectiveKind::all_gather, gigabyte, 8),
              1.8 * local_collective_seconds(shipped("h100-sxm"), CollectiveKind::all_gather, gigabyte, 8));
}

// B200 over H100: 2.27 times the arithmetic, 2.39 times the memory, twice the NVLink.
TEST(ShippedProfiles, B200IsTwiceAnH100) {
    const DeviceProfile h100 = shipped("h100-sxm"), b200 = shipped("b200-sxm");
    EXPECT_NEAR(gemm_rate(b200, 16384) / gemm_rate(h100, 16384), 2250.0 / 989, 0.05);
    EXPECT_NEAR(memory_seconds(h100, "pass", gigabyte, 0) / memory_seconds(b200, "pass", gigabyte, 0), 8000.0 / 3350,
                1e-9);
    const auto gather = [](const DeviceProfile& p) {
        return local_collective_seconds(p, CollectiveKind::all_gather, 100 * gigabyte, 8);
    };
    EXPECT_NEAR(gather(h100) / gather(b200), 2.0, 0.02);
}

// A surface is read, written and read again; products of one height are one product of a batch, and matrix units
// twice as fast take half of the arithmetic's time only.
TEST(ShippedProfiles, ASurfacePricesProducts) {
    const TemporaryFolder temporary;
    const DeviceProfile h100 = shipped("h100-sxm");
    ASSERT_TRUE(h100.gemm_surface.has_value());
    const std::string text = write_profile(h100);
    const DeviceProfile again = read_profile(temporary.file("again.yaml", text));
    EXPECT_EQ(write_profile(again), text);
    GemmShape shape = cube(1024);
    shape.batch = 4;
    EXPECT_DOUBLE_EQ(gemm_seconds(again, shape), gemm_seconds(h100, shape));
    const std::vector<double> heights(4, 1024.0);
    EXPECT_NEAR(grouped_gemm_seconds(h100, shape, GroupedBy::m, heights), gemm_seconds(h100, shape), 1e-15);
    EXPECT_NEAR(grouped_gemm_seconds(h100, shape, GroupedBy::k, heights), gemm_seconds(h100, shape), 1e-15);
    const double arithmetic = 2 * 4 * 1024.0 * 1024 * 1024 / h100.gemm_surface->flops.value;
    GemmShape eight_bits = shape;
    eight_bits.rate = 2;
    EXPECT_NEAR(gemm_seconds(h100, shape) - gemm_seconds(h100, eight_bits), arithmetic / 2, 1e-12);
}

}  // namespace
}  // namespace rehearse
