// The keys of models.network.packet, for the visitors of scenario_keys.hpp.
#pragma once

#include "models/network/packet/spec.hpp"
#include "scenarios/scenario_keys.hpp"

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
        v.value("headroom", pfc.headroom, {.comment = "per port and class; 0 B: by its formula"});
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
        v.value("replays_max", llr.replays_max, {.range = {0, 255}});
        v.value("replay_buffer", llr.replay_buffer, {.comment = "0 B: as large as the loop needs"});
    });
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
    v.section("loss", [&] {
        v.share("data", packet.loss.data, 1);
        v.share("control", packet.loss.control, 1);
        v.value("burst", packet.loss.burst, {.range = {1, 1 << 20}, .comment = "frames in a row"});
    });
    v.word("congestion", packet.congestion, congestion_words);
    v.word("dcqcn", packet.dcqcn, dcqcn_words);
    v.value("classes", packet.classes, {.range = {2, 32}, .comment = "class 0 carries control"});
}

}  // namespace rehearse
