#include <fmt/format.h>

#include <algorithm>

#include "scenarios/net/idle_keys.hpp"
#include "scenarios/net/net_scenario.hpp"
#include "scenarios/reading/check_parts.hpp"
#include "scenarios/reading/findings.hpp"
#include "sim/base/units_text.hpp"
#include "topology/shape.hpp"

namespace rehearse {

namespace {

// The GPUs that a pattern names; 0 when it takes all that there are.
std::int64_t gpus_named(const PatternSpec& pattern) {
    if (pattern.pattern == Pattern::trace) {
        std::int64_t most = 0;
        for (const TraceFlow& flow : pattern.flows)
            most = std::max<std::int64_t>({most, flow.source + 1, flow.destination + 1});
        return most;
    }
    std::int64_t members = pattern.members;
    if (members == 0 && pattern.pattern == Pattern::incast && pattern.senders > 0) members = pattern.senders + 1;
    return members == 0 ? 0 : pattern.first + (members - 1) * pattern.stride + 1;
}

// Sets cluster.hosts where it was left open.
void check_size(NetScenario& scenario, Findings& findings) {
    ClusterSpec& cluster = scenario.cluster;
    std::vector<Fault> faults = validate_cluster(cluster);
    if (faults.empty() && cluster.hosts == 0) {
        std::int64_t named = 0;
        for (const PatternSpec& pattern : scenario.net.patterns) named = std::max(named, gpus_named(pattern));
        if (named == 0 && cluster.fabric.kind != FabricKind::fat_tree)
            return findings.fault("cluster.hosts", "nothing says how large the cluster is",
                                  "cluster.hosts, or net.members");
        cluster.hosts = hosts_needed(cluster, std::max<std::int64_t>(named, 1));
        faults = validate_cluster(cluster);
    }
    for (Fault& fault : faults) findings.fault(std::move(fault));
}

class PatternCheck {
public:
    PatternCheck(const NetScenario& scenario, std::string path, Findings& findings)
        : scenario_(scenario), path_(std::move(path)), findings_(findings) {}

    void run(PatternSpec& pattern) const {
        check_members(pattern);
        const bool packets = scenario_.network.fidelity == Fidelity::packet;
        if (packets && pattern.traffic_class >= scenario_.packet.classes)
            fault("traffic_class", fmt::format("the fabric has no class {}", pattern.traffic_class),
                  fmt::format("1 to {}", scenario_.packet.classes - 1), "raise models.network.packet.classes");
        // Packets of a connection are numbered by 32 bits; an all-reduce cuts its buffer, and sends twice as much.
        const detail::Wide sent = detail::Wide{pattern.message.value} * pattern.repetitions * 2;
        if (packets && sent / scenario_.network.mtu.value > INT32_MAX)
            fault("message", "a connection of more than 2^31 packets", "less", "lower message or repetitions");
    }

private:
    void fault(std::string_view key, std::string wrong, std::string expected, std::string todo = "") const {
        findings_.fault(path_ + std::string(key), std::move(wrong), std::move(expected), std::move(todo));
    }

    void check_members(PatternSpec& pattern) const {
        const std::int64_t gpus = scenario_.cluster.hosts * scenario_.cluster.node.gpus;
        const std::int64_t named = gpus_named(pattern);
        if (named > gpus)
            return fault(pattern.pattern == Pattern::trace ? "trace" : "members",
                         fmt::format("the last member is GPU {}, the cluster has {}", named - 1, gpus),
                         fmt::format("0 to {}", gpus - 1), "raise cluster.hosts");
        if (pattern.pattern == Pattern::trace) return;
        if (pattern.members == 0)
            pattern.members = std::max<std::int64_t>(0, (gpus - pattern.first + pattern.stride - 1) / pattern.stride);
        if (pattern.members < 2)
            return fault("members", fmt::format("{} members cannot send to each other", pattern.members), "2 or more");
        if (pattern.pattern == Pattern::incast) return check_senders(pattern);
        const std::int64_t group = pattern.group == 0 ? pattern.members : pattern.group;
        if (pattern.members % group != 0)
            fault("group", fmt::format("groups of {} do not divide {} members", group, pattern.members),
                  fmt::format("a divisor of {}", pattern.members));
        if (group < 2) fault("group", "a group of one has nobody to send to", "2 or more");
    }

    void check_senders(PatternSpec& pattern) const {
        if (pattern.senders == 0) pattern.senders = pattern.members - 1;
        if (pattern.senders >= pattern.members)
            fault("senders",
                  fmt::format("{} senders and a receiver among {} members", pattern.senders, pattern.members),
                  fmt::format("1 to {}", pattern.members - 1));
    }

    const NetScenario& scenario_;
    std::string path_;
    Findings& findings_;
};

void check_patterns(NetScenario& scenario, Findings& findings) {
    const ConfigNode* const net = scenario.written.find("net");
    const bool is_mix = net != nullptr && net->find("mix") != nullptr;
    if (scenario.net.patterns.empty()) findings.fault("net.mix", "a mix of nothing", "one pattern at least");
    for (std::size_t i = 0; i < scenario.net.patterns.size(); ++i)
        PatternCheck(scenario, is_mix ? fmt::format("net.mix[{}].", i) : "net.", findings)
            .run(scenario.net.patterns[i]);
}

// At flow fidelity: what is not as usual and acts on packets only.
void warn_of_packet_keys(const NetScenario& scenario, Findings& findings) {
    const auto warn = [&](const std::string& key) {
        warn_without_effect(key, "no packet is simulated", "models.network.fidelity: packet", findings);
    };
    for (const IdleKey& idle : idle_keys(scenario.packet, scenario.network))
        warn("models.network.packet." + idle.key);
    if (!scenario.packet.faults.empty()) warn("models.network.packet.faults");
    if (scenario.network.flow_control != NetworkSpec{}.flow_control) warn("models.network.flow_control");
    if (scenario.net.fast_forward != FastForwardMode::off) warn("net.fast_forward");
}

}  // namespace

ValidNetScenario validate(NetScenario raw) {
    Findings findings(raw.written);
    check_size(raw, findings);
    if (findings.sound()) check_patterns(raw, findings);
    if (raw.network.fidelity == Fidelity::packet) check_packet(raw.packet, raw.network, findings);
    else warn_of_packet_keys(raw, findings);
    findings.throw_if_any();
    ValidNetScenario valid;
    valid.warnings_ = findings.warnings();
    valid.scenario_ = std::move(raw);
    return valid;
}

}  // namespace rehearse
