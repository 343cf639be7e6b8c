#include "scenarios/calibrate/policy_samples.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "runtime/balancer/load_balancer.hpp"
#include "runtime/pager/access_predictor.hpp"
#include "runtime/pager/page_manager.hpp"
#include "runtime/scheduler/place.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

namespace {

constexpr std::uint32_t experts_per_gpu = 8;

CalibrationSample timed(const char* what, const char* size_name, std::int64_t size, std::int64_t repeats,
                        const std::function<void(std::int64_t)>& decide) {
    using Clock = std::chrono::steady_clock;
    CalibrationSample sample;
    sample.what = what;
    sample.kind = SampleKind::policy;
    sample.shape = {{size_name, size}};
    for (std::int64_t i = -2; i < repeats; ++i) {  // two to warm up
        const Clock::time_point begin = Clock::now();
        decide(i + 2);
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        if (i >= 0) sample.seconds.push_back(std::max(1.0, std::round(1e9 * seconds)) * 1e-9);
    }
    return sample;
}

// Zipf over another ranking for each seed.
std::vector<std::uint64_t> tokens_of(std::uint32_t experts, std::uint64_t seed) {
    const Stream random(seed, "calibrate.loads");
    std::vector<std::uint64_t> tokens(experts);
    for (std::uint32_t e = 0; e < experts; ++e)
        tokens[e] = static_cast<std::uint64_t>(1e6 / (1 + std::floor(random.uniform(e, seed) * experts)));
    return tokens;
}

CalibrationSample balancer(const char* what, const BalancerSpec& spec, std::uint32_t experts, std::int64_t repeats) {
    const std::uint32_t gpus = experts / experts_per_gpu;
    const EplbShape shape{(experts_per_gpu + 1) * gpus, 1, 1, gpus};
    LoadBalancer balancer(spec, shape, {Bytes{1 << 20}, Bytes{0}, gigabytes_per_second(50), microseconds(5)},
                          balance_experts(std::vector<double>(experts, 1.0), shape));
    const std::vector<std::uint64_t> loads[] = {tokens_of(experts, 1), tokens_of(experts, 2)};
    return timed(what, "experts", experts, repeats, [&](std::int64_t i) { balancer.after_step(loads[i % 2]); });
}

CalibrationSample pager(std::uint32_t pages, std::int64_t repeats) {
    PagerSpec spec;
    spec.pages = pages;
    spec.budget = spec.page * (pages / 2);
    PageManager manager(spec);
    AccessPredictor predictor(pages, 1);
    const std::vector<std::uint64_t> used = tokens_of(pages, 3);
    return timed("pager", "pages", pages, repeats, [&](std::int64_t i) {
        manager.plan(SimTime{i * 1'000'000'000}, predictor.predict(0.5));
        predictor.learn(used);
    });
}

CalibrationSample placement(std::uint32_t gpus, std::int64_t repeats) {
    ClusterSpec spec;
    spec.hosts = gpus / 8;
    const Cluster cluster = build_cluster(spec);
    JobTraffic traffic;  // gradients over data groups of one rank per node
    JobTraffic::Family& family = traffic.families.emplace_back();
    family.name = "data";
    family.bytes_per_member = 1e9;
    for (std::uint32_t rail = 0; rail < 8; ++rail) {
        std::vector<RankId>& group = family.groups.emplace_back();
        for (std::uint32_t node = 0; node < gpus / 8; ++node) group.push_back(RankId{8 * node + rail});
    }
    return timed("placement", "gpus", gpus, repeats, [&](std::int64_t) {
        place(traffic, gpus, 8, cluster, PlacementPolicy::topology_aware, 1);
    });
}

}  // namespace

std::vector<CalibrationSample> policy_samples(std::int64_t repeats) {
    const BalancerSpec slow{.period = 1, .window = 1, .top = 0};
    const BalancerSpec fast{.period = 0, .window = 1, .top = 20, .spare_slots = 1};
    std::vector<CalibrationSample> samples;
    for (const std::uint32_t experts : {16u, 64u, 256u, 1024u, 2048u}) {
        samples.push_back(balancer("balancer_slow", slow, experts, repeats));
        samples.push_back(balancer("balancer_fast", fast, experts, repeats));
    }
    for (const std::uint32_t pages : {32u, 256u, 2048u}) samples.push_back(pager(pages, repeats));
    for (const std::uint32_t gpus : {64u, 512u, 4096u}) samples.push_back(placement(gpus, repeats));
    return samples;
}

}  // namespace rehearse
