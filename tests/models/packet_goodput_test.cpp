// The share of a 400G link that one long flow turns into payload, framing by framing: what the engine's links carry
// against payload / (payload + headers + 24). Rows with RETH are one-packet writes, the others packets of a long
// message.
#include <gtest/gtest.h>

#include "models/network/framing.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree;
using testing::PacketBed;

// Percent of the line rate, from two looks at the first link well after the start.
double measured_goodput(Framing framing, Bytes payload, Bytes message) {
    NetworkSpec network;
    network.framing = framing;
    network.mtu = payload;
    PacketBed bed(fat_tree(4), {}, network);
    const Bytes all{40'000'000};
    bed.engine.connect({.source = GpuId{0},
                        .destination = GpuId{1},
                        .message = message,
                        .messages = all.value / message.value,
                        .start = {}});
    const PortCounters& link = bed.engine.counters()[bed.graph.first_port(bed.graph.nic_of(GpuId{0}))];
    const SimTime early{20'000'000}, late{320'000'000};
    bed.engine.run(early);
    const std::uint64_t before = link.data;
    bed.engine.run(late);
    const double bytes = static_cast<double>(link.data - before) * static_cast<double>(payload.value);
    return 100 * bytes / (late - early).seconds() / gigabits_per_second(400).bytes_per_second();
}

class PacketGoodput : public ::testing::TestWithParam<Framing> {};

TEST_P(PacketGoodput, IsWhatTheHeadersLeave) {
    for (const std::int64_t payload : {256, 1024, 4096}) {
        const Bytes size{payload};
        EXPECT_NEAR(measured_goodput(GetParam(), size, Bytes{20'000'000}), 100 * goodput(GetParam(), size), 0.1)
            << "middle packets of " << payload;
        EXPECT_NEAR(measured_goodput(GetParam(), size, size), 100 * goodput_first_packet(GetParam(), size), 0.1)
            << "writes of " << payload;
    }
}

INSTANTIATE_TEST_SUITE_P(Framings, PacketGoodput,
                         ::testing::Values(Framing::rocev2_ipv4, Framing::rocev2_ipv4_vlan, Framing::rocev2_ipv6,
                                           Framing::rocev2_ipv6_vlan, Framing::oefh, Framing::oefh_bth,
                                           Framing::oefh_bare, Framing::esun, Framing::aifh, Framing::tomahawk_ultra));

}  // namespace
}  // namespace rehearse
