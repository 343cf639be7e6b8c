// Ring attention in closed form. A rank holds n = b s / c tokens and h / t columns. Forward it sends 2 x 2 n h / t
// bytes (keys and values) c - 1 times, backward twice that. With a the attention of one of c equal steps, e one
// exchange, r the rest of the layer and no multiprocessors taken by communication, a pass of one layer lasts
//     r + a + (c - 1) max(a, e).
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "models/compute/cost.hpp"
#include "models/workload/price.hpp"
#include "models/workload/transformer.hpp"

namespace rehearse {
namespace {

constexpr double batch = 2, hidden = 1024, heads = 8, sequence = 8192, tensor = 2, head_size = hidden / heads;

struct Case {
    OperatorSet operators;
    Phase phase;
    std::int64_t context;
    double tensors() const { return phase == Phase::forward ? 2 : 4; }
    double tokens() const { return batch * sequence / static_cast<double>(context); }
    double exchange_bytes() const { return tensors() * 2 * tokens() * hidden / tensor; }
    double exchanges() const { return static_cast<double>(context - 1); }
};

std::string label(const testing::TestParamInfo<Case>& row) {
    return std::string(row.param.operators == OperatorSet::efficient ? "fused" : "materialised") +
           (row.param.phase == Phase::forward ? "Forward" : "Backward") + std::to_string(row.param.context);
}

DeviceProfile device() {
    DeviceProfile profile;
    profile.communication_multiprocessors = {0};
    return profile;
}

// So fast a link that one exchange takes so many seconds.
DeviceProfile with_exchange(DeviceProfile profile, const Case& shape, double seconds) {
    profile.local_links = {{8, {}, Bandwidth{static_cast<std::int64_t>(8 * shape.exchange_bytes() / seconds)}}};
    return profile;
}

enum class Attention : std::uint8_t { kept, removed };

// One layer without its tensor group: the exchange is all there is to communicate.
PricedWork layer(const Case& shape, const DeviceProfile& profile, Attention attention = Attention::kept) {
    TrainingSpec training;
    training.model = {.layers = 1, .hidden = 1024, .heads = 8, .ffn = 0, .vocab = 32000, .sequence = 8192};
    training.micro_batch = 2;
    training.parallel.tensor = 2;
    training.parallel.context = shape.context;
    training.technique.operators = shape.operators;
    Workload workload{training, RankLayout(training.parallel), {}, {}, {}, {}, {}, 0, 0};
    workload.works.push_back(chunk_work(training, shape.phase, {0, 1}, {}));
    if (attention == Attention::removed) {
        const std::set<std::string> names{"flash attention", "flash attention backward", "scores", "softmax", "context",
                                          "softmax backward", "dv", "dp", "dq", "dk"};
        for (Segment& segment : workload.works.front().segments)
            std::erase_if(segment.operators, [&](const Operator& op) { return names.contains(op.name); });
    }
    LocalFabric fabric;
    fabric.context.size = static_cast<std::uint32_t>(shape.context);
    return price(workload, profile, fabric).front();
}

double seconds(const PricedWork& work) { return (work.compute() + work.communication()).seconds(); }

// Attention of one step, from the operator costs: s / c rows and columns of scores.
double step_seconds(const Case& shape, const DeviceProfile& profile) {
    const bool forward = shape.phase == Phase::forward;
    if (shape.operators == OperatorSet::efficient) {
        const double flops = (forward ? 1 : 2.5) * 1.1 * 4 * shape.tokens() * hidden / tensor * sequence / 2 /
                             static_cast<double>(shape.context);
        return attention_seconds(profile, "", flops, 2 * shape.tokens() * (forward ? 4 : 8) * hidden / tensor,
                                 forward ? 1 : 2, forward ? Ratio{1} : profile.attention_backward);
    }
    const auto rows = static_cast<std::int64_t>(sequence) / shape.context;
    const auto products = static_cast<std::int64_t>(batch * heads / tensor);
    const double scores = gemm_seconds(profile, {products, rows, rows, static_cast<std::int64_t>(head_size), 2, 1});
    const double context = gemm_seconds(profile, {products, rows, static_cast<std::int64_t>(head_size), rows, 2, 1});
    const double elements = static_cast<double>(products * rows * rows);
    return forward ? scores + memory_seconds(profile, "", 4 * elements, 1) + context
                   : memory_seconds(profile, "", 6 * elements, 1) + 4 * context;
}

class RingAttention : public testing::TestWithParam<Case> {};

TEST_P(RingAttention, ExposesWhatExceedsTheAttentionOfAStep) {
    const Case shape = GetParam();
    const double a = step_seconds(shape, device());
    const double free = seconds(layer(shape, with_exchange(device(), shape, a * 1e-6)));
    for (const double ratio : {0.5, 0.9, 1.5, 4.0}) {
        const PricedWork work = layer(shape, with_exchange(device(), shape, a * ratio));
        const double exposed = shape.exchanges() * std::max(0.0, ratio - 1) * a;
        EXPECT_NEAR(work.communication().seconds(), exposed, 1e-6 * a + 1e-11) << ratio;
        EXPECT_NEAR(seconds(work), free + exposed, 1e-6 * a + 1e-11) << ratio;
    }
}

// While an exchange runs, the operators beside it miss the multiprocessors that it takes.
TEST_P(RingAttention, AHiddenExchangeTakesItsMultiprocessors) {
    const Case shape = GetParam();
    const double a = step_seconds(shape, device());
    DeviceProfile profile = with_exchange(device(), shape, a / 2);
    const double free = seconds(layer(shape, profile));
    profile.communication_multiprocessors = {0.2};
    EXPECT_NEAR(seconds(layer(shape, profile)), free + shape.exchanges() * 0.2 * a / 2, 1e-6 * a + 1e-11);
}

// Attention and everything else negligible: the exchanges alone remain, (c - 1) e.
TEST_P(RingAttention, WithoutAttentionOnlyTheExchangesRemain) {
    const Case shape = GetParam();
    DeviceProfile profile = device();
    profile.peak = {1e21};
    profile.memory = Bandwidth{INT64_MAX};
    profile.kernel_overhead = {};
    const double e = 1.0;
    EXPECT_NEAR(seconds(layer(shape, with_exchange(profile, shape, e))), shape.exchanges() * e, 1e-3);
}

// Exchange negligible: nothing is exposed, and beside the rest of the layer there are c steps of attention.
TEST_P(RingAttention, WithoutExchangeOnlyTheAttentionRemains) {
    const Case shape = GetParam();
    const double a = step_seconds(shape, device());
    const DeviceProfile profile = with_exchange(device(), shape, a * 1e-6);
    const PricedWork work = layer(shape, profile);
    EXPECT_EQ(work.communication().value, 0);
    const double rest = layer(shape, profile, Attention::removed).compute().seconds();
    EXPECT_NEAR(seconds(work), rest + static_cast<double>(shape.context) * a, 1e-6 * a + 1e-11);
}

// Beyond the node each rank sends through its own NIC: message latency + bytes / (node's NICs / its ranks, as far as
// the library reaches their rate).
TEST(ContextExchange, BeyondTheNodeUsesTheNicOfEachRank) {
    const Case shape{OperatorSet::efficient, Phase::forward, 4};
    Work work;
    work.segments.emplace_back().collective = {LocalCollectiveKind::ring_exchange, shape.exchange_bytes(),
                                               Hiding::none, 0};
    Workload workload{{}, RankLayout({}), {}, {work}, {}, {}, {}, 0, 0};
    DeviceProfile profile;
    profile.network_efficiency = {0.8};
    profile.message_latency = microseconds(10);
    const LocalFabric fabric{{}, {4, 2}, 8, gigabits_per_second(8 * 200)};
    EXPECT_NEAR(seconds(price(workload, profile, fabric).front()), 10e-6 + shape.exchange_bytes() / (25e9 * 0.8),
                1e-11);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RingAttention,
    testing::Values(Case{OperatorSet::efficient, Phase::forward, 2}, Case{OperatorSet::efficient, Phase::forward, 8},
                    Case{OperatorSet::efficient, Phase::backward, 4}, Case{OperatorSet::fused, Phase::forward, 2},
                    Case{OperatorSet::fused, Phase::forward, 8}, Case{OperatorSet::fused, Phase::backward, 4}),
    label);

}  // namespace
}  // namespace rehearse
