// What the user says about the network model. Plain data.
#pragma once

#include <cstdint>

#include "sim/base/units.hpp"
#include "topology/router.hpp"

namespace rehearse {

enum class Fidelity : std::uint8_t { ideal, flow, packet };
enum class FlowControl : std::uint8_t { pfc, cbfc };  // acts at packet fidelity only
// Header stacks; framing.hpp says what each is made of. RoCEv2: writes, whose first packet has a RETH; _send: none has.
enum class Framing : std::uint8_t {
    rocev2_ipv4, rocev2_ipv4_send, rocev2_ipv4_vlan, rocev2_ipv4_vlan_send,
    rocev2_ipv6, rocev2_ipv6_send, rocev2_ipv6_vlan, rocev2_ipv6_vlan_send,
    oefh, oefh_bth, oefh_bare, esun, aifh, tomahawk_ultra, fixed_64, none
};

struct NetworkSpec {
    Fidelity fidelity = Fidelity::flow;
    Framing framing = Framing::rocev2_ipv4;
    FlowControl flow_control = FlowControl::pfc;
    EcmpSpec ecmp;
    Bytes mtu{4096};                        // payload bytes of a full packet
    SimDuration coalesce = microseconds(0); // flow: rates of arrivals within one window are solved together; 0 = exact
};

}  // namespace rehearse
