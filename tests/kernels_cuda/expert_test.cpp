// Products, experts and rows still arriving, on a GPU against fp64 references.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/cuda/expert_ffn.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/partial_ffn.hpp"
#include "tests/kernels_cuda/on_device.hpp"

namespace rehearse::kernels::test {
namespace {

using namespace kernels::cuda;

class Products : public OnDevice {
protected:
    template <class T, class Out>
    void check(const Extents& e) {
        const auto a = drawn<T>("a", e.m * e.k), b = drawn<T>("b", e.k * e.n);
        const auto before = drawn<Out>("c", e.m * e.n);
        const auto a_there = put(a), b_there = put(b);
        for (const Transposed transposed : {Transposed::none, Transposed::left, Transposed::right}) {
            const bool left = transposed == Transposed::left, right = transposed == Transposed::right;
            for (const Write write : {Write::replace, Write::accumulate}) {
                const bool adds = write == Write::accumulate;
                const auto c = adds ? put(before) : put_poisoned<Out>(e.m * e.n);
                gemm<T, Out>(context(), {a_there.span(), left ? e.k : e.m, left ? e.m : e.k},
                             {b_there.span(), right ? e.n : e.k, right ? e.k : e.n}, {c.span(), e.m, e.n}, transposed,
                             write);
                const ExactGemm exact{e.m, e.n, e.k, left, right};
                expect_close<Out>(get(c), [&](std::int64_t i) {
                    Exact sum = exact.at(a.data(), b.data(), i / e.n, i % e.n);
                    if (adds) sum.add(to_float(before[static_cast<std::size_t>(i)]));
                    return sum;
                });
            }
        }
    }
};

TEST_F(Products, ThreeForms) {
    for (const Extents& e : {Extents{1, 1, 1}, {3, 17, 5}, {127, 3, 129}, {64, 96, 128}}) {
        check<float, float>(e), check<Bf16, Bf16>(e), check<Bf16, float>(e), check<Fp16, Fp16>(e);
    }
}

template <class T>
struct Layer {
    std::vector<std::int32_t> counts;
    std::int64_t h, i, e = static_cast<std::int64_t>(counts.size()),
                       rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    std::vector<T> x = drawn<T>("x", rows * h), w_up = drawn<T>("up", e * h * 2 * i),
                   w_down = drawn<T>("down", e * i * h);
    std::int64_t expert_of(std::int64_t row) const {
        std::int64_t expert = 0;
        while (row >= counts[static_cast<std::size_t>(expert)]) row -= counts[expert++];
        return expert;
    }
};

class ExpertsOnDevice : public OnDevice {
protected:
    // Each stage against the fp64 product of what the stage before really gave.
    template <class T>
    void check(const Layer<T>& l, const ExpertMethods& methods) {
        const auto x = put(l.x), w_up = put(l.w_up), w_down = put(l.w_down);
        const auto up = put_poisoned<T>(l.rows * 2 * l.i), activated = put_poisoned<T>(l.rows * l.i),
                   y = put_poisoned<T>(l.rows * l.h);
        const ExpertWeights<T> weights{{w_up.span(), l.e, l.h, 2 * l.i}, {w_down.span(), l.e, l.i, l.h}};
        const ExpertActivations<T> kept{{up.span(), l.rows, 2 * l.i}, {activated.span(), l.rows, l.i}};
        expert_ffn<T>(context(), methods, l.counts, {x.span(), l.rows, l.h}, weights, kept, {y.span(), l.rows, l.h});
        const auto up_here = get(up), activated_here = get(activated);
        expect_close<T>(up_here, [&](std::int64_t at) {
            const std::int64_t n = 2 * l.i, row = at / n;
            return ExactGemm{l.rows, n, l.h}.at(l.x.data(), &l.w_up[l.expert_of(row) * l.h * n], row, at % n);
        });
        expect_close<T>(activated_here, [&](std::int64_t at) {
            const std::int64_t first = at / l.i * 2 * l.i + at % l.i;
            const double g = to_float(up_here[first]), u = to_float(up_here[first + l.i]);
            Exact value;
            value.add(g / (1 + std::exp(-g)) * u);
            return value;
        });
        expect_close<T>(get(y), [&](std::int64_t at) {
            const std::int64_t row = at / l.h;
            return ExactGemm{l.rows, l.h, l.i}.at(activated_here.data(), &l.w_down[l.expert_of(row) * l.i * l.h], row,
                                                  at % l.h);
        });
    }
};

TEST_F(ExpertsOnDevice, BothMethodsGiveTheNetwork) {
    const auto one = GroupedMethod::one_call;
    for (const ExpertMethods& methods : {ExpertMethods{}, ExpertMethods{one, one, one, one}}) {
        check(Layer<float>{{3, 0, 17}, 5, 7}, methods);
        check(Layer<Bf16>{{0, 129, 1}, 40, 24}, methods), check(Layer<Bf16>{{300, 20}, 64, 48}, methods);
        check(Layer<Fp16>{{0, 129, 1}, 40, 24}, methods);
    }
}

TEST_F(ExpertsOnDevice, GradientsOfWeightsAreSummedInFp32) {
    const Layer<Bf16> l{{5, 0, 12}, 24, 16};
    const auto x = put(l.x), d_y = put(drawn<Bf16>("dy", l.rows * l.i));
    const auto d_w = put_poisoned<float>(l.e * l.h * l.i);
    grouped_weight_gradient<Bf16>(context(), l.counts, {x.span(), l.rows, l.h}, {d_y.span(), l.rows, l.i},
                                  {d_w.span(), l.e, l.h, l.i}, Write::replace);
    const auto gradient = get(d_y);
    expect_close<float>(get(d_w), [&](std::int64_t at) {
        Exact sum;
        for (std::int64_t row = 0; row < l.rows; ++row) {
            if (l.expert_of(row) != at / (l.h * l.i)) continue;
            sum.add(double{to_float(l.x[row * l.h + at / l.i % l.h])} * to_float(gradient[row * l.i + at % l.i]));
        }
        return sum;
    });
}

// The input is NaN until another stream copies a tile and marks it. In round 0 all is there before the work is
// enqueued: kernels and workspaces are loaded at their first use, and that waits for the device.
TEST_F(ExpertsOnDevice, AnyOrderOfArrivalGivesTheSameBits) {
    const Layer<float> l{{700, 0, 3, 1100, 256}, 64, 48};
    const auto x = put(l.x), w_up = put(l.w_up), w_down = put(l.w_down);
    const ExpertWeights<float> weights{{w_up.span(), l.e, l.h, 2 * l.i}, {w_down.span(), l.e, l.i, l.h}};
    const auto up = put_poisoned<float>(l.rows * 2 * l.i), activated = put_poisoned<float>(l.rows * l.i);
    const ExpertActivations<float> kept{{up.span(), l.rows, 2 * l.i}, {activated.span(), l.rows, l.i}};
    const DeviceStream receiver;
    std::vector<float> first;
    for (std::uint64_t round = 0; round < 8; ++round) {
        const auto arriving = put_poisoned<float>(l.rows * l.h), y = put_poisoned<float>(l.rows * l.h);
        cuda::ReadyTiles ready(context(), l.counts);
        std::vector<std::int64_t> order(static_cast<std::size_t>(ready.tiles()));
        std::iota(order.begin(), order.end(), 0);
        const Stream stream(seed(), "order");
        std::sort(order.begin(), order.end(), [&](auto a, auto b) {
            return stream.uniform(round, static_cast<std::uint64_t>(a)) <
                   stream.uniform(round, static_cast<std::uint64_t>(b));
        });
        const auto enqueue = [&] {
            expert_ffn_partial<float>(context(), ready, {arriving.span(), l.rows, l.h}, weights, kept,
                                      {y.span(), l.rows, l.h});
        };
        if (round > 0) enqueue();
        for (const std::int64_t index : order) {
            const RowTile& tile = ready.tile(index);
            const auto at = static_cast<std::size_t>(tile.first_row * l.h);
            REHEARSE_CUDA(cudaMemcpyAsync(arriving.data() + at, x.data() + at,
                                          static_cast<std::size_t>(tile.rows * l.h) * sizeof(float),
                                          cudaMemcpyDeviceToDevice, receiver.get()));
            ready.mark(index, receiver.get());
        }
        receiver.wait_on_host();
        if (round == 0) enqueue();
        const auto result = get(y);
        for (const float value : result) ASSERT_FALSE(std::isnan(value));
        if (round == 0) first = result;
        ASSERT_EQ(std::memcmp(result.data(), first.data(), result.size() * sizeof(float)), 0) << "order " << round;
    }
}

}  // namespace
}  // namespace rehearse::kernels::test
