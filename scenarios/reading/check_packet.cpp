#include <fmt/format.h>

#include <algorithm>

#include "models/network/framing.hpp"
#include "scenarios/net/idle_keys.hpp"
#include "scenarios/reading/check_parts.hpp"
#include "sim/base/units_text.hpp"

namespace rehearse {

namespace {

class PacketCheck {
public:
    PacketCheck(const PacketSpec& packet, const NetworkSpec& network, Findings& findings)
        : packet_(packet), network_(network), findings_(findings) {
        const HeaderStack stack = header_stack(network.framing);
        wire_ = network.mtu + stack.every_packet + stack.first_packet + stack.line;
    }

    void run() const {
        warn_of_overtaking();
        check_sizes();
        check_credits();
        check_transport();
        check_times();
    }

private:
    void fault(std::string_view key, std::string wrong, std::string expected, std::string todo = "") const {
        findings_.fault("models.network.packet." + std::string(key), std::move(wrong), std::move(expected),
                        std::move(todo));
    }

    void warn_of_overtaking() const {
        if (packet_.transport.paths == PathChoice::ecmp ||
            packet_.transport.recovery == LossRecovery::selective_repeat)
            return;
        findings_.warning("models.network.packet.transport.paths",
                          "packets of several paths overtake each other, which go-back-N takes for losses",
                          "take transport.recovery: selective_repeat");
    }

    void check_sizes() const {
        if (wire_ > Bytes{65535})
            findings_.fault("models.network.mtu", fmt::format("a packet of {} on the wire", format(wire_)),
                            "at most 65535 B");
        if (packet_.ecn.mark_min >= packet_.ecn.mark_max)
            fault("ecn.mark_max",
                  fmt::format("marking ends at {} and begins at {}", format(packet_.ecn.mark_max),
                              format(packet_.ecn.mark_min)),
                  "mark_min < mark_max < XOFF");
        if (packet_.pfc.headroom > packet_.buffer.pool)
            fault("pfc.headroom",
                  fmt::format("the headroom of {} is larger than the buffer of {}", format(packet_.pfc.headroom),
                              format(packet_.buffer.pool)),
                  "less than models.network.packet.buffer.pool");
    }

    void check_credits() const {
        if (network_.flow_control != FlowControl::cbfc || packet_.cbfc.buffer == Bytes{0}) return;
        const std::int64_t credits = packet_.cbfc.buffer.value / packet_.cbfc.credit.value;
        const std::int64_t needed = (wire_.value + packet_.cbfc.credit.value - 1) / packet_.cbfc.credit.value;
        if (credits < needed)
            fault("cbfc.buffer",
                  fmt::format("{} credits of {} hold no packet of {}: nothing could ever be sent", credits,
                              format(packet_.cbfc.credit), format(wire_)),
                  fmt::format("{} or more, or 0 B for what the link needs", format(wire_)));
    }

    void check_transport() const {
        const TransportSpec& transport = packet_.transport;
        if (transport.window_packets > 0 && transport.window_packets < transport.ack_every)
            fault("transport.window_packets",
                  fmt::format("a window of {} packets ends before the ACK that comes every {}",
                              transport.window_packets, transport.ack_every),
                  "ack_every or more, or 0");
        const SimDuration fixed{4'096'000ll << transport.timeout_exponent};
        if (is_on(transport.adaptive_retransmission) && transport.adaptive_base > fixed)
            fault("transport.adaptive_base",
                  fmt::format("the first timeout of {} is longer than the last one of {}",
                              format(transport.adaptive_base), format(fixed)),
                  "4.096 us x 2^timeout_exponent at most");
        const bool by_marks = packet_.congestion == CongestionControl::dcqcn;
        if (by_marks && !is_on(packet_.ecn.enabled))
            fault("congestion", "DCQCN slows down by ECN marks, and no switch makes any", "another law, or marks",
                  "set models.network.packet.ecn.enabled: on");
    }

    // A time of zero would be for ever at one instant.
    void check_times() const {
        const auto positive = [&](std::string_view key, SimDuration time, const char* what) {
            if (time <= SimDuration{0}) fault(key, what, "more than 0 ps");
        };
        positive("cbfc.repair", packet_.cbfc.repair, "CC_Updates without a time between them");
        positive("transport.adaptive_base", packet_.transport.adaptive_base, "a timeout that is over at once");
        if (packet_.pfc.watchdog > SimDuration{0})
            positive("pfc.watchdog_restore", packet_.pfc.watchdog_restore, "a watchdog that restores as it strikes");
    }

    const PacketSpec& packet_;
    const NetworkSpec& network_;
    Findings& findings_;
    Bytes wire_;
};

}  // namespace

void warn_without_effect(std::string_view key, std::string_view why, std::string_view needs, Findings& findings) {
    findings.warning(key, "it has no effect: " + std::string(why), std::string(needs));
}

void check_packet(const PacketSpec& packet, const NetworkSpec& network, Findings& findings) {
    PacketCheck(packet, network, findings).run();
    for (const IdleKey& idle : idle_keys(packet, network)) {
        const std::string key = "models.network.packet." + idle.key;
        if (idle.is_contradiction) findings.fault(key, std::string(idle.why), std::string(idle.needs));
        else warn_without_effect(key, idle.why, idle.needs, findings);
    }
}

std::vector<std::string> check_buffers(const PacketSpec& packet, const SharedBuffer::Limits& limits,
                                       const ConfigNode& written) {
    if (!limits.is_bounded || !limits.is_lossless) return {};
    Findings findings(written);
    if (limits.headroom_short > 0)
        findings.warning("models.network.packet.pfc.headroom",
                         fmt::format("{} less than a port may need after its pause: packets may be dropped",
                                     format(Bytes{limits.headroom_short})),
                         "0 B takes the formula");
    const double lone = limits.alpha / (1 + limits.alpha) * static_cast<double>(limits.shared);
    const Bytes xoff{static_cast<std::int64_t>(lone) + limits.reserve};
    if (limits.shared > 0 && packet.pfc.resume_offset >= xoff)
        findings.fault("models.network.packet.pfc.resume_offset",
                       fmt::format("PFC pauses a lone queue at {}; it would never resume {} below",
                                   format(xoff), format(packet.pfc.resume_offset)),
                       "less than XOFF", "lower resume_offset, or raise buffer.alpha");
    if (limits.shared <= 0)
        findings.fault("models.network.packet.pfc.headroom", "headroom and reserve of all ports fill the buffer",
                       fmt::format("together less than {} a slice", format(Bytes{packet.buffer.pool.value /
                                                                                  packet.buffer.slices})),
                       "lower headroom, reserve or classes, or raise buffer.pool");
    else if (is_on(packet.ecn.enabled) && packet.ecn.mark_max >= xoff)
        findings.fault("models.network.packet.ecn.mark_max",
                       fmt::format("PFC pauses a lone queue at {}, before marking ends at {}", format(xoff),
                                   format(packet.ecn.mark_max)),
                       "mark_min < mark_max < XOFF", "lower mark_max, or raise buffer.alpha");
    findings.throw_if_any();
    return findings.warnings();
}

}  // namespace rehearse
