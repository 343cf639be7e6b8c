#include "models/network/framing.hpp"

#include <algorithm>
#include <array>

#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

using enum Header;

template <class... Headers>
constexpr std::array<Header, sizeof...(Headers)> stack(Headers... headers) {
    return {headers...};
}

constexpr auto ipv4_write = stack(ethernet, ipv4, udp, bth, reth, icrc, line);
constexpr auto ipv4_send = stack(ethernet, ipv4, udp, bth, icrc, line);
constexpr auto ipv4_vlan_write = stack(ethernet, vlan, ipv4, udp, bth, reth, icrc, line);
constexpr auto ipv4_vlan_send = stack(ethernet, vlan, ipv4, udp, bth, icrc, line);
constexpr auto ipv6_write = stack(ethernet, ipv6, udp, bth, reth, icrc, line);
constexpr auto ipv6_send = stack(ethernet, ipv6, udp, bth, icrc, line);
constexpr auto ipv6_vlan_write = stack(ethernet, vlan, ipv6, udp, bth, reth, icrc, line);
constexpr auto ipv6_vlan_send = stack(ethernet, vlan, ipv6, udp, bth, icrc, line);
constexpr auto oefh_transaction = stack(oefh, transaction, line);
constexpr auto oefh_write = stack(oefh, bth, reth, icrc, line);
constexpr auto oefh_alone = stack(oefh, line);
constexpr auto esun_reliable = stack(ethernet, esun, reliability, line);
constexpr auto aifh_reliable = stack(aifh, ether_type, reliability, line);
constexpr auto ultra = stack(tomahawk_ultra, line);
constexpr auto flat = stack(fixed_64);

double share(Bytes payload, Bytes overhead) {
    REHEARSE_CHECK(payload > Bytes{0}, "a packet carries no payload");
    return static_cast<double>(payload.value) / static_cast<double>((payload + overhead).value);
}

}  // namespace

Bytes size(Header header) {
    constexpr std::int64_t sizes[] = {14, 4, 20, 40, 8, 12, 16, 4, 6, 8, 4, 12, 2, 8, 10, 4 + 8 + 12, 64};
    return Bytes{sizes[static_cast<std::size_t>(header)]};
}

std::span<const Header> headers_of(Framing framing) {
    switch (framing) {
        case Framing::rocev2_ipv4: return ipv4_write;
        case Framing::rocev2_ipv4_send: return ipv4_send;
        case Framing::rocev2_ipv4_vlan: return ipv4_vlan_write;
        case Framing::rocev2_ipv4_vlan_send: return ipv4_vlan_send;
        case Framing::rocev2_ipv6: return ipv6_write;
        case Framing::rocev2_ipv6_send: return ipv6_send;
        case Framing::rocev2_ipv6_vlan: return ipv6_vlan_write;
        case Framing::rocev2_ipv6_vlan_send: return ipv6_vlan_send;
        case Framing::oefh: return oefh_transaction;
        case Framing::oefh_bth: return oefh_write;
        case Framing::oefh_bare: return oefh_alone;
        case Framing::esun: return esun_reliable;
        case Framing::aifh: return aifh_reliable;
        case Framing::tomahawk_ultra: return ultra;
        case Framing::fixed_64: return flat;
        case Framing::none: break;
    }
    return {};
}

HeaderStack compose(std::span<const Header> headers) {
    HeaderStack sum;
    for (const Header header : headers) {
        (header == reth ? sum.first_packet : header == line ? sum.line : sum.every_packet) += size(header);
    }
    return sum;
}

double goodput(Framing framing, Bytes payload) {
    const HeaderStack headers = header_stack(framing);
    return share(payload, headers.every_packet + headers.line);
}

double goodput_first_packet(Framing framing, Bytes payload) {
    const HeaderStack headers = header_stack(framing);
    return share(payload, headers.every_packet + headers.first_packet + headers.line);
}

Bytes wire_bytes(Framing framing, Bytes message, Bytes mtu) {
    REHEARSE_CHECK(mtu > Bytes{0}, "packets carry no payload");
    const HeaderStack headers = header_stack(framing);
    const std::int64_t packets = std::max<std::int64_t>(1, (message.value + mtu.value - 1) / mtu.value);
    return message + (headers.every_packet + headers.line) * packets + headers.first_packet;
}

Bytes control_wire_bytes(Framing framing) {
    constexpr Bytes aeth{4}, frame_min{64 + 8 + 12};
    const HeaderStack headers = header_stack(framing);
    if (headers.line == Bytes{0}) return Bytes{64};
    return std::max(headers.every_packet + aeth + headers.line, frame_min);
}

}  // namespace rehearse
