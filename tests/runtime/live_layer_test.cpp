// A layer with experts on two rank threads against its definition in double precision:
//     out_t = sum over the k chosen experts e of w_te y_e(x_t),   y_e(x) = (silu(g) u) W_down,  (g, u) = x W_up
// Wherever its experts stand, however its rows travel and its weights are paged, a layer gives the same.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/communicator/thread_ranks.hpp"
#include "runtime/live/expert_layer.hpp"
#include "runtime/live/live_pages.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

constexpr ExpertLayerShape shape{.tokens = 37, .hidden = 24, .experts = 6, .top_k = 2, .inner = 20, .slots = 3};
constexpr std::uint32_t ranks = 2;

float value_of(LiveElement element) { return kernels::to_float(element); }

void fill(std::span<LiveElement> values, std::uint64_t entity, double scale) {
    const Stream random(7, "test.live");
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = kernels::from_float<LiveElement>(static_cast<float>(scale * random.normal(entity, i)));
}

// Weights depend on the expert alone, so that a slot's do on what stands in it.
void set_up(ExpertLayer& layer, Communicator& group, const ExpertMap& map) {
    fill(layer.weights().gate, 1, 0.3);
    const std::uint32_t slots = layer.shape().slots;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
        const std::uint32_t expert = map.expert_of_slot()[group.rank() * slots + slot];
        const std::size_t up = layer.weights().up.size() / slots, down = layer.weights().down.size() / slots;
        fill(std::span(layer.weights().up).subspan(slot * up, up), 10 + expert, 0.3);
        fill(std::span(layer.weights().down).subspan(slot * down, down), 20 + expert, 0.3);
    }
    fill(layer.input(), 30 + group.rank(), 1.0);
    fill(layer.output_gradient(), 40 + group.rank(), 1.0);
    layer.place(map);
}

void forward(ExpertLayer& layer) {
    for (const char* op : {"gate", "top-k", "permute"}) layer.run(op);
    layer.dispatch();
    for (const char* op : {"expert up", "swiglu", "expert down"}) layer.run(op);
    layer.combine();
    layer.run("unpermute");
}

void backward(ExpertLayer& layer) {
    layer.run("unpermute backward");
    layer.dispatch();
    for (const char* op : {"expert down dgrad", "swiglu backward", "expert up dgrad"}) layer.run(op);
    layer.combine();
    for (const char* op : {"expert down wgrad", "expert up wgrad", "permute backward", "gate backward", "gate dgrad",
                           "gate wgrad"})
        layer.run(op);
}

std::vector<float> floats(std::span<const LiveElement> values) {
    std::vector<float> result;
    for (const LiveElement value : values) result.push_back(value_of(value));
    return result;
}

struct Expert {
    std::vector<LiveElement> up = std::vector<LiveElement>(24 * 40), down = std::vector<LiveElement>(20 * 24);
    explicit Expert(std::uint32_t number) {
        fill(up, 10 + number, 0.3);
        fill(down, 20 + number, 0.3);
    }
    // y and, along `direction`, how it changes when x does: both in double precision.
    std::vector<double> run(std::span<const double> x) const {
        std::vector<double> activated(20), y(24);
        for (std::size_t i = 0; i < 20; ++i) {
            double gate = 0, linear = 0;
            for (std::size_t h = 0; h < 24; ++h) {
                gate += x[h] * static_cast<double>(value_of(up[h * 40 + i]));
                linear += x[h] * static_cast<double>(value_of(up[h * 40 + 20 + i]));
            }
            activated[i] = gate / (1 + std::exp(-gate)) * linear;
        }
        for (std::size_t h = 0; h < 24; ++h) {
            for (std::size_t i = 0; i < 20; ++i) y[h] += activated[i] * static_cast<double>(value_of(down[i * 24 + h]));
        }
        return y;
    }
};

// The layer in double precision, for experts chosen as given.
class Reference {
public:
    Reference() : gate_(24 * 6) {
        fill(gate_, 1, 0.3);
        for (std::uint32_t e = 0; e < 6; ++e) experts_.emplace_back(e);
    }
    std::vector<double> logits(std::span<const double> x) const {
        std::vector<double> result(6);
        for (std::size_t e = 0; e < 6; ++e) {
            for (std::size_t h = 0; h < 24; ++h) result[e] += x[h] * static_cast<double>(value_of(gate_[h * 6 + e]));
        }
        return result;
    }
    static std::vector<std::size_t> best_two(const std::vector<double>& logits) {
        std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return logits[a] > logits[b]; });
        return {order[0], order[1]};
    }
    std::vector<double> run(std::span<const double> x, const std::vector<std::size_t>& chosen) const {
        const std::vector<double> all = logits(x);
        const double a = std::exp(all[chosen[0]]), b = std::exp(all[chosen[1]]);
        std::vector<double> out(24);
        for (const std::size_t e : chosen) {
            const std::vector<double> y = experts_[e].run(x);
            for (std::size_t h = 0; h < 24; ++h) out[h] += std::exp(all[e]) / (a + b) * y[h];
        }
        return out;
    }

private:
    std::vector<LiveElement> gate_;
    std::vector<Expert> experts_;
};

struct Results {
    std::vector<float> output[ranks], gradient[ranks];
};

// What a layer gives with its experts placed as in `map`; `run` runs the two passes.
template <class Run>
Results results_of(const ExpertMap& map, const Run& run) {
    Results results;
    run_thread_ranks(ranks, [&](Communicator& group) {
        kernels::CpuContext context;
        ExpertLayerShape here = shape;
        here.slots = map.slots_per_gpu();
        ExpertLayer layer(here, group, context);
        set_up(layer, group, map);
        run(layer, group);
        results.output[group.rank()] = floats(layer.output());
        results.gradient[group.rank()] = floats(layer.input_gradient());
    });
    return results;
}

Results plain(const ExpertMap& map) {
    return results_of(map, [](ExpertLayer& layer, Communicator&) {
        forward(layer);
        backward(layer);
    });
}

void expect_near(const std::vector<float>& values, const std::vector<float>& expected, float tolerance) {
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], expected[i], tolerance) << i;
}

// bf16 keeps 8 bits; rows pass through four roundings on the way.
constexpr double rounding = 0.03;

TEST(ExpertLayer, ForwardAndGradientMatchDoublePrecision) {
    const Results results = plain(ExpertMap::contiguous(6, ranks));
    const Reference reference;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        std::vector<LiveElement> input(37 * 24), gradient(37 * 24);
        fill(input, 30 + rank, 1.0);
        fill(gradient, 40 + rank, 1.0);
        for (std::size_t token = 0; token < 37; ++token) {
            std::vector<double> x, d;
            for (std::size_t h = 0; h < 24; ++h) {
                x.push_back(static_cast<double>(value_of(input[token * 24 + h])));
                d.push_back(static_cast<double>(value_of(gradient[token * 24 + h])));
            }
            const auto chosen = Reference::best_two(reference.logits(x));
            const std::vector<double> out = reference.run(x, chosen);
            double scale = 1;
            for (const double value : out) scale = std::max(scale, std::abs(value));
            for (std::size_t h = 0; h < 24; ++h)
                ASSERT_NEAR(static_cast<double>(results.output[rank][token * 24 + h]), out[h], rounding * scale);
            // d (out . d) / dx by central differences, the choice of experts held.
            for (std::size_t h = 0; h < 24; ++h) {
                constexpr double step = 1e-5;
                std::vector<double> plus = x, minus = x;
                plus[h] += step;
                minus[h] -= step;
                const std::vector<double> high = reference.run(plus, chosen), low = reference.run(minus, chosen);
                double slope = 0;
                for (std::size_t i = 0; i < 24; ++i) slope += d[i] * (high[i] - low[i]) / (2 * step);
                ASSERT_NEAR(static_cast<double>(results.gradient[rank][token * 24 + h]), slope,
                            4 * rounding * std::max(scale, std::abs(slope)))
                    << "rank " << rank << " token " << token << " feature " << h;
            }
        }
    }
}

// Experts 0 and 1 stand twice, on both ranks; the others anywhere.
TEST(ExpertLayer, PlacementDoesNotChangeResults) {
    const Results expected = plain(ExpertMap::contiguous(6, ranks));
    const Results replicated = plain(ExpertMap(6, ranks, {5, 0, 1, 3, 1, 4, 0, 2}));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        expect_near(replicated.output[rank], expected.output[rank], 1e-6f);
        expect_near(replicated.gradient[rank], expected.gradient[rank], 1e-6f);
    }
}

TEST(ExpertLayer, StreamedRowsGiveTheSame) {
    const Results expected = plain(ExpertMap::contiguous(6, ranks));
    for (const std::int64_t refills : {1, 3, 8, 1000}) {
        const StreamPolicy policy{refills, 0.6};
        const Results streamed = results_of(ExpertMap::contiguous(6, ranks), [&](ExpertLayer& layer, Communicator&) {
            for (int step = 0; step < 2; ++step) {  // a stream is opened again
                for (const char* op : {"gate", "top-k", "permute"}) layer.run(op);
                layer.dispatch_into("expert up", policy);
                for (const char* op : {"swiglu", "expert down"}) layer.run(op);
                layer.combine();
                layer.run("unpermute");
                layer.run("unpermute backward");
                layer.dispatch_into("expert down dgrad", policy);
                for (const char* op : {"swiglu backward", "expert up dgrad"}) layer.run(op);
                layer.combine();
                for (const char* op : {"permute backward", "gate backward", "gate dgrad"}) layer.run(op);
            }
        });
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            expect_near(streamed.output[rank], expected.output[rank], 0.02f);
            expect_near(streamed.gradient[rank], expected.gradient[rank], 0.05f);
        }
    }
}

// Pages hold less than an expert, or end within one; what is not there is NaN and would show.
TEST(ExpertLayer, PagedWeightsGiveTheSame) {
    const Results expected = plain(ExpertMap::contiguous(6, ranks));
    for (const std::int64_t page : {std::int64_t{700}, std::int64_t{2880}, std::int64_t{4000}}) {
        PagerPolicy policy;
        policy.active = Switch::on;
        policy.resident = 0.95;
        policy.spec.page = Bytes{page};
        const Results paged = results_of(ExpertMap::contiguous(6, ranks), [&](ExpertLayer& layer, Communicator&) {
            LivePages pages(policy, {&layer}, 1);
            for (int step = 0; step < 4; ++step) {
                pages.begin_step();
                for (const char* op : {"gate", "top-k", "permute"}) layer.run(op);
                layer.dispatch();
                pages.use(0, 1, PageAccess::read);
                for (const char* op : {"expert up", "swiglu", "expert down"}) layer.run(op);
                layer.combine();
                pages.release(0);
                layer.run("unpermute");
                layer.run("unpermute backward");
                layer.dispatch();
                pages.use(0, 1, PageAccess::write);
                for (const char* op : {"expert down dgrad", "swiglu backward", "expert up dgrad"}) layer.run(op);
                layer.combine();
                pages.release(0);
                for (const char* op : {"permute backward", "gate backward", "gate dgrad"}) layer.run(op);
                pages.end_step();
            }
            EXPECT_GT(pages.counters().loads, 0u);
        });
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            EXPECT_EQ(paged.output[rank], expected.output[rank]) << page;
            EXPECT_EQ(paged.gradient[rank], expected.gradient[rank]) << page;
        }
    }
}

}  // namespace
}  // namespace rehearse
