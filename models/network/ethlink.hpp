// EthLink's two ways to move bytes, and which of them a message takes.
//
//     RDMA        asynchronous, bulk: the GPU posts a work request, the NIC fetches it and moves the bytes. Packets of
//                 `mtu` with the framing's headers at line rate; a fixed time before the first byte leaves and after
//                 the last has come; the compute units are busy for the posting alone.
//     load/store  synchronous, small: compute units store straight into remote memory, in packets of `store` bytes. No
//                 fixed time but the way; at most `outstanding` bytes of each compute unit are on their way and not
//                 acknowledged, which bounds the rate too; the compute units are busy all the while.
//
//     time of RDMA(s)       = setup + latency + wire(s, mtu) / line rate + completion
//     time of load/store(s) = latency + max(wire(s, store) / line rate, s x round trip / (units x outstanding))
//     cost                  = compute unit x seconds:  RDMA post; load/store units x time
//
// An urgent message, which somebody waits for, takes the faster way; one that hides behind compute the cheaper one.
// Load/store has the lower offset and the steeper slope, so each rule has one size at which it turns over.
//
// Published (SONiC scale-up HLD, ByteDance row): both semantics on one link, packets < 2 KB, latency < 1 us. The other
// numbers are not published and assumed [A].
#pragma once

#include <cstdint>

#include "models/network/spec.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

struct EthLinkSpec {
    Bandwidth rate = gigabits_per_second(400);
    Framing framing = Framing::oefh;
    Bytes mtu{2048};                            // RDMA payload of a packet [SONiC HLD: < 2 KB]
    SimDuration latency = nanoseconds(1000);    // one way [SONiC HLD: < 1 us; taken as its bound]
    SimDuration setup = nanoseconds(800);       // doorbell, fetch of the work request, first read of memory [A]
    SimDuration completion = nanoseconds(500);  // write of the completion, poll that sees it [A]
    SimDuration post = nanoseconds(200);        // of one compute unit, to write the work request [A]
    Bytes store{256};                           // payload of a load/store packet: coalesced stores of a few lines [A]
    Bytes outstanding{16 * 1024};               // unacknowledged bytes of a compute unit [A]
    std::int64_t units = 4;                     // compute units that a load/store message takes [A]
};

enum class EthLinkSemantics : std::uint8_t { rdma, load_store };
enum class Urgency : std::uint8_t { urgent, hidden };

SimDuration transfer_time(const EthLinkSpec& spec, EthLinkSemantics semantics, Bytes size);
double compute_unit_seconds(const EthLinkSpec& spec, EthLinkSemantics semantics, Bytes size);

// Load/store where both are equal.
EthLinkSemantics choose_semantics(const EthLinkSpec& spec, Bytes size, Urgency urgency);

// The largest size up to `most` that still goes by load/store; 0 B when none does.
Bytes cross_over(const EthLinkSpec& spec, Urgency urgency, Bytes most = Bytes{std::int64_t{1} << 40});

}  // namespace rehearse
