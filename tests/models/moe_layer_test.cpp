// What a layer computes and sends: FLOPs of its products, bytes of its collectives against the formulas of
// MegaScale-MoE (EuroSys'26, section 3.1), and how collectives hide.
#include "models/workload/moe/moe_layer_builder.hpp"

#include <gtest/gtest.h>

#include <map>

#include "models/workload/flops.hpp"
#include "models/workload/price.hpp"
#include "models/workload/transformer.hpp"
#include "models/workload/volume.hpp"
#include "tests/models/moe_fixture.hpp"

namespace rehearse {
namespace {

double product_flops(const Work& work) {
    double flops = 0;
    for (const Segment& segment : work.segments) {
        for (const Operator& op : segment.operators) {
            if (op.kind == OperatorKind::gemm) flops += 2.0 * static_cast<double>(op.batch * op.m * op.n * op.k);
            flops += op.flops.value / 1.1;  // tiles across the diagonal
        }
    }
    return flops;
}

// A layer without head: per token 6 (active parameters of the layer) + 6 h s, over the eight ranks.
TEST(MoeLayer, ProductsAreTheModelsFlops) {
    for (TrainingSpec training : {moe_352b(), sequence_and_experts()}) {
        const double forward = product_flops(chunk_work(training, Phase::forward, {0, 60}, {}));
        const double backward = product_flops(chunk_work(training, Phase::backward, {0, 60}, {}));
        const double head = 6 * 4096.0 * 65536;
        const double per_rank = (model_flops_per_token(training, AttentionCount::windowed) - head) * 8192 / 8;
        EXPECT_NEAR((forward + backward) / per_rank, 1, 0.02);  // attention's backward has five products, not four
        EXPECT_NEAR(forward / per_rank, 1.0 / 3, 0.01);
    }
}

std::map<LocalCollectiveKind, double> sent(const TrainingSpec& training, Phase phase) {
    std::map<LocalCollectiveKind, double> bytes;
    for (const Segment& segment : chunk_work(training, phase, {0, 1}, {}).segments) {
        const LocalCollectiveKind kind = segment.collective.kind;
        bytes[kind] +=
            static_cast<double>(local_volume(segment.collective, training.parallel).sent_per_member.value);
    }
    return bytes;
}

// b = 1, s = 8,192, h = 4,096, n = 8, m = 4, k = 3, two bytes: 2 b s h (n-1)/n elements for tensor parallelism, times
// k / n for the exchange of rows. Sequence parallelism sends queries, keys and values once and the context back: 1 +
// 2/m and 1 elements of h for each of the rank's b s / n tokens.
TEST(MoeLayer, BytesOfTheForms) {
    const double tensor = 2 * 8192.0 * 4096 * 7 / 8 * 2;
    const auto by_heads = sent(moe_352b(), Phase::forward);
    EXPECT_NEAR(by_heads.at(LocalCollectiveKind::all_gather) + by_heads.at(LocalCollectiveKind::reduce_scatter),
                2 * tensor, 1);  // attention and experts
    const auto by_sequence = sent(sequence_and_experts(), Phase::forward);
    EXPECT_NEAR(by_sequence.at(LocalCollectiveKind::all_to_all), 2 * 8192.0 / 8 * 4096 * 7 / 8 * (1 + 2 / 4.0 + 1), 1);
    EXPECT_NEAR(by_sequence.at(LocalCollectiveKind::dispatch) + by_sequence.at(LocalCollectiveKind::combine),
                tensor * 3 / 8, 1);
    EXPECT_EQ(by_sequence.count(LocalCollectiveKind::all_gather), 0U);
}

// Selective recomputation dispatches once more and computes no product again.
TEST(MoeLayer, SelectiveRecomputationDispatchesAgain) {
    TrainingSpec training = sequence_and_experts();
    const Work kept = chunk_work(training, Phase::backward, {0, 1}, {});
    const double once = sent(training, Phase::backward).at(LocalCollectiveKind::dispatch);
    training.recompute = Recompute::selective;
    EXPECT_NEAR(sent(training, Phase::backward).at(LocalCollectiveKind::dispatch), 2 * once, 1);
    EXPECT_DOUBLE_EQ(product_flops(chunk_work(training, Phase::backward, {0, 1}, {})), product_flops(kept));
    training.recompute = Recompute::full;
    EXPECT_GT(product_flops(chunk_work(training, Phase::backward, {0, 1}, {})), 1.4 * product_flops(kept));
}

PricedWork priced(const TrainingSpec& training, Phase phase, ExpertLoads loads = {}) {
    Workload workload{training, RankLayout(training.parallel), {}, {}, {}, {}, {}, 0, 0};
    workload.experts.loads = std::move(loads);
    workload.works.push_back(chunk_work(training, phase, {0, 1}, {}));
    const LocalFabric fabric{{8, 1}, {1, 1}, 8, gigabits_per_second(8 * 400), {8, 1}};
    DeviceProfile profile;
    profile.gather_multiprocessors = {0};
    return price(workload, profile, fabric).front();
}

TEST(MoeLayer, EachKindOfOverlapExposesLess) {
    for (const Phase phase : {Phase::forward, Phase::backward}) {
        TrainingSpec training = sequence_and_experts();
        const double blocking = priced(training, phase).communication().seconds();
        training.technique.overlap_operators = Switch::on;
        const double beside = priced(training, phase).communication().seconds();
        training.technique.overlap_tiles = Switch::on;
        const double tiles = priced(training, phase).communication().seconds();
        EXPECT_LT(beside, 0.7 * blocking);
        EXPECT_LT(tiles, 0.5 * beside);
        EXPECT_GE(tiles, 0);
    }
}

// All tokens of eight ranks are as many rows as eight experts per token make: beyond six or so, where copies without
// reordering are faster, they are gathered.
TEST(MoeLayer, ManyExpertsPerTokenAreGathered) {
    TrainingSpec training = sequence_and_experts();
    const auto exchanged = [&](ExchangeChoice choice) {
        training.technique.exchange = choice;
        double exposed = 0;
        for (const PricedSegment& segment : priced(training, Phase::forward).segments)
            exposed += segment.part == Part::ep_exposed ? segment.communication.seconds() : 0;
        return exposed;
    };
    for (const std::int64_t k : {2, 12}) {
        training.model.experts.top_k = k;
        const double direct = exchanged(ExchangeChoice::direct), gather = exchanged(ExchangeChoice::gather);
        EXPECT_EQ(direct < gather, k == 2);
        EXPECT_DOUBLE_EQ(exchanged(ExchangeChoice::fastest), std::min(direct, gather));
        EXPECT_GT(exchanged(ExchangeChoice::ring), direct);
    }
}

// A stream exposes its first part alone while the products last longer than the rest.
TEST(MoeLayer, AStreamExposesItsFirstPart) {
    TrainingSpec training = sequence_and_experts();
    training.model.experts.shared = 0;
    const auto exchanged = [&] {
        double exposed = 0;
        for (const PricedSegment& segment : priced(training, Phase::forward).segments)
            exposed += segment.part == Part::ep_exposed ? segment.communication.seconds() : 0;
        return exposed;
    };
    const double blocking = exchanged();
    for (const double first : {0.1, 0.3}) {
        training.technique.stream_first = first;
        EXPECT_NEAR(exchanged() / blocking, first, 1e-6);
    }
}

// One rank with half as many rows again: it computes longer, the others less, their mean stays.
TEST(MoeLayer, UnequalLoadsMakeUnequalMembers) {
    LayerLoad load;
    load.ranks = 8;
    load.slots = 4;
    load.rows.assign(32, 0.25f);
    const auto members = [&] {
        const PricedWork work = priced(sequence_and_experts(), Phase::forward, {load});
        std::vector<double> sums(8);
        for (const PricedSegment& segment : work.segments) {
            for (std::size_t i = 0; segment.members != PricedSegment::no_members && i < 8; ++i)
                sums[i] += work.of_member[segment.members][i].seconds();
        }
        return sums;
    };
    const std::vector<double> equal = members();
    for (const double time : equal) EXPECT_NEAR(time / equal[0], 1, 1e-9);
    load.rows[0] = 0.75f;
    load.rows[4] = 0;
    load.rows[5] = 0;
    const std::vector<double> unequal = members();
    // What does not grow with the rows (shared expert, gate, the experts' weights) takes about a third.
    EXPECT_GT(unequal[0] / equal[0], 1.3);
    EXPECT_LT(unequal[0] / equal[0], 1.5);
    EXPECT_GT(unequal[1] / equal[1], 0.5);
    EXPECT_LT(unequal[1] / equal[1], 0.7);
    EXPECT_DOUBLE_EQ(unequal[2], equal[2]);
}

// Members with times of their own are run together also where no collective is exposed: each needs its own.
TEST(MoeLayer, UnequalMembersAreRunTogether) {
    PricedWork work;
    work.add({microseconds(1), {}});
    EXPECT_FALSE(work.meets());
    PricedSegment own{microseconds(1), {}};
    own.members = 0;
    work.of_member.push_back({microseconds(1), microseconds(2)});
    work.add(own);
    EXPECT_TRUE(work.meets());
}

}  // namespace
}  // namespace rehearse
