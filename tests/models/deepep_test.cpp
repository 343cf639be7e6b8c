// The fit of DeepEP's kernels. What it says about published ones: tests/scenarios/deepep_suite_test.cpp.
#include "models/collectives/deepep.hpp"

#include <gtest/gtest.h>

namespace rehearse {
namespace {

// Rates made by known parameters give these parameters back.
TEST(DeepEp, FitRecoversParameters) {
    DeepEpParameters truth;
    truth.nvlink_normal = gigabytes_per_second(120);
    truth.rounds = 8;
    truth.fixed = microseconds(20);
    truth.nvlink_low_latency = gigabytes_per_second(140);
    truth.nic_dispatch = gigabytes_per_second(44);
    truth.nic_combine = gigabytes_per_second(40);
    std::vector<DeepEpRow> rows;
    for (const DeepEpMode mode : {DeepEpMode::normal, DeepEpMode::low_latency}) {
        for (const DeepEpPhase phase : {DeepEpPhase::dispatch, DeepEpPhase::combine}) {
            for (const std::int64_t ranks : {8, 64}) {
                rows.push_back({mode, phase, ranks, Switch::on, 0});
                rows.back().rate = deepep_rate(rows.back(), truth);
            }
        }
    }
    const DeepEpParameters found = fit_deepep(rows);
    EXPECT_NEAR(found.nvlink_normal.bytes_per_second() / 120e9, 1, 1e-3);
    EXPECT_NEAR(found.rounds / 8, 1, 0.01);
    EXPECT_NEAR(found.fixed.seconds() / 20e-6, 1, 0.01);
    EXPECT_NEAR(found.nvlink_low_latency.bytes_per_second() / 140e9, 1, 0.01);
    EXPECT_NEAR(found.nic_dispatch.bytes_per_second() / 44e9, 1, 1e-3);
    EXPECT_NEAR(found.nic_combine.bytes_per_second() / 40e9, 1, 1e-3);
}

}  // namespace
}  // namespace rehearse
