// What a payload byte costs on an Ethernet link: header stacks composed of headers, and the goodput that follows.
//
//   goodput = payload / (payload + headers + FCS 4 + preamble and SFD 8 + inter-packet gap 12)
//
// Sizes in bytes: Ethernet 14, VLAN tag 4, IPv4 20, IPv6 40, UDP 8 (IEEE 802.3, 802.1Q, RFC 791, 8200, 768); BTH 12,
// RETH 16, ICRC 4 (InfiniBand architecture specification, annexes A16 and A17: RoCE, RoCEv2). A RETH says where a write
// goes and stands in the first packet of a message; a send has none.
//
// Scale-up Ethernet: OEFH is ByteDance's 6-byte header that stands for Ethernet + IP + UDP (EthLink white paper, 2025);
// only its size is public, its fields here are our assumption (destination 16 bits, source 12, path 4, class 4 + ECN 2,
// hop limit 4, type 6), and nothing but the size acts. A load/store transaction header of 8 bytes follows it, or a BTH
// with ICRC. ESUN 1.0 puts 4 bytes in the place of IP and UDP; AIFH (Broadcom) is 12 bytes in the place of both MAC
// addresses, then an EtherType of 2; both carry SUE's reliability header of 8 (SONiC scale-up documents; SUE-Sim).
// Tomahawk Ultra announces 10 bytes in all.
//
// Example: goodput(Framing::rocev2_ipv4, Bytes{4096}) = 4096 / (4096 + 58 + 24) = 0.9804.
#pragma once

#include <cstdint>
#include <span>

#include "models/network/spec.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

enum class Header : std::uint8_t {
    ethernet, vlan, ipv4, ipv6, udp, bth, reth, icrc,                             // RoCEv2
    oefh, transaction, esun, aifh, ether_type, reliability, tomahawk_ultra,      // scale-up
    line,                                                                         // FCS, preamble, SFD and gap
    fixed_64,  // 64 bytes for everything, line included: what other simulators count
};
Bytes size(Header header);

struct HeaderStack {
    Bytes every_packet;  // headers and ICRC of each packet
    Bytes first_packet;  // on top, in the first packet of a message (RETH)
    Bytes line;          // FCS, preamble, SFD and inter-packet gap of each packet
};
HeaderStack compose(std::span<const Header> headers);

std::span<const Header> headers_of(Framing framing);  // in the order of the wire; Framing::none: empty, payload is wire
inline HeaderStack header_stack(Framing framing) { return compose(headers_of(framing)); }

// Share of the line rate left for payload when every packet carries `payload` bytes (> 0) behind the headers of a
// middle packet, or of a first one.
double goodput(Framing framing, Bytes payload);
double goodput_first_packet(Framing framing, Bytes payload);

// Bytes on the wire, gaps included, of one message cut into packets of at most `mtu` payload bytes. The last packet is
// short; a message without payload is one packet.
Bytes wire_bytes(Framing framing, Bytes message, Bytes mtu);

// Of an ACK or NACK: the headers of a packet and an AETH of 4 (InfiniBand annex A17), at least the smallest Ethernet
// frame of 64 with preamble and gap; 64 with fixed_64 and none.
Bytes control_wire_bytes(Framing framing);

}  // namespace rehearse
