// What one partition has for another at the end of a window. Plain data, so that it can cross a process boundary.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "models/network/packet/congestion_laws.hpp"
#include "models/network/packet/packet.hpp"

namespace rehearse {

struct HandedPacket {
    std::uint32_t port;  // by which it left
    Packet packet;
};

struct HandedRecord {       // telemetry for the sender of a packet
    std::uint32_t connection, number, hop;
    HopRecord record;
};

struct Outbox {
    std::vector<HandedPacket> packets;  // of one wire in the order in which they left
    std::vector<HandedRecord> records;
};
static_assert(std::is_trivially_copyable_v<HandedPacket> && std::is_trivially_copyable_v<HandedRecord>);

}  // namespace rehearse
