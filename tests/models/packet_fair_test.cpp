// Fair queueing, and what it shares: against the fluid model on the same routes. 400 Gbps and 500 ns a link.
#include <gtest/gtest.h>

#include <string>

#include "tests/models/fidelity_fixture.hpp"

namespace rehearse {
namespace {

using testing::all_to_all_demands;
using testing::Demand;
using testing::endless_buffers;
using testing::fat_tree;
using testing::fat_tree_with_ecmp;
using testing::flow_times;
using testing::packet_times;
using testing::PacketBed;
using testing::permutation_demands;
using testing::summary;
using testing::Times;

TEST(FairQueue, FlowsTakeTurns) {
    FairQueue queue;
    for (const std::uint32_t flow : {1u, 1u, 1u, 2u, 3u, 3u}) {
        Packet packet;
        packet.flow = flow;
        packet.number = static_cast<std::uint32_t>(queue.flows());
        queue.push(packet);
    }
    std::string order;
    while (!queue.empty()) order += std::to_string(queue.pop().flow);
    EXPECT_EQ(order, "123131");
}

// Host 1 has three connections to host 0 and host 2 has one. A FIFO shares by input: 1/6 each, and 1/2. Fair queueing
// shares by connection: 1/4 each.
TEST(FairQueue, SharesByFlowWhateverTheInputs) {
    const auto lone_share = [](QueueDiscipline discipline) {
        PacketBed bed(fat_tree(8), endless_buffers(discipline));
        for (const std::uint32_t from : {1u, 1u, 1u, 2u}) bed.send(from, 0, 20'000'000);
        bed.engine.run(SimTime{500'000'000});
        double taken = 0, all = 0;  // ACKs of host 0 reach host 1 and host 2 by their ports
        for (const std::uint32_t to : {1u, 2u}) {
            const std::uint32_t nic = bed.graph.first_port(bed.graph.nic_of(GpuId{to}));
            taken = static_cast<double>(bed.engine.counters()[bed.graph.port(nic).peer].control);
            all += taken;
        }
        return taken / all;
    };
    EXPECT_NEAR(lone_share(QueueDiscipline::fifo), 0.5, 0.01);
    EXPECT_NEAR(lone_share(QueueDiscipline::fair), 0.25, 0.005);
}

// Alone in the fabric both fidelities agree, whatever the size and the distance.
TEST(FlowAgainstPacket, AloneWithinTwoPercent) {
    for (const std::uint32_t to : {1u, 9u, 127u}) {
        for (const std::int64_t bytes : {1, 4096, 5000, 100'000, 2'000'000}) {
            const std::vector<Demand> one = {{0, to, bytes}};
            const double packet = packet_times(fat_tree(8), one, {})[0], flow = flow_times(fat_tree(8), one)[0];
            EXPECT_NEAR(packet / flow, 1, 0.02) << to << " " << bytes;
        }
    }
}

// With fair queues, buffers without end and no control of congestion, packets share as the fluid does.
TEST(FlowAgainstPacket, CollisionsWithinTenPercent) {
    const ClusterSpec tree = fat_tree_with_ecmp(8);
    const auto compare = [&](const std::vector<Demand>& demands, const char* name) {
        const Times packet = summary(packet_times(tree, demands, endless_buffers(QueueDiscipline::fair)));
        const Times flow = summary(flow_times(tree, demands));
        EXPECT_EQ(packet.unfinished, 0U);
        EXPECT_NEAR(packet.mean / flow.mean, 1, 0.10) << name;
    };
    for (const std::uint64_t seed : {1, 2, 3}) compare(permutation_demands(128, seed), "permutation");
    compare(all_to_all_demands(128, 16, 100'000), "all-to-all of 16");
    compare(all_to_all_demands(128, 128, 20'000), "all-to-all of 128");
}

}  // namespace
}  // namespace rehearse
