#include "kernels/cpu/permute.hpp"

#include "tests/kernels/reference.hpp"

namespace rehearse::kernels::test {
namespace {

struct Case {
    std::int64_t tokens, experts, hidden;
    int top_k;
};

const Case cases[] = {{1, 1, 1, 1}, {17, 3, 5, 2}, {127, 16, 33, 4}, {300, 129, 64, 8}, {3, 200, 17, 7}};

std::vector<std::int32_t> drawn_experts(const Case& c) {
    const Stream stream(seed(), "experts");
    std::vector<std::int32_t> chosen;
    for (std::int64_t i = 0; i < c.tokens * c.top_k; ++i) {  // squared: some experts are hot, some have nothing
        const double u = stream.uniform(0, static_cast<std::uint64_t>(i));
        chosen.push_back(static_cast<std::int32_t>(u * u * static_cast<double>(c.experts)));
    }
    return chosen;
}

template <class T>
struct Moved {
    explicit Moved(const Case& drawn_case) : c(drawn_case), chosen(drawn_experts(c)) {
        plan_route(context, {chosen, c.tokens, c.top_k}, c.experts, route);
    }
    std::int64_t slots() const { return c.tokens * c.top_k; }
    Matrix<const float> weight_matrix() const { return {weights, c.tokens, c.top_k}; }

    Case c;
    CpuContext context;
    std::vector<std::int32_t> chosen;
    Route route;
    std::vector<T> tokens = drawn<T>("tokens", c.tokens * c.hidden), rows = drawn<T>("rows", slots() * c.hidden);
    std::vector<float> weights = drawn<float>("weights", slots());
};

TEST(Route, OrdersSlotsByExpertThenBySlot) {
    for (const Case& c : cases) {
        const Moved<float> moved(c);
        std::vector<std::int32_t> expected;
        for (std::int64_t e = 0; e < c.experts; ++e) {
            const std::size_t before = expected.size();
            for (std::int32_t s = 0; s < moved.slots(); ++s) {
                if (moved.chosen[static_cast<std::size_t>(s)] == e) expected.push_back(s);
            }
            EXPECT_EQ(moved.route.rows_per_expert[e], expected.size() - before);
        }
        EXPECT_EQ(moved.route.slot_of_row, expected);
        for (std::size_t row = 0; row < expected.size(); ++row) {
            EXPECT_EQ(moved.route.row_of_slot[expected[row]], static_cast<std::int32_t>(row));
        }
    }
}

TEST(Route, NoTokensGiveNoRows) {
    CpuContext context;
    Route route;
    plan_route(context, {std::span<const std::int32_t>(), 0, 2}, 3, route);
    EXPECT_EQ(route.rows(), 0);
    EXPECT_EQ(route.rows_per_expert, (std::vector<std::int32_t>{0, 0, 0}));
}

TEST(Route, AnExpertThatIsNotThereIsNamed) {
    CpuContext context;
    Route route;
    const std::vector<std::int32_t> chosen{0, 4};
    EXPECT_THROW(plan_route(context, {chosen, 2, 1}, 4, route), InvariantBroken);
    EXPECT_THROW(plan_route(context, {chosen, 2, 1}, 0, route), InvariantBroken);
}

template <class T>
void check_permute(const Case& c) {
    Moved<T> m(c);
    auto rows = poisoned<T>(m.slots() * c.hidden);
    permute(m.context, {m.tokens, c.tokens, c.hidden}, m.route, Matrix<T>(rows, m.slots(), c.hidden));
    for (std::int64_t i = 0; i < m.slots() * c.hidden; ++i) {
        const std::int64_t token = m.route.slot_of_row[i / c.hidden] / c.top_k;
        ASSERT_EQ(to_float(rows[i]), to_float(m.tokens[token * c.hidden + i % c.hidden]));
    }
    auto back = poisoned<T>(c.tokens * c.hidden);
    permute_backward(m.context, {m.rows, m.slots(), c.hidden}, m.route, Matrix<T>(back, c.tokens, c.hidden));
    expect_close<T>(back, [&](std::int64_t i) {
        Exact sum;
        for (int k = 0; k < c.top_k; ++k) {
            const std::int64_t row = m.route.row_of_slot[i / c.hidden * c.top_k + k];
            sum.add(to_float(m.rows[row * c.hidden + i % c.hidden]));
        }
        return sum;
    });
}

template <class T>
void check_combine(const Case& c) {
    Moved<T> m(c);
    auto tokens = poisoned<T>(c.tokens * c.hidden);
    combine(m.context, {m.rows, m.slots(), c.hidden}, m.route, m.weight_matrix(),
            Matrix<T>(tokens, c.tokens, c.hidden));
    expect_close<T>(tokens, [&](std::int64_t i) {
        Exact sum;
        for (int k = 0; k < c.top_k; ++k) {
            const std::int64_t slot = i / c.hidden * c.top_k + k;
            sum.add(double{m.weights[slot]} * to_float(m.rows[m.route.row_of_slot[slot] * c.hidden + i % c.hidden]));
        }
        return sum;
    });
}

template <class T>
void check_combine_backward(const Case& c) {
    Moved<T> m(c);
    auto d_rows = poisoned<T>(m.slots() * c.hidden);
    auto d_weights = poisoned<float>(m.slots());
    combine_backward(m.context, {m.tokens, c.tokens, c.hidden}, {m.rows, m.slots(), c.hidden}, m.route,
                     m.weight_matrix(), Matrix<T>(d_rows, m.slots(), c.hidden),
                     Matrix<float>(d_weights, c.tokens, c.top_k));
    const auto gradient = [&](std::int64_t slot, std::int64_t i) {
        return double{to_float(m.tokens[slot / c.top_k * c.hidden + i])};
    };
    expect_close<T>(d_rows, [&](std::int64_t i) {
        const std::int64_t slot = m.route.slot_of_row[i / c.hidden];
        Exact product;
        product.add(double{m.weights[slot]} * gradient(slot, i % c.hidden));
        return product;
    });
    expect_close<float>(d_weights, [&](std::int64_t slot) {
        Exact sum;
        for (std::int64_t i = 0; i < c.hidden; ++i) {
            sum.add(gradient(slot, i) * to_float(m.rows[m.route.row_of_slot[slot] * c.hidden + i]));
        }
        return sum;
    });
}

TEST(Permute, MovesRowsAndSumsTheirGradients) {
    for (const Case& c : cases) check_permute<float>(c), check_permute<Bf16>(c);
}

TEST(Combine, IsTheWeightedSumOfATokensRows) {
    for (const Case& c : cases) check_combine<float>(c), check_combine<Bf16>(c);
}

TEST(Combine, GradientsOfRowsAndWeights) {
    for (const Case& c : cases) check_combine_backward<float>(c), check_combine_backward<Bf16>(c);
}

TEST(Permute, WrongShapesAreRefused) {
    Moved<float> m({4, 3, 5, 2});
    std::vector<float> rows(7 * 5);
    EXPECT_THROW(permute(m.context, {m.tokens, 4, 5}, m.route, Matrix<float>(rows, 7, 5)), InvariantBroken);
    std::vector<float> tokens(4 * 5);
    EXPECT_THROW(combine(m.context, {m.rows, 8, 5}, m.route, {m.weights, 8, 1}, Matrix<float>(tokens, 4, 5)),
                 InvariantBroken);
}

}  // namespace
}  // namespace rehearse::kernels::test
