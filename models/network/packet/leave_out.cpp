// Packets of a connection that are taken as delivered.
#include "models/network/packet/engine.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

ConnectionProgress PacketEngine::progress(std::uint32_t connection) const {
    const SendEnd& send = senders_[connection];
    const ConnectionState state = results_[connection].state;
    return {.packets = send.packets,
            .sent = send.sent,
            .acknowledged = send.acked,
            .per_message = send.per_message,
            .whole = receivers_[connection].expected / send.per_message,
            .whole_at = SimTime{receivers_[connection].whole_at},
            .is_open = state != ConnectionState::done && state != ConnectionState::failed};
}

// Numbers of packets under way stay as they are: the connection just ends earlier. A message that is left out whole
// takes its grant with it, since its predecessor leaves out one, too; one that is cut short has the end it had.
void PacketEngine::leave_out(std::uint32_t connection, std::uint32_t packets) {
    SendEnd& send = senders_[connection];
    ReceiveEnd& receive = receivers_[connection];
    REHEARSE_CHECK(packets <= send.packets - send.sent, "packets that were sent are left out");
    if (send.packets == send.per_message) {
        send.per_message -= packets;
        receive.per_message -= packets;
    } else {
        REHEARSE_CHECK(packets % send.per_message == 0, "a part of a message is left out");
    }
    if (send.granted == send.packets) send.granted -= packets;
    send.packets -= packets;
    receive.packets -= packets;
}

void PacketEngine::repeat_counters(const std::vector<PortCounters>& since, std::uint64_t times) {
    for (std::size_t port = 0; port < counters_.size(); ++port) repeat_since(counters_[port], since[port], times);
}

}  // namespace rehearse
