// The models fitted on third-party measurements keep the bounds of their suites on rows that they were not fitted on.
#include "scenarios/validation/measured_suite.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "scenarios/validation/device_rows.hpp"
#include "scenarios/text_file.hpp"
#include "scenarios/validation/nccl_clusters.hpp"
#include "tests/validation/environment.hpp"

namespace rehearse {
namespace {

bool has_data() { return has_nccl_logs() && std::filesystem::exists(data_file(h100_gemm_file)); }

TEST(MeasuredSuites, PredictedRowsKeepTheirBounds) {
    if (!has_data()) GTEST_SKIP() << "no measurements; set REHEARSE_DATA";
    for (const SuiteEntry& entry : {nccl_suite(), gemm_h100_suite(), nvlink_a100_suite()}) {
        const ValidationSuite suite = entry.compute({});
        EXPECT_TRUE(suite.skipped.empty());
        EXPECT_FALSE(suite.figures.empty());
        for (const ValidationFigure& figure : suite.figures)
            EXPECT_FALSE(figure.exceeds_band()) << figure.published.quantity << ": " << figure.predicted << " %";
    }
}

TEST(MeasuredSuites, WithoutDataTheySayWhyTheyAreSkipped) {
    const Environment nowhere("REHEARSE_DATA", "/nowhere");
    for (const SuiteEntry& entry : {nccl_suite(), gemm_h100_suite(), nvlink_a100_suite()}) {
        const ValidationSuite suite = entry.compute({});
        EXPECT_NE(suite.skipped.find("/nowhere"), std::string::npos);
        EXPECT_TRUE(suite.figures.empty());
        EXPECT_FALSE(suite.exceeds_band());
        EXPECT_NE(suite_text(suite).find("skipped: "), std::string::npos);
    }
}

// Costs mean something: none is at the edge of its fit, rates are below the links', hops between those of a switch and
// of a slow network.
TEST(MeasuredSuites, FittedCostsArePhysical) {
    if (!has_data()) GTEST_SKIP() << "no measurements; set REHEARSE_DATA";
    for (const NcclCluster& cluster : nccl_clusters()) {
        for (const NcclCosts& costs : fit_cluster(cluster, RowChoice::all)) {
            EXPECT_LT(costs.nvlink.rate.bytes_per_second(), 900e9) << cluster.name;
            EXPECT_LT(costs.nvlink.hop.seconds(), 40e-6) << cluster.name;
            EXPECT_LT(costs.network.hop.seconds(), 60e-6) << cluster.name;
            EXPECT_LE(costs.network.rate.bytes_per_second(), 405e9) << cluster.name;
            // n17 (a100-efa) shows no end of growing chunks
            EXPECT_LT(costs.chunk_max.value, cluster.name == "a100-efa" ? 1 << 30 : 64 << 20) << cluster.name;
        }
    }
    const NcclCosts ring = fit_a100_ring(every_other(a100_all_reduces(), Parity::even));
    EXPECT_NEAR(ring.nvlink.rate.bytes_per_second(), 300e9, 30e9);  // NVLink 3: 300 GB/s one way
}

// The shipped costs are those that the logs give today. REHEARSE_UPDATE_GOLDEN=1 writes them.
TEST(MeasuredSuites, ShippedCostsAreCurrent) {
    if (!has_data()) GTEST_SKIP() << "no measurements; set REHEARSE_DATA";
    for (const NcclCluster& cluster : nccl_clusters()) {
        if (cluster.is_study) continue;
        const std::string path =
            std::string(REHEARSE_SOURCE_DIR) + "/models/collectives/costs/" + cluster.name + ".yaml";
        const NcclCostsFile fitted = costs_file(cluster);
        if (std::getenv("REHEARSE_UPDATE_GOLDEN") != nullptr) write_text(path, to_yaml(fitted));
        const NcclCostsFile shipped = read_nccl_costs(path);
        ASSERT_EQ(shipped.sets.size(), fitted.sets.size()) << path;
        for (std::size_t i = 0; i < fitted.sets.size(); ++i) {
            EXPECT_EQ(shipped.sets[i].source, fitted.sets[i].source) << path;
            for (const auto& [kind, members] :
                 {std::pair{CollectiveKind::all_reduce, 8}, {CollectiveKind::all_to_all, 8}}) {
                const NodeGroup group{2, members};
                if (!nccl_shape(kind, fitted.sets[i].costs.algorithm, group)) continue;
                for (const std::int64_t size : {8, 1 << 20, 1 << 30}) {
                    const double now = nccl_seconds(fitted.sets[i].costs, kind, group, Bytes{size});
                    EXPECT_NEAR(nccl_seconds(shipped.sets[i].costs, kind, group, Bytes{size}) / now, 1, 0.01) << path;
                }
            }
        }
    }
}

}  // namespace
}  // namespace rehearse
