// What goes wrong in the fabric, as the user writes it: cables and switches by the names that `rehearse topo --format
// dot` prints. Plain data; plan_faults() of fault_plan.hpp turns it into what the engine takes.
#pragma once

#include <cstdint>
#include <string>

#include "models/network/packet/frame_loss.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

enum class FabricFaultKind : std::uint8_t {
    down,         // a cable, both ways
    flap,         // ... `times` times, `period` apart, `down_for` each
    slow,         // ... has a share of its rate
    lossy,        // the way from `from` to `to` loses frames
    dead_switch,  // all links of a switch are down
    pause_storm   // the NIC of a GPU pauses its switch without end (pause_storm.hpp)
};

struct FabricFault {
    FabricFaultKind kind = FabricFaultKind::down;
    std::string from, to;             // ends of the cable
    std::int64_t parallel = 0;        // of cables side by side, counted from 0
    std::string switch_name;          // dead_switch
    std::int64_t gpu = 0;             // pause_storm
    std::int64_t traffic_class = 1;   // pause_storm
    SimDuration begin{0}, end{0};     // end 0: never repaired
    SimDuration down_for{0}, period{0};
    std::int64_t times = 1;
    Ratio rate_share{0.5};            // slow
    LossSpec loss;                    // lossy
};

}  // namespace rehearse
