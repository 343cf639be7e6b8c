// Calibration files: writing and reading give the same value, and each fault has its place.
#include "kernels/calibration/calibration_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/fault.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;

CalibrationSample sample(const std::string& what, std::vector<double> seconds) {
    return {what, SampleKind::kernel, {{"m", 4096}, {"k", 7}}, "bf16", "", std::move(seconds)};
}

CalibrationFile full() {
    CalibrationFile file;
    file.device = {"Some \"GPU\" #1: 80GB", DeviceKind::gpu, 8, "570.86", "1980 MHz"};
    file.software = {{"NCCL", "2.26.2+cuda12.8"}, {"cuBLAS", "12.8"}};
    file.date = "2026-11-30";
    file.source = {"rehearse calibrate run", {"a.log", "b, c.log"}, "by hand"};
    file.samples = {sample("gemm", {1e-3, 1.1e-3, 0.1 + 0.2}), sample("swiglu", {5e-324 + 1e-9})};
    file.samples.push_back({"all_reduce", SampleKind::collective, {{"bytes", 1LL << 40}}, "", "ring", {1.0 / 3}});
    file.samples.push_back({"plan", SampleKind::policy, {}, "", "", {2e-6}});
    file.fits = {
        {"gemm", "gemm_surface", {{"k", 7}}, {{"peak", 9.89e14}, {"bias", -1.0 / 7}}, {0, 1}, {0.01, -1.0 / 3}, 0.17},
        {"all_reduce", "alpha_beta", {}, {}, {}, {}, 0}};
    return file;
}

TEST(CalibrationFile, ReadsWhatItWrote) {
    const CalibrationFile file = full();
    EXPECT_EQ(parse_calibration(to_yaml(file), "a.yaml"), file);
    CalibrationFile least;
    least.device.name = "x";
    EXPECT_EQ(parse_calibration(to_yaml(least), "a.yaml"), least);
}

TEST(CalibrationFile, KeepsEveryBitOfANumber) {
    CalibrationFile file = full();
    file.samples = {sample("gemm", {})};
    const Stream draw(7, "calibration");
    for (std::uint64_t i = 0; i < 1000; ++i) file.samples[0].seconds.push_back(1e-6 + draw.uniform(i, 0) * 1e-3);
    file.fits.clear();
    EXPECT_EQ(parse_calibration(to_yaml(file), "a.yaml"), file);
}

// Quartiles of 1, 2, 3, 4, 5: 2 and 4, so that the spread is 2/3.
TEST(CalibrationFile, MedianAndSpreadComeFromTheRawTimes) {
    EXPECT_EQ(median_seconds(sample("x", {5, 1, 4, 2, 3})), 3);
    EXPECT_DOUBLE_EQ(relative_spread(sample("x", {5, 1, 4, 2, 3})), 2.0 / 3);
    EXPECT_EQ(median_seconds(sample("x", {1, 2})), 1.5);
    EXPECT_EQ(relative_spread(sample("x", {7})), 0);
}

TEST(CalibrationFile, ReportsAllFaultsWithTheirPlaces) {
    const std::string text =
        "schema_version: 2\n"
        "device: {name: A, kind: tpu, cout: 3}\n"
        "date: yesterday\n"
        "source: {}\n"
        "samples:\n"
        "  - {what: gemm, kind: kernel, shape: {m: -1}, seconds: [0]}\n"
        "  - {what: gemm, kind: kernel, seconds: []}\n"
        "  - {what: a, kind: kernel, seconds: [1]}\n"
        "  - {what: a, kind: kernel, seconds: [2]}\n"
        "fits:\n"
        "  - {what: gemm, form: f, parameters: {}, rows: [9], residuals: [], mean_abs_error: 0}\n";
    try {
        parse_calibration(text, "a.yaml");
        FAIL() << "read";
    } catch (const InputError& error) {
        const std::string what = error.what();
        for (const char* part : {"a.yaml:1:17: schema_version", "a.yaml:2:25: device.kind", "device.cout: unknown key",
                                 "count", "a.yaml:3:7: date", "samples[0].shape.m", "samples[0].seconds[0]",
                                 "samples[1].seconds: the list is empty", "samples[3].what: a stands twice",
                                 "fits[0].rows: there is no sample 9", "fits[0].residuals: 0 residuals for 1"})
            EXPECT_THAT(what, HasSubstr(part));
    }
    EXPECT_THROW(parse_calibration("", "a.yaml"), InputError);
    EXPECT_THROW(parse_calibration("samples: [", "a.yaml"), InputError);
    EXPECT_THROW(read_calibration_file("no/such.yaml"), InputError);
}

TEST(CalibrationFile, RefusesAnotherDevice) {
    CalibrationFile file = full();
    file.device.name = "A100";
    EXPECT_FALSE(device_mismatch(file, "A100").has_value());
    const auto refusal = device_mismatch(file, "H100");
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->wrong, "calibrated on \"A100\", this is \"H100\"");
    EXPECT_EQ(refusal->todo, "measure here with `rehearse calibrate run`, or pass --force-device");
}

}  // namespace
}  // namespace rehearse
