// The kernel bodies with one thread per thread of the block and real barriers, against the serial block.
#include <cstring>

#include "kernels/body/attention.hpp"
#include "kernels/body/elementwise.hpp"
#include "kernels/body/gate.hpp"
#include "kernels/body/permute.hpp"
#include "kernels/body/rms_norm.hpp"
#include "kernels/body/route.hpp"
#include "kernels/body/swiglu.hpp"
#include "kernels/serial_block.hpp"
#include "kernels/threaded_block.hpp"
#include "tests/kernels/reference.hpp"

namespace rehearse::kernels::test {
namespace {

constexpr int threads = 4;

template <class Body>
void run_serial(std::int64_t blocks, const Body& body) {
    alignas(shared_alignment) std::byte shared[4096];
    ASSERT_LE(body.shared_bytes(), sizeof shared);
    for (std::int64_t i = 0; i < blocks; ++i) {
        SerialBlock block(shared);
        body(block, i);
    }
}

// The output of the body that make(output) gives.
template <class T, class Make>
std::vector<T> serial(std::int64_t n, std::int64_t blocks, const Make& make) {
    auto out = poisoned<T>(n);
    run_serial(blocks, make(out.data()));
    return out;
}

template <class T, class Make>
std::vector<T> threaded(std::int64_t n, std::int64_t blocks, const Make& make) {
    auto out = poisoned<T>(n);
    run_threaded(blocks, threads, make(out.data()));
    return out;
}

template <class T, class Make>
void expect_same(std::int64_t n, std::int64_t blocks, const Make& make) {
    const auto a = serial<T>(n, blocks, make), b = threaded<T>(n, blocks, make);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0);
    for (const T& value : b) ASSERT_FALSE(std::isnan(to_float(value)));
}

// Sums are added up in another order, and the compiler fuses a product and a sum in one block and not in the other.
template <class T, class Make>
void expect_alike(std::int64_t n, std::int64_t blocks, const Make& make) {
    const auto a = serial<T>(n, blocks, make), b = threaded<T>(n, blocks, make);
    expect_close<T>(b, [&](std::int64_t i) { return Exact{to_float(a[i]), 1.0 + std::abs(to_float(a[i]))}; });
}

constexpr std::int64_t tokens = 9, experts = 21, hidden = 37, slots = 27;
constexpr int top_k = 3;

TEST(ThreadedBlock, ElementwiseBodies) {
    const std::int64_t n = stretch + 35;
    const auto a = drawn<float>("a", n), b = drawn<float>("b", n);
    const float* const inputs[] = {a.data(), b.data()};
    expect_same<float>(n, 2, [&](float* out) { return Copy<float>{a.data(), out, n}; });
    expect_alike<float>(n, 2, [&](float* out) { return ScaleAdd<float>{a.data(), b.data(), out, n, 0.5f}; });
    expect_same<float>(n, 2, [&](float* out) { return SumBuffers<float>{inputs, out, n, 2}; });
    expect_alike<float>(tokens * hidden, tokens,
                        [&](float* out) { return RmsNorm<float>{a.data(), b.data(), out, hidden}; });
}

TEST(ThreadedBlock, SwigluBodies) {
    const auto up = drawn<Bf16>("up", tokens * 2 * hidden), d = drawn<Bf16>("d", tokens * hidden);
    expect_alike<Bf16>(tokens * hidden, tokens, [&](Bf16* out) { return Swiglu<Bf16>{up.data(), out, hidden}; });
    expect_alike<Bf16>(tokens * 2 * hidden, tokens,
                       [&](Bf16* out) { return SwigluBackward<Bf16>{d.data(), up.data(), out, hidden}; });
}

TEST(ThreadedBlock, GateBodies) {
    const auto logits = drawn<float>("logits", tokens * experts), g = drawn<float>("g", tokens * top_k);
    std::vector<std::int32_t> chosen[2] = {poisoned<std::int32_t>(slots), poisoned<std::int32_t>(slots)};
    std::vector<float> weights[2] = {poisoned<float>(slots), poisoned<float>(slots)};
    const auto select = [&](int i) {
        return SelectExperts{logits.data(), nullptr, chosen[i].data(), weights[i].data(), experts, top_k};
    };
    run_serial(tokens, select(0));
    run_threaded(tokens, threads, select(1));
    EXPECT_EQ(chosen[0], chosen[1]);
    for (int i = 0; i < slots; ++i) EXPECT_NEAR(weights[0][i], weights[1][i], 1e-6);
    expect_alike<float>(tokens * experts, tokens, [&](float* out) {
        return SelectExpertsBackward{chosen[0].data(), weights[0].data(), g.data(), out, experts, top_k};
    });
}

// Three chunks, so that counts cross launches.
struct RouteRun {
    static constexpr std::int64_t slots = 2 * route_chunk + 17, chunks = 3;
    std::vector<std::int32_t> chosen = [] {
        const Stream stream(seed(), "route");
        std::vector<std::int32_t> drawn(slots);
        for (std::uint64_t i = 0; i < drawn.size(); ++i) {
            drawn[i] = static_cast<std::int32_t>(stream.uniform(0, i) * experts);
        }
        return drawn;
    }();
    std::vector<std::int32_t> counts = poisoned<std::int32_t>(chunks * experts), rows = poisoned<std::int32_t>(experts),
                              row_of_slot = poisoned<std::int32_t>(slots), slot_of_row = poisoned<std::int32_t>(slots);

    template <class Launch>
    void run(const Launch& launch) {
        launch(chunks, RouteCount{chosen.data(), counts.data(), slots, experts});
        launch(std::int64_t{1}, RouteScan{counts.data(), rows.data(), chunks, experts});
        launch(chunks,
               RoutePlace{chosen.data(), counts.data(), row_of_slot.data(), slot_of_row.data(), slots, experts});
    }
};

TEST(ThreadedBlock, RouteBodies) {
    RouteRun a, b;
    a.run([](std::int64_t count, const auto& body) { run_serial(count, body); });
    b.run([](std::int64_t count, const auto& body) { run_threaded(count, threads, body); });
    EXPECT_EQ(a.rows, b.rows);
    EXPECT_EQ(a.row_of_slot, b.row_of_slot);
    EXPECT_EQ(a.slot_of_row, b.slot_of_row);
}

TEST(ThreadedBlock, PermuteBodies) {
    std::vector<std::int32_t> forth(slots), back(slots);
    for (int i = 0; i < slots; ++i) forth[i] = i * 5 % static_cast<int>(slots), back[forth[i]] = i;
    const auto values = drawn<float>("tokens", slots * hidden), rows = drawn<float>("rows", slots * hidden);
    const auto weights = drawn<float>("weights", slots);
    expect_same<float>(slots * hidden, slots,
                       [&](float* out) { return Permute<float>{values.data(), back.data(), out, hidden, top_k}; });
    expect_alike<float>(tokens * hidden, tokens, [&](float* out) {
        return Combine<float>{rows.data(), forth.data(), weights.data(), out, hidden, top_k};
    });
    std::vector<float> d_weights(slots);
    expect_same<float>(slots * hidden, slots, [&](float* out) {
        return CombineBackward<float>{values.data(), rows.data(), forth.data(), weights.data(), out, d_weights.data(),
                                      hidden,        top_k};
    });
}

TEST(ThreadedBlock, AttentionBodies) {
    const AttentionTile tile{16, 5, 21};
    const std::int64_t heads = 2, rows = heads * tile.rows, n = rows * tile.keys(), dim = 6;
    const auto scores = drawn<float>("scores", n), d_p = drawn<float>("dp", n);
    const auto out = drawn<float>("out", heads * 21 * dim), d_out = drawn<float>("dout", heads * 21 * dim);
    std::vector<float> log_sum(heads * 21), p(n);
    expect_alike<float>(n, rows, [&](float* to) {
        return CausalSoftmax<float>{scores.data(), to, log_sum.data(), tile, 0.5f};
    });
    expect_alike<float>(n, rows, [&](float* to) {
        return CausalSoftmaxBackward<float>{scores.data(), d_p.data(), log_sum.data(), out.data(), d_out.data(),
                                            p.data(),      to,         tile,           dim,        0.5f};
    });
}

// What the threaded block is for: a body whose barriers do nothing is a data race that the thread sanitizer reports.
struct WithoutBarriers : ThreadedBlock {
    using ThreadedBlock::ThreadedBlock;
    void sync() {}
};

TEST(ThreadedBlock, ThreadSanitizerSeesARemovedBarrier) {
#if defined(__SANITIZE_THREAD__)
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    RouteRun run;
    EXPECT_EXIT(
        {
            run.run([](std::int64_t count, const auto& body) { run_threaded<WithoutBarriers>(count, threads, body); });
            std::exit(0);
        },
        testing::ExitedWithCode(66), "data race");
#else
    GTEST_SKIP() << "needs a build with -fsanitize=thread (preset tsan)";
#endif
}

}  // namespace
}  // namespace rehearse::kernels::test
