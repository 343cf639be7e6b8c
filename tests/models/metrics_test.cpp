// Figures of a step that is written down by hand.
//
// Two ranks, stages 0 and 1 of one pipeline; the step ends at T = 2 s.
//     rank 0: compute 1.5 s, bubble 0.5 s;  rank 1: compute 1.0 s, optimizer 0.25 s, bubble 0.75 s
// Means: compute 1.25, optimizer 0.125, bubble 0.625; sum 2. Batch 4, sequence 16: 64 tokens / 2 s = 32 per second, 16
// per GPU. With F model FLOPs per token and peak P, MFU = 16 F / P.
#include "models/metrics/metrics.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "models/workload/flops.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

class MetricsTest : public ::testing::Test {
protected:
    MetricsTest() : workload_(build_workload(training())), cluster_(build_cluster(cluster_spec())) {
        set(0, Part::compute, 1500);
        set(0, Part::bubble, 500);
        set(1, Part::compute, 1000);
        set(1, Part::optimizer, 250);
        set(1, Part::bubble, 750);
        traffic_.bytes.assign(cluster_.links().size(), 0.0);
        traffic_.busy_seconds.assign(cluster_.links().size(), 0.0);
    }

    static TrainingSpec training() {
        TrainingSpec spec;
        spec.model = {.layers = 2, .hidden = 64, .heads = 4, .ffn = 0, .vocab = 128, .sequence = 16};
        spec.batch_global = 4;
        spec.parallel.pipeline = 2;
        spec.recompute = Recompute::full;
        return spec;
    }
    static ClusterSpec cluster_spec() {
        ClusterSpec spec;
        spec.hosts = 2;
        return spec;
    }
    void set(std::size_t rank, Part part, std::int64_t ms) {
        parts_[rank][static_cast<std::size_t>(part)] = milliseconds(ms);
    }
    Metrics measure_step() const {
        const Placement placement({GpuId{0}, GpuId{8}}, cluster_.gpu_count());
        return measure({SimTime{milliseconds(2000).value}, parts_, last_arrivals_, traffic_}, workload_, cluster_,
                       placement, FlopRate{1e9});
    }
    double part(const Metrics& metrics, Part which) const {
        return metrics.breakdown_s[static_cast<std::size_t>(which)];
    }

    Workload workload_;
    Cluster cluster_;
    std::vector<std::array<SimDuration, part_count>> parts_{2};
    std::vector<std::uint32_t> last_arrivals_{1, 3};
    LinkTraffic traffic_;
};

TEST_F(MetricsTest, BreakdownIsTheMeanOverRanksAndAddsUp) {
    const Metrics metrics = measure_step();
    EXPECT_DOUBLE_EQ(metrics.step_time_s, 2.0);
    EXPECT_DOUBLE_EQ(part(metrics, Part::compute), 1.25);
    EXPECT_DOUBLE_EQ(part(metrics, Part::optimizer), 0.125);
    EXPECT_DOUBLE_EQ(part(metrics, Part::bubble), 0.625);
    EXPECT_DOUBLE_EQ(std::accumulate(metrics.breakdown_s.begin(), metrics.breakdown_s.end(), 0.0), 2.0);
}

TEST_F(MetricsTest, RatesFollowFromTokensAndFlops) {
    const Metrics metrics = measure_step();
    EXPECT_DOUBLE_EQ(metrics.tokens_per_s, 32.0);
    EXPECT_DOUBLE_EQ(metrics.tokens_per_s_per_gpu, 16.0);
    const double f = model_flops_per_token(training(), AttentionCount::windowed);
    EXPECT_NEAR(metrics.mfu, 16 * f / 1e9, 1e-12);
    EXPECT_NEAR(metrics.mfu_full_attention, metrics.mfu, 1e-12);  // no window
    EXPECT_NEAR(metrics.hfu, 16 * hardware_flops_per_token(training()) / 1e9, 1e-12);
    EXPECT_GT(metrics.hfu, metrics.mfu);  // full recomputation
}

TEST_F(MetricsTest, HintsNameTheStageAndTheLateHost) {
    const BottleneckHints hints = measure_step().hints;
    EXPECT_EQ(hints.part_largest, Part::bubble);
    EXPECT_EQ(hints.stage_busiest, 0U);
    EXPECT_DOUBLE_EQ(hints.stage_busiest_s, 1.5);
    EXPECT_DOUBLE_EQ(hints.stage_mean_s, 1.375);
    EXPECT_EQ(hints.host_last, NodeId{1});  // 3 of 4 late arrivals
    EXPECT_DOUBLE_EQ(hints.host_last_share, 0.75);
}

// Equal loads keep the order of the links; idle links are left out, and of each tier three links stand, whatever
// another tier carries.
TEST_F(MetricsTest, BusiestLinksOfEachTierComeFirst) {
    std::vector<LinkId> nvlink, host;
    for (std::uint32_t i = 0; i < cluster_.links().size(); ++i) {
        if (cluster_.link(LinkId{i}).tier == LinkTier::nvlink) nvlink.emplace_back(i);
        if (cluster_.link(LinkId{i}).tier == LinkTier::host) host.emplace_back(i);
    }
    const auto load = [&](LinkId link, double busy) {
        traffic_.bytes[link.value] = 1000.0;
        traffic_.busy_seconds[link.value] = busy;
    };
    for (std::size_t i = 0; i < 5; ++i) load(nvlink[i], i == 3 ? 1.0 : 0.5);
    load(host[1], 0.25);
    const Metrics metrics = measure_step();
    std::vector<LinkId> found;
    for (const LinkUse& use : metrics.busiest_links) found.push_back(use.link);
    EXPECT_EQ(found, (std::vector<LinkId>{nvlink[3], nvlink[0], nvlink[1], host[1]}));
    EXPECT_DOUBLE_EQ(metrics.busiest_links[0].utilisation, 0.5);
    EXPECT_DOUBLE_EQ(metrics.bytes_per_tier[static_cast<std::size_t>(LinkTier::nvlink)], 5000.0);
    EXPECT_DOUBLE_EQ(metrics.bytes_per_tier[static_cast<std::size_t>(LinkTier::host)], 1000.0);
}

TEST_F(MetricsTest, PartsThatDoNotAddUpBreakAnInvariant) {
    set(1, Part::other, 1);
    EXPECT_THROW(measure_step(), InvariantBroken);
}

}  // namespace
}  // namespace rehearse
