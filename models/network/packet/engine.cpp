
#include <algorithm>

#include "models/network/framing.hpp"
#include "models/network/packet/headroom_sets.hpp"
#include "models/network/packet/partition.hpp"
#include "models/network/packet/probability.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

namespace {

Bandwidth nic_rate(const FabricGraph& graph) {
    return graph.cluster().link(graph.port(graph.first_port(0)).link).rate;
}

std::int64_t packets_of(std::int64_t message, std::int64_t mtu) {
    return std::max<std::int64_t>(1, (message + mtu - 1) / mtu);
}

}  // namespace

PacketEngine::PacketEngine(const FabricGraph& graph, const NetworkSpec& network, const PacketSpec& spec,
                           std::uint64_t seed, const Crew& crew)
    : graph_(&graph), network_(&network), spec_(&spec), seed_(seed ^ hash_name("packet")), window_(graph.latency_min()),
      classes_(static_cast<std::uint32_t>(spec.classes)), has_credits_(network.flow_control == FlowControl::cbfc),
      has_retry_(is_on(spec.llr.enabled)), has_ack_events_(spec.llr.replay_buffer > Bytes{0}),
      has_link_layer_(has_credits_ || has_retry_), congestion_(spec, nic_rate(graph)),
      processes_(crew.processes) {
    seed_ = splitmix64(seed_);  // near seeds must not share their draws: ports and counters are only XORed in
    control_wire_ = static_cast<std::uint16_t>(control_wire_bytes(network.framing).value);
    const LossSpec loss = with_bit_errors(spec.loss, wire_bytes(network.framing, network.mtu, network.mtu),
                                          control_wire_bytes(network.framing));
    loss_threshold_data_ = probability_threshold(loss.data);
    loss_threshold_control_ = probability_threshold(loss.control);
    reorder_max_ = spec.transport.paths == PathChoice::ecmp ? 0 : spec.transport.reorder_packets;
    nodes_.resize(graph.node_count());
    next_time_.assign(graph.node_count(), INT64_MAX);
    egress_.resize(graph.port_count());
    urgent_.resize(graph.port_count());
    wires_.resize(graph.port_count());
    counters_.resize(graph.port_count());
    queues_.resize(std::size_t{graph.port_count()} * classes_);
    if (spec.buffer.discipline == QueueDiscipline::fair) fair_.resize(queues_.size());
    ingress_.resize(queues_.size());
    pauses_.resize(queues_.size());
    fill_buffers();
    make_partitions(crew);
}

PacketEngine::~PacketEngine() = default;

void PacketEngine::fill_buffers() {
    const HeaderStack stack = header_stack(network_->framing);
    const std::int64_t overhead = stack.every_packet.value + stack.line.value;
    const Bytes wire_max{network_->mtu.value + overhead + stack.first_packet.value +
                         congestion_.telemetry_bytes(hops_max)};
    const Bytes wire_min{std::max<std::int64_t>(control_wire_, overhead + 1)};
    std::int64_t most_ports = 0, set_aside = 0, headroom_short = 0;
    for (std::uint32_t p = 0; p < graph_->port_count(); ++p) {
        const GraphPort& port = graph_->port(p);
        const Bandwidth rate = graph_->cluster().link(port.link).rate;
        const std::int64_t quanta = spec_->pfc.response_quanta > 0 ? spec_->pfc.response_quanta
                                                                   : pfc_response_quanta(rate);
        response_.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(quanta) * 64 * port.byte_time >> 16));
        const SimDuration loop{graph_->loop_latency(p)};
        const HeadroomInput input{rate, loop, wire_max, wire_min, spec_->buffer.cell, quanta};
        const PfcSpec& pfc = spec_->pfc;
        Bytes headroom = pfc.headroom;
        if (headroom == Bytes{0})
            headroom = pfc.headroom_set == HeadroomSet::formula
                           ? pfc_headroom(input)
                           : shipped_headroom(pfc.headroom_set, rate, SimDuration{loop.value / 2});
        headroom_.push_back(headroom.value);
        headroom_short = std::max(headroom_short, pfc_headroom(input).value - headroom.value);
    }
    for (std::uint32_t node = graph_->nic_count(); node < graph_->node_count(); ++node) {
        std::int64_t own = 0;
        for (std::uint32_t i = 0; i < graph_->ports_of(node); ++i) {
            own += (headroom_[graph_->first_port(node) + i] + spec_->buffer.reserve.value) * (classes_ - 1);
        }
        most_ports = std::max<std::int64_t>(most_ports, graph_->ports_of(node));
        set_aside = std::max(set_aside, own);
    }
    if (is_on(spec_->buffer.bounded) && !has_credits_) check_reserved(Bytes{set_aside}, spec_->buffer.pool, classes_);
    data_limits_ = {.shared = (spec_->buffer.pool.value - set_aside) / spec_->buffer.slices,
                    .headroom_short = headroom_short,
                    .reserve = spec_->buffer.reserve.value,
                    .resume_offset = spec_->pfc.resume_offset.value,
                    .alpha = spec_->buffer.alpha.value,
                    .cell = static_cast<std::int32_t>(spec_->buffer.cell.value),
                    .cell_inverse = SharedBuffer::inverse_of(static_cast<std::int32_t>(spec_->buffer.cell.value)),
                    .is_bounded = is_on(spec_->buffer.bounded) && !has_credits_,
                    .is_lossless = !has_credits_};
    wire_max_ = wire_max.value;
    if (has_credits_) fill_credits(wire_max);
    if (has_retry_) fill_retry(wire_max);
    for (std::uint32_t node = 0; node < graph_->node_count(); ++node) {
        first_buffer_.push_back(static_cast<std::uint32_t>(buffers_.size()));
        const std::int64_t count = graph_->is_switch(node) ? spec_->buffer.slices : 0;
        for (std::int64_t i = 0; i < count; ++i) buffers_.emplace_back(data_limits_);
    }
}

std::uint32_t PacketEngine::connect(const ConnectionRequest& request) {
    const std::uint32_t from = graph_->nic_of(request.source), to = graph_->nic_of(request.destination);
    REHEARSE_CHECK(from != to, "a connection between GPUs of one NIC");
    REHEARSE_CHECK(request.message >= Bytes{0} && request.messages > 0, "a connection without messages");
    const HeaderStack stack = header_stack(network_->framing);
    const std::int64_t mtu = network_->mtu.value, overhead = stack.every_packet.value + stack.line.value;
    const std::int64_t per_message = packets_of(request.message.value, mtu);
    const std::int64_t packets = per_message * request.messages;
    REHEARSE_CHECK(packets <= UINT32_MAX / 2, "a connection of more than 2^31 packets");
    const auto id = static_cast<std::uint32_t>(senders_.size());
    SendEnd send;
    send.packets = static_cast<std::uint32_t>(packets);
    send.per_message = static_cast<std::uint32_t>(per_message);
    if (spec_->transport.window_packets > 0) send.window = static_cast<std::uint32_t>(spec_->transport.window_packets);
    const std::int64_t last = request.message.value - (per_message - 1) * mtu;
    send.full_wire = static_cast<std::uint16_t>(mtu + overhead);
    send.last_wire = static_cast<std::uint16_t>((is_on(spec_->transport.pad_last) ? mtu : last) + overhead);
    send.first_extra = static_cast<std::uint16_t>(stack.first_packet.value);
    send.traffic_class = request.traffic_class;
    send.node = from;
    std::uint64_t draw = seed_ ^ (std::uint64_t{id} << 32);
    send.path_draw = splitmix64(draw);
    send.route = graph_->route(request.forth());
    ReceiveEnd receive;
    receive.per_message = send.per_message;
    receive.packets = send.packets;
    receive.traffic_class = request.traffic_class;
    receive.node = to;
    receive.successors = request.successors;
    receive.sibling = request.sibling;
    receive.successor_delay = request.successor_delay.value;
    receive.route = graph_->route(request.back());
    if (congestion_.is_active()) congestion_.add(path_facts(send));
    senders_.push_back(send);
    receivers_.push_back(std::move(receive));
    requests_.push_back(request);
    results_.emplace_back().start = request.start;
    add_timer(from, request.start.value, TimerKind::start, id);
    return id;
}

void PacketEngine::add_timer(std::uint32_t node, std::int64_t time, TimerKind kind, std::uint32_t id,
                             std::uint32_t klass) {
    partitions_.front()->add_timer(node, time, kind, id, klass);
}

}  // namespace rehearse
