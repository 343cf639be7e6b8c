// The packet engine: NICs and switches that exchange packets over wires, swept in windows.
//
// Every packet needs at least the least link latency W from one node to the next. So in the window [T, T + W) no node
// can learn what another one does in it: each node goes through the window alone, with its own arrivals and timers in
// order of (time, port). There is no global event queue, and the result does not depend on the order of the nodes. The
// next window begins at the earliest pending time.
//
// The nodes are dealt to partitions (cut.hpp), one per thread or process. A partition sweeps its nodes one after the
// other, and hands packets for another partition over when the window ends. The engine holds the tables, of which each
// partition touches the records of its own nodes, and runs the partitions.
//
// A wire keeps its packets in a ring; they arrive in the order in which they left. Ports that tie for ever are served
// in an order drawn afresh for each instant, so that none starves another.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/network/packet/congestion.hpp"
#include "models/network/packet/counters.hpp"
#include "models/network/packet/credits.hpp"
#include "models/network/packet/fabric_graph.hpp"
#include "models/network/packet/fair_queue.hpp"
#include "models/network/packet/link_retry.hpp"
#include "models/network/packet/pause_storm.hpp"
#include "models/network/packet/queue_pair.hpp"
#include "models/network/packet/shared_buffer.hpp"
#include "models/network/packet/spec.hpp"
#include "models/network/packet/state.hpp"
#include "sim/engine/parallel/process_group.hpp"
#include "sim/engine/parallel/worker_team.hpp"

namespace rehearse {

class Partition;

// How many sweep the fabric: the processes of a group, which all make the same calls, or threads. Results are the same
// for any number.
struct Crew {
    std::uint32_t threads = 1;
    ProcessGroup* processes = nullptr;  // with it, one thread
};

struct Tally {                       // totals up to now
    std::uint64_t closed = 0;        // connections that are done, or failed
    PortCounters sum;
    std::int64_t queue_longest = 0;  // bytes that wait now at the port, over its classes, where most do
};

struct ConnectionProgress {  // in packets
    std::uint32_t packets = 0, sent = 0, acknowledged = 0, per_message = 1;
    std::uint32_t whole = 0;  // messages that have arrived, the last of them at
    SimTime whole_at;
    bool is_open = false;
    bool is_chain() const { return packets > per_message; }  // of several messages
};

class PacketEngine {
public:
    // Keeps references to graph and spec, which must outlive it. `seed` draws losses, marks and tie-breaks. Throws
    // InputError when the specs contradict themselves, or the fabric has too few switches for the crew.
    PacketEngine(const FabricGraph& graph, const NetworkSpec& network, const PacketSpec& spec, std::uint64_t seed,
                 const Crew& crew = {});
    ~PacketEngine();

    // Before the start time has been passed. The two GPUs must not share a NIC.
    std::uint32_t connect(const ConnectionRequest& request);
    // The same messages once more on a connection that is through: numbers, route and congestion state go on, as on a
    // queue pair that is kept. Memory then grows with the connections that are busy at once.
    bool may_repeat(std::uint32_t connection) const;
    void repeat(std::uint32_t connection, SimTime start);
    // Not before this time is the connection delivered whole: the packets that lack, at line rate.
    SimTime delivered_earliest(std::uint32_t connection, SimTime now) const;
    // Before the start time has been passed. Ports of faulty links must exist in the graph.
    void add_fault(const LinkFault& fault);
    void add_storm(const PauseStorm& storm);
    // Runs all events at or before `until`, or until nothing is pending.
    void run(SimTime until);
    // Earliest pending event; SimTime{INT64_MAX} when there is none.
    SimTime next_event_time() const;
    Tally tally() const;
    // leave_out.cpp, for a fast-forward (study/fast_forward.hpp). Packets not yet sent are taken as delivered: any
    // number of a lone message, else whole messages, of every connection of a ring or tree alike.
    ConnectionProgress progress(std::uint32_t connection) const;
    const ConnectionRequest& request(std::uint32_t connection) const { return requests_[connection]; }
    void leave_out(std::uint32_t connection, std::uint32_t packets);
    void repeat_counters(const std::vector<PortCounters>& since, std::uint64_t times);
    // After the last run(); what follows needs it. Pauses still in force are counted up to now; with a process group,
    // every process gets the results of all.
    void gather();

    const std::vector<ConnectionResult>& results() const { return results_; }
    // Connections that were delivered whole, or failed, since the last call; in no order that means anything.
    std::vector<std::uint32_t> take_ended();
    const std::vector<PortCounters>& counters() const { return counters_; }
    std::uint64_t events() const;
    std::uint64_t fingerprint() const;
    const SharedBuffer::Limits& buffer_limits() const { return data_limits_; }
    // CBFC: credits that senders hold to be out, over all links and classes; 0 once nothing is pending.
    std::uint64_t credits_out() const;

private:
    friend class Partition;

    void close_pauses();
    void fill_buffers();
    void fill_retry(Bytes wire_max);
    void fill_credits(Bytes wire_max);
    void plan_routes();
    PathFacts path_facts(const SendEnd& end) const;
    void add_timer(std::uint32_t node, std::int64_t time, TimerKind kind, std::uint32_t id, std::uint32_t klass = 0);
    void make_partitions(const Crew& crew);
    void run(Partition& partition, std::int64_t until);
    std::int64_t hand_over(Partition& partition);

    const FabricGraph* graph_;
    const NetworkSpec* network_;
    const PacketSpec* spec_;
    std::uint64_t seed_;
    std::int64_t window_;
    std::uint32_t classes_;
    bool has_credits_, has_retry_, has_ack_events_;
    bool has_faults_ = false;
    bool has_link_layer_;  // one of these: links do more than carry frames
    std::int64_t wire_max_ = 0;  // of a data packet
    std::uint16_t control_wire_;
    std::int64_t reorder_max_;
    std::uint64_t loss_threshold_data_, loss_threshold_control_;

    std::vector<FabricNode> nodes_;
    std::vector<std::int64_t> next_time_;   // per node: earliest pending event
    std::vector<Egress> egress_;            // per port
    std::vector<std::int64_t> headroom_;    // per port: bytes per class
    std::vector<std::int64_t> response_;    // per port: from a pause frame to silence, ps
    std::vector<PortQueue> queues_;             // per port x class
    std::vector<FairQueue> fair_;           // the same, in place of the rings; empty with FIFO
    std::vector<Ring<Packet>> urgent_;      // per port: link-local frames, before everything else
    std::vector<Ring<WireEntry>> wires_;    // per port: arriving there
    std::vector<IngressQueue> ingress_;     // per port x class
    std::vector<PauseState> pauses_;             // per port x class
    std::vector<CreditSend> credit_send_;        // CBFC, per port x class: of the link that it leaves by
    std::vector<CreditReceive> credit_receive_;  // ... and of the one that comes in there
    std::vector<CreditPort> credit_ports_;
    std::uint64_t update_loss_threshold_ = 0;
    std::vector<RetrySend> retry_send_;          // LLR, per port
    std::vector<RetryReceive> retry_receive_;
    std::vector<std::int64_t> retry_patience_;   // replay timer, ps
    std::vector<LinkCondition> link_states_;         // per port, once there is a fault
    std::vector<PortFault> faults_;
    std::vector<RouteChange> route_changes_;     // in order of time
    SharedBuffer::Limits data_limits_;
    std::vector<SharedBuffer> buffers_;     // per node x slice
    std::vector<std::uint32_t> first_buffer_;
    std::vector<PortCounters> counters_;

    CongestionTable congestion_;
    std::vector<SendEnd> senders_;
    std::vector<ReceiveEnd> receivers_;
    std::vector<ConnectionRequest> requests_;
    std::vector<ConnectionResult> results_;

    ProcessGroup* processes_;                  // null: this process is alone
    std::vector<std::uint16_t> cut_;           // per node: its partition
    std::vector<std::unique_ptr<Partition>> partitions_;  // of this process
    std::unique_ptr<WorkerTeam> team_;         // one thread per partition, where there are more than one
    std::uint64_t events_elsewhere_ = 0;       // in other processes, once gathered
};

}  // namespace rehearse
