// What travels on a wire: a record of 40 bytes; packet_pool.hpp keeps it on a cache line of 64.
#pragma once

#include <array>
#include <cstdint>

namespace rehearse {

enum class PacketKind : std::uint8_t {
    data,
    ack,            // number: the next packet that the receiver expects
    nack,           // the same, and the sender must go back there
    selective_ack,  // number: the one packet that arrived out of order
    cnp,            // congestion notification
    pause,          // link-local from here on; number: class, stamp: duration in ps (0 = resume)
    credit,         // CF_Update; number: class, stamp: bytes freed so far
    credit_check,   // CC_Update; number: class, stamp: bytes consumed so far
    retry_nack,     // LLR; number: frame to begin again with
    retry_ack,      // LLR; number: the next frame that the receiver expects
};

struct PacketFlag {
    static constexpr std::uint8_t congestion = 1;  // ECN: congestion experienced, or its echo in an ACK
    static constexpr std::uint8_t corrupted = 2;   // the receiver's FCS fails
    static constexpr std::uint8_t again = 4;       // a retransmission
    static constexpr std::uint8_t replay = 8;      // of this link: LLR sends it again
    static constexpr std::uint8_t restart = 16;    // LLR: to be taken whatever number was expected
};

inline constexpr std::size_t hops_max = 7;

struct Packet {
    std::int64_t time = 0;    // on a wire: its last bit arrives, ps
    std::int64_t stamp = 0;   // data: when it left its NIC; ACK: echo of that
    std::uint32_t flow = 0;
    std::uint32_t number = 0;  // packet sequence number of the queue pair
    std::uint16_t wire = 0;    // bytes on the wire: headers, FCS, preamble and gap included
    PacketKind kind = PacketKind::data;
    std::uint8_t traffic_class = 0;
    std::uint8_t hop = 0;      // switches passed
    std::uint8_t in_port = 0;  // of the switch that holds it
    std::uint8_t flags = 0;
    std::array<std::uint8_t, hops_max> route{};  // port by which it leaves each switch
    std::uint16_t frame = 0;   // LLR: cyclic number on this link
};
static_assert(sizeof(Packet) == 40);

constexpr bool is_link_local(PacketKind kind) { return kind >= PacketKind::pause; }
constexpr bool is_numbered(PacketKind kind) {  // by LLR
    return !is_link_local(kind) || kind == PacketKind::credit_check;
}
constexpr bool has(const Packet& packet, std::uint8_t flag) { return (packet.flags & flag) != 0; }

}  // namespace rehearse
