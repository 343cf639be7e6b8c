// A partition: the nodes that one thread, or one process, sweeps through the windows; and everything that can happen at
// a node. What happens at a node touches the records of that node alone, with two exceptions: a packet that leaves for
// another node, and telemetry for its sender. Where the other node belongs to another partition, both wait in an outbox
// until the window is over.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/network/packet/engine.hpp"
#include "models/network/packet/outbox.hpp"
#include "sim/engine/parallel/process_group.hpp"
#include "sim/engine/parallel/worker_team.hpp"

namespace rehearse {

class Partition {
public:
    // Number `id` of `count`; sweeps these nodes, in this order. The tables of the engine stand, and outlive it.
    Partition(PacketEngine& engine, std::uint32_t id, std::uint32_t count, std::vector<std::uint32_t> own);

    void add_timer(std::uint32_t node, std::int64_t time, TimerKind kind, std::uint32_t id, std::uint32_t klass = 0);
    std::int64_t next_event_time() const;  // earliest pending event of its nodes
    void sweep_all(std::int64_t begin, std::int64_t end);
    void deliver(std::uint32_t port, PacketSlot& slot);  // onto the wire that leaves by this port, to its own node

    // hand_over.cpp: between two windows. Returns the begin of the next one, which is the same for all partitions.
    std::int64_t hand_over_to_threads(WorkerTeam& team);
    std::int64_t hand_over_to_processes(ProcessGroup& processes);

    std::uint64_t events() const { return events_; }
    std::int64_t now() const { return now_; }  // of its last event
    std::size_t closed() const { return closed_; }  // connections whose sending end is done, or gave up
    std::vector<std::uint32_t> take_ended() { return std::exchange(ended_, {}); }

private:
    // hand_over.cpp
    std::int64_t announce();
    void take(Outbox& box);

    // window.cpp
    void sweep(std::uint32_t node, std::int64_t begin, std::int64_t end);
    std::int64_t gather(std::uint32_t node, std::int64_t begin, std::int64_t end);
    void arrive(std::uint32_t node, std::uint32_t port, PacketSlot& slot);
    void prefetch(std::uint32_t node) const;
    void take(std::uint32_t port, const Packet& packet);
    void fire(std::uint32_t node, const NodeTimer& timer);

    // switch_side.cpp: queues and the wire
    void forward(std::uint32_t node, std::uint32_t in_port, PacketSlot& slot);
    void enqueue(std::uint32_t port, PacketSlot& slot);
    void push_urgent(std::uint32_t port, const Packet& packet);
    void serve(std::uint32_t port);                       // sends while the port is free and something may go
    PacketSlot* next_packet(std::uint32_t port);          // takes it out of queue or queue pair; null: none may go
    PacketSlot& next_queued(std::uint32_t port, std::uint32_t klass);  // takes the first one
    void release(const Packet& packet, std::uint32_t node);
    SharedBuffer& buffer_of(std::uint32_t node, std::uint32_t in_port) {
        const std::int64_t slices = spec_->buffer.slices;
        return buffers_[first_buffer_[node] + (slices == 1 ? 0 : in_port % static_cast<std::uint32_t>(slices))];
    }
    void transmit(std::uint32_t port, PacketSlot& slot);
    void mark(std::uint32_t port, std::int64_t queue_bytes, Packet& packet);
    // pause.cpp; `on` 0 resumes
    std::int64_t pause_duration(std::uint32_t port) const;
    void send_pause(std::uint32_t port, std::uint32_t klass, std::int64_t on);
    void receive_pause(std::uint32_t port, const Packet& packet);
    void begin_pause(std::uint32_t port, std::uint32_t klass);
    void end_pause(std::uint32_t port, std::uint32_t klass);
    void refresh_pause(std::uint32_t port, std::uint32_t klass);
    void repeat_pause(std::uint32_t port, std::uint32_t klass);
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
    void keep_frame(std::uint32_t port, Packet& packet);
    bool holds_new_frames(std::uint32_t port) const;
    PacketSlot* next_replay(std::uint32_t port);
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
    bool is_cut(std::uint32_t port, const Packet& packet);
    void enter_faulty_link(std::uint32_t port, Packet& packet);
    bool draw_loss(std::uint32_t port, std::uint64_t threshold, std::uint64_t burst);
    // failure_detection.cpp
    bool look_at_routes(std::uint32_t& epoch) const;
    std::span<const std::uint32_t> dead_ports(std::uint32_t epoch) const;
    void refresh_route(const FlowKey& key, std::uint32_t& epoch, PacketRoute& route) const;
    void hear_event(std::uint32_t node);
    // credits.cpp
    std::uint32_t credits_of(std::int64_t wire) const { return rehearse::credits_of(spec_->cbfc, wire); }
    bool spend_credits(std::uint32_t port, std::uint32_t klass, std::uint32_t wire);
    void free_credits(std::uint32_t port, std::uint32_t klass, std::uint32_t wire);
    void tell_credits(std::uint32_t port, std::uint32_t klass);
    void check_credits(std::uint32_t port);
    void receive_credit(std::uint32_t port, const Packet& packet);
    void receive_credit_check(std::uint32_t port, const Packet& packet);

    // nic_send.cpp, nic_receive.cpp
    static bool may_send(const SendEnd& end) {
        return end.resend != 0 || (end.next < end.granted && end.next - end.acked < end.window);
    }
    void begin(std::uint32_t connection);
    void make_ready(std::uint32_t connection);
    void grant(std::uint32_t connection);  // one more message
    PacketSlot* next_data(std::uint32_t node, std::uint32_t port);
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
    void pace(std::uint32_t connection, Packet& packet);
    void allow(SendEnd& end, const Allowance& allowance, std::int64_t wire);
    void hear(const Packet& packet, std::uint32_t newly);
    void take_telemetry(std::uint32_t port, const Packet& packet);
    void notice(std::uint32_t connection);

    const std::uint32_t id_;
    const std::vector<std::uint32_t> own_;
    std::int64_t now_ = 0;
    std::uint64_t events_ = 0;
    std::size_t closed_ = 0;
    PacketPool pool_;
    std::vector<std::uint32_t> ended_;      // since take_ended()
    std::vector<std::uint64_t> arrivals_;   // scratch: sort keys of a sweep
    // Two sets of outboxes take turns, one box per partition in each: while this window fills one set, others may still
    // take from the other.
    std::array<std::vector<Outbox>, 2> outboxes_;
    std::uint32_t turn_ = 0;
    std::int64_t handed_earliest_ = INT64_MAX;  // arrival of what this window handed over
    std::vector<ProcessGroup::Box> bytes_out_, bytes_in_;
    Outbox taken_;
    alignas(64) std::array<std::int64_t, 2> announced_{INT64_MAX, INT64_MAX};  // earliest event; read by the others

    // The engine's, under their names there.
    alignas(64) PacketEngine& engine_;
    const FabricGraph* const graph_ = engine_.graph_;
    const PacketSpec* const spec_ = engine_.spec_;
    const std::uint64_t seed_ = engine_.seed_;
    const std::uint32_t classes_ = engine_.classes_;
    const bool has_credits_ = engine_.has_credits_, has_retry_ = engine_.has_retry_;
    const bool has_ack_events_ = engine_.has_ack_events_;
    const bool &has_faults_ = engine_.has_faults_, &has_link_layer_ = engine_.has_link_layer_;
    const std::int64_t wire_max_ = engine_.wire_max_, reorder_max_ = engine_.reorder_max_;
    const std::uint16_t control_wire_ = engine_.control_wire_;
    const std::uint64_t loss_threshold_data_ = engine_.loss_threshold_data_;
    const std::uint64_t loss_threshold_control_ = engine_.loss_threshold_control_;
    const std::uint64_t update_loss_threshold_ = engine_.update_loss_threshold_;
    std::vector<FabricNode>& nodes_ = engine_.nodes_;
    std::vector<std::int64_t>& next_time_ = engine_.next_time_;
    std::vector<Egress>& egress_ = engine_.egress_;
    const std::vector<std::int64_t>& headroom_ = engine_.headroom_;
    const std::vector<std::int64_t>& response_ = engine_.response_;
    std::vector<PortQueue>& queues_ = engine_.queues_;
    std::vector<FairQueue>& fair_ = engine_.fair_;
    std::vector<Ring<Packet>>& urgent_ = engine_.urgent_;
    std::vector<Ring<WireEntry>>& wires_ = engine_.wires_;
    std::vector<IngressQueue>& ingress_ = engine_.ingress_;
    std::vector<PauseState>& pauses_ = engine_.pauses_;
    std::vector<CreditSend>& credit_send_ = engine_.credit_send_;
    std::vector<CreditReceive>& credit_receive_ = engine_.credit_receive_;
    std::vector<CreditPort>& credit_ports_ = engine_.credit_ports_;
    std::vector<RetrySend>& retry_send_ = engine_.retry_send_;
    std::vector<RetryReceive>& retry_receive_ = engine_.retry_receive_;
    const std::vector<std::int64_t>& retry_patience_ = engine_.retry_patience_;
    std::vector<LinkCondition>& link_states_ = engine_.link_states_;
    const std::vector<PortFault>& faults_ = engine_.faults_;
    const std::vector<RouteChange>& route_changes_ = engine_.route_changes_;
    std::vector<SharedBuffer>& buffers_ = engine_.buffers_;
    const std::vector<std::uint32_t>& first_buffer_ = engine_.first_buffer_;
    std::vector<PortCounters>& counters_ = engine_.counters_;
    std::vector<SendEnd>& senders_ = engine_.senders_;
    std::vector<ReceiveEnd>& receivers_ = engine_.receivers_;
    const std::vector<ConnectionRequest>& requests_ = engine_.requests_;
    std::vector<ConnectionResult>& results_ = engine_.results_;
    CongestionTable& congestion_ = engine_.congestion_;
};

}  // namespace rehearse
