// What a payload byte costs on an Ethernet link: header stacks as data, and the goodput that follows.
//
//   goodput = payload / (payload + headers + FCS 4 + preamble and SFD 8 + inter-packet gap 12)
//
// Sizes in bytes: Ethernet 14, IPv4 20, IPv6 40, UDP 8 (IEEE 802.3, RFC 791, 8200, 768); BTH 12, RETH 16, ICRC 4
// (InfiniBand architecture specification, annexes A16 and A17: RoCE, RoCEv2). OEFH is ByteDance's 6-byte header that
// stands for Ethernet + IP + UDP (EthLink white paper, 2025; only its size is public); a load/store transaction header
// of 8 bytes follows it, or a BTH with ICRC.
//
// Example: goodput(Framing::rocev2_ipv4, Bytes{4096}) = 4096 / (4096 + 58 + 24) = 0.9804.
#pragma once

#include "models/network/spec.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

struct HeaderStack {
    Bytes every_packet;  // headers and ICRC of each packet
    Bytes first_packet;  // on top, in the first packet of a message (RETH: where the data goes)
    Bytes line;          // FCS, preamble, SFD and inter-packet gap of each packet
};

// Framing::none has no bytes at all: payload is wire.
HeaderStack header_stack(Framing framing);

// Share of the line rate left for payload when every packet carries `payload` bytes (> 0) behind the headers of a
// middle packet, or of a first one.
double goodput(Framing framing, Bytes payload);
double goodput_first_packet(Framing framing, Bytes payload);

// Bytes on the wire, gaps included, of one message cut into packets of at most `mtu` payload bytes. The last packet is
// short; a message without payload is one packet.
Bytes wire_bytes(Framing framing, Bytes message, Bytes mtu);

}  // namespace rehearse
