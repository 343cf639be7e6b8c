// The works of DualPipe: a pair runs what its forward and its backward run alone, exchanges come in DeepSeek's order
// and begin early where they may, messages of both lanes match.
#include <gtest/gtest.h>

#include "models/workload/moe/dual_work.hpp"
#include "models/workload/price.hpp"

namespace rehearse {
namespace {

TrainingSpec small_training() {
    TrainingSpec training;
    training.model = {.kind = ModelKind::moe, .layers = 8, .hidden = 512, .heads = 8, .head_size = 64, .ffn = 2048,
                      .vocab = 1024, .sequence = 256,
                      .experts = {.routed = 16, .shared = 1, .top_k = 4, .ffn = 256, .node_limit = 2,
                                  .dense_layers = 1},
                      .latent = {.query_rank = 128, .key_rank = 64, .rope = 32}};
    training.batch_global = 64;
    training.parallel.pipeline = 4;
    training.parallel.data = 8;
    training.parallel.expert = 8;
    training.parallel.zero = 1;
    training.parallel.schedule = PipelineSchedule::dual_pipe;
    training.technique.operators = OperatorSet::efficient;
    training.technique.overlap_pipeline = Switch::on;
    training.recompute = Recompute::selective;
    training.precision = TrainingPrecision::fp8;
    return training;
}

const ChunkPart first_chunk{{0, 2}, {.embedding = true}}, last_chunk{{6, 2}, {.head = true}};

Work work_of(DualWork kind) {
    static const TrainingSpec training = small_training();
    return dual_work(training, kind, first_chunk, kind == DualWork::pair ? last_chunk : first_chunk);
}

struct Totals {
    double products = 0, attention = 0, bytes = 0;
    std::int64_t exchanges = 0;
    friend Totals operator+(const Totals& a, const Totals& b) {
        return {a.products + b.products, a.attention + b.attention, a.bytes + b.bytes, a.exchanges + b.exchanges};
    }
};

Totals totals_of(const Work& work) {
    Totals totals;
    for (const Segment& segment : work.segments) {
        totals.exchanges += segment.collective.kind == LocalCollectiveKind::none ? 0 : 1;
        for (const Operator& op : segment.operators) {
            const std::int64_t product = op.batch * op.m * op.n * op.k;
            if (op.kind == OperatorKind::gemm) totals.products += 2.0 * static_cast<double>(product);
            if (op.kind == OperatorKind::attention) totals.attention += op.flops.value;
            if (op.kind == OperatorKind::memory) totals.bytes += op.bytes;
        }
    }
    return totals;
}

void expect_same(const Totals& a, const Totals& b) {
    EXPECT_DOUBLE_EQ(a.products, b.products);
    EXPECT_DOUBLE_EQ(a.attention, b.attention);
    EXPECT_DOUBLE_EQ(a.bytes, b.bytes);
    EXPECT_EQ(a.exchanges, b.exchanges);
}

TEST(PairedLayer, ABackwardIsItsInputGradientsAndItsWeightGradients) {
    const Totals whole = totals_of(work_of(DualWork::backward));
    expect_same(totals_of(work_of(DualWork::backward_input)) + totals_of(work_of(DualWork::weights)), whole);
    EXPECT_GT(whole.products, 1.9 * totals_of(work_of(DualWork::forward)).products);
}

TEST(PairedLayer, APairRunsWhatItsPassesRun) {
    const TrainingSpec training = small_training();
    const Totals forward = totals_of(dual_work(training, DualWork::forward, first_chunk, last_chunk));
    const Totals backward = totals_of(dual_work(training, DualWork::backward, first_chunk, last_chunk));
    expect_same(forward + backward, totals_of(work_of(DualWork::pair)));
}

TEST(PairedLayer, ExchangesComeInTheOrderOfTheTrace) {
    const TrainingSpec training = small_training();
    const ChunkPart chunk{{4, 2}, {}};
    const Work work = dual_work(training, DualWork::pair, chunk, chunk);
    std::vector<std::string> order;
    for (const Segment& segment : work.segments) {
        const LocalCollective& collective = segment.collective;
        if (collective.kind == LocalCollectiveKind::none) continue;
        EXPECT_EQ(collective.hiding, Hiding::under);
        std::string name = collective.kind == LocalCollectiveKind::dispatch ? "dispatch" : "combine";
        if (is_on(collective.exchange.cached)) name += " cached";
        order.push_back(name + " beside " + segment.operators[collective.partner].name);
    }
    const std::vector<std::string> layer{"dispatch cached beside norm", "dispatch beside mlp down dgrad",
                                         "combine cached beside cast along tokens",
                                         "combine cached beside gate backward"};
    ASSERT_EQ(order.size(), 8U);
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], layer[i % 4]);
}

// An exchange whose input is there earlier begins beside the weight gradients before it; its whole length stays.
TEST(PairedLayer, AnEarlyExchangeHidesUnderTheSegmentBefore) {
    Workload workload = build_workload(small_training());
    Operator op;
    op.bytes = 8e9;
    LocalCollective collective;
    collective.kind = LocalCollectiveKind::dispatch;
    collective.hiding = Hiding::under;
    collective.exchange = {4096, 4, 7168, 16, 2};
    Work work;
    work.segments = {{{op, op}, no_layer, collective}, {{op}, no_layer, collective}};
    work.segments[1].operators[0].bytes = 1e6;
    const DeviceProfile profile;
    const LocalFabric fabric{{}, {}, 8, gigabits_per_second(3200), {16, 2}};
    const auto exposed = [&](std::size_t early) {
        work.segments[1].collective.early = early;
        workload.works = {work};
        return price(workload, profile, fabric).front();
    };
    const PricedWork late = exposed(LocalCollective::not_early), soon = exposed(1);
    EXPECT_GT(late.segments[1].communication.value, 0);
    EXPECT_EQ(soon.segments[1].communication.value, 0);
    EXPECT_EQ(soon.segments[1].collective.value, late.segments[1].collective.value);
    EXPECT_GT(soon.segments[0].compute.value, late.segments[0].compute.value);
}

// Of a direction and lane, what a stage sends is what its neighbour receives, in the same order.
TEST(PairedLayer, MessagesOfBothLanesMatch) {
    const Workload workload = build_workload(small_training());
    const auto stages = static_cast<std::uint32_t>(workload.programs.size());
    const auto messages = [&](std::uint32_t stage, Op op, Direction direction, std::uint8_t lane) {
        std::vector<std::pair<Phase, std::uint32_t>> list;
        for (const Instruction& i : workload.programs[stage].instructions) {
            if (i.op == op && i.direction == direction && i.lane == lane) list.emplace_back(i.phase, i.micro_batch);
        }
        return list;
    };
    for (const std::uint8_t lane : std::initializer_list<std::uint8_t>{0, 1}) {
        for (std::uint32_t stage = 0; stage + 1 < stages; ++stage) {
            const auto sent = messages(stage, Op::send, Direction::to_next, lane);
            EXPECT_EQ(sent.size(), static_cast<std::size_t>(workload.training.micro_batches() / 2));
            EXPECT_EQ(sent, messages(stage + 1, Op::receive, Direction::to_previous, lane));
            EXPECT_EQ(messages(stage + 1, Op::send, Direction::to_previous, lane),
                      messages(stage, Op::receive, Direction::to_next, lane));
        }
    }
}

}  // namespace
}  // namespace rehearse
