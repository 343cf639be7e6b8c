// What the user says about the network model. Plain data.
#pragma once

#include <cstdint>

#include "sim/base/units.hpp"
#include "topology/router.hpp"

namespace rehearse {

enum class Fidelity : std::uint8_t { ideal, flow, packet };
enum class FlowControl : std::uint8_t { pfc, cbfc };  // acts at packet fidelity only
// Header stacks of facts/network.md section 2 (sizes in framing.hpp).
enum class Framing : std::uint8_t { rocev2_ipv4, rocev2_ipv6, oefh, oefh_bth, fixed_64, none };

struct NetworkSpec {
    Fidelity fidelity = Fidelity::flow;
    Framing framing = Framing::rocev2_ipv4;
    FlowControl flow_control = FlowControl::pfc;
    EcmpSpec ecmp;
    Bytes mtu{4096};                        // payload bytes of a full packet
    SimDuration coalesce = microseconds(0); // flow: rates of arrivals within one window are solved together; 0 = exact
};

}  // namespace rehearse
