// Steady-state fast-forward: when bulk transfers have settled, whole periods of them are skipped.
//
// A period is the time in which the leader, the first connection that is open, gets so many packets acknowledged: one
// message of a chain (ring, tree), `bulk_packets` of a lone message. The traffic has settled when two periods in a row
// agree: in their length (0.2 %), in the packets that every open connection got acknowledged (2 packets or 1 %), in
// pauses, marks, losses and drops (2 or 2 %). Then N periods are left out: every connection loses N times what it moves
// in one, whole messages where there are many, and the clock gains N periods; counters of ports grow as they did. What
// is under way stays, so that packet detail goes on where it was. N leaves every connection two more periods: each
// departure, and the end, is simulated.
//
// Nothing is skipped before the last start and the last planned fault, and nothing where connections of chains move by
// anything but whole messages per period.
#pragma once

#include <optional>
#include <vector>

#include "models/network/packet/engine.hpp"

namespace rehearse {

class FastForward {
public:
    static constexpr std::uint32_t bulk_packets = 1024;

    // Not before `settled_from`. The engine has all its connections.
    FastForward(PacketEngine& engine, SimTime settled_from);

    void run(SimTime until);  // as PacketEngine::run(), in the engine's time
    // The time that has passed when the engine's clock shows this; of ends, too.
    SimTime passed(SimTime engine_time) const;
    std::uint64_t events_left_out() const { return events_left_out_; }
    std::size_t skips() const { return skips_.size(); }

private:
    struct Mark {  // the state at the end of a period
        SimTime at;
        std::vector<std::uint32_t> acknowledged;  // per connection
        std::vector<PortCounters> ports;
        std::uint64_t events = 0;
    };
    struct Skip {
        SimTime at;  // engine's time
        SimDuration length;
    };
    bool choose_leader();
    SimDuration stride() const;
    void look(SimTime now);
    Mark mark(SimTime now) const;
    bool agree() const;
    std::uint64_t periods_to_skip() const;
    void skip(std::uint64_t periods, SimTime now);

    PacketEngine& engine_;
    SimTime settled_from_, now_;
    std::size_t connections_;
    std::uint32_t leader_ = no_connection, next_mark_ = 0, unit_ = 1;
    std::vector<Mark> marks_;  // the last three at most
    std::vector<Skip> skips_;
    std::uint64_t events_left_out_ = 0;
};

}  // namespace rehearse
