// A simulated step under DualPipe against its closed form: with F = b = W and F&B = F + b + W every rank idles for
// (p / 2 - 1) (F&B + B - 3 W), to the picosecond, when messages cost nothing.
#include <gtest/gtest.h>

#include "models/workload/dual_pipe.hpp"
#include "runtime/training_run.hpp"
#include "tests/runtime/instant_network.hpp"

namespace rehearse {
namespace {

constexpr SimDuration unit = picoseconds(8'765'432'101);

TrainingSpec training_of(std::int64_t stages, std::int64_t micro_batches) {
    TrainingSpec spec;
    spec.model = {.kind = ModelKind::moe, .layers = stages, .hidden = 64, .heads = 8, .ffn = 128, .vocab = 128,
                  .sequence = 32, .experts = {.routed = 4, .top_k = 2}};
    spec.parallel.pipeline = stages;
    spec.parallel.data = 2;
    spec.parallel.zero = 1;
    spec.parallel.schedule = PipelineSchedule::dual_pipe;
    spec.technique.overlap_pipeline = Switch::on;
    spec.technique.overlap_data = Switch::on;
    spec.batch_global = 2 * micro_batches;
    return spec;
}

std::int64_t units_of(std::string_view work) {
    if (work == "pair") return 3;
    if (work == "backward") return 2;
    return work == "forward" || work == "backward input" || work == "weights" ? 1 : 0;
}

class DualPipeRun : public testing::TestWithParam<std::pair<std::int64_t, std::int64_t>> {};

TEST_P(DualPipeRun, IdlesForTheClosedForm) {
    const auto [stages, micro_batches] = GetParam();
    const Workload workload = build_workload(training_of(stages, micro_batches));
    std::vector<PricedWork> prices;
    for (const Work& work : workload.works) {
        PricedWork priced;
        if (units_of(work.name) > 0) priced.add({unit * units_of(work.name), {}});
        prices.push_back(priced);
    }
    const std::uint32_t ranks = workload.layout.rank_count();
    ClusterSpec spec;
    spec.hosts = (ranks + 7) / 8;
    const Cluster cluster = build_cluster(spec);
    std::vector<GpuId> gpus;
    for (std::uint32_t i = 0; i < ranks; ++i) gpus.push_back(GpuId{i});
    const Placement placement(gpus, cluster.gpu_count());
    DeviceProfile profile;
    profile.message_latency = {};
    profile.local_links = {{8, {}, Bandwidth{INT64_MAX}}};
    const Variation variation({}, 1, cluster.node_count());
    InstantNetwork network;
    const TrainingRunInputs inputs{workload, prices, cluster, placement, variation, profile, {}};
    const Timeline timeline = TrainingRun(inputs, network).run();
    const std::int64_t busy = 3 * micro_batches, idle = (stages / 2 - 1) * (3 + 2 - 3);
    EXPECT_EQ(timeline.end.value, (unit * (busy + idle)).value);
    for (const PartTimes& parts : timeline.parts) {
        const auto part = [&](Part which) { return parts[static_cast<std::size_t>(which)].value; };
        EXPECT_EQ(part(Part::compute), (unit * busy).value);
        EXPECT_EQ(part(Part::bubble) + part(Part::straggler_wait), (unit * idle).value);
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, DualPipeRun,
                         testing::Values(std::pair{2, 4}, std::pair{4, 8}, std::pair{8, 20}, std::pair{16, 32}));

}  // namespace
}  // namespace rehearse
