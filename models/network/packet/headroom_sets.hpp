// Headroom as switches ship with it: the xoff fields of SONiC's buffer profiles (sonic-net/sonic-buildimage,
// pg_profile_lookup.ini), for 5, 40 and 300 m of cable; Tomahawk 5 of Arista 7060X6-64PE-B, Tomahawk 6 of Nokia
// IXR7220-H6-64. Several times what the formula asks for.
#pragma once

#include "models/network/packet/spec.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

// For a link of that rate and latency, 5 ns a metre. Throws InputError (models.network.packet.pfc.headroom_set) when
// the set has no such rate, or no cable so long.
Bytes shipped_headroom(HeadroomSet set, Bandwidth rate, SimDuration latency);

}  // namespace rehearse
