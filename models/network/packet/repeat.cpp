// Connections that are used again.
#include <algorithm>
#include <bit>

#include "models/network/packet/engine.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

// Late duplicates of earlier packets keep numbers below those of the new ones, so that nothing is mistaken for them.
bool PacketEngine::may_repeat(std::uint32_t connection) const {
    const SendEnd& send = senders_[connection];
    const std::uint64_t more = requests_[connection].messages * std::uint64_t{send.per_message};
    return results_[connection].state == ConnectionState::done && send.packets + more <= UINT32_MAX / 2;
}

void PacketEngine::repeat(std::uint32_t connection, SimTime start) {
    REHEARSE_CHECK(may_repeat(connection), "a connection is used again before it is through");
    SendEnd& send = senders_[connection];
    const auto more = static_cast<std::uint32_t>(requests_[connection].messages * send.per_message);
    send.packets += more;
    receivers_[connection].packets += more;
    results_[connection] = {};
    results_[connection].start = start;
    requests_[connection].start = start;
    add_timer(send.node, start.value, TimerKind::start, connection);
}

// All packets that lack cross the last link one behind the other; the first may be there already. A picosecond each for
// what rounding takes off.
SimTime PacketEngine::delivered_earliest(std::uint32_t connection, SimTime now) const {
    const SendEnd& send = senders_[connection];
    const ReceiveEnd& receive = receivers_[connection];
    std::int64_t lack = receive.packets - receive.expected;
    std::int64_t last = (lack + receive.per_message - 1) / receive.per_message;  // of their messages, at most
    for (const std::uint64_t word : receive.early) lack -= std::popcount(word);
    last = std::min(last, lack);
    const std::int64_t bytes = (lack - last) * send.full_wire + std::max<std::int64_t>(0, last - 1) * send.last_wire;
    const std::uint32_t port = graph_->port(graph_->first_port(receive.node)).peer;
    const auto time = static_cast<std::int64_t>(static_cast<std::uint64_t>(bytes) * graph_->port(port).byte_time >> 16);
    const SimTime from = std::max(now, results_[connection].start);
    return SimTime{from.value + std::max<std::int64_t>(0, time - lack)};
}

}  // namespace rehearse
