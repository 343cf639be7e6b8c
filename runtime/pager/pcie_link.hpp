// The PCIe link between host memory and the GPUs behind one switch, as a fluid: copies of one direction share its rate
// evenly, and a direction is slower while the other one runs. Measured on PCIe 4 x16: 24.8 GB/s to the device alone,
// about 11 GB/s when both directions run.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace rehearse {

enum class CopyDirection : std::uint8_t { to_device, to_host };

struct PcieSpec {
    double alone = 24.8e9;   // bytes per second of a direction, the other one idle
    double duplex = 11.0e9;  // of each direction while both run
};

class PcieLink {
public:
    explicit PcieLink(const PcieSpec& spec = {}) : spec_(spec) {}

    // Copies begin at `now`, which never goes back. `tag` comes back with the completion.
    void start(SimTime now, CopyDirection direction, Bytes bytes, std::uint32_t tag);
    bool is_busy() const { return !copies_[0].empty() || !copies_[1].empty(); }
    SimTime next_end() const;  // SimTime{INT64_MAX}: nothing runs
    struct Done {
        SimTime at;
        CopyDirection direction;
        std::uint32_t tag;
    };
    // Everything that ends up to `now`, in order of time, then of start.
    std::vector<Done> advance(SimTime now);
    // When the copy with this tag would end if nothing else began.
    SimTime expected_end(std::uint32_t tag) const;
    Bytes moved(CopyDirection direction) const { return moved_[static_cast<std::size_t>(direction)]; }

private:
    struct Copy {
        double left = 0;  // bytes
        Bytes bytes;
        std::uint32_t tag = 0;
    };
    double rate_of(CopyDirection direction) const;  // of one copy, bytes per picosecond
    void drain(SimTime to);

    PcieSpec spec_;
    SimTime now_;
    std::vector<Copy> copies_[2];  // by direction
    Bytes moved_[2];
};

}  // namespace rehearse
