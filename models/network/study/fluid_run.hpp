// The flows of a study as transfers of a NetworkModel at flow or ideal fidelity.
//
//   ring        one transfer for all of its flows: they end together
//   alone       a flow that waits for no other and that no other waits for is one transfer, whatever its messages
//   in a chain  any other one sends message by message: message k moves when k - 1 has drained, and not before its
//               grant (traffic.hpp) + the latency of the path. It has arrived, and grants what waits for it, when it
//               has drained and its first packet has been stored and forwarded on the way.
//
// Messages of one flow follow each other without a gap, so that latencies are paid once per grant, not per message.
#pragma once

#include <queue>
#include <vector>

#include "models/network/network_model.hpp"
#include "models/network/study/idle_time.hpp"

namespace rehearse {

class FluidRun {
public:
    // Model and flows must outlive the run.
    FluidRun(NetworkModel& model, const std::vector<StudyFlow>& flows, const IdleTimes& times);

    // Once. InvariantBroken for flows that wait in a circle other than a ring.
    void run();
    // When the sender of the flow holds the last ACK.
    SimTime finished(std::size_t flow) const;

private:
    struct Sender {
        IdlePath path;
        std::uint32_t members = 1;     // of its ring; 1 for a flow that is in none
        std::int64_t transfers = 1;    // in which its messages go
        std::int64_t started = 0, arrived = 0;
        bool is_moving = false;
        SimTime drained;               // the last message that moved
        std::vector<SimTime> granted;  // when each message beyond StudyFlow::granted was
    };
    struct Arrival {
        SimTime at;
        std::uint64_t order;  // among equal times
        std::uint32_t flow;
        bool operator>(const Arrival& other) const { return at != other.at ? at > other.at : order > other.order; }
    };

    void start_ring(std::uint32_t first);
    void start_next(std::uint32_t flow);
    void drain(std::uint32_t flow, SimTime at);
    void arrive(std::uint32_t flow, SimTime at);

    NetworkModel& model_;
    const std::vector<StudyFlow>& flows_;
    std::vector<Sender> senders_;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
    std::uint64_t arrival_count_ = 0;
};

}  // namespace rehearse
