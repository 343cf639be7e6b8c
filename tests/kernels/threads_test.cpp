// Launchers on several threads, and several launchers at once.
#include <cstring>
#include <thread>

#include "kernels/cpu/elementwise.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/permute.hpp"
#include "tests/kernels/reference.hpp"

namespace rehearse::kernels::test {
namespace {

constexpr std::int64_t tokens = 130, hidden = 96, experts = 8;
constexpr int top_k = 2;

// Tokens through route, permute, a product and combine.
std::vector<float> round_trip(CpuContext& context, const std::string& name) {
    const auto x = drawn<float>(name, tokens * hidden), w = drawn<float>("w", hidden * hidden);
    const std::vector<float> weights(tokens * top_k, 0.5f);
    std::vector<std::int32_t> chosen(tokens * top_k);
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = static_cast<std::int32_t>(i * 5 % experts);
    Route route;
    plan_route(context, {chosen, tokens, top_k}, experts, route);
    auto rows = poisoned<float>(route.rows() * hidden), products = rows, y = poisoned<float>(tokens * hidden);
    const Matrix<float> row_matrix(rows, route.rows(), hidden), product_matrix(products, route.rows(), hidden);
    permute(context, {x, tokens, hidden}, route, row_matrix);
    gemm(context, row_matrix, {w, hidden, hidden}, product_matrix);
    combine(context, product_matrix, route, {weights, tokens, top_k}, Matrix<float>(y, tokens, hidden));
    return y;
}

TEST(Threads, SeveralCallersDoNotDisturbEachOther) {
    std::vector<std::vector<float>> alone(4), together(4);
    for (int i = 0; i < 4; ++i) {
        CpuContext context;
        alone[i] = round_trip(context, "caller" + std::to_string(i));
    }
    {
        std::vector<std::jthread> callers;
        for (int i = 0; i < 4; ++i) {
            callers.emplace_back([&, i] {
                CpuContext context;
                for (int repeat = 0; repeat < 5; ++repeat) {
                    together[i] = round_trip(context, "caller" + std::to_string(i));
                }
            });
        }
    }
    EXPECT_EQ(together, alone);
}

// Bodies do not depend on who runs which block. (OpenMP's own library is not compiled for the thread sanitizer.)
TEST(Threads, TwoThreadsGiveTheBitsOfOne) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the OpenMP runtime is not built for -fsanitize=thread";
#endif
    CpuContext one, two(2);
    const std::int64_t n = 20'001;
    const auto a = drawn<float>("a", n), b = drawn<float>("b", n);
    auto first = poisoned<float>(n), second = poisoned<float>(n);
    scale_add<float>(one, a, b, 0.3f, first);
    scale_add<float>(two, a, b, 0.3f, second);
    EXPECT_EQ(first, second);
    const auto x = round_trip(one, "x"), y = round_trip(two, "x");
    expect_close<float>(y, [&](std::int64_t i) { return Exact{x[i], 10.0 + std::abs(x[i])}; });
}

}  // namespace
}  // namespace rehearse::kernels::test
