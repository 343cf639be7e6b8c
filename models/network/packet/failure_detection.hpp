// When the fabric, or the hosts, know of a dead link, and take paths without it.
//
// From a fault to the change of paths pass `detect`, until somebody knows, and `react`, until the new paths hold; the
// same times pass before a repaired link is used again. A fault that ends sooner is never noticed. Packets sent into
// the dead link until then are lost, and their transport waits for its timeout unless later packets reveal the gap.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace rehearse {

enum class DetectionMode : std::uint8_t {
    app_timeout,         // nobody but the transport: the fabric goes on hashing onto the dead link for ever
    bfd_software,        // BFD, 100 ms x 3, then nine software stages to the ECMP update, 20 ms
    link_down_software,  // the switch sees its own port fail at once; the same software, 20 ms
    asic_local,          // the ASIC takes the member out of its ECMP group itself, 10 us
    switch_event         // as EthLink: the switch tells the hosts, whose queue pairs take another path and send again
                         // what is not acknowledged, without waiting for the timeout; 1 ms + 2 ms
};
std::string_view name(DetectionMode mode);

struct DetectionSpec {
    DetectionMode mode = DetectionMode::link_down_software;
    SimDuration detect{0}, react{0};  // 0 = those of the mode
};
// From fault to new paths; SimDuration{INT64_MAX}: never. [facts: BFD and ECMP stages from SONiC documents; asic_local
// and switch_event are assumptions]
SimDuration detection_delay(const DetectionSpec& spec);

// The ports known to be dead from this time on, in order.
struct RouteChange {
    std::int64_t time = 0;
    std::vector<std::uint32_t> dead;
};

}  // namespace rehearse
