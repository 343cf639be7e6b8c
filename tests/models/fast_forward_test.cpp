#include "models/network/study/fast_forward.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "models/network/study/idle_time.hpp"
#include "models/network/study/study.hpp"
#include "topology/cluster.hpp"
#include "topology/router.hpp"

namespace rehearse {
namespace {

// Hosts with one NIC each under 8 ToRs of `per_tor`.
struct Fabric {
    explicit Fabric(int hosts, int per_tor) {
        ClusterSpec spec;
        spec.hosts = hosts;
        spec.fabric.tiers = 2;
        spec.fabric.rails = 1;
        spec.fabric.hosts_per_tor_set = per_tor;
        spec.node.gpus = 1;
        spec.node.nics = 1;
        spec.node.nic = gigabits_per_second(400);
        spec.node.pcie = Bandwidth{0};
        spec.fabric.port_split = false;
        cluster.emplace(build_cluster(spec));
        network.fidelity = Fidelity::packet;
        router.emplace(*cluster, network.ecmp, 1);
        graph.emplace(*cluster, *router);
    }
    StudyRecord run(const std::vector<StudyFlow>& flows, Switch fast_forward, const FaultPlan& plan = {}) const {
        PacketStudy study(*graph, network, packet, 1);
        study.add(plan);
        StudyWatch watch;
        watch.fast_forward = fast_forward;
        return study.run(flows, std::vector<SimDuration>(flows.size(), microseconds(1)), watch);
    }
    std::optional<Cluster> cluster;
    NetworkSpec network;
    PacketSpec packet;
    std::optional<Router> router;
    std::optional<FabricGraph> graph;
};

std::vector<StudyFlow> flows_of(Pattern pattern, Bytes message, std::int64_t members) {
    PatternSpec spec;
    spec.pattern = pattern;
    spec.message = message;
    spec.members = members;
    spec.senders = members - 1;
    return rehearse::flows_of({&spec, 1});
}

double relative(SimTime a, SimTime b) {
    return std::abs(static_cast<double>(a.value - b.value)) / static_cast<double>(b.value);
}

FaultPlan slow_nic(const Fabric& fabric, GpuId gpu, Ratio factor, SimTime begin) {
    const FabricGraph& graph = *fabric.graph;
    LinkFault slow;
    slow.kind = LinkFaultKind::slow;
    slow.link = graph.port(graph.first_port(graph.nic_of(gpu))).link;
    slow.factor = factor;
    slow.begin = begin;
    FaultPlan plan;
    plan.links.push_back({0, slow, {}});
    return plan;
}

std::uint64_t data_of(const StudyRecord& record) { return total_of(record.links).data; }

// Nothing is lost in the counting: all data packets have crossed their links, left out or not.
void expect_same(const StudyRecord& skipped, const StudyRecord& full, double error) {
    EXPECT_GT(skipped.forward.skips, 0U);
    EXPECT_LT(relative(skipped.end, full.end), error);
    for (std::size_t f = 0; f < full.flows.size(); ++f)
        EXPECT_LT(relative(skipped.flows[f].finished, full.flows[f].finished), 2 * error) << f;
    EXPECT_NEAR(static_cast<double>(data_of(skipped)), static_cast<double>(data_of(full)),
                error * static_cast<double>(data_of(full)));
    EXPECT_NEAR(static_cast<double>(skipped.events + skipped.forward.events_left_out), static_cast<double>(full.events),
                2 * error * static_cast<double>(full.events));
}

TEST(FastForward, RingKeepsItsTime) {
    const Fabric fabric(32, 8);
    const auto flows = flows_of(Pattern::ring_all_reduce, Bytes{64'000'000}, 32);
    const StudyRecord full = fabric.run(flows, Switch::off), skipped = fabric.run(flows, Switch::on);
    expect_same(skipped, full, 0.01);
    EXPECT_LT(5 * skipped.events, full.events);
}

// A member waits for all its messages, whatever is left out: a ring of a slow link goes at the pace of that link.
TEST(FastForward, RingOverASlowLinkGoesAtItsPace) {
    const Fabric fabric(16, 4);
    const FaultPlan plan = slow_nic(fabric, GpuId{5}, Ratio{0.5}, SimTime{});
    const auto flows = flows_of(Pattern::ring_all_reduce, Bytes{64'000'000}, 16);
    const StudyRecord full = fabric.run(flows, Switch::off, plan), skipped = fabric.run(flows, Switch::on, plan);
    EXPECT_LT(relative(skipped.end, full.end), 0.01);
}

// Lone messages of bulk: each departure is simulated, the time between two is skipped.
TEST(FastForward, BulkTransfersEndWhenTheyWould) {
    const Fabric fabric(16, 4);
    for (const Pattern pattern : {Pattern::permutation, Pattern::incast}) {
        const auto flows = flows_of(pattern, Bytes{300'000'000}, 6);
        const StudyRecord full = fabric.run(flows, Switch::off), skipped = fabric.run(flows, Switch::on);
        expect_same(skipped, full, 0.01);
        EXPECT_LT(4 * skipped.events, 3 * full.events);
    }
}

// A fault that is still to come is met at its time.
TEST(FastForward, WaitsForTheLastFault) {
    const Fabric fabric(16, 4);
    const FaultPlan plan = slow_nic(fabric, GpuId{0}, Ratio{0.25}, SimTime{1'000'000'000});
    const auto flows = flows_of(Pattern::permutation, Bytes{300'000'000}, 6);
    const StudyRecord full = fabric.run(flows, Switch::off, plan), skipped = fabric.run(flows, Switch::on, plan);
    expect_same(skipped, full, 0.01);
}

// Short messages settle no sooner than they end: nothing is skipped, and nothing changes.
TEST(FastForward, LeavesShortTrafficAlone) {
    const Fabric fabric(16, 4);
    const auto flows = flows_of(Pattern::permutation, Bytes{1'000'000}, 16);
    const StudyRecord full = fabric.run(flows, Switch::off), skipped = fabric.run(flows, Switch::on);
    EXPECT_EQ(skipped.forward.skips, 0U);
    EXPECT_EQ(skipped.fingerprint, full.fingerprint);
    EXPECT_EQ(skipped.events, full.events);
}

}  // namespace
}  // namespace rehearse
