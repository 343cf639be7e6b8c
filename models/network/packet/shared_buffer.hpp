// The packet memory of one switch, and when its ingress ports ask their peers to stop.
//
// A packet is charged to the ingress port and class by which it came, in whole cells, until it leaves. Each ingress
// queue owns `reserve`; beyond it, packets take shared memory up to the dynamic threshold
//
//     limit = alpha x (shared - shared used)                                  (Choudhury and Hahne, ToN 1998)
//
// Above the limit a lossless queue takes headroom, which is its alone, and PFC pauses the peer; without headroom left
// the packet is dropped and counted. XON goes out when the queue is `resume_offset` under the limit again.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/packet/spec.hpp"

namespace rehearse {

struct IngressQueue {
    std::int32_t bytes = 0;     // reserve and shared part
    std::int32_t headroom = 0;  // headroom part
    bool is_paused = false;     // XOFF is in force
    bool has_refresh = false;   // a timer will repeat it
};

class SharedBuffer {
public:
    struct Limits {
        std::int64_t shared = 0;   // pool less reserves and headrooms
        std::int64_t headroom_short = 0;  // most that a port lacks of what pfc_headroom() asks for
        std::int64_t reserve = 0, resume_offset = 0;
        double alpha = 0;
        std::int32_t cell = 1;
        std::uint64_t cell_inverse = 0;  // see inverse_of()
        bool is_bounded = true;
        bool is_lossless = true;   // PFC
    };
    enum class Verdict : std::uint8_t { admitted, admitted_pause, dropped };

    explicit SharedBuffer(const Limits& limits) : limits_(&limits) {}

    // Division by multiplication: floor(n x (floor(2^44 / cell) + 1) / 2^44) = floor(n / cell) while n x cell < 2^44.
    static std::uint64_t inverse_of(std::int32_t cell) { return (1ull << 44) / static_cast<std::uint32_t>(cell) + 1; }
    std::int32_t cells(std::int32_t wire) const {
        const auto n = static_cast<std::uint64_t>(wire + limits_->cell - 1);
        return static_cast<std::int32_t>(n * limits_->cell_inverse >> 44) * limits_->cell;
    }
    std::int64_t threshold() const {
        return static_cast<std::int64_t>(limits_->alpha * static_cast<double>(limits_->shared - shared_used_));
    }

    Verdict admit(IngressQueue& queue, std::int32_t wire, std::int64_t headroom) {
        if (!limits_->is_bounded) return Verdict::admitted;
        const std::int32_t size = cells(wire);
        const std::int64_t limit = threshold() + limits_->reserve;
        if (queue.headroom == 0 && queue.bytes + size <= limit) {
            take(queue, size);
            return Verdict::admitted;
        }
        if (!limits_->is_lossless || queue.headroom + size > headroom) return Verdict::dropped;
        queue.headroom += size;
        if (queue.is_paused) return Verdict::admitted;
        queue.is_paused = true;
        return Verdict::admitted_pause;
    }

    // True when the peer may go on: XON.
    bool release(IngressQueue& queue, std::int32_t wire) {
        if (!limits_->is_bounded) return false;
        std::int32_t size = cells(wire);
        const std::int32_t from_headroom = size < queue.headroom ? size : queue.headroom;
        queue.headroom -= from_headroom;
        size -= from_headroom;
        give_back(queue, size);
        if (!queue.is_paused || queue.headroom > 0) return false;
        const std::int64_t resume = threshold() + limits_->reserve - limits_->resume_offset;
        if (queue.bytes > (resume > 0 ? resume : 0)) return false;
        queue.is_paused = false;
        return true;
    }

    std::int64_t shared_used() const { return shared_used_; }

private:
    std::int64_t shared_part(std::int64_t bytes) const {
        return bytes > limits_->reserve ? bytes - limits_->reserve : 0;
    }
    void take(IngressQueue& queue, std::int32_t size) {
        shared_used_ += shared_part(queue.bytes + size) - shared_part(queue.bytes);
        queue.bytes += size;
    }
    void give_back(IngressQueue& queue, std::int32_t size) {
        shared_used_ -= shared_part(queue.bytes) - shared_part(queue.bytes - size);
        queue.bytes -= size;
    }

    const Limits* limits_;
    std::int64_t shared_used_ = 0;
};

// Bytes that can still arrive after a pause was decided, after SONiC's dynamic headroom calculation:
//     (MTU that the peer has begun + MTU in the way of the pause frame + rate x loop + response of the peer) x cell
//     factor
// loop = latency out and back, 2 x cable there; response = quanta x 64 bytes; the cell factor is that of the worst
// packet, which is the smallest one or a full one.
struct HeadroomInput {
    Bandwidth rate;
    SimDuration loop;  // latency of the link and of its way back
    Bytes wire_max, wire_min;  // of a data packet
    Bytes cell;
    std::int64_t response_quanta;
};
Bytes pfc_headroom(const HeadroomInput& input);
// Throws InputError when what the classes of one switch reserve for themselves doesn't fit into its memory, or when PFC
// shall tell more classes than the 8 of its frame.
void check_reserved(Bytes reserved, Bytes pool, std::int64_t classes);
// Quanta of 512 bit times from the arrival of a pause frame to silence; IEEE 802.3 annex 31B as SONiC tabulates it: 67
// at 10G, 80, 118, 147, 394, 453, 905 at 400G; faster rates in proportion to 400G.
std::int64_t pfc_response_quanta(Bandwidth rate);

}  // namespace rehearse
