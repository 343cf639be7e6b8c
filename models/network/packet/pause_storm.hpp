// A NIC that asks for silence without end: the start of a pause storm. Its switch's queue towards it fills up, then the
// switches that feed it pause their own neighbours, and flows that never go there stand still (victims). The watchdog
// of the switch ends it: a class that is paused for `PfcSpec::watchdog` at a stretch is discarded at that port, until
// `watchdog_restore` later the pause is over (SONiC's drop action; Guo et al., SIGCOMM'16).
#pragma once

#include <cstdint>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

struct PauseStorm {
    GpuId gpu;                       // whose NIC pauses
    SimTime begin{0}, end{0};        // its own watchdog, or a repair, ends it
    std::uint8_t traffic_class = 1;
};

}  // namespace rehearse
