// Measured costs stand in for models: what a curve or a table gives at and between its points.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/compute/cost.hpp"
#include "models/compute/measured_costs.hpp"

namespace rehearse {
namespace {

CalibrationSample sample(std::string what, SampleKind kind, SampleShape shape, double seconds) {
    CalibrationSample made;
    made.what = std::move(what);
    made.kind = kind;
    made.shape = std::move(shape);
    made.seconds = {seconds, seconds, seconds};
    return made;
}

// t = 1e-6 + 1e-9 bytes of "residual", twice that of "swiglu"; all-to-all among 2 ranks 1e-6 + 2e-9 bytes.
CalibrationFile calibration() {
    CalibrationFile file;
    for (const std::int64_t bytes : {1000, 10'000, 100'000}) {
        const double time = 1e-6 + 1e-9 * static_cast<double>(bytes);
        file.samples.push_back(sample("residual", SampleKind::kernel, {{"bytes", bytes}}, time));
        file.samples.push_back(sample("swiglu", SampleKind::kernel, {{"bytes", bytes}}, 2 * time));
        file.samples.push_back(sample("all_to_all", SampleKind::collective, {{"bytes", bytes}, {"ranks", 2}},
                                      1e-6 + 2e-9 * static_cast<double>(bytes)));
        file.samples.push_back(sample("balancer_fast", SampleKind::policy, {{"experts", bytes}}, time));
    }
    file.samples.push_back(sample("compute probe", SampleKind::kernel, {{"flops", 100}}, 3e-4));
    return file;
}

TEST(MeasuredCosts, KernelsGoByNameAndOthersAreAsTheResidual) {
    const MeasuredCosts costs = measured_costs(calibration());
    EXPECT_NEAR(seconds_at(*costs.kernel("swiglu"), 10'000), 2.2e-5, 1e-7);
    EXPECT_EQ(costs.kernel("swiglu again"), costs.kernel("swiglu"));
    EXPECT_EQ(costs.kernel("loss"), costs.kernel("residual"));
    EXPECT_EQ(costs.attention("flash attention"), nullptr);
    EXPECT_NE(costs.collective("all_to_all", 2), nullptr);
    EXPECT_EQ(costs.collective("all_to_all", 4), nullptr);
    EXPECT_NEAR(costs.policy_seconds("balancer_fast", 10'000), 1.1e-5, 1e-7);
    EXPECT_EQ(costs.policy_seconds("pager", 10), 0);
    EXPECT_EQ(costs.pace.compute, 3e-4);
}

// t = 5e-6 + 2e-11 F + 1e-9 B: long sequences of few heads and short ones of many differ by more than their FLOPs.
TEST(MeasuredCosts, AttentionHasTwoParts) {
    CalibrationFile file;
    const auto seconds = [](double flops, double bytes) { return 5e-6 + 2e-11 * flops + 1e-9 * bytes; };
    for (const std::int64_t heads : {1, 4, 8}) {
        for (const std::int64_t sequence : {64, 256, 1024}) {
            const std::int64_t flops = 256 * heads * sequence * sequence, bytes = 512 * heads * sequence;
            file.samples.push_back(sample("flash attention", SampleKind::kernel, {{"flops", flops}, {"bytes", bytes}},
                                          seconds(static_cast<double>(flops), static_cast<double>(bytes))));
        }
    }
    DeviceProfile profile;
    profile.measured = measured_costs(file);
    EXPECT_NEAR(attention_seconds(profile, "flash attention", 1e7, 1e5, 1, {}) / seconds(1e7, 1e5), 1, 1e-6);
}

TEST(MeasuredCosts, SayWhatIsMissing) {
    const std::vector<std::string> missing = measured_costs(calibration()).missing();
    const auto has = [&](const char* name) { return std::find(missing.begin(), missing.end(), name) != missing.end(); };
    EXPECT_TRUE(has("gemm dgrad"));
    EXPECT_TRUE(has("all_reduce"));
    EXPECT_FALSE(has("all_to_all"));
    EXPECT_FALSE(has("swiglu"));
}

TEST(MeasuredCosts, TakeThePlaceOfTheModels) {
    DeviceProfile profile;
    const double modelled = memory_seconds(profile, "swiglu", 10'000, 1);
    profile.measured = measured_costs(calibration());
    EXPECT_NE(memory_seconds(profile, "swiglu", 10'000, 1), modelled);
    EXPECT_NEAR(memory_seconds(profile, "swiglu", 10'000, 1), 2.2e-5, 1e-7);
    // Collectives that were not measured keep their model.
    EXPECT_EQ(local_collective_seconds(profile, CollectiveKind::all_reduce, 1e6, 2),
              local_collective_seconds(DeviceProfile{}, CollectiveKind::all_reduce, 1e6, 2));
}

// A device on which products with k < 100 run at half the rate: the surface averages, the table knows both.
TEST(GemmTable, CarriesWhatTheSurfaceMisses) {
    std::vector<GemmPoint> points;
    const auto time = [](double m, double n, double k) { return 2e-12 * m * n * k * (k < 100 ? 2 : 1); };
    for (const std::int64_t m : {64, 256, 1024}) {
        for (const std::int64_t n : {64, 256, 1024}) {
            for (const std::int64_t k : {16, 64, 256, 1024})
                points.push_back({1, m, n, k, time(static_cast<double>(m), static_cast<double>(n),
                                                   static_cast<double>(k))});
        }
    }
    const GemmTable table(points);
    double surface_worst = 0, table_worst = 0;
    for (const GemmPoint& p : points) {
        surface_worst = std::max(surface_worst,
                                 std::abs(gemm_seconds(table.surface(), 1, p.m, p.n, p.k) / p.seconds - 1));
        table_worst = std::max(table_worst, std::abs(table.seconds(1, p.m, p.n, p.k) / p.seconds - 1));
    }
    EXPECT_GT(surface_worst, 0.2);
    EXPECT_LT(table_worst, 0.02);
    EXPECT_NEAR(table.seconds(1, 128, 128, 512) / time(128, 128, 512), 1, 0.1);
}

// Grouped products are one after the other, their rows padded to 16.
TEST(GemmTable, GroupedProductsAddUp) {
    DeviceProfile profile;
    std::vector<GemmPoint> points;
    for (const std::int64_t m : {16, 64, 256, 1024})
        points.push_back({1, m, 128, 128, 2e-12 * static_cast<double>(m) * 128 * 128});
    profile.measured.products.emplace("grouped gemm", GemmTable(points));
    const std::vector<double> heights{0, 16, 250};
    const GemmShape shape{3, 88, 128, 128};
    const GemmTable& table = *profile.measured.product("grouped gemm");
    EXPECT_DOUBLE_EQ(grouped_gemm_seconds(profile, shape, GroupedBy::m, heights),
                     table.seconds(1, 16, 128, 128) + table.seconds(1, 256, 128, 128));
}

}  // namespace
}  // namespace rehearse
