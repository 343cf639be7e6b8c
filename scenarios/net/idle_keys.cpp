#include "scenarios/net/idle_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/reading/packet_keys.hpp"
#include "sim/base/units_text.hpp"

namespace rehearse {

namespace {

// The visitor of scenario_keys.hpp that notes every value as text.
class NoteKeys {
public:
    struct Note {
        std::string key, text;
    };

    template <class Body>
    void section(std::string_view key, const Body& body, std::string_view = "") {
        const std::string above = prefix_;
        prefix_ += std::string(key) + ".";
        body();
        prefix_ = above;
    }
    template <class T>
    void value(std::string_view key, const T& value, const KeyNote& = {}) { add(key, text_of(value)); }
    template <class E>
    void word(std::string_view key, E value, const Words<E>& words, std::string_view = "") {
        add(key, std::string(word_for(words, value)));
    }
    template <class T, class Body>
    void list(std::string_view, const std::vector<T>&, const Body&) {}  // an item has no default
    void share(std::string_view key, Ratio value, double) { add(key, fmt::format("{}", value.value)); }
    void fault(std::string_view, const char*, const char*) {}

    const std::vector<Note>& notes() const { return notes_; }

private:
    static std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
    static std::string text_of(Switch value) { return is_on(value) ? "on" : "off"; }
    static std::string text_of(const std::string& value) { return value; }
    template <class Q>
    static std::string text_of(Q quantity) { return format(quantity); }
    void add(std::string_view key, std::string text) {
        notes_.push_back({prefix_ + std::string(key), std::move(text)});
    }

    std::string prefix_;
    std::vector<Note> notes_;
};

std::vector<NoteKeys::Note> notes_of(PacketSpec packet) {
    NoteKeys keys;
    packet_keys(keys, packet);
    return keys.notes();
}

struct Rule {
    std::string_view prefix;  // of the keys that it is about
    bool acts;
    std::string_view why, needs;
    bool is_contradiction = false;
};

// The first rule whose keys do not act holds.
std::vector<Rule> rules_of(const PacketSpec& packet, const NetworkSpec& network) {
    const bool pfc = network.flow_control == FlowControl::pfc, bounded = is_on(packet.buffer.bounded);
    const TransportSpec& transport = packet.transport;
    const LossSpec& loss = packet.loss;
    const bool loses = loss.data.value > 0 || loss.control.value > 0 || loss.bit_error_ratio.value > 0;
    const bool heeds_marks =
        packet.congestion == CongestionControl::dcqcn || packet.congestion == CongestionControl::megascale;
    const bool has_notices =
        packet.congestion == CongestionControl::dcqcn && packet.dcqcn != DcqcnSet::hpcc_repository;
    const auto dies = [](const FabricFault& fault) {
        using enum FabricFaultKind;
        return fault.kind == down || fault.kind == flap || fault.kind == dead_switch;
    };
    const bool has_dead_links = std::any_of(packet.faults.begin(), packet.faults.end(), dies);
    const bool packets = network.fidelity == Fidelity::packet;
    return {
        {"", packets, "no packet is simulated", "models.network.fidelity: packet"},
        {"pfc.", pfc, "PFC is not what holds senders back", "models.network.flow_control: pfc", true},
        {"cbfc.", !pfc, "there are no credits", "models.network.flow_control: cbfc", true},
        {"pfc.headroom_set", packet.pfc.headroom == Bytes{0}, "headroom is given in bytes", "pfc.headroom: 0 B"},
        {"switching", !is_on(packet.llr.enabled), "link-level retry waits for whole frames", "llr.enabled: off"},
        {"pfc.watchdog_restore", packet.pfc.watchdog > SimDuration{0}, "there is no watchdog", "pfc.watchdog"},
        {"pfc.", bounded, "no queue without bound is ever full", "buffer.bounded: on"},
        {"buffer.discipline", true, "", ""},
        {"buffer.bounded", true, "", ""},
        {"buffer.pool", bounded, "buffers have no bound", "buffer.bounded: on"},
        {"buffer.", pfc, "credits bound the queues", "models.network.flow_control: pfc"},
        {"buffer.", bounded, "buffers have no bound", "buffer.bounded: on"},
        {"llr.enabled", true, "", ""},
        {"llr.", is_on(packet.llr.enabled), "link-level retry is off", "llr.enabled: on"},
        {"ecn.enabled", true, "", ""},
        {"ecn.", is_on(packet.ecn.enabled), "no packet is marked", "ecn.enabled: on"},
        {"transport.flowlet_gap", transport.paths == PathChoice::flowlet,
         "a flow has one path, or every packet its own", "transport.paths: flowlet"},
        {"transport.reorder_packets",
         transport.paths != PathChoice::ecmp && transport.recovery == LossRecovery::selective_repeat,
         "a gap is a loss at once", "transport.paths: spray or flowlet, and transport.recovery: selective_repeat"},
        {"transport.adaptive_base", is_on(transport.adaptive_retransmission), "the timeout is fixed",
         "transport.adaptive_retransmission: on"},
        {"loss.burst", loses, "nothing is lost", "loss.data, loss.control or loss.bit_error_ratio"},
        {"loss.fec", loss.bit_error_ratio.value > 0, "there are no bit errors", "loss.bit_error_ratio"},
        {"detection.", has_dead_links, "no link dies", "a fault of kind down, flap or dead_switch"},
        {"dcqcn", heeds_marks, "DCQCN is no part of the law", "congestion: dcqcn or megascale"},
        {"cnp_", has_notices, "no CNP is sent", "congestion: dcqcn, but dcqcn: hpcc_repository, where ACKs echo"},
    };
}

}  // namespace

std::vector<IdleKey> idle_keys(const PacketSpec& packet, const NetworkSpec& network) {
    const std::vector<Rule> rules = rules_of(packet, network);
    const std::vector<NoteKeys::Note> now = notes_of(packet), usual = notes_of({});
    std::vector<IdleKey> idle;
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i].text == usual[i].text) continue;
        for (const Rule& rule : rules) {
            if (!now[i].key.starts_with(rule.prefix)) continue;
            if (rule.acts && rule.why.empty()) break;  // whatever the rules behind it say
            if (rule.acts) continue;
            idle.push_back({now[i].key, rule.why, rule.needs, rule.is_contradiction});
            break;
        }
    }
    return idle;
}

}  // namespace rehearse
