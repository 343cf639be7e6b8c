#include "models/network/packet/fault_plan.hpp"

#include <string>

#include "models/network/framing.hpp"
#include "models/network/packet/link_names.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/units_text.hpp"

namespace rehearse {

namespace {

constexpr SimDuration time_max = milliseconds(3'600'000);

class Planner {
public:
    Planner(const Cluster& cluster, const NetworkSpec& network, const PacketSpec& spec)
        : cluster_(cluster), network_(network), spec_(spec) {}

    FaultPlan run() {
        for (; origin_ < spec_.faults.size(); ++origin_) {
            try {
                add(spec_.faults[origin_]);
            } catch (const InputError& error) {  // a name that is not known
                for (Fault fault : error.faults()) {
                    fault.path = path(fault.path);
                    faults_.add(std::move(fault));
                }
            }
        }
        faults_.throw_if_any();
        return std::move(plan_);
    }

private:
    std::string path(const std::string& key) const {
        return "models.network.packet.faults[" + std::to_string(origin_) + "]." + key;
    }
    void refuse(const char* key, std::string wrong, std::string expected) {
        faults_.add({{}, path(key), std::move(wrong), std::move(expected), ""});
    }

    void add(const FabricFault& asked) {
        for (const auto& [key, time] : {std::pair{"begin", asked.begin}, {"end", asked.end},
                                        {"down_for", asked.down_for}, {"period", asked.period}}) {
            if (time > time_max) return refuse(key, format(time) + " is out of range", "at most " + format(time_max));
        }
        if (asked.kind == FabricFaultKind::pause_storm) return add_storm(asked);
        PlannedFault planned{origin_, {}};
        LinkFault& fault = planned.fault;
        if (asked.kind == FabricFaultKind::dead_switch) {
            fault.kind = LinkFaultKind::dead_switch;
            fault.vertex = switch_of(asked.switch_name);
        } else {
            fault.link = cable_of(asked);
            planned.back = link_named(cluster_, asked.to, asked.from, static_cast<std::uint32_t>(asked.parallel));
        }
        if (asked.kind == FabricFaultKind::slow) fault.kind = LinkFaultKind::slow;
        if (asked.kind == FabricFaultKind::lossy) fault.kind = LinkFaultKind::lossy;
        fault.factor = asked.rate_share;
        if (asked.rate_share <= Ratio{0.0}) refuse("rate_share", "a link without a rate", "more than 0; or kind: down");
        const LossSpec loss = with_bit_errors(asked.loss, wire_bytes(network_.framing, network_.mtu, network_.mtu),
                                              control_wire_bytes(network_.framing));
        fault.data_loss = loss.data;
        fault.control_loss = loss.control;
        fault.burst = loss.burst;
        if (asked.kind == FabricFaultKind::flap) return add_flap(asked, planned);
        fault.begin = SimTime{} + asked.begin;
        if (has_end(asked)) fault.end = SimTime{} + asked.end;
        plan_.links.push_back(planned);
    }

    void add_flap(const FabricFault& asked, PlannedFault planned) {
        if (asked.down_for <= SimDuration{0}) return refuse("down_for", "a flap that is never down", "more than 0 ps");
        if (asked.times > 1 && asked.period <= asked.down_for)
            return refuse("period", "the link is down for " + format(asked.down_for) + " of every " +
                                        format(asked.period), "more than down_for");
        for (std::int64_t i = 0; i < asked.times; ++i) {
            planned.fault.begin = SimTime{} + asked.begin + asked.period * i;
            planned.fault.end = planned.fault.begin + asked.down_for;
            plan_.links.push_back(planned);
        }
    }

    void add_storm(const FabricFault& asked) {
        if (network_.flow_control != FlowControl::pfc)
            return refuse("kind", "nothing is paused under credit flow control", "models.network.flow_control: pfc");
        if (asked.gpu >= cluster_.gpu_count())
            return refuse("gpu", "there is no GPU " + std::to_string(asked.gpu),
                          "0 to " + std::to_string(cluster_.gpu_count() - 1));
        if (asked.traffic_class >= spec_.classes)
            return refuse("traffic_class", "the fabric has no class " + std::to_string(asked.traffic_class),
                          "1 to " + std::to_string(spec_.classes - 1));
        if (asked.end == SimDuration{0}) return refuse("end", "a storm that never ends", "when its NIC is repaired");
        if (!has_end(asked)) return;
        const PauseStorm storm{.gpu = GpuId{static_cast<std::uint32_t>(asked.gpu)},
                               .begin = SimTime{} + asked.begin,
                               .end = SimTime{} + asked.end,
                               .traffic_class = static_cast<std::uint8_t>(asked.traffic_class)};
        for (const PauseStorm& other : plan_.storms) {
            if (cluster_.nic_vertex(other.gpu) == cluster_.nic_vertex(storm.gpu) && other.begin <= storm.end &&
                storm.begin <= other.end && other.traffic_class == storm.traffic_class)
                return refuse("begin", "it overlaps another storm of the NIC", "one after the other");
        }
        plan_.storms.push_back(storm);
    }

    bool has_end(const FabricFault& asked) {
        if (asked.end == SimDuration{0}) return false;
        if (asked.end > asked.begin) return true;
        refuse("end", "it ends at " + format(asked.end) + " and begins at " + format(asked.begin), "begin < end");
        return false;
    }

    LinkId cable_of(const FabricFault& asked) {
        const LinkId link =
            link_named(cluster_, asked.from, asked.to, static_cast<std::uint32_t>(asked.parallel));
        if (cluster_.link(link).tier < LinkTier::host)
            refuse("from", "the link from " + in_quotes(asked.from) + " lies inside a node", "a link of the fabric");
        return link;
    }

    VertexId switch_of(const std::string& name) {
        const VertexId vertex = vertex_named(cluster_, name, "switch");
        if (cluster_.vertex(vertex).kind < VertexKind::tor)
            refuse("switch", in_quotes(name) + " is no switch", "a switch of the fabric");
        return vertex;
    }

    const Cluster& cluster_;
    const NetworkSpec& network_;
    const PacketSpec& spec_;
    std::uint32_t origin_ = 0;
    FaultPlan plan_;
    FaultList faults_;
};

}  // namespace

FaultPlan plan_faults(const Cluster& cluster, const NetworkSpec& network, const PacketSpec& spec) {
    return Planner(cluster, network, spec).run();
}

}  // namespace rehearse
