// Congestion control of all connections of an engine: one state per connection, and the telemetry on its way. Without
// congestion control the table is empty and is_active() is all that is ever asked of it.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "models/network/packet/congestion_laws.hpp"
#include "models/network/packet/packet.hpp"

namespace rehearse {

class CongestionTable {
public:
    CongestionTable(const PacketSpec& spec, Bandwidth line_rate);

    bool is_active() const { return law_ != CongestionControl::none; }
    bool has_telemetry() const { return law_ == CongestionControl::hpcc; }
    // Bytes that telemetry adds to a data packet, and to its ACK, on a path over so many switches.
    std::uint16_t telemetry_bytes(std::uint32_t switches) const {
        return static_cast<std::uint16_t>(has_telemetry() ? switches * hpcc_.hop_bytes : 0);
    }
    bool sends_notices() const { return law_ == CongestionControl::dcqcn && !is_on(dcqcn_.echo); }  // CNPs
    SimDuration notice_gap() const { return dcqcn_.cnp_gap; }

    void add(const PathFacts& path);  // the next connection
    // Each returns what the connection may do from now on.
    Allowance sent(std::uint32_t connection, std::int64_t now, std::int64_t bytes);
    Allowance acknowledged(std::uint32_t connection, const AckEvent& event);
    Allowance notified(std::uint32_t connection, std::int64_t now);

    // Telemetry of packet `number`: written hop by hop, read when its ACK has come. A connection keeps as many packets
    // as it can have in flight.
    void record(std::uint32_t connection, std::uint32_t number, std::uint32_t hop, const HopRecord& record);
    std::span<const HopRecord> recorded(std::uint32_t connection, std::uint32_t number) const;

private:
    struct Connection {
        PathFacts path;
        std::variant<std::monostate, DcqcnState, SwiftState, MegascaleState, HpccState> law;
        std::vector<HopRecord> telemetry;  // packet x switch
        std::uint32_t kept = 0;            // packets, a power of two
    };
    Allowance allowance_of(const Connection& connection) const;

    CongestionControl law_;
    DcqcnParameters dcqcn_;
    SwiftParameters swift_;
    MegascaleParameters megascale_;
    HpccParameters hpcc_;
    std::vector<Connection> connections_;
};

}  // namespace rehearse
