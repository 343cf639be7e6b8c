#include "scenarios/packet_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/network/packet/packet_model.hpp"
#include "runtime/simulate.hpp"
#include "scenarios/job_traffic.hpp"
#include "scenarios/one_seed.hpp"
#include "scenarios/reading/check_parts.hpp"
#include "scenarios/reading/slice_text.hpp"
#include "scenarios/short_number.hpp"

namespace rehearse {

namespace {

constexpr std::string_view key = "models.network.slice";

std::string events_text(std::uint64_t transmissions) {
    return fmt::format("{:.2g} events", static_cast<double>(transmissions));
}

// The scenario's step with flows, and what its traffic would be as packets.
class DryRun {
public:
    DryRun(const ValidScenario& scenario, const Cluster& cluster, const Workload& workload)
        : models_(scenario.models()), cluster_(cluster), router_(cluster, models_.network.ecmp, scenario.seed()),
          graph_(cluster, router_), placement_(place_job(scenario, workload, cluster, scenario.seed())) {
        NetworkSpec flows = models_.network;
        flows.fidelity = Fidelity::flow;
        simulate({cluster, placement_, workload, models_.profile, flows, scenario.seed(), {}, {}, {}, &record_});
    }

    DryRun(const DryRun&) = delete;

    PacketEffort effort(const SliceSpec& slice) const {
        return packet_effort(record_, place_slice(slice, placement_, cluster_), graph_, router_, models_.network,
                             models_.packet);
    }

    // Slices and what each would be: a kind, one node's ranks, the time that fits.
    std::string ways_out() const {
        std::vector<SliceSpec> slices(traffic_kind_count + 1);
        for (std::size_t kind = 0; kind < traffic_kind_count; ++kind)
            slices[kind].phase = static_cast<TrafficKind>(kind);
        const auto ranks = std::min<std::int64_t>(cluster_.gpus_per_node(), placement_.rank_count());
        slices.back().ranks = SliceSpec::Ranks{0, ranks - 1};
        const SimTime until =
            time_within(record_, run_transmissions_most, graph_, router_, models_.network, models_.packet);
        const std::int64_t step = microseconds(until.seconds() < 10e-3 ? 1 : 1000).value;
        if (until.value >= step)
            slices.emplace_back().time = SliceSpec::Time{SimDuration{0}, SimDuration{until.value / step * step}};
        std::vector<std::string> ways;
        for (const SliceSpec& slice : slices) {
            const std::uint64_t events = effort(slice).slice.transmissions;
            if (events > 0) ways.push_back(fmt::format("{} ({})", format(slice), events_text(events)));
        }
        return fmt::format("give --slice {}", fmt::join(ways, ", "));
    }

private:
    const ModelsSpec& models_;
    const Cluster& cluster_;
    Router router_;
    FabricGraph graph_;
    Placement placement_;
    TransferRecord record_;
};

}  // namespace

std::string check_packet_effort(const ValidScenario& scenario, const Cluster& cluster, const Workload& workload) {
    if (scenario.models().network.fidelity != Fidelity::packet) return "";
    const ConfigNode& written = scenario.plain().written;
    const ModelsSpec& models = scenario.models();
    located(written, [&] {
        const Router router(cluster, models.network.ecmp, scenario.seed());
        const PacketModel model(cluster, router, models.network, models.packet, scenario.seed());
        for (const std::string& warning : check_buffers(models.packet, model.buffer_limits(), written))
            fmt::print(stderr, "{}\n", warning);
    });
    const DryRun dry_run = located(written, [&] { return DryRun(scenario, cluster, workload); });
    const SliceSpec& slice = models.slice;
    const PacketEffort effort = dry_run.effort(slice);
    const std::uint64_t events = effort.slice.transmissions;
    Findings findings(written);
    if (!slice.is_bounded() && events > run_transmissions_most)
        findings.fault(key, fmt::format("the whole run at packet fidelity is about {}", events_text(events)),
                       fmt::format("at most {} without a slice", events_text(run_transmissions_most)),
                       dry_run.ways_out());
    if (slice.is_bounded() && events == 0)
        findings.fault(key, fmt::format("no traffic between nodes lies in {}", format(slice)),
                       effort.transmissions_all() == 0 ? "a job whose traffic leaves its nodes" : "a wider slice");
    findings.throw_if_any();
    if (events <= run_transmissions_most) return "";
    return fmt::format("packets: the slice is about {}; one core runs through {} in half a minute", events_text(events),
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
        "\npackets: {} of {} between nodes ({:.3g} %), {} of {} transfers, slice {}\n"
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
        "  {:<10}{:>10}{:>12}{:>12}{:>14}{:>14}{:>9}{:>14}{:>14}{:>9}\n", events_text(check_transmissions_most), "kind",
        "transfers", "bytes", "shrunk", "mean flow", "packet", "", "whole flow", "packet", "");
    const auto milliseconds = [](double s) { return fmt::format("{:.4g} ms", s * 1e3); };
    const auto apart = [](double flow, double packet) { return fmt::format("{:+.2f} %", 100 * (packet / flow - 1)); };
    for (const PhaseCheck& check : checks)
        text += fmt::format("  {:<10}{:>10}{:>12}{:>12}{:>14}{:>14}{:>9}{:>14}{:>14}{:>9}\n", name(check.kind),
                            check.transfers, short_number(check.payload, "B"), fmt::format("x {:.3g}", check.scale),
                            milliseconds(check.flow.completion_mean_s), milliseconds(check.packet.completion_mean_s),
                            apart(check.flow.completion_mean_s, check.packet.completion_mean_s),
                            milliseconds(check.flow.completion_s), milliseconds(check.packet.completion_s),
                            apart(check.flow.completion_s, check.packet.completion_s));
    return text;
}

}  // namespace rehearse
