// Credit-based flow control of one link and one class (virtual channel), Ultra Ethernet 1.0 section 5.2.
//
// The receiver owns `limit` credits of buffer for this class of this link; a packet needs ceil(wire / credit) of them.
// Both ends count modulo 2^20 and never reset:
//
//     sender:    consumed   by what it sent         receiver:  arrived   with what it got
//                freed      as last told                       freed     when packets left its buffer
//     send rule: (consumed - freed) + needed <= limit
//
// CF_Update tells `freed`, so a lost one is made good by the next. CC_Update tells `consumed`; as it comes behind the
// data, the receiver knows that consumed - arrived was lost on the way, frees it, and answers with a CF_Update. The
// sender checks every interval while credits are out, so a blocked sender gets its credits back too.
#pragma once

#include <cstdint>

#include "models/network/packet/spec.hpp"

namespace rehearse {

inline constexpr std::uint32_t credit_mask = (1u << 20) - 1;

struct CreditSend {
    std::uint32_t consumed = 0, freed = 0;

    std::uint32_t used() const { return (consumed - freed) & credit_mask; }
    bool take(std::uint32_t needed, std::uint32_t limit) {  // false: not enough, nothing taken
        if (used() + needed > limit) return false;
        consumed = (consumed + needed) & credit_mask;
        return true;
    }
};

struct CreditReceive {
    std::uint32_t arrived = 0, freed = 0, told = 0;  // told: what the last CF_Update said was freed

    void arrive(std::uint32_t credits) { arrived = (arrived + credits) & credit_mask; }
    void free(std::uint32_t credits) { freed = (freed + credits) & credit_mask; }
    std::uint32_t untold() const { return (freed - told) & credit_mask; }
    std::uint32_t held() const { return (arrived - freed) & credit_mask; }
    // CC_Update: returns the credits that had leaked, now free again.
    std::uint32_t repair(std::uint32_t consumed) {
        const std::uint32_t leaked = (consumed - arrived) & credit_mask;
        arrived = consumed;
        free(leaked);
        return leaked;
    }
};

inline std::uint32_t credits_of(const CbfcSpec& cbfc, std::int64_t wire) {
    return static_cast<std::uint32_t>((wire + cbfc.credit.value - 1) / cbfc.credit.value);
}

// Bytes of buffer that let one class use the whole link:
//     rate x loop + spacing, loop = latency out and back + serialisation of a full packet and of the CF_Update,
// each packet charged in whole credits, and rounded up to whole packets: the fraction of one can't be sent.
struct CreditInput {
    Bandwidth rate;
    SimDuration loop;  // latency out and back
    Bytes wire_max;  // of a data packet
    Bytes credit, update_spacing;
};
Bytes cbfc_buffer(const CreditInput& input);

// Per port, at the sender of its link.
struct CreditPort {
    std::uint32_t limit = 0;      // credits per class
    std::uint32_t silent = 0;     // CC_Updates since the last CF_Update
    bool is_checking = false;     // the timer of the next CC_Update runs
    std::uint64_t updates = 0;    // CF_Updates sent from here, for the draw of losses
};

}  // namespace rehearse
