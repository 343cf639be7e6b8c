// Link-level retry of one link, Ultra Ethernet 1.0 section 5.1: the two ends of its sequence.
//
// Every frame but pauses and control ordered sets carries a number of its link. The sender keeps what it sent; the
// receiver takes the expected number only. A frame with a bad FCS or a gap makes it send one NACK, and it drops
// everything in silence until the expected frame comes. The sender begins again there, `response` after it heard; when
// the frame is lost once more its replay timer does it. A frame replayed `replays_max` times is given up: the flush.
//
// ACKs of 8 bytes go out per `ack_spacing` received bytes. While no frame is lost they change nothing but the time at
// which the way back is free, so their bytes are charged there and no event carries them; a frame leaves the replay
// buffer when its NACK would have been here. A bounded replay buffer needs the ACKs as events: they free it.
#pragma once

#include <cstdint>

#include "models/network/packet/packet.hpp"
#include "models/network/packet/ring.hpp"

namespace rehearse {

struct RetrySend {
    static constexpr std::uint32_t not_replaying = UINT32_MAX;

    Ring<Packet> frames;                   // sent, and not known to have arrived; `time`: when last sent
    std::int64_t bytes = 0;                // of these frames
    std::int64_t deadline = INT64_MAX;     // of the ACK that a replay must bring
    std::uint32_t replay = not_replaying;  // index in `frames` of the next one to go again
    std::uint16_t next = 0;                // number of the next new frame
    std::uint8_t tries = 0;                // of the first frame
    bool is_waiting = false;               // a NACK was heard, the response time runs
    bool has_timer = false;
    bool restarts = false;                 // the next new frame is to be taken whatever came before (INIT)

    std::uint16_t first() const { return static_cast<std::uint16_t>(next - frames.size()); }
    bool is_replaying() const { return replay != not_replaying; }
    bool is_calm() const { return deadline == INT64_MAX && !is_waiting && !is_replaying(); }
    void pop() {
        bytes -= frames.front().wire;
        frames.pop();
        if (!is_replaying()) return;
        if (replay > 0) --replay;
        if (replay == frames.size()) replay = not_replaying;  // an ACK came before the replay had begun
    }
    void clear() {
        frames.clear();
        bytes = 0;
        deadline = INT64_MAX;
        replay = not_replaying;
        tries = 0;
        is_waiting = false;
        restarts = true;
    }
};

struct RetryReceive {
    std::uint16_t expected = 0;
    bool has_complained = false;  // a NACK for `expected` is out
    std::int64_t unacked = 0;     // bytes since the last ACK
};

}  // namespace rehearse
