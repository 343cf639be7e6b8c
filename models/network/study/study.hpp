// A study runs traffic on the fabric alone, at packet level or with a NetworkModel, and records what became of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/network/packet/counters.hpp"
#include "models/network/packet/engine.hpp"
#include "models/network/packet/fabric_graph.hpp"
#include "models/network/packet/fault_plan.hpp"
#include "models/network/packet/spec.hpp"
#include "models/network/spec.hpp"
#include "models/network/study/traffic.hpp"
#include "sim/base/switch.hpp"

namespace rehearse {

// failed: retries used up, or it waits for a flow that failed; blocked: it never ended
enum class FlowEnd : std::uint8_t { whole, failed, blocked };

struct FlowRecord {
    SimTime start, finished;  // finished: the sender holds the last ACK
    SimDuration idle;         // what the flow takes alone on an idle fabric (idle_time.hpp)
    Bytes bytes;              // payload of all its messages
    std::uint64_t retransmissions = 0, timeouts = 0;
    SimDuration stalled;      // of its queue pair that waited longest for timeouts and switch events
    FlowEnd end = FlowEnd::whole;
};

struct StudySample {  // totals up to an instant
    SimTime at;
    std::uint64_t flows_ended = 0;
    PortCounters sum;  // of all links; queue_peak: the highest so far
    std::int64_t queue_longest = 0;  // bytes, at the instant
};

struct ForwardRecord {
    std::uint64_t skips = 0;
    std::uint64_t events = 0, events_left_out = 0;  // simulated; what the periods skipped would have had
    SimTime end;                                    // of the last flow
    double times_fewer() const {
        return events > 0 ? 1 + static_cast<double>(events_left_out) / static_cast<double>(events) : 1;
    }
};

struct StudyRecord {
    std::vector<FlowRecord> flows;     // in the order of the traffic
    std::vector<PortCounters> links;   // by LinkId; at flow fidelity bytes alone
    std::vector<StudySample> samples;  // at most StudyWatch::samples_most
    SimTime end;                       // of the last flow
    std::string buffer_cycle;          // buffers that may wait for each other in a circle; "" = none
    std::uint64_t events = 0, fingerprint = 0;
    ForwardRecord forward;             // of the fast-forward, where it is on
};

struct StudyWatch {
    SimDuration interval = microseconds(10);  // between samples; doubles each time their number reaches the bound
    std::int64_t samples_most = 256;
    Switch fast_forward = Switch::off;        // fast_forward.hpp; not with processes
    std::function<void(double)> progress;     // share of the flows that have ended; may be empty
};

// Packet fidelity. Each flow is ecmp.queue_pairs connections that carry an equal share of every message. It ends when
// every flow has ended or failed, or when nothing moves any more: those left are blocked. Both GPUs of a flow must
// reach each other over the NICs that serve them (leaves_by_own_nic).
class PacketStudy {
public:
    // The graph and the specs must outlive it.
    PacketStudy(const FabricGraph& graph, const NetworkSpec& network, const PacketSpec& spec, std::uint64_t seed,
                const Crew& crew = {})
        : graph_(graph), network_(network), spec_(spec), engine_(graph, network, spec, seed, crew) {}

    const SharedBuffer::Limits& buffer_limits() const { return engine_.buffer_limits(); }
    // What goes wrong, before run().
    void add(const FaultPlan& plan);
    // Once. `idle` as IdleTimes::completions() gives it.
    StudyRecord run(const std::vector<StudyFlow>& flows, const std::vector<SimDuration>& idle, const StudyWatch& watch);

private:
    const FabricGraph& graph_;
    const NetworkSpec& network_;
    const PacketSpec& spec_;
    PacketEngine engine_;
    SimTime last_change_;  // of the faults that were added
};

// Whether the flow's packets leave by the source's NIC and arrive by the destination's: not inside a node (NVLink), and
// not over another rail's NIC.
bool leaves_by_own_nic(const Cluster& cluster, const Router& router, const StudyFlow& flow);

// Flow and ideal fidelity: fluid time + (H - 1) first-packet serialisations + H propagations + ACK return, once per
// message of those that wait for each other. A ring is one transfer: its flows end together. Other flows that depend on
// each other, as in a tree, send message by message (fluid_run.hpp). `paths` at flow fidelity: spraying loads all
// shortest paths evenly (sprayed_links.hpp), anything else the path that ECMP hashes to.
StudyRecord run_fluid(const Cluster& cluster, const Router& router, const NetworkSpec& network, PathChoice paths,
                      const std::vector<StudyFlow>& flows, const std::vector<SimDuration>& idle);

}  // namespace rehearse
