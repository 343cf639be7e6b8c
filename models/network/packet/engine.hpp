// The packet engine: NICs and switches that exchange packets over wires, swept in windows.
//
// Every packet needs at least the least link latency W from one node to the next. So in the window [T, T + W) no node
// can learn what another one does in it: the engine takes the nodes one after the other (or, with threads, side by
// side) through the window, each with its own arrivals and timers in order of (time, port). There is no global event
// queue, and the result does not depend on the order of the nodes. The next window begins at the earliest pending time.
//
// A wire keeps its packets in a ring; they arrive in the order in which they left. Ports that tie for ever are served
// in an order drawn afresh for each instant, so that none starves another.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/network/packet/congestion.hpp"
#include "models/network/packet/counters.hpp"
#include "models/network/packet/credits.hpp"
#include "models/network/packet/fabric_graph.hpp"
#include "models/network/packet/fair_queue.hpp"
#include "models/network/packet/link_faults.hpp"
#include "models/network/packet/link_retry.hpp"
#include "models/network/packet/packet.hpp"
#include "models/network/packet/pause_storm.hpp"
#include "models/network/packet/queue_pair.hpp"
#include "models/network/packet/ring.hpp"
#include "models/network/packet/shared_buffer.hpp"
#include "models/network/packet/spec.hpp"

namespace rehearse {

class PacketEngine {
public:
    // Keeps references to graph and spec, which must outlive it. `seed` draws losses, marks and tie-breaks.
    PacketEngine(const FabricGraph& graph, const NetworkSpec& network, const PacketSpec& spec, std::uint64_t seed);

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

    const std::vector<ConnectionResult>& results() const { return results_; }
    // Connections that were delivered whole, or failed, since the last call; in no order that means anything.
    std::vector<std::uint32_t> take_ended() { return std::exchange(ended_, {}); }
    const std::vector<PortCounters>& counters() const { return counters_; }
    std::uint64_t events() const { return events_; }
    std::uint64_t fingerprint() const;
    const SharedBuffer::Limits& buffer_limits() const { return data_limits_; }
    std::int64_t queue_longest() const;  // bytes that wait now at the port, over its classes, where most do
    // CBFC: credits that senders hold to be out, over all links and classes; 0 once nothing is pending.
    std::uint64_t credits_out() const;

private:
    struct Queue {          // of one port and class, waiting to leave
        Ring<Packet> ring;
        std::int64_t bytes = 0;
    };
    struct Egress {
        std::int64_t free_at = 0;       // the last packet's last bit has left
        std::uint32_t waiting = 0;      // bit per class with packets
        std::uint32_t paused = 0;       // bit per class that may not send: PFC, or no credits
        std::uint32_t discarding = 0;   // bit per class: the PFC watchdog has struck
        bool has_timer = false;         // a `port_free` timer is pending
        std::uint8_t last_class = 0;    // served last, for round robin among data classes
        std::int64_t paused_since = 0;
        std::uint64_t loss_counter = 0;
        std::uint64_t mark_counter = 0;
    };
    enum class TimerKind : std::uint32_t {
        fault,
        host_event,
        port_free,
        start,
        grant,
        ack_timeout,
        pace,
        cnp,
        pause_begins,
        pause_ends,
        pause_refresh,
        credit_check,
        replay_begins,
        replay_timeout,
        watchdog,
        storm_begins,
        storm_ends  // at one instant in this order
    };
    struct Timer {
        std::int64_t time;
        std::uint32_t kind_and_class;   // TimerKind in the low byte, traffic class above
        std::uint32_t id;               // port or connection
        friend bool operator>(const Timer& a, const Timer& b) {
            if (a.time != b.time) return a.time > b.time;
            if (a.kind_and_class != b.kind_and_class) return a.kind_and_class > b.kind_and_class;
            return a.id > b.id;
        }
    };
    struct Pause {           // of one port and class, as its sender keeps it
        std::int64_t begins = INT64_MAX, ends = INT64_MIN;
        std::int64_t since = 0;  // it holds, or held last
        bool is_watched = false;
    };
    struct Node {
        std::vector<Timer> timers;              // heap, earliest first
        std::uint64_t arriving[4] = {0, 0, 0, 0};  // bit per port whose incoming wire is not empty
        Ring<std::uint32_t> ready;              // NIC: connections that may send, in turn
        std::uint64_t fingerprint = 0;
    };

    struct PortFault {
        LinkFault fault;
        std::vector<std::uint32_t> ports;  // whose state it changes
    };

    void fill_buffers();

    // window.cpp
    void sweep(std::uint32_t node, std::int64_t begin, std::int64_t end);
    std::int64_t gather(std::uint32_t node, std::int64_t begin, std::int64_t end);
    void arrive(std::uint32_t node, std::uint32_t port, Packet& packet);
    void fire(std::uint32_t node, const Timer& timer);
    void add_timer(std::uint32_t node, std::int64_t time, TimerKind kind, std::uint32_t id, std::uint32_t klass = 0);

    // switch_side.cpp: queues and the wire
    void forward(std::uint32_t in_port, Packet& packet);
    void enqueue(std::uint32_t port, const Packet& packet);
    void serve(std::uint32_t port);                       // sends while the port is free and something may go
    bool next_packet(std::uint32_t port, Packet& packet); // takes it out of queue or queue pair
    void release(const Packet& packet, std::uint32_t node);
    void transmit(std::uint32_t port, Packet& packet);
    void mark(std::uint32_t port, std::int64_t queue_bytes, Packet& packet);
    // pause.cpp; `on` 0 resumes
    std::int64_t pause_duration(std::uint32_t port) const;
    void send_pause(std::uint32_t port, std::uint32_t klass, std::int64_t on);
    void receive_pause(std::uint32_t port, const Packet& packet);
    void begin_pause(std::uint32_t port, std::uint32_t klass);
    void end_pause(std::uint32_t port, std::uint32_t klass);
    void refresh_pause(std::uint32_t port, std::uint32_t klass);
    void block(std::uint32_t port, std::uint32_t klass);    // the class may not send ...
    void unblock(std::uint32_t port, std::uint32_t klass);  // ... until now

    // pause_storm.cpp
    void begin_storm(std::uint32_t port, std::uint32_t klass);
    void end_storm(std::uint32_t port, std::uint32_t klass);
    void watch(std::uint32_t port, std::uint32_t klass);
    void look_at_pause(std::uint32_t port, std::uint32_t klass);
    void empty_queue(std::uint32_t port, std::uint32_t klass);
    void discard(std::uint32_t port, const Packet& packet);

    // link_layer.cpp: only called when a link has credits, retry or faults
    std::uint64_t enter_link(std::uint32_t port, Packet& packet);                // returns ps per byte
    bool admit_frame(std::uint32_t node, std::uint32_t port, Packet& packet);
    // link_retry.cpp
    void fill_retry(Bytes wire_max);
    void keep_frame(std::uint32_t port, Packet& packet);
    bool holds_new_frames(std::uint32_t port) const;
    bool next_replay(std::uint32_t port, Packet& packet);
    void expect_progress(std::uint32_t port);
    void receive_retry(std::uint32_t port, const Packet& packet);
    void begin_replay(std::uint32_t port);
    void replay_timeout(std::uint32_t port);
    void replay_all(std::uint32_t port);
    void flush(std::uint32_t port);
    bool take_in_order(std::uint32_t port, Packet& packet);
    void acknowledge_frames(std::uint32_t port, Switch at_once);
    void answer_frames(std::uint32_t port, PacketKind kind, std::uint16_t wire);
    // link_faults.cpp
    void update_link(std::uint32_t port);
    void lose_link(std::uint32_t port);
    void restore_link(std::uint32_t port);
    // failure_detection.cpp
    void plan_routes();
    bool look_at_routes(std::uint32_t& epoch) const;
    std::span<const std::uint32_t> dead_ports(std::uint32_t epoch) const;
    void refresh_route(const FlowKey& key, std::uint32_t& epoch, PacketRoute& route) const;
    void hear_event(std::uint32_t node);
    bool is_cut(std::uint32_t port, const Packet& packet);
    void enter_faulty_link(std::uint32_t port, Packet& packet);
    bool draw_loss(std::uint32_t port, std::uint64_t threshold, std::uint64_t burst);
    // credits.cpp
    void fill_credits(Bytes wire_max);
    std::uint32_t credits_of(std::int64_t wire) const {
        return static_cast<std::uint32_t>((wire + spec_->cbfc.credit.value - 1) / spec_->cbfc.credit.value);
    }
    bool spend_credits(std::uint32_t port, std::uint32_t klass, std::uint32_t wire);
    void free_credits(std::uint32_t port, std::uint32_t klass, std::uint32_t wire);
    void tell_credits(std::uint32_t port, std::uint32_t klass);
    void check_credits(std::uint32_t port);
    void receive_credit(std::uint32_t port, const Packet& packet);
    void receive_credit_check(std::uint32_t port, const Packet& packet);
    void repeat_pause(std::uint32_t port, std::uint32_t klass);

    // nic_send.cpp, nic_receive.cpp
    static bool may_send(const SendEnd& end) {
        return end.resend != 0 || (end.next < end.granted && end.next - end.acked < end.window);
    }
    void begin(std::uint32_t connection);
    void make_ready(std::uint32_t connection);
    void grant(std::uint32_t connection);  // one more message
    bool next_data(std::uint32_t node, std::uint32_t port, Packet& packet);
    static std::uint32_t number_to_send(const SendEnd& end);
    static std::uint16_t wire_of(const SendEnd& end, std::uint32_t number);
    void build_data(std::uint32_t connection, Packet& packet);
    void choose_path(std::uint32_t connection, Packet& packet);
    void receive_ack(const Packet& packet);
    void hear_missing(SendEnd& end, const Packet& packet);
    std::int64_t timeout_of(const SendEnd& end) const;
    void acknowledge_timeout(std::uint32_t connection);
    void begin_again(SendEnd& end) const;  // from the oldest packet that is not acknowledged
    void arm_timeout(std::uint32_t connection);
    void receive_data(const Packet& packet);
    void receive_early(ReceiveEnd& end, const Packet& packet);
    void complain(ReceiveEnd& end, const Packet& packet);
    void reply(std::uint32_t connection, PacketKind kind, std::uint32_t number, const Packet& cause);
    void accept(std::uint32_t connection, ReceiveEnd& end);
    void grant_successors(const ReceiveEnd& end);

    // congestion_hooks.cpp; only with congestion control
    PathFacts path_facts(const SendEnd& end) const;
    void pace(std::uint32_t connection, Packet& packet);
    void allow(SendEnd& end, const Allowance& allowance, std::int64_t wire);
    void hear(const Packet& packet, std::uint32_t newly);
    void take_telemetry(std::uint32_t port, const Packet& packet);
    void notice(std::uint32_t connection);

    const FabricGraph* graph_;
    const NetworkSpec* network_;
    const PacketSpec* spec_;
    std::uint64_t seed_;
    std::int64_t window_;
    std::int64_t now_ = 0;
    std::uint64_t events_ = 0;
    std::uint32_t classes_;
    bool has_credits_, has_retry_, has_ack_events_;
    bool has_faults_ = false;
    bool has_link_layer_;  // one of these: links do more than carry frames
    std::int64_t wire_max_ = 0;  // of a data packet
    std::uint16_t control_wire_;
    std::int64_t reorder_max_;
    std::uint64_t loss_threshold_data_, loss_threshold_control_;

    std::vector<Node> nodes_;
    std::vector<std::int64_t> next_time_;   // per node: earliest pending event
    std::vector<Egress> egress_;            // per port
    std::vector<std::int64_t> headroom_;    // per port: bytes per class
    std::vector<std::int64_t> response_;    // per port: from a pause frame to silence, ps
    std::vector<Queue> queues_;             // per port x class
    std::vector<FairQueue> fair_;           // the same, in place of the rings; empty with FIFO
    std::vector<Ring<Packet>> urgent_;      // per port: link-local frames, before everything else
    std::vector<Ring<Packet>> wires_;       // per port: arriving there
    std::vector<IngressQueue> ingress_;     // per port x class
    std::vector<Pause> pauses_;             // per port x class
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
    std::vector<std::uint32_t> ended_;      // since take_ended()
    std::vector<std::uint64_t> arrivals_;   // scratch: sort keys of a sweep
};

}  // namespace rehearse
