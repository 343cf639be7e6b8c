// FlowNetwork in time: closed forms, published figures of max-min permutations and all-to-alls on fat trees, a slow
// simulation with the reference solver, and invariants.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/network/flow/flow_network.hpp"
#include "models/network/flow/max_min_reference.hpp"
#include "tests/bench/fat_tree_flows.hpp"

namespace rehearse {
namespace {

using bench::FatTree;
using bench::HostFlow;

std::vector<std::int64_t> simulate(const FatTree& tree, const std::vector<HostFlow>& flows,
                                   double rate = bench::link_rate, SimDuration coalesce = SimDuration{0}) {
    const std::vector<double> capacities(tree.link_count(), rate);
    FlowNetwork network(capacities, coalesce);
    return bench::run_flows(network, tree, flows);
}

// The same system, slowly: all rates from the reference solver at every change. Times in seconds.
std::vector<double> simulate_slowly(const FatTree& tree, const std::vector<HostFlow>& flows) {
    const std::vector<double> capacities(tree.link_count(), bench::link_rate);
    std::vector<ReferenceFlow> paths(flows.size());
    std::vector<double> left, begin, end(flows.size(), 0.0);
    for (std::size_t f = 0; f < flows.size(); ++f) {
        tree.path(flows[f].source, flows[f].destination, paths[f].links);
        left.push_back(flows[f].bytes);
        begin.push_back(0.5e-6 * static_cast<double>(paths[f].links.size()));
    }
    double now = 0;
    for (std::size_t ended = 0; ended < flows.size();) {
        std::vector<std::size_t> active;
        std::vector<ReferenceFlow> active_paths;
        double step = 1e9;
        for (std::size_t f = 0; f < flows.size(); ++f) {
            if (end[f] > 0) continue;
            if (begin[f] > now + 1e-15) {
                step = std::min(step, begin[f] - now);
            } else {
                active.push_back(f);
                active_paths.push_back(paths[f]);
            }
        }
        const std::vector<double> rates = max_min_reference(capacities, active_paths);
        for (std::size_t a = 0; a < active.size(); ++a) step = std::min(step, left[active[a]] / rates[a]);
        now += step;
        for (std::size_t a = 0; a < active.size(); ++a) {
            left[active[a]] -= rates[a] * step;
            if (left[active[a]] > 1e-3) continue;
            end[active[a]] = now;
            ++ended;
        }
    }
    return end;
}

void expect_times(const std::vector<std::int64_t>& times, const bench::FlowTimes& expected) {
    const bench::FlowTimes found = bench::summarise(times);
    EXPECT_NEAR(found.min / expected.min, 1, 1e-6);
    EXPECT_NEAR(found.mean / expected.mean, 1, 1e-6);
    EXPECT_NEAR(found.p50 / expected.p50, 1, 1e-6);
    EXPECT_NEAR(found.p99 / expected.p99, 1, 1e-6);
    EXPECT_NEAR(found.max / expected.max, 1, 1e-6);
}

// One flow alone: latency + size / rate. 1e9 B over 4 links of 50e9 B/s: 2 us + 20 ms.
TEST(FlowNetwork, LoneFlow) {
    const FatTree tree{4, 4};
    EXPECT_EQ(simulate(tree, {{0, 4, 1e9}}), (std::vector<std::int64_t>{20'002'000'000}));
}

// Two flows a (1e6 B) and b (2e6 B) into one host from the same distance share 50e9 B/s: a ends after 2e6 / 50e9 = 40
// us, b after 3e6 / 50e9 = 60 us, plus 1 us of latency. A flow without bytes ends when it begins.
TEST(FlowNetwork, SharedLinkIsReleased) {
    const FatTree tree{4, 4};
    const std::vector<std::int64_t> times = simulate(tree, {{1, 0, 1e6}, {2, 0, 2e6}, {3, 0, 0}});
    EXPECT_EQ(times, (std::vector<std::int64_t>{41'000'000, 61'000'000, 1'000'000}));
}

// Figures of an independent max-min program (Python, all rates anew at every change) on the same flows.
TEST(FlowNetwork, PermutationOf1024Hosts) {
    const auto flows = bench::permutation(1024, 1e9, 1);
    expect_times(simulate({8, 16}, flows), {0.020001000, 0.043850550, 0.040003000, 0.080003000, 0.100003000});
}

TEST(FlowNetwork, JitteredPermutationOf1024Hosts) {
    const auto flows = bench::jittered(bench::permutation(1024, 1e9, 1));
    expect_times(simulate({8, 16}, flows), {0.018005102, 0.042986277, 0.040025499, 0.082117451, 0.099889555});
}

TEST(FlowNetwork, PermutationOf12288Hosts) {
    const auto flows = bench::permutation(12'288, 1e9, 1);
    expect_times(simulate({32, 12}, flows), {0.020001000, 0.046253658, 0.040003000, 0.100003000, 0.140002000});
}

// n members, S bytes to each other member: the host links are full all the time, so the last flow ends after
// (n-1) S / B + the latency of the shortest path. Members 16 (8) apart: 4 links, 2 us.
TEST(FlowNetwork, AllToAllEndsWithItsHostLinks) {
    const auto a2a64 = simulate({8, 16}, bench::all_to_all(1024, 64, 1e6));
    EXPECT_EQ(*std::max_element(a2a64.begin(), a2a64.end()), 1'262'000'000);
    const auto a2a128 = simulate({8, 16}, bench::all_to_all(1024, 128, 1e6));
    EXPECT_EQ(*std::max_element(a2a128.begin(), a2a128.end()), 2'542'000'000);
}

TEST(FlowNetwork, EqualsSlowSimulation) {
    const FatTree tree{4, 8};
    std::vector<std::vector<HostFlow>> workloads{bench::all_to_all(128, 16, 1e6),
                                                 bench::jittered(bench::all_to_all(128, 16, 1e6)),
                                                 bench::jittered(bench::permutation(128, 1e7, 3))};
    for (const auto& flows : workloads) {
        const std::vector<std::int64_t> fast = simulate(tree, flows);
        const std::vector<double> slow = simulate_slowly(tree, flows);
        for (std::size_t f = 0; f < flows.size(); ++f) {
            ASSERT_NEAR(static_cast<double>(fast[f]) * 1e-12 / slow[f], 1, 1e-7) << f;
        }
    }
}

std::vector<HostFlow> random_flows(std::uint32_t hosts, std::uint32_t count, std::uint64_t seed) {
    const Stream draw(seed, "flow_test");
    std::vector<HostFlow> flows;
    for (std::uint32_t f = 0; f < count; ++f) {
        const auto source = static_cast<std::uint32_t>(draw.uniform(f, 0) * hosts);
        const auto other = static_cast<std::uint32_t>(draw.uniform(f, 1) * (hosts - 1));
        flows.push_back({source, other < source ? other : other + 1, std::floor(1e6 * (0.1 + draw.uniform(f, 2)))});
    }
    return flows;
}

// Time is size / rate plus latency: sizes x 2, or all rates / 2, double each flow's time but for its latency (rounded
// up to a picosecond; ends of other flows may shift by as much).
TEST(FlowNetwork, TimeScalesWithSizeAndRate) {
    const FatTree tree{4, 4};
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        std::vector<HostFlow> flows = random_flows(64, 300, seed);
        for (HostFlow& flow : flows) flow.destination = (flow.source + 32) % 64;  // one latency, 3 us
        const auto base = simulate(tree, flows);
        const auto slow = simulate(tree, flows, bench::link_rate / 2);
        for (HostFlow& flow : flows) flow.bytes *= 2;
        const auto big = simulate(tree, flows);
        for (std::size_t f = 0; f < flows.size(); ++f) {
            ASSERT_NEAR(static_cast<double>(big[f] - 3'000'000), 2.0 * static_cast<double>(base[f] - 3'000'000), 400);
            ASSERT_NEAR(static_cast<double>(slow[f] - big[f]), 0.0, 400);
        }
    }
}

// Until its old end nothing differs for anybody, so a flow whose size doubles cannot end earlier. (Others can: a flow
// that stays longer holds back a neighbour, and the neighbour's neighbour gains.)
TEST(FlowNetwork, BiggerFlowIsNeverFaster) {
    const FatTree tree{4, 4};
    const std::vector<HostFlow> flows = random_flows(64, 200, 7);
    const auto base = simulate(tree, flows);
    for (std::size_t f = 0; f < flows.size(); f += 10) {
        std::vector<HostFlow> changed = flows;
        changed[f].bytes *= 2;
        EXPECT_GE(simulate(tree, changed)[f], base[f]);
    }
}

// Max-min does not depend on who else is where once the rates are given: same input, same output, to the last bit.
TEST(FlowNetwork, SameInputSameOutput) {
    const FatTree tree{4, 4};
    const auto flows = random_flows(64, 500, 11);
    EXPECT_EQ(simulate(tree, flows), simulate(tree, flows));
}

// At any time every link carries at most its capacity, and every flow has a full link on which it is the fastest.
TEST(FlowNetwork, RatesFitTheLinksAtAllTimes) {
    const FatTree tree{4, 4};
    const auto flows = random_flows(64, 400, 5);
    const std::vector<double> capacities(tree.link_count(), bench::link_rate);
    FlowNetwork network(capacities);
    std::vector<std::vector<WeightedLink>> paths(flows.size());
    std::vector<FlowNetwork::FlowIndex> index(flows.size());
    std::vector<bool> open(flows.size(), true);
    for (std::size_t f = 0; f < flows.size(); ++f) {
        tree.path(flows[f].source, flows[f].destination, paths[f]);
        index[f] = network.start(SimTime{static_cast<std::int64_t>(f) * 1'000'000}, flows[f].bytes, {paths[f]}, {f});
    }
    std::vector<FlowNetwork::Ended> done;
    for (SimTime t = network.next_event_time(); t.value != INT64_MAX; t = network.next_event_time()) {
        std::vector<double> load(tree.link_count(), 0.0);
        for (std::size_t f = 0; f < flows.size(); ++f) {
            if (!open[f]) continue;
            for (const WeightedLink& use : paths[f]) load[use.link.value] += network.rate(index[f]);
        }
        EXPECT_LE(*std::max_element(load.begin(), load.end()), bench::link_rate * (1 + 1e-9));
        done.clear();
        network.advance(t, done);
        for (const FlowNetwork::Ended& end : done) open[end.token] = false;
    }
    EXPECT_EQ(std::count(open.begin(), open.end(), true), 0);
}

// With a window w a flow begins at most w late and waits at most w for each change of its rates; it is never early
// enough to overload a link, so the total delay stays of the order of w per change.
TEST(FlowNetwork, CoalescingIsCloseToExact) {
    const auto flows = bench::jittered(bench::permutation(1024, 1e9, 1));
    const bench::FlowTimes exact = bench::summarise(simulate({8, 16}, flows));
    const bench::FlowTimes near = bench::summarise(simulate({8, 16}, flows, bench::link_rate, microseconds(5)));
    EXPECT_NEAR(near.mean / exact.mean, 1, 5e-4);
    EXPECT_GE(near.mean, exact.mean);
    EXPECT_NEAR(near.max / exact.max, 1, 5e-4);
}

}  // namespace
}  // namespace rehearse
