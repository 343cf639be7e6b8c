// goodput = payload / (payload + headers + 24); the table is computed by hand from the header sizes (24 = FCS 4,
// preamble and SFD 8, gap 12).
#include <gtest/gtest.h>

#include <array>

#include "models/network/framing.hpp"

namespace rehearse {
namespace {

struct Row {
    const char* name;
    Framing framing;
    bool first;                     // the packet carries RETH
    std::int64_t headers;           // bytes, ICRC included
    std::array<double, 5> percent;  // payload 256, 512, 1024, 2048, 4096
};

const Row rows[] = {
    {"RoCEv2/IPv4", Framing::rocev2_ipv4, false, 58, {75.74, 86.20, 92.59, 96.15, 98.04}},
    {"RoCEv2/IPv4 send", Framing::rocev2_ipv4_send, true, 58, {75.74, 86.20, 92.59, 96.15, 98.04}},
    {"RoCEv2/IPv4 + RETH", Framing::rocev2_ipv4, true, 74, {72.32, 83.93, 91.27, 95.43, 97.66}},
    {"RoCEv2/IPv4 + RETH + VLAN", Framing::rocev2_ipv4_vlan, true, 78, {71.51, 83.39, 90.94, 95.26, 97.57}},
    {"RoCEv2/IPv6", Framing::rocev2_ipv6, false, 78, {71.51, 83.39, 90.94, 95.26, 97.57}},
    {"RoCEv2/IPv6 + RETH", Framing::rocev2_ipv6, true, 94, {68.45, 81.27, 89.67, 94.55, 97.20}},
    {"RoCEv2/IPv6 + RETH + VLAN", Framing::rocev2_ipv6_vlan, true, 98, {67.72, 80.76, 89.35, 94.38, 97.11}},
    {"ESUN", Framing::esun, false, 26, {83.66, 91.10, 95.34, 97.62, 98.79}},
    {"AIFH", Framing::aifh, false, 22, {84.77, 91.76, 95.70, 97.80, 98.89}},
    {"OEFH 6 + 8", Framing::oefh, false, 14, {87.07, 93.09, 96.42, 98.18, 99.08}},
    {"OEFH + BTH + ICRC", Framing::oefh_bth, false, 22, {84.77, 91.76, 95.70, 97.80, 98.89}},
    {"Tomahawk Ultra", Framing::tomahawk_ultra, false, 10, {88.28, 93.77, 96.79, 98.37, 99.18}},
    {"OEFH alone", Framing::oefh_bare, false, 6, {89.51, 94.46, 97.15, 98.56, 99.27}},
};

TEST(Framing, GoodputTable) {
    for (const Row& row : rows) {
        const HeaderStack stack = header_stack(row.framing);
        EXPECT_EQ((stack.every_packet + (row.first ? stack.first_packet : Bytes{0})).value, row.headers) << row.name;
        for (std::size_t i = 0; i < row.percent.size(); ++i) {
            const Bytes payload{256 << i};
            const double share = row.first ? goodput_first_packet(row.framing, payload) : goodput(row.framing, payload);
            EXPECT_NEAR(100 * share, row.percent[i], 0.01) << row.name << " at " << payload.value;
        }
    }
}

// Two packets of 4096 and a short one of 1000: payload + 3 x (58 + 24) + one RETH.
TEST(Framing, MessageIsCutIntoPackets) {
    EXPECT_EQ(wire_bytes(Framing::rocev2_ipv4, Bytes{9192}, Bytes{4096}), Bytes{9192 + 3 * 82 + 16});
    EXPECT_EQ(wire_bytes(Framing::rocev2_ipv4, Bytes{8192}, Bytes{4096}), Bytes{8192 + 2 * 82 + 16});
    EXPECT_EQ(wire_bytes(Framing::oefh, Bytes{0}, Bytes{4096}), Bytes{14 + 24});
}

// A tag or the lack of a RETH changes that and nothing else.
TEST(Framing, StacksAreComposedOfHeaders) {
    const auto first = [](Framing framing) {
        const HeaderStack stack = header_stack(framing);
        return (stack.every_packet + stack.first_packet + stack.line).value;
    };
    EXPECT_EQ(first(Framing::rocev2_ipv4_vlan) - first(Framing::rocev2_ipv4), 4);
    EXPECT_EQ(first(Framing::rocev2_ipv6_vlan_send) - first(Framing::rocev2_ipv6_send), 4);
    EXPECT_EQ(first(Framing::rocev2_ipv4) - first(Framing::rocev2_ipv4_send), 16);
    EXPECT_EQ(first(Framing::rocev2_ipv6_send) - first(Framing::rocev2_ipv4_send), 20);
    EXPECT_EQ(first(Framing::rocev2_ipv4_vlan) - first(Framing::rocev2_ipv4_vlan_send), 16);
    EXPECT_EQ(first(Framing::fixed_64), 64);
    EXPECT_EQ(header_stack(Framing::fixed_64).line, Bytes{0});
}

TEST(Framing, NoneIsFree) {
    EXPECT_EQ(wire_bytes(Framing::none, Bytes{123456}, Bytes{4096}), Bytes{123456});
    EXPECT_DOUBLE_EQ(goodput(Framing::none, Bytes{64}), 1.0);
}

}  // namespace
}  // namespace rehearse
