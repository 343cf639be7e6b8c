// FlowModel and IdealModel on real fabrics: closed forms, traffic figures, order of completions, the factory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "models/network/flow/flow_model.hpp"
#include "models/network/framing.hpp"
#include "models/network/ideal/ideal_model.hpp"
#include "models/network/make_network_model.hpp"
#include "sim/base/fault.hpp"
#include "tests/bench/fat_tree_flows.hpp"
#include "tests/topology/fabrics.hpp"

namespace rehearse {
namespace {

using testing::clos;
using testing::fat_tree;

struct Fabric {
    explicit Fabric(const ClusterSpec& spec, EcmpSpec ecmp = {})
        : cluster(build_cluster(spec)), router(cluster, ecmp, 1) {}
    Cluster cluster;
    Router router;
};

NetworkSpec plain() {
    NetworkSpec spec;
    spec.framing = Framing::none;
    return spec;
}

std::vector<Completion> run(NetworkModel& model) {
    std::vector<Completion> done;
    for (SimTime t = model.next_event_time(); t.value != INT64_MAX; t = model.next_event_time()) model.advance(t, done);
    return done;
}

FlowId send(NetworkModel& model, SimTime at, std::uint32_t from, std::uint32_t to, std::int64_t size,
            std::uint64_t token = 0, std::uint64_t key = 0) {
    const std::array<GpuId, 2> gpus{GpuId{from}, GpuId{to}};
    TransferRequest request;
    request.gpus = gpus;
    request.size = Bytes{size};
    request.token = token;
    request.group_key = key;
    return model.start(at, request);
}

// The permutation of network_flow_test.cpp again, on the Cluster and Router of the product.
TEST(FlowModel, PermutationOnTheRealFatTree) {
    const Fabric fabric(fat_tree(16));
    FlowModel model(fabric.cluster, fabric.router, plain());
    const auto flows = bench::permutation(1024, 1e9, 1);
    for (std::uint32_t f = 0; f < flows.size(); ++f) {
        send(model, SimTime{0}, flows[f].source, flows[f].destination, 1'000'000'000, f);
    }
    std::vector<std::int64_t> times;
    for (const Completion& completion : run(model)) times.push_back(completion.at.value);
    ASSERT_EQ(times.size(), 1024U);
    const bench::FlowTimes found = bench::summarise(times);
    EXPECT_NEAR(found.mean / 0.043850550, 1, 1e-6);
    EXPECT_NEAR(found.max / 0.100003000, 1, 1e-6);
}

// Inside a node: over NVLink only, 300 GB/s, 500 ns: 300e6 B take 1 ms + 500 ns. Nothing appears elsewhere.
TEST(FlowModel, InsideANodeOverNvlink) {
    const Fabric fabric(clos(64));
    FlowModel model(fabric.cluster, fabric.router, NetworkSpec{});
    send(model, SimTime{0}, 0, 3, 300'000'000);
    const std::vector<Completion> done = run(model);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].at, SimTime{1'000'500'000});
    const LinkTraffic& traffic = model.traffic();
    for (std::uint32_t l = 0; l < traffic.bytes.size(); ++l) {
        if (traffic.bytes[l] == 0) continue;
        EXPECT_EQ(fabric.cluster.link(LinkId{l}).tier, LinkTier::nvlink);
    }
}

// Between nodes: the 200 Gb/s NIC, with framing: latency + wire bytes / 25e9 B/s.
TEST(FlowModel, BetweenNodesWithFraming) {
    const Fabric fabric(clos(64));
    FlowModel model(fabric.cluster, fabric.router, NetworkSpec{});
    IdealModel ideal(fabric.cluster, fabric.router, NetworkSpec{});
    const Bytes size{6'291'456};
    SimDuration latency{0};
    const Path path = fabric.router.route({GpuId{0}, GpuId{8}, 0});
    for (const LinkId link : path.links()) {
        latency += fabric.cluster.link(link).latency;
    }
    const SimDuration drain = wire_bytes(Framing::rocev2_ipv4, size, Bytes{4096}) / gigabits_per_second(200);
    for (NetworkModel* each : {static_cast<NetworkModel*>(&model), static_cast<NetworkModel*>(&ideal)}) {
        send(*each, SimTime{0}, 0, 8, size.value, 42);
        const std::vector<Completion> done = run(*each);
        ASSERT_EQ(done.size(), 1U);
        EXPECT_NEAR(static_cast<double>(done[0].at.value), static_cast<double>((latency + drain).value), 2);
        EXPECT_EQ(done[0].token, 42U);
    }
}

// Wire bytes on each link = sum over the transfers that cross it; busy = bytes / capacity; PCIe and NVLink without
// framing. Half-way through, a lone flow has moved half.
TEST(FlowModel, TrafficIsConserved) {
    const Fabric fabric(clos(128));
    for (const std::uint64_t keyed : {0ULL, 1ULL}) {
        FlowModel model(fabric.cluster, fabric.router, NetworkSpec{});
        const Stream draw(3, "traffic");
        std::vector<double> expected(fabric.cluster.links().size(), 0.0);
        for (std::uint32_t f = 0; f < 2000; ++f) {
            const auto from = static_cast<std::uint32_t>(draw.uniform(f, 0) * 1024);
            const auto to = static_cast<std::uint32_t>(draw.uniform(f, 1) * 1024);
            const Bytes size{static_cast<std::int64_t>(draw.uniform(f, 2) * 1e7)};
            const auto start = static_cast<std::int64_t>(draw.uniform(f, 3) * 1e9);
            send(model, SimTime{start}, from, to, size.value, f, keyed * (1 + 1024ULL * from + to));
            const Path path = fabric.router.route({GpuId{from}, GpuId{to}, 0});
            for (const LinkId link : path.links()) {
                const LinkTier tier = fabric.cluster.link(link).tier;
                const bool framed = tier != LinkTier::nvlink && tier != LinkTier::pcie;
                expected[link.value] += static_cast<double>(
                    framed ? wire_bytes(Framing::rocev2_ipv4, size, Bytes{4096}).value : size.value);
            }
        }
        EXPECT_EQ(run(model).size(), 2000U);
        const LinkTraffic& traffic = model.traffic();
        for (std::uint32_t l = 0; l < expected.size(); ++l) {
            ASSERT_NEAR(traffic.bytes[l], expected[l], 1e-9 * expected[l] + 1e-6) << l;
            ASSERT_NEAR(traffic.busy_seconds[l],
                        traffic.bytes[l] / fabric.cluster.link(LinkId{l}).rate.bytes_per_second(), 1e-12);
        }
    }
}

TEST(FlowModel, TrafficOfAFlowUnderWay) {
    const Fabric fabric(fat_tree(4));
    FlowModel model(fabric.cluster, fabric.router, plain());
    send(model, SimTime{0}, 0, 15, 50'000'000);  // 1 ms at 50 GB/s, after 3 us
    std::vector<Completion> done;
    model.advance(SimTime{503'000'000}, done);
    const std::vector<double> bytes = model.traffic().bytes;
    const double carried = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    EXPECT_NEAR(carried, 6 * 25e6, 1);  // half on each of six links
}

// A ring of all 4 hosts of one edge-pair on a k = 4 tree, S bytes per member in n - 1 = 3 steps: every host link is
// used once, so the ring drains at B; latency 3 x the mean hop (2, 4, 2 and 4 links: 1.5 us).
TEST(FlowModel, RingOnAnIdleFabric) {
    const Fabric fabric(fat_tree(4));
    FlowModel model(fabric.cluster, fabric.router, plain());
    const std::vector<GpuId> gpus{GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
    TransferRequest request;
    request.pattern = TransferPattern::ring;
    request.gpus = gpus;
    request.size = Bytes{50'000'000};
    request.steps = 3;
    request.group_key = 9;
    model.start(SimTime{0}, request);
    const std::vector<Completion> done = run(model);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].at, SimTime{1'000'000'000 + 3 * 1'500'000});
}

// A transfer right behind another one on its way has no latency of its own; its messages decide its framing.
TEST(FlowModel, StepsAndMessagesOfAPair) {
    const Fabric fabric(fat_tree(4));
    NetworkSpec spec = plain();
    spec.framing = Framing::fixed_64;
    const std::vector<GpuId> gpus{GpuId{0}, GpuId{1}};
    const auto end_of = [&](std::uint32_t steps, std::int64_t messages) {
        FlowModel model(fabric.cluster, fabric.router, spec);
        TransferRequest request;
        request.gpus = gpus;
        request.size = Bytes{64'000};
        request.steps = steps;
        request.messages = messages;
        model.start(SimTime{0}, request);
        return run(model).at(0).at;
    };
    EXPECT_EQ(end_of(1, 1000) - SimTime{0}, SimDuration{128'000 * 20 + 1'000'000});  // 64 bytes and as many of framing
    EXPECT_EQ(end_of(0, 1000) - SimTime{0}, SimDuration{128'000 * 20});
    EXPECT_EQ(end_of(0, 1) - SimTime{0}, SimDuration{(64'000 + 16 * 64) * 20});
}

// All-to-all of 8 members, each sends S in all: one host link carries S, whatever the number of members.
TEST(FlowModel, AllToAllAsOneFlow) {
    const Fabric fabric(fat_tree(4));
    FlowModel model(fabric.cluster, fabric.router, plain());
    std::vector<GpuId> gpus;
    for (std::uint32_t g = 0; g < 4; ++g) gpus.push_back(GpuId{g});
    TransferRequest request;
    request.pattern = TransferPattern::all_to_all;
    request.gpus = gpus;
    request.size = Bytes{50'000'000};
    model.start(SimTime{0}, request);
    const std::vector<Completion> done = run(model);
    EXPECT_EQ(done.at(0).at, SimTime{1'000'000'000 + 2'000'000});
}

// q queue pairs over q paths: the NIC stays the limit, and the host link carries the whole size.
TEST(FlowModel, QueuePairsSplitTheFlow) {
    EcmpSpec ecmp;
    ecmp.queue_pairs = 8;
    const Fabric fabric(clos(256), ecmp);
    FlowModel model(fabric.cluster, fabric.router, plain());
    send(model, SimTime{0}, 0, 8 * 100, 25'000'000);
    const std::vector<Completion> done = run(model);
    const SimDuration drain = Bytes{25'000'000} / gigabits_per_second(200);
    EXPECT_GT(done.at(0).at, SimTime{drain.value});
    EXPECT_LT(done.at(0).at, SimTime{drain.value + 20'000'000});
    double host = 0;
    std::size_t core = 0;
    const std::vector<double> bytes = model.traffic().bytes;
    for (std::uint32_t l = 0; l < bytes.size(); ++l) {
        const LinkTier tier = fabric.cluster.link(LinkId{l}).tier;
        if (tier == LinkTier::host) host += bytes[l];
        if (tier != LinkTier::host && tier != LinkTier::pcie && bytes[l] > 0) ++core;
    }
    EXPECT_NEAR(host, 2 * 25e6, 1);
    EXPECT_GT(core, 4U);
}

// Transfers that end together end in order of FlowId.
TEST(FlowModel, TiesEndInOrderOfFlow) {
    const Fabric fabric(fat_tree(4));
    FlowModel model(fabric.cluster, fabric.router, plain());
    for (std::uint32_t g = 0; g < 16; ++g) send(model, SimTime{0}, 15 - g, (15 - g) ^ 1U, 1'000'000, g);
    const std::vector<Completion> done = run(model);
    ASSERT_EQ(done.size(), 16U);
    for (std::size_t i = 1; i < done.size(); ++i) {
        EXPECT_EQ(done[i].at, done[0].at);
        EXPECT_LT(done[i - 1].flow, done[i].flow);
    }
}

// Ideal is a lower bound for flow.
TEST(IdealModel, NeverLaterThanFlow) {
    const Fabric fabric(clos(64));
    FlowModel flow(fabric.cluster, fabric.router, NetworkSpec{});
    IdealModel ideal(fabric.cluster, fabric.router, NetworkSpec{});
    const Stream draw(3, "bound");
    std::vector<SimTime> ideal_end(500);
    for (std::uint32_t f = 0; f < 500; ++f) {
        const auto from = static_cast<std::uint32_t>(draw.uniform(f, 0) * 512);
        const auto to = static_cast<std::uint32_t>(draw.uniform(f, 1) * 512);
        const auto size = static_cast<std::int64_t>(draw.uniform(f, 2) * 1e7);
        send(flow, SimTime{0}, from, to, size, f);
        send(ideal, SimTime{0}, from, to, size, f);
    }
    for (const Completion& completion : run(ideal)) ideal_end[completion.token] = completion.at;
    for (const Completion& completion : run(flow)) {
        EXPECT_GE(completion.at.value + 1, ideal_end[completion.token].value);
    }
}

TEST(MakeNetworkModel, EveryFidelityHasAModel) {
    const Fabric fabric(fat_tree(4));
    for (const Fidelity fidelity : {Fidelity::ideal, Fidelity::flow, Fidelity::packet}) {
        NetworkSpec spec;
        spec.fidelity = fidelity;
        EXPECT_NE(make_network_model(spec, fabric.cluster, fabric.router), nullptr);
    }
}

}  // namespace
}  // namespace rehearse
