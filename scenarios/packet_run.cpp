#include "scenarios/packet_run.hpp"

#include <fmt/format.h>

#include "runtime/simulate.hpp"
#include "scenarios/findings.hpp"
#include "scenarios/job_traffic.hpp"
#include "scenarios/one_seed.hpp"
#include "scenarios/short_number.hpp"
#include "scenarios/slice_text.hpp"

namespace rehearse {

namespace {

constexpr std::string_view key = "models.network.slice";

std::string events_text(std::uint64_t transmissions) {
    return fmt::format("{:.2g} events", static_cast<double>(transmissions));
}

// The kinds and what each would be alone, and a share of the time that would fit.
std::string ways_out(const PacketEffort& effort, std::int64_t ranks) {
    std::string text;
    for (std::size_t kind = 0; kind < traffic_kind_count; ++kind) {
        if (effort.kinds[kind].transmissions == 0) continue;
        text += fmt::format("{}phase={} ({})", text.empty() ? "" : ", ", name(static_cast<TrafficKind>(kind)),
                            events_text(effort.kinds[kind].transmissions));
    }
    const double fits = static_cast<double>(run_transmissions_most) / static_cast<double>(effort.transmissions_all());
    const SimDuration span = microseconds(static_cast<std::int64_t>(effort.end.seconds() * fits * 1e6) + 1);
    const auto few = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(ranks) * fits));
    return fmt::format("slice it: {}; time={}..{} or ranks=0-{} are about {}, where traffic is even", text,
                       format(SimDuration{0}), format(span), few - 1, events_text(run_transmissions_most));
}

PacketEffort effort_of(const ValidScenario& scenario, const Cluster& cluster, const Workload& workload) {
    const ModelsSpec& models = scenario.models();
    NetworkSpec flows = models.network;
    flows.fidelity = Fidelity::flow;
    const Placement placement = place_job(scenario, workload, cluster, scenario.seed());
    TransferRecord record;
    simulate({cluster, placement, workload, models.profile, flows, scenario.seed(), {}, {}, {}, &record});
    const Router router(cluster, flows.ecmp, scenario.seed());
    return packet_effort(record, place_slice(models.slice, placement, cluster), FabricGraph(cluster, router), router,
                         flows, models.packet);
}

}  // namespace

std::string check_packet_effort(const ValidScenario& scenario, const Cluster& cluster, const Workload& workload) {
    if (scenario.models().network.fidelity != Fidelity::packet) return "";
    const ConfigNode& written = scenario.plain().written;
    const PacketEffort effort = located(written, [&] { return effort_of(scenario, cluster, workload); });
    const std::uint64_t events = effort.slice.transmissions;
    const SliceSpec& slice = scenario.models().slice;
    Findings findings(written);
    if (!slice.is_bounded() && events > run_transmissions_most)
        findings.fault(key, fmt::format("the whole run at packet fidelity is about {}", events_text(events)),
                       fmt::format("at most {} without a slice", events_text(run_transmissions_most)),
                       ways_out(effort, scenario.job().gpus));
    if (slice.is_bounded() && events == 0)
        findings.fault(key, fmt::format("no traffic between nodes lies in {}", format(slice)),
                       effort.transmissions_all() == 0 ? "a job whose traffic leaves its nodes" : "a wider slice");
    findings.throw_if_any();
    if (events <= run_transmissions_most) return "";
    return fmt::format("packets: the slice is about {}; a minute of one core runs through some {}", events_text(events),
                       events_text(run_transmissions_most));
}

std::vector<PhaseCheck> check_run(const ValidScenario& scenario, const Cluster& cluster, const TransferRecord& record,
                                  std::uint64_t seed) {
    const ModelsSpec& models = scenario.models();
    const Router router(cluster, models.network.ecmp, seed);
    return located(scenario.plain().written, [&] {
        return check_packets(record, cluster, router, models.network, models.packet, seed);
    });
}

std::string packet_summary(const SeedRun& run, const ValidScenario& scenario) {
    const PacketShare& share = run.timeline.packets;
    if (share.payload_all == 0) return "";
    const std::string slice = format(scenario.models().slice);
    std::string text = fmt::format(
        "\npackets: {} of {} bytes between nodes ({:.3g} %), {} of {} transfers, slice {}\n"
        "  {} transmissions over links, {} retransmissions, {} pause frames, {} marks, {} drops\n",
        short_number(share.payload, "B"), short_number(share.payload_all, "B"),
        100 * share.payload / share.payload_all, share.transfers, share.transfers_all,
        slice.empty() ? "of everything" : slice, short_number(static_cast<double>(share.transmissions), ""),
        share.retransmissions, share.pauses, share.marks, share.drops);
    if (share.shared > 0)
        text += fmt::format("  {:.3g} % of their bytes crossed links that flows used too, at whatever time; neither "
                            "sees the other\n", 100 * share.shared);
    return text;
}

std::string check_summary(const std::vector<PhaseCheck>& checks) {
    if (checks.empty()) return "";
    std::string text = fmt::format(
        "\nflow against packet, busiest moment of each kind (at most {} a kind)\n"
        "  {:<10}{:>10}{:>12}{:>9}{:>14}{:>14}{:>9}{:>14}{:>14}{:>9}\n", events_text(check_transmissions_most), "kind",
        "transfers", "bytes", "shrunk", "mean flow", "packet", "", "whole flow", "packet", "");
    const auto milliseconds = [](double s) { return fmt::format("{:.4g} ms", s * 1e3); };
    const auto apart = [](double flow, double packet) { return fmt::format("{:+.2f} %", 100 * (packet / flow - 1)); };
    for (const PhaseCheck& check : checks)
        text += fmt::format("  {:<10}{:>10}{:>12}{:>9}{:>14}{:>14}{:>9}{:>14}{:>14}{:>9}\n", name(check.kind),
                            check.transfers, short_number(check.payload, "B"), fmt::format("x {:.3g}", check.scale),
                            milliseconds(check.flow.completion_mean_s), milliseconds(check.packet.completion_mean_s),
                            apart(check.flow.completion_mean_s, check.packet.completion_mean_s),
                            milliseconds(check.flow.completion_s), milliseconds(check.packet.completion_s),
                            apart(check.flow.completion_s, check.packet.completion_s));
    return text;
}

}  // namespace rehearse
