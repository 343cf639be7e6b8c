// Steady-state fast-forward: when bulk transfers have settled, whole periods of them are skipped.
//
// A period is the time in which the leader, the first connection that is open, gets so many packets acknowledged: one
// message of a chain (ring, tree), `bulk_packets` of a lone message; four times as much after every eight periods that
// didn't settle. The traffic has settled when of four periods the first two and the last two agree: their length to
// 2 %; of every chain the time between its whole messages to 4 %; of every lone message the packets acknowledged to 3 %
// or 4, and as many sent; pauses, marks, losses and drops to 20 % or 16 (ties that are drawn keep periods from being
// equal, and pauses come in bunches).
//
// Then four times N periods are left out: every connection loses N times what it moved, a collective as many messages
// of every member (their mean, rounded; none where a member is a message or more off it), and the clock gains N times
// the four periods, as the mean of all chains saw them; counters of ports grow as they did. What is under way stays, so
// that packet detail goes on where it was. N leaves every connection two more periods: each departure, and the end, is
// simulated. Nothing is skipped before the last start and the last planned fault.
#pragma once

#include <vector>

#include "models/network/packet/engine.hpp"

namespace rehearse {

class FastForward {
public:
    static constexpr std::uint32_t bulk_packets = 1024, periods_seen = 4, periods_patience = 8;

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
        std::vector<ConnectionProgress> progress;
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
    bool agree(std::uint32_t connection) const;
    bool agree_in_counters() const;
    void join_collectives();
    void count_moved();
    std::uint64_t periods_to_skip() const;
    void skip(std::uint64_t periods);
    SimDuration length_seen() const;

    static constexpr std::size_t marks_kept = periods_seen + 1;
    PacketEngine& engine_;
    SimTime settled_from_, now_;
    std::uint32_t connections_;
    std::uint32_t leader_ = no_connection, next_mark_ = 0, unit_ = 1, periods_ = 0;
    std::vector<std::uint32_t> collective_;  // per connection: the first of those that grant each other messages
    std::vector<double> moved_;              // per connection: packets in a period, of all marks kept
    std::vector<Mark> marks_;
    std::vector<Skip> skips_;
    std::uint64_t events_left_out_ = 0;
};

}  // namespace rehearse
