// State of a simulated step: one small cursor per rank, pooled messages, one record per posted group collective.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/workload/workload.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

inline constexpr std::uint32_t no_index = UINT32_MAX;
inline constexpr SimTime never{INT64_MAX};

enum class Waiting : std::uint8_t { nothing, local_group, message, own_send, collective, finished };

// Messages of one direction and lane, oldest first.
struct Inbox {
    std::uint32_t head = no_index;
    std::uint32_t tail = no_index;
};
inline constexpr std::size_t lane_count = 2;

// Two cache lines; whatever a message touches is in the first.
struct alignas(64) RankCursor {
    SimTime now;                     // everything before it is done on the compute stream
    double speed = 1.0;              // lasting factor on compute time (host spread, slow host)
    std::array<Inbox, 2> first_lane;               // by Direction of the message
    std::array<std::uint32_t, 2> neighbour{};  // rank that a message of this Direction goes to
    std::uint32_t outbox = no_index;               // oldest own send not yet flushed
    std::uint32_t outbox_tail = no_index;
    std::uint32_t next = 0;          // instruction
    std::uint32_t stage = 0;         // program
    std::uint32_t local_group = 0;
    Waiting waiting = Waiting::nothing;

    std::uint32_t waiter = no_index;               // next rank that waits for the same collective
    std::array<Inbox, 2> second_lane;              // of DualPipe; not in the first line, which others need
    std::array<SimTime, 2> offered{never, never};                 // receive posted for a message that is not there yet
    std::array<std::uint16_t, group_family_count> posted{};  // group collectives posted so far

    Inbox& inbox(Direction direction, std::uint8_t lane) {
        return (lane == 0 ? first_lane : second_lane)[static_cast<std::size_t>(direction)];
    }
};

struct alignas(64) Message {
    SimTime posted = never;          // by the sender
    SimTime sent = never;            // begins to move; later than posted when the receiver was not ready
    SimTime arrived = never;
    std::uint32_t inbox_next = no_index;
    std::uint32_t outbox_next = no_index;
    std::uint32_t sender = no_index;
    std::uint32_t receiver = no_index;
    Direction direction = Direction::to_next;
    std::uint8_t lane = 0;
    bool sender_waits = false;       // it flushes its sends, and this one is the oldest
    std::uint8_t holders = 2;        // receiver and sender both let go before the slot is used again
};

class MessagePool {
public:
    std::uint32_t make() {
        if (free_.empty()) {
            messages_.emplace_back();
            return static_cast<std::uint32_t>(messages_.size() - 1);
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        messages_[index] = Message{};
        return index;
    }
    void release(std::uint32_t index) {
        if (--messages_[index].holders == 0) free_.push_back(index);
    }
    Message& operator[](std::uint32_t index) { return messages_[index]; }

private:
    std::vector<Message> messages_;
    std::vector<std::uint32_t> free_;
};

struct PostedCollective {
    std::uint32_t spec = no_index;   // index into Workload::collectives
    std::uint32_t arrived = 0;
    std::uint32_t last_rank = no_index;
    std::uint32_t first_rank = no_index;
    std::uint32_t transfers = 0;       // of its channels still under way
    std::uint32_t waiters = no_index;  // head of the list of waiting ranks
    SimTime ready;                   // latest arrival
    SimTime started = never;
    SimTime ended = never;
};

}  // namespace rehearse
