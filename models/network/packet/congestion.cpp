#include "models/network/packet/congestion.hpp"

#include <bit>

namespace rehearse {

CongestionTable::CongestionTable(const PacketSpec& spec, Bandwidth line_rate)
    : law_(spec.congestion), dcqcn_(dcqcn_parameters(spec.dcqcn, line_rate)) {
    megascale_.dcqcn = dcqcn_;
    if (spec.cnp_gap > SimDuration{0}) dcqcn_.cnp_gap = spec.cnp_gap;
}

void CongestionTable::add(const PathFacts& path) {
    Connection& connection = connections_.emplace_back();
    connection.path = path;
    switch (law_) {
        case CongestionControl::none:
            return;
        case CongestionControl::dcqcn:
            connection.law = begin_dcqcn(path, dcqcn_);
            return;
        case CongestionControl::swift:
            connection.law = begin_swift(path, swift_);
            return;
        case CongestionControl::megascale:
            connection.law = begin_megascale(path, megascale_);
            return;
        case CongestionControl::hpcc:
            connection.law = begin_hpcc(path);
            connection.kept = std::bit_ceil(allowance_of(connection).window + 1);
            connection.telemetry.resize(std::size_t{connection.kept} * path.switches);
            return;
    }
}

Allowance CongestionTable::allowance_of(const Connection& connection) const {
    const PathFacts& path = connection.path;
    if (const auto* dcqcn = std::get_if<DcqcnState>(&connection.law)) return {dcqcn->rate};
    if (const auto* swift = std::get_if<SwiftState>(&connection.law)) return allowance(*swift, path);
    if (const auto* megascale = std::get_if<MegascaleState>(&connection.law)) return {megascale->rate};
    if (const auto* hpcc = std::get_if<HpccState>(&connection.law)) return allowance(*hpcc, path);
    return {path.line_rate};
}

Allowance CongestionTable::sent(std::uint32_t connection, std::int64_t now, std::int64_t bytes) {
    Connection& it = connections_[connection];
    if (auto* dcqcn = std::get_if<DcqcnState>(&it.law)) rehearse::sent(*dcqcn, now, bytes, dcqcn_);
    return allowance_of(it);
}

Allowance CongestionTable::acknowledged(std::uint32_t connection, const AckEvent& event) {
    Connection& it = connections_[connection];
    const PathFacts& path = it.path;
    if (auto* dcqcn = std::get_if<DcqcnState>(&it.law)) {
        advance(*dcqcn, event.now, dcqcn_);
        if (event.is_marked && is_on(dcqcn_.echo)) notify(*dcqcn, event.now, dcqcn_);
    }
    if (auto* swift = std::get_if<SwiftState>(&it.law)) acknowledge(*swift, event, path, swift_);
    if (auto* megascale = std::get_if<MegascaleState>(&it.law)) acknowledge(*megascale, event, path, megascale_);
    if (auto* hpcc = std::get_if<HpccState>(&it.law)) acknowledge(*hpcc, event, path, hpcc_);
    return allowance_of(it);
}

Allowance CongestionTable::notified(std::uint32_t connection, std::int64_t now) {
    Connection& it = connections_[connection];
    if (auto* dcqcn = std::get_if<DcqcnState>(&it.law)) notify(*dcqcn, now, dcqcn_);
    return allowance_of(it);
}

// Copies of a packet may be on two ways at once: the record of the later one stays, whoever writes first.
void CongestionTable::record(std::uint32_t connection, std::uint32_t number, std::uint32_t hop,
                             const HopRecord& record) {
    Connection& it = connections_[connection];
    if (hop >= it.path.switches) return;
    HopRecord& kept = it.telemetry[(number & (it.kept - 1)) * it.path.switches + hop];
    if (record.time > kept.time || (record.time == kept.time && record.port < kept.port)) kept = record;
}

std::span<const HopRecord> CongestionTable::recorded(std::uint32_t connection, std::uint32_t number) const {
    const Connection& it = connections_[connection];
    const std::size_t first = (number & (it.kept - 1)) * std::size_t{it.path.switches};
    return std::span(it.telemetry).subspan(first, it.path.switches);
}

}  // namespace rehearse
