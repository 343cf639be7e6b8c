// Gate, route, permutation, combination, element-wise kernels and attention on a GPU against fp64 references.
#include <algorithm>
#include <numeric>

#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/kernels.hpp"
#include "tests/kernels_cuda/on_device.hpp"

namespace rehearse::kernels::test {
namespace {

using namespace kernels::cuda;

class Movement : public OnDevice {};

TEST_F(Movement, GateAgreesWithAFullSort) {
    for (const auto& [tokens, experts, top_k] : {std::tuple{1, 1, 1}, {17, 3, 3}, {127, 64, 8}, {33, 257, 6}}) {
        const auto logits = drawn<float>("logits", tokens * experts), bias = drawn<float>("bias", experts);
        const auto there = put(logits), bias_there = put(bias);
        const auto chosen = put_poisoned<std::int32_t>(tokens * top_k);
        const auto weights = put_poisoned<float>(tokens * top_k);
        select_experts(context(), {there.span(), tokens, experts}, bias_there.span(),
                       {{chosen.span(), tokens, top_k}, {weights.span(), tokens, top_k}});
        const auto experts_here = get(chosen);
        const auto weights_here = get(weights);
        for (int t = 0; t < tokens; ++t) {
            std::vector<int> order(static_cast<std::size_t>(experts));
            std::iota(order.begin(), order.end(), 0);
            const float* const logit = &logits[static_cast<std::size_t>(t * experts)];
            std::stable_sort(order.begin(), order.end(),
                             [&](int a, int b) { return logit[a] + bias[a] > logit[b] + bias[b]; });
            double total = 0;
            for (int k = 0; k < top_k; ++k) total += std::exp(double{logit[order[k]]});
            for (int k = 0; k < top_k; ++k) {
                ASSERT_EQ(experts_here[t * top_k + k], order[k]);
                ASSERT_NEAR(weights_here[t * top_k + k], std::exp(double{logit[order[k]]}) / total, 1e-5);
            }
        }
    }
}

// There and back: rows by expert, then the weighted sum of what stands there, and both gradients.
template <class T>
struct Round {
    std::int64_t tokens, experts, hidden, top_k, slots = tokens * top_k;
    std::vector<T> x = drawn<T>("x", tokens * hidden), rows = drawn<T>("rows", slots * hidden);
    std::vector<float> weights = drawn<float>("weights", slots);
    std::vector<std::int32_t> chosen = [this] {
        std::vector<std::int32_t> drawn_experts(static_cast<std::size_t>(slots));
        const Stream stream(seed(), "experts");
        for (std::uint64_t i = 0; i < drawn_experts.size(); ++i) {
            drawn_experts[i] =
                static_cast<std::int32_t>(std::pow(stream.uniform(0, i), 2.0) * static_cast<double>(experts));
        }
        return drawn_experts;
    }();
};

class Moves : public Movement {
protected:
    template <class T>
    void check(const Round<T>& r) {
        const auto chosen = put(r.chosen), row_of_slot = put_poisoned<std::int32_t>(r.slots),
                   slot_of_row = put_poisoned<std::int32_t>(r.slots), counts = put_poisoned<std::int32_t>(r.experts);
        const cuda::Route route{{row_of_slot.span(), r.tokens, r.top_k}, slot_of_row.span(), counts.span()};
        const DeviceArray<std::int32_t>& slots = chosen;
        plan_route(context(), {slots.span(), r.tokens, r.top_k}, route);
        const auto row_of = get(row_of_slot), slot_of = get(slot_of_row);
        std::vector<std::int32_t> expected(static_cast<std::size_t>(r.slots));
        std::iota(expected.begin(), expected.end(), 0);
        std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return r.chosen[a] < r.chosen[b]; });
        ASSERT_EQ(slot_of, expected);
        for (std::int32_t row = 0; row < r.slots; ++row) ASSERT_EQ(row_of[slot_of[row]], row);
        const auto counted = get(counts);
        for (std::int32_t e = 0; e < r.experts; ++e) {
            ASSERT_EQ(counted[e], std::count(r.chosen.begin(), r.chosen.end(), e));
        }

        const auto x = put(r.x), rows = put(r.rows), moved = put_poisoned<T>(r.slots * r.hidden);
        const auto y = put_poisoned<T>(r.tokens * r.hidden), d_rows = put_poisoned<T>(r.slots * r.hidden);
        const auto weights = put(r.weights), d_weights = put_poisoned<float>(r.slots);
        const Matrix<T> x_there(x.span(), r.tokens, r.hidden), rows_there(rows.span(), r.slots, r.hidden);
        const Matrix<const float> weights_there(weights.span(), r.tokens, r.top_k);
        permute<T>(context(), x_there, route, {moved.span(), r.slots, r.hidden});
        combine<T>(context(), rows_there, route, weights_there, {y.span(), r.tokens, r.hidden});
        combine_backward<T>(context(), x_there, rows_there, route, weights_there, {d_rows.span(), r.slots, r.hidden},
                            {d_weights.span(), r.tokens, r.top_k});
        const auto token_of = [&](std::int64_t row) { return slot_of[row] / r.top_k; };
        const auto at = [&](const std::vector<T>& v, std::int64_t row, std::int64_t i) {
            return double{to_float(v[row * r.hidden + i])};
        };
        expect_close<T>(get(moved), [&](std::int64_t i) {
            return Exact{at(r.x, token_of(i / r.hidden), i % r.hidden), 0};
        });
        expect_close<T>(get(y), [&](std::int64_t i) {
            Exact sum;
            for (std::int64_t k = 0; k < r.top_k; ++k) {
                const std::int64_t slot = i / r.hidden * r.top_k + k;
                sum.add(r.weights[slot] * at(r.rows, row_of[slot], i % r.hidden));
            }
            return sum;
        });
        expect_close<T>(get(d_rows), [&](std::int64_t i) {
            Exact product;
            product.add(r.weights[slot_of[i / r.hidden]] * at(r.x, token_of(i / r.hidden), i % r.hidden));
            return product;
        });
        expect_close<float>(get(d_weights), [&](std::int64_t slot) {
            Exact sum;
            for (std::int64_t i = 0; i < r.hidden; ++i) {
                sum.add(at(r.x, slot / r.top_k, i) * at(r.rows, row_of[slot], i));
            }
            return sum;
        });
    }
};

TEST_F(Moves, RouteOrdersAndRowsMoveThereAndBack) {
    check(Round<float>{1, 1, 1, 1}), check(Round<float>{127, 16, 33, 4}), check(Round<float>{300, 129, 64, 8});
    check(Round<Bf16>{17, 3, 5, 2}), check(Round<Bf16>{300, 129, 72, 8});
    check(Round<Fp16>{17, 3, 127, 2}), check(Round<Fp16>{99, 8, 64, 2});
}

class Elements : public OnDevice {
protected:
    template <class T>
    void check(std::int64_t n) {
        const auto a = drawn<T>("a", n), b = drawn<T>("b", n);
        const auto a_there = put(a), b_there = put(b);
        const auto exact = [](const T& value) { return double{to_float(value)}; };
        const auto copied = put_poisoned<T>(n), triad = put_poisoned<T>(n), sum = put_poisoned<T>(n),
                   norm = put_poisoned<T>(n);
        const auto inputs = put(std::vector<const T*>{a_there.data(), b_there.data()});
        copy<T>(context(), a_there.span(), copied.span());
        scale_add<T>(context(), a_there.span(), b_there.span(), 0.75f, triad.span());
        sum_buffers<T>(context(), std::span<const T* const>(inputs.span()), sum.span());
        rms_norm<T>(context(), {a_there.span(), 1, n}, b_there.span(), {norm.span(), 1, n});
        const auto added = [&](double factor) {
            return [&, factor](std::int64_t i) {
                Exact s;
                s.add(exact(a[i])), s.add(factor * exact(b[i]));
                return s;
            };
        };
        expect_close<T>(get(copied), [&](std::int64_t i) { return Exact{exact(a[i]), 0}; });
        expect_close<T>(get(triad), added(0.75));
        expect_close<T>(get(sum), added(1));
        double squares = 0;
        for (const T& value : a) squares += exact(value) * exact(value);
        expect_close<T>(get(norm), [&](std::int64_t i) {
            Exact value;
            value.add(exact(a[i]) * exact(b[i]) / std::sqrt(squares / static_cast<double>(n) + 1e-6));
            return value;
        });
    }
};

TEST_F(Elements, CopyTriadSumAndNorm) {
    for (const std::int64_t n : {1, 3, 17, 127, 4096, 10001}) check<float>(n), check<Bf16>(n), check<Fp16>(n);
}

class Attending : public OnDevice {};

// One head, forward only against the definition; the gradient against a difference of the loss <dO, O>.
TEST_F(Attending, IsCausalSoftmaxAndItsDerivative) {
    const AttentionShape s{2, 137, 16};
    const std::int64_t n = s.elements();
    const auto q = drawn<float>("q", n), k = drawn<float>("k", n), v = drawn<float>("v", n),
               d_o = drawn<float>("do", n);
    const auto q_there = put(q), k_there = put(k), v_there = put(v), d_o_there = put(d_o);
    const auto out = put_poisoned<float>(n), log_sum = put_poisoned<float>(s.heads * s.sequence),
               d_q = put_poisoned<float>(n), d_k = put_poisoned<float>(n), d_v = put_poisoned<float>(n);
    const cuda::AttentionInput<float> in{q_there.span(), k_there.span(), v_there.span()};
    attention<float>(context(), s, in, out.span(), log_sum.span());
    attention_backward<float>(context(), s, in, out.span(), d_o_there.span(), log_sum.span(),
                              {d_q.span(), d_k.span(), d_v.span()});
    const auto loss_and_out = [&](const std::vector<float>& queries, std::vector<Exact>& result) {
        double loss = 0;
        result.assign(static_cast<std::size_t>(n), {});
        for (std::int64_t row = 0; row < s.heads * s.sequence; ++row) {
            const std::int64_t first = row / s.sequence * s.sequence;
            std::vector<double> p;
            double total = 0;
            for (std::int64_t j = first; j <= row; ++j) {
                double dot = 0;
                for (std::int64_t i = 0; i < s.head_dim; ++i) {
                    dot += double{queries[row * s.head_dim + i]} * k[j * s.head_dim + i];
                }
                total += p.emplace_back(std::exp(dot / 4));
            }
            for (std::int64_t j = first; j <= row; ++j) {
                for (std::int64_t i = 0; i < s.head_dim; ++i) {
                    result[row * s.head_dim + i].add(p[j - first] / total * v[j * s.head_dim + i]);
                }
            }
            for (std::int64_t i = row * s.head_dim; i < (row + 1) * s.head_dim; ++i) loss += d_o[i] * result[i].value;
        }
        return loss;
    };
    std::vector<Exact> exact;
    loss_and_out(q, exact);
    expect_close<float>(get(out), [&](std::int64_t i) { return exact[i]; });
    const auto gradient = get(d_q);
    const auto direction = drawn<float>("direction", n);
    double along = 0;
    for (std::int64_t i = 0; i < n; ++i) along += double{gradient[i]} * direction[i];
    std::vector<float> ahead = q, behind = q;
    for (std::int64_t i = 0; i < n; ++i) ahead[i] += 1e-2f * direction[i], behind[i] -= 1e-2f * direction[i];
    EXPECT_NEAR(along, (loss_and_out(ahead, exact) - loss_and_out(behind, exact)) / 2e-2, 1e-2 * std::abs(along) + 0.1);
    for (const auto* written : {&d_k, &d_v}) {
        for (const float value : get(*written)) ASSERT_FALSE(std::isnan(value));
    }
}

}  // namespace
}  // namespace rehearse::kernels::test
