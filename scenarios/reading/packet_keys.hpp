// The keys of models.network.packet, for the visitors of scenario_keys.hpp.
#pragma once

#include "models/network/packet/spec.hpp"
#include "scenarios/reading/scenario_keys.hpp"

namespace rehearse {

template <class V>
void transport_keys(V& v, TransportSpec& transport) {
    v.word("recovery", transport.recovery, loss_recovery_words);
    v.word("paths", transport.paths, path_choice_words);
    v.value("flowlet_gap", transport.flowlet_gap);
    v.value("ack_every", transport.ack_every, {.range = {1, 1 << 20}, .comment = "data packets per ACK"});
    v.value("reorder_packets", transport.reorder_packets, {.range = {0, 1 << 30}});
    v.value("pad_last", transport.pad_last);
    v.value("window_packets", transport.window_packets, {.range = {0, 1 << 30}, .comment = "0: no bound"});
    v.value("timeout_exponent", transport.timeout_exponent, {.range = {1, 31}, .comment = "4.096 us x 2^n"});
    v.value("retries", transport.retries, {.range = {0, 64}});
    v.value("adaptive_retransmission", transport.adaptive_retransmission);
    v.value("adaptive_base", transport.adaptive_base);
}

template <class V>
void buffer_keys(V& v, BufferSpec& buffer) {
    v.value("bounded", buffer.bounded);
    v.value("pool", buffer.pool);
    v.value("cell", buffer.cell);
    if (buffer.cell < Bytes{1} || buffer.cell > Bytes{65536})
        v.fault("cell", "no cell has this size", "1 B to 64 KiB");
    v.value("slices", buffer.slices, {.range = {1, 64}});
    v.share("alpha", buffer.alpha, 1024);
    v.value("reserve", buffer.reserve);
    v.word("discipline", buffer.discipline, queue_discipline_words);
}

template <class V>
void flow_control_keys(V& v, PacketSpec& packet) {
    v.section("pfc", [&] {
        PfcSpec& pfc = packet.pfc;
        v.value("headroom", pfc.headroom, {.comment = "per port and class; 0 B: by headroom_set"});
        v.word("headroom_set", pfc.headroom_set, headroom_set_words);
        v.value("resume_offset", pfc.resume_offset);
        v.value("response_quanta", pfc.response_quanta, {.range = {0, 1 << 20}, .comment = "0: by rate"});
        v.value("pause_quanta", pfc.pause_quanta, {.range = {1, 65535}});
        v.value("watchdog", pfc.watchdog, {.comment = "0 ps: none"});
        v.value("watchdog_restore", pfc.watchdog_restore);
    });
    v.section("cbfc", [&] {
        CbfcSpec& cbfc = packet.cbfc;
        v.value("credit", cbfc.credit);
        if (cbfc.credit < Bytes{1}) v.fault("credit", "a credit of no bytes", "1 B or more, UEC: 128 B");
        v.value("buffer", cbfc.buffer, {.comment = "per link and class; 0 B: rate x loop + spacing"});
        v.value("update_spacing", cbfc.update_spacing);
        v.value("repair", cbfc.repair);
        v.share("update_loss", cbfc.update_loss, 1);
    });
    v.section("llr", [&] {
        LlrSpec& llr = packet.llr;
        v.value("enabled", llr.enabled);
        v.value("ack_spacing", llr.ack_spacing);
        v.value("response", llr.response);
        v.value("replay_timer", llr.replay_timer);
        v.value("replays_max", llr.replays_max, {.range = {1, 255}});
        v.word("flush", llr.flush, llr_flush_words);
        v.value("replay_buffer", llr.replay_buffer, {.comment = "0 B: as large as the loop needs"});
    });
}

template <class V>
void loss_keys(V& v, LossSpec& loss) {
    v.share("data", loss.data, 1);
    v.share("control", loss.control, 1);
    v.value("burst", loss.burst, {.range = {1, 1 << 20}, .comment = "frames in a row"});
    v.share("bit_error_ratio", loss.bit_error_ratio, 1);
    v.word("fec", loss.fec, fec_words);
}

// A key that its kind has no use for is unknown there.
template <class V>
void fault_keys(V& v, FabricFault& fault) {
    using enum FabricFaultKind;
    v.word("kind", fault.kind, fabric_fault_words, "what goes wrong");
    const bool is_cable = fault.kind != dead_switch && fault.kind != pause_storm;
    if (is_cable) {
        v.value("from", fault.from, {.required = "the cable has two ends"});
        v.value("to", fault.to, {.required = "the cable has two ends"});
        v.value("parallel", fault.parallel, {.range = {0, 1 << 16}, .comment = "of cables side by side"});
    }
    if (fault.kind == dead_switch) v.value("switch", fault.switch_name, {.required = "it has a name"});
    if (fault.kind == pause_storm) {
        v.value("gpu", fault.gpu, {.range = {0, 1 << 30}, .comment = "whose NIC pauses"});
        v.value("traffic_class", fault.traffic_class, {.range = {1, 31}});
    }
    v.value("begin", fault.begin);
    if (fault.kind != flap) v.value("end", fault.end, {.comment = "0 ps: never"});
    if (fault.kind == flap) {
        v.value("down_for", fault.down_for, {.required = "a flap has an end"});
        v.value("period", fault.period);
        v.value("times", fault.times, {.range = {1, 1000}});
    }
    if (fault.kind == slow) v.share("rate_share", fault.rate_share, 1);
    if (fault.kind == lossy) loss_keys(v, fault.loss);
}

template <class V>
void packet_keys(V& v, PacketSpec& packet) {
    v.section("transport", [&] { transport_keys(v, packet.transport); });
    v.section("buffer", [&] { buffer_keys(v, packet.buffer); });
    flow_control_keys(v, packet);
    v.section("ecn", [&] {
        v.value("enabled", packet.ecn.enabled);
        v.value("mark_min", packet.ecn.mark_min);
        v.value("mark_max", packet.ecn.mark_max);
        v.share("mark_probability", packet.ecn.mark_probability, 1);
    });
    v.section("loss", [&] { loss_keys(v, packet.loss); });
    v.list("faults", packet.faults, [&](FabricFault& fault) { fault_keys(v, fault); });
    v.section("detection", [&] {
        v.word("mode", packet.detection.mode, detection_words);
        v.value("detect", packet.detection.detect, {.comment = "0 ps: of the mode"});
        v.value("react", packet.detection.react, {.comment = "0 ps: of the mode"});
    });
    v.word("switching", packet.switching, switching_words);
    v.word("congestion", packet.congestion, congestion_words);
    v.word("dcqcn", packet.dcqcn, dcqcn_words);
    v.value("cnp_delay", packet.cnp_delay);
    v.value("cnp_gap", packet.cnp_gap, {.comment = "0 ps: as the DCQCN set says"});
    v.value("classes", packet.classes, {.range = {2, 32}, .comment = "class 0 carries control"});
}

}  // namespace rehearse
