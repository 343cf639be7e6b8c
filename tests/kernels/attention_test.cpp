#include "kernels/cpu/attention.hpp"

#include "tests/kernels/reference.hpp"

namespace rehearse::kernels::test {
namespace {

const AttentionShape shapes[] = {{1, 1, 1}, {2, 17, 8}, {3, 129, 16}, {1, 300, 5}};

// Forward and backward of one head in fp64, written down from the definition.
struct Exactly {
    Exactly(const AttentionShape& extents, const std::vector<double>& inputs) : s(extents), in(inputs) {
        for (std::int64_t query = 0; query < s.sequence; ++query) add_query(query);
    }
    double at(int which, std::int64_t row, std::int64_t i) const {
        return in[static_cast<std::size_t>((which * s.sequence + row) * s.head_dim + i)];
    }
    double dot(int a, std::int64_t row, int b, std::int64_t other) const {
        double sum = 0;
        for (std::int64_t i = 0; i < s.head_dim; ++i) sum += at(a, row, i) * at(b, other, i);
        return sum;
    }
    void add(std::vector<Exact>& to, std::int64_t row, double factor, int which, std::int64_t other) const {
        for (std::int64_t i = 0; i < s.head_dim; ++i) {
            to[static_cast<std::size_t>(row * s.head_dim + i)].add(factor * at(which, other, i));
        }
    }
    void add_query(std::int64_t query) {
        const double scale = 1 / std::sqrt(static_cast<double>(s.head_dim));
        std::vector<double> p;
        double sum = 0, mean = 0;
        for (std::int64_t j = 0; j <= query; ++j) sum += p.emplace_back(std::exp(scale * dot(q, query, k, j)));
        for (std::int64_t j = 0; j <= query; ++j) {
            p[j] /= sum;
            mean += p[j] * dot(d_o, query, v, j);
            add(out, query, p[j], v, j);
            add(d_v, j, p[j], d_o, query);
        }
        for (std::int64_t j = 0; j <= query; ++j) {
            const double d_s = scale * p[j] * (dot(d_o, query, v, j) - mean);
            add(d_q, query, d_s, k, j);
            add(d_k, j, d_s, q, query);
        }
    }

    enum { q, k, v, d_o };
    AttentionShape s;
    std::vector<double> in;
    std::vector<Exact> out{static_cast<std::size_t>(s.sequence * s.head_dim)}, d_q = out, d_k = out, d_v = out;
};

template <class T>
void check_attention(const AttentionShape& shape) {
    CpuContext context;
    const std::int64_t n = shape.elements(), per_head = shape.sequence * shape.head_dim;
    const std::vector<T> in[4] = {drawn<T>("q", n), drawn<T>("k", n), drawn<T>("v", n), drawn<T>("do", n)};
    auto out = poisoned<T>(n);
    auto log_sum = poisoned<float>(shape.heads * shape.sequence), d_q = poisoned<float>(n), d_k = poisoned<float>(n),
         d_v = poisoned<float>(n);
    attention<T>(context, shape, {in[0], in[1], in[2]}, out, log_sum);
    attention_backward<T>(context, shape, {in[0], in[1], in[2]}, out, in[3], log_sum, {d_q, d_k, d_v});
    for (std::int64_t h = 0; h < shape.heads; ++h) {
        std::vector<double> inputs;
        for (const auto& values : in) {
            for (std::int64_t i = 0; i < per_head; ++i) inputs.push_back(to_float(values[h * per_head + i]));
        }
        const Exactly exact(shape, inputs);
        const auto part = [&](const auto& values) {
            return std::decay_t<decltype(values)>(values.begin() + h * per_head, values.begin() + (h + 1) * per_head);
        };
        const double allowed = tolerance<T>;
        expect_close<T>(part(out), [&](std::int64_t i) { return exact.out[i]; }, allowed);
        // A gradient of the scores is a difference, so it is held against the values that it was taken from.
        const auto widened = [&](const std::vector<Exact>& values) {
            return [&](std::int64_t i) { return Exact{values[i].value, values[i].scale + 1}; };
        };
        expect_close<float>(part(d_q), widened(exact.d_q), allowed);
        expect_close<float>(part(d_k), widened(exact.d_k), allowed);
        expect_close<float>(part(d_v), [&](std::int64_t i) { return exact.d_v[i]; }, allowed);
    }
}

TEST(Attention, ForwardAndBackwardInFp32) {
    for (const AttentionShape& shape : shapes) check_attention<float>(shape);
}
TEST(Attention, ForwardAndBackwardInBf16) {
    for (const AttentionShape& shape : shapes) check_attention<Bf16>(shape);
}

TEST(Attention, WrongShapesAreRefused) {
    CpuContext context;
    std::vector<float> values(12), log_sum(4);
    EXPECT_THROW(attention<float>(context, {1, 4, 4}, {values, values, values}, values, log_sum), InvariantBroken);
    EXPECT_THROW(attention<float>(context, {-1, -4, 3}, {values, values, values}, values, log_sum), InvariantBroken);
}

}  // namespace
}  // namespace rehearse::kernels::test
