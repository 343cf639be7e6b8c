#include "models/network/framing.hpp"

#include <algorithm>

#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

constexpr Bytes ethernet{14}, ipv4{20}, ipv6{40}, udp{8}, bth{12}, reth{16}, icrc{4}, oefh{6}, transaction{8};
constexpr Bytes line{4 + 8 + 12};

double share(Bytes payload, Bytes overhead) {
    REHEARSE_CHECK(payload > Bytes{0}, "a packet carries no payload");
    return static_cast<double>(payload.value) / static_cast<double>((payload + overhead).value);
}

}  // namespace

HeaderStack header_stack(Framing framing) {
    switch (framing) {
        case Framing::rocev2_ipv4:
            return {ethernet + ipv4 + udp + bth + icrc, reth, line};
        case Framing::rocev2_ipv6:
            return {ethernet + ipv6 + udp + bth + icrc, reth, line};
        case Framing::oefh:
            return {oefh + transaction, Bytes{0}, line};
        case Framing::oefh_bth:
            return {oefh + bth + icrc, reth, line};
        case Framing::fixed_64:  // for cross-checks with simulators that count 64 bytes a packet
            return {Bytes{64}, Bytes{0}, Bytes{0}};
        case Framing::none:
            break;
    }
    return {Bytes{0}, Bytes{0}, Bytes{0}};
}

double goodput(Framing framing, Bytes payload) {
    const HeaderStack stack = header_stack(framing);
    return share(payload, stack.every_packet + stack.line);
}

double goodput_first_packet(Framing framing, Bytes payload) {
    const HeaderStack stack = header_stack(framing);
    return share(payload, stack.every_packet + stack.first_packet + stack.line);
}

Bytes wire_bytes(Framing framing, Bytes message, Bytes mtu) {
    REHEARSE_CHECK(mtu > Bytes{0}, "packets carry no payload");
    const HeaderStack stack = header_stack(framing);
    const std::int64_t packets = std::max<std::int64_t>(1, (message.value + mtu.value - 1) / mtu.value);
    return message + (stack.every_packet + stack.line) * packets + stack.first_packet;
}

}  // namespace rehearse
