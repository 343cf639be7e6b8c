// The simulated step against closed forms. With equal stages (forward f, backward g per chunk), no jitter and a network
// that costs nothing, a pipeline of p stages, v chunks and m micro-batches takes
//     v m (f + g) + (p - 1) (f + g):  the bubble is (p - 1) / (v m) of the ideal v m (f + g).
#include "runtime/training_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/runtime/instant_network.hpp"

namespace rehearse {
namespace {

constexpr SimDuration forward_time = picoseconds(8'765'432'101), backward_time = picoseconds(17'654'321'003);

struct Shape {
    std::int64_t tensor, pipeline, chunks, data, micro_batches;
    Switch overlap;
};

TrainingSpec training_of(const Shape& shape) {
    TrainingSpec spec;
    spec.model = {.layers = shape.pipeline * shape.chunks, .hidden = 64, .heads = 8, .ffn = 0, .vocab = 128,
                  .sequence = 32};
    spec.parallel.tensor = shape.tensor;
    spec.parallel.pipeline = shape.pipeline;
    spec.parallel.virtual_stages = shape.chunks;
    spec.parallel.data = shape.data;
    spec.batch_global = shape.micro_batches * shape.data;
    spec.technique.overlap_pipeline = shape.overlap;
    return spec;
}

// Forward and backward of every chunk cost the same on every stage; all else is free.
std::vector<PricedWork> equal_prices(const Workload& workload) {
    std::vector<PricedWork> prices;
    for (const Work& work : workload.works) {
        PricedWork priced;
        if (work.name == "forward") priced.add({forward_time, {}});
        if (work.name == "backward") priced.add({backward_time, {}});
        prices.push_back(priced);
    }
    return prices;
}

struct Step {
    explicit Step(const TrainingSpec& spec, const VariationSpec& variation_spec = {}, std::uint64_t seed = 1)
        : workload(build_workload(spec)),
          prices(equal_prices(workload)),
          cluster(make_cluster(workload.layout.rank_count())),
          placement(first_gpus(workload.layout.rank_count()), cluster.gpu_count()),
          variation(variation_spec, seed, cluster.node_count()) {
        profile.message_latency = {};
        profile.local_links = {{8, {}, Bandwidth{INT64_MAX}}};
    }
    static Cluster make_cluster(std::uint32_t ranks) {
        ClusterSpec spec;
        spec.hosts = (ranks + 7) / 8;
        return build_cluster(spec);
    }
    static std::vector<GpuId> first_gpus(std::uint32_t ranks) {
        std::vector<GpuId> gpus;
        for (std::uint32_t i = 0; i < ranks; ++i) gpus.push_back(GpuId{i});
        return gpus;
    }
    Timeline run(const std::vector<RankId>& sampled = {}) {
        InstantNetwork network;
        return TrainingRun({workload, prices, cluster, placement, variation, profile, sampled}, network).run();
    }
    Workload workload;
    std::vector<PricedWork> prices;
    Cluster cluster;
    Placement placement;
    Variation variation;
    DeviceProfile profile;
};

class PipelineBubble : public testing::TestWithParam<Shape> {};

TEST_P(PipelineBubble, MatchesTheClosedFormToThePicosecond) {
    const Shape shape = GetParam();
    const Timeline timeline = Step(training_of(shape)).run();
    const std::int64_t units = shape.chunks * shape.micro_batches + shape.pipeline - 1;
    EXPECT_EQ((timeline.end - SimTime{}).value, ((forward_time + backward_time) * units).value);
}

TEST_P(PipelineBubble, EveryRanksPartsAddUpToTheStep) {
    const Timeline timeline = Step(training_of(GetParam())).run();
    for (const PartTimes& parts : timeline.parts) {
        const SimDuration sum = std::accumulate(parts.begin(), parts.end(), SimDuration{});
        EXPECT_EQ(sum.value, timeline.end.value);
        EXPECT_EQ(parts[static_cast<std::size_t>(Part::compute)].value,
                  ((forward_time + backward_time) * (GetParam().chunks * GetParam().micro_batches)).value);
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, PipelineBubble,
                         testing::Values(Shape{1, 4, 1, 1, 8, Switch::on}, Shape{8, 8, 6, 1, 32, Switch::on},
                                         Shape{2, 4, 2, 3, 8, Switch::on}, Shape{8, 8, 6, 1, 8, Switch::on},
                                         Shape{1, 2, 3, 2, 6, Switch::on}));

// One batched exchange per unit keeps the stages in step: 1F1B in lock-step costs no more than the closed form when
// p = 1, and never less than it.
TEST(TrainingRun, CoupledExchangeIsNeverFaster) {
    for (const std::int64_t p : {1, 2, 4, 8}) {
        const Shape coupled{1, p, p > 1 ? 2 : 1, 1, 8, Switch::off}, decoupled{1, p, p > 1 ? 2 : 1, 1, 8, Switch::on};
        const SimTime slow = Step(training_of(coupled)).run().end, fast = Step(training_of(decoupled)).run().end;
        EXPECT_GE(slow, fast);
        if (p == 1) {
            EXPECT_EQ(slow, fast);
        }
    }
}

// The host's fixed time H of a step belongs to the optimizer step, and no time is left without a name.
TEST(TrainingRun, HostTimeOfAStepCountsAsOptimizer) {
    Step step(training_of({2, 2, 1, 2, 4, Switch::off}));
    for (const Program& program : step.workload.programs) {
        const auto first = std::find_if(program.instructions.begin(), program.instructions.end(),
                                        [](const Instruction& i) { return i.op == Op::work; });
        step.prices[first->index].add({milliseconds(500), {}});
    }
    const Timeline timeline = step.run();
    for (const PartTimes& parts : timeline.parts) {
        EXPECT_EQ(parts[static_cast<std::size_t>(Part::optimizer)].value, milliseconds(500).value);
        EXPECT_EQ(parts[static_cast<std::size_t>(Part::other)].value, 0);
    }
}

TEST(TrainingRun, IsAFunctionOfItsSeed) {
    VariationSpec variation;
    variation.jitter = {0.05};
    variation.host_tail_share = {0.5};
    variation.host_tail_slowdown = {0.1};
    const TrainingSpec spec = training_of({2, 4, 2, 3, 8, Switch::on});
    const Timeline first = Step(spec, variation, 7).run(), again = Step(spec, variation, 7).run();
    EXPECT_EQ(first.fingerprint, again.fingerprint);
    EXPECT_EQ(first.end, again.end);
    EXPECT_NE(first.fingerprint, Step(spec, variation, 8).run().fingerprint);
}

TEST(TrainingRun, ASlowHostSlowsTheStepByItsShare) {
    VariationSpec variation;
    variation.slow_host_share = {1e-9};  // at least one host
    variation.slow_host_slowdown = {0.10};
    const TrainingSpec spec = training_of({8, 1, 1, 4, 16, Switch::on});  // four hosts, no pipeline: one replica each
    const double base = Step(spec).run().end.seconds(), slow = Step(spec, variation).run().end.seconds();
    EXPECT_NEAR(slow / base, 1.10, 1e-6);
}

TEST(TrainingRun, ALostMessageIsReportedNotWaitedForForEver) {
    class Black : public InstantNetwork {
    public:
        FlowId start(SimTime, const TransferRequest&) override { return FlowId{0}; }
    };
    Step step(training_of({1, 4, 1, 1, 8, Switch::on}));
    Black network;
    const TrainingRunInputs inputs{step.workload, step.prices,  step.cluster, step.placement,
                                   step.variation, step.profile, {}};
    try {
        TrainingRun(inputs, network).run();
        FAIL() << "the step ended without its messages";
    } catch (const InvariantBroken& error) {
        EXPECT_NE(std::string(error.what()).find("deadlock: 4 of 4 ranks are blocked"), std::string::npos)
            << error.what();
        EXPECT_NE(std::string(error.what()).find("rank 1 at instruction 2 waits for a message"), std::string::npos);
    }
}

// The spans of a rank are disjoint on each stream and add up to its parts, less the waiting for the last rank. Every
// pass of a tensor group communicates for 3 ns, twice: that is its own span on the stream `tensor`.
TEST(Timeline, ShowsExposedTensorCommunicationAsItsOwnSpans) {
    VariationSpec uneven;
    uneven.jitter = Ratio{0.05};
    Step step(training_of({2, 2, 2, 2, 4, Switch::off}), uneven);
    const SimDuration exposed = picoseconds(3'000);
    for (std::size_t i = 0; i < step.prices.size(); ++i) {
        const std::string& name = step.workload.works[i].name;
        if (name != "forward" && name != "backward") continue;
        step.prices[i] = {};
        for (int part = 0; part < 2; ++part) step.prices[i].add({picoseconds(70'000), exposed});
        step.prices[i].add({picoseconds(50'000), {}});
    }
    const Timeline timeline = step.run({RankId{0}, RankId{5}});
    for (const std::uint32_t rank : {0u, 5u}) {
        PartTimes sums{};
        std::array<SimTime, 4> ends{};
        std::size_t collectives = 0;
        for (const Span& span : timeline.spans) {
            if (span.rank.value != rank) continue;
            sums[static_cast<std::size_t>(span.part)] += span.end - span.begin;
            SimTime& end = ends[static_cast<std::size_t>(span.stream)];
            EXPECT_LE(end, span.begin);
            end = span.end;
            EXPECT_EQ(span.part == Part::compute || span.part == Part::optimizer, span.stream == SpanStream::compute);
            if (span.part != Part::tp_exposed) continue;
            EXPECT_EQ(span.stream, SpanStream::tensor);
            EXPECT_EQ((span.end - span.begin).value, exposed.value);
            ++collectives;
        }
        EXPECT_EQ(collectives, 2 * 2 * 2 * 4U);  // of forward and backward, of each chunk and micro-batch
        for (std::size_t part = 0; part < part_count; ++part) {
            if (static_cast<Part>(part) == Part::straggler_wait) continue;
            EXPECT_EQ(sums[part].value, timeline.parts[rank][part].value) << name(static_cast<Part>(part));
        }
        const auto waited = static_cast<std::size_t>(Part::straggler_wait);
        EXPECT_GT(sums[waited].value, 0);
        EXPECT_LE(sums[waited].value, timeline.parts[rank][waited].value);
    }
}

}  // namespace
}  // namespace rehearse
