// Faults of links and switches at stated times, and what they make of the links: plain data.
//
// A link that is down loses what is on it and everything sent into it; nobody knows before it is detected. A slow link
// has a share of its rate (a lane lost, a port renegotiated); a lossy one loses frames. A dead switch is all of its
// links down. Faults may overlap: any that is down wins, rate factors multiply, the greatest loss counts.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

enum class LinkFaultKind : std::uint8_t { down, slow, lossy, dead_switch };

struct LinkFault {
    LinkFaultKind kind = LinkFaultKind::down;
    LinkId link{};                    // down, slow: and its way back; lossy: this way only
    VertexId vertex{};                // dead_switch
    SimTime begin{0};
    SimTime end{INT64_MAX};           // repaired
    Ratio factor{1.0};                // slow: of the rate, more than 0
    Ratio data_loss{0.0}, control_loss{0.0};  // lossy: of data frames; of ACK, NACK, CNP and CC_Update
    std::int64_t burst = 1;           // frames lost in a row
};

// A cable from one end: the link that leaves by this port and the one that comes in.
struct LinkCondition {
    std::uint64_t byte_time = 0;                  // ps, 16 fractional bits
    std::uint64_t data_loss = 0, control_loss = 0;  // thresholds
    std::uint64_t burst = 1;
    std::int64_t up_since = INT64_MIN;            // what was sent before is lost
    bool is_down = false;
};

}  // namespace rehearse
