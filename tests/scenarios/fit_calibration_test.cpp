// `rehearse calibrate fit FILE`: the samples of a calibration file determine their fits.
#include "scenarios/calibrate/fit_calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/text_file.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;

CalibrationSample sample(const std::string& what, SampleKind kind, SampleShape shape, double seconds) {
    return {what, kind, std::move(shape), "bf16", "", {seconds, seconds * 1.5, seconds}};
}

// All-reduces of 2 ranks in 10 us + size / 50 GB/s, of 4 ranks in twice that; products in 5 us + 2 m n k / 100 TFLOP/s;
// one copy of one size; a gate, by tokens.
CalibrationFile example() {
    CalibrationFile file;
    file.device = {"toy", DeviceKind::gpu, 4, "", ""};
    file.source.command = "made by hand";
    for (std::int64_t size = 1024; size <= 1 << 26; size *= 4) {
        const double time = 10e-6 + static_cast<double>(size) / 50e9;
        file.samples.push_back(sample("all_reduce", SampleKind::collective, {{"bytes", size}, {"ranks", 2}}, time));
        file.samples.push_back(sample("all_reduce", SampleKind::collective, {{"bytes", size}, {"ranks", 4}}, 2 * time));
        const double gate = 2e-6 + static_cast<double>(size) * 1e-9;
        file.samples.push_back(sample("gate", SampleKind::kernel, {{"tokens", size}, {"experts", 8}}, gate));
    }
    for (const std::int64_t m : {64, 512, 4096})
        for (const std::int64_t k : {128, 1024})
            file.samples.push_back(sample("gemm", SampleKind::kernel, {{"m", m}, {"n", 256}, {"k", k}},
                                          5e-6 + 2.0 * static_cast<double>(m * 256 * k) / 100e12));
    file.samples.push_back(sample("copy", SampleKind::kernel, {{"bytes", 4096}}, 1e-6));
    return file;
}

double parameter(const CalibrationFit& fit, const std::string& name) {
    for (const auto& [key, value] : fit.parameters)
        if (key == name) return value;
    ADD_FAILURE() << fit.what << " has no " << name;
    return 0;
}

TEST(FitCalibration, EveryGroupHasItsFits) {
    const CalibrationFile fitted = with_fits(example());
    ASSERT_EQ(fitted.fits.size(), 7U);  // two curves of 2 and of 4 ranks and of the gate, and a surface
    const CalibrationFit& two = fitted.fits[0];
    EXPECT_EQ(two.form, "alpha_beta");
    EXPECT_EQ(two.shape, (SampleShape{{"ranks", 2}}));
    EXPECT_NEAR(parameter(two, "alpha_s"), 10e-6, 1e-9);
    EXPECT_NEAR(parameter(two, "beta_Bps"), 50e9, 1e6);
    EXPECT_EQ(two.rows.size(), 9U);
    EXPECT_EQ(two.rows[1], 3);
    EXPECT_LT(two.mean_abs_error, 1e-6);
    EXPECT_EQ(fitted.fits[1].form, "piecewise");
    const CalibrationFit& gate = fitted.fits[4];
    EXPECT_NEAR(parameter(gate, "beta_per_s"), 1e9, 1e4);
    EXPECT_EQ(parameter(fitted.fits[5], "tokens_0"), 1024);
    const CalibrationFit& gemm = fitted.fits[6];
    EXPECT_EQ(gemm.form, "gemm_surface");
    EXPECT_NEAR(parameter(gemm, "flop_s"), 1 / 100e12, 1e-18);
    EXPECT_NEAR(parameter(gemm, "launch_s"), 5e-6, 1e-10);
}

// Fits are replaced, not heaped up, and those of other forms stay. The file reads back.
TEST(FitCalibration, FittingTwiceIsFittingOnce) {
    CalibrationFile start = example();
    start.fits.push_back({"gate", "by_hand", {}, {{"x", 1.0}}, {0}, {0.0}, 0});
    const CalibrationFile once = with_fits(start);
    EXPECT_EQ(once.fits.size(), 8U);
    EXPECT_EQ(with_fits(once), once);
    EXPECT_EQ(parse_calibration(to_yaml(once), "again"), once);
}

TEST(FitCalibration, TheCommandWritesTheFile) {
    const TemporaryFolder folder;
    const std::string path = folder.file("c.yaml", to_yaml(example()));
    const auto fit = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"calibrate", "fit", "c.yaml"});
        return run_rehearse(more, folder.path());
    };
    EXPECT_EQ(fit({"--out", "d.yaml"}).exit_code, 0);
    EXPECT_EQ(read_calibration_file((folder.path() / "d.yaml").string()), with_fits(example()));
    EXPECT_EQ(read_calibration_file(path), example());
    EXPECT_EQ(fit({}).exit_code, 0);
    EXPECT_EQ(read_calibration_file(path).fits.size(), 7U);
    CalibrationFile one = example();
    one.samples = {one.samples.back()};
    write_text(path, to_yaml(one));
    const ProgramResult refused = fit({});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("nothing to fit"));
}

}  // namespace
}  // namespace rehearse
