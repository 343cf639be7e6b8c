#include "models/network/ethlink.hpp"

#include <algorithm>

#include "models/network/framing.hpp"

namespace rehearse {

SimDuration transfer_time(const EthLinkSpec& spec, EthLinkSemantics semantics, Bytes size) {
    const bool is_rdma = semantics == EthLinkSemantics::rdma;
    const SimDuration line = wire_bytes(spec.framing, size, is_rdma ? spec.mtu : spec.store) / spec.rate;
    if (is_rdma) return spec.setup + spec.latency + line + spec.completion;
    const std::int64_t window = spec.units * spec.outstanding.value;
    const double round_trips = static_cast<double>(size.value) / static_cast<double>(window);
    return spec.latency + std::max(line, spec.latency * 2 * Ratio{round_trips});
}

double compute_unit_seconds(const EthLinkSpec& spec, EthLinkSemantics semantics, Bytes size) {
    if (semantics == EthLinkSemantics::rdma) return spec.post.seconds();
    return static_cast<double>(spec.units) * transfer_time(spec, semantics, size).seconds();
}

EthLinkSemantics choose_semantics(const EthLinkSpec& spec, Bytes size, Urgency urgency) {
    const auto price = [&](EthLinkSemantics semantics) {
        return urgency == Urgency::urgent ? transfer_time(spec, semantics, size).seconds()
                                          : compute_unit_seconds(spec, semantics, size);
    };
    return price(EthLinkSemantics::load_store) <= price(EthLinkSemantics::rdma) ? EthLinkSemantics::load_store
                                                                                : EthLinkSemantics::rdma;
}

// By halves: beyond the cross-over the steeper slope only grows apart. Headers of whole packets make both ways a little
// uneven, so that within a packet of it both may be equally good.
Bytes cross_over(const EthLinkSpec& spec, Urgency urgency, Bytes most) {
    const auto goes = [&](std::int64_t size) {
        return choose_semantics(spec, Bytes{size}, urgency) == EthLinkSemantics::load_store;
    };
    if (!goes(1)) return Bytes{0};
    if (goes(most.value)) return most;
    std::int64_t below = 1, above = most.value;
    while (above - below > 1) {
        const std::int64_t middle = below + (above - below) / 2;
        (goes(middle) ? below : above) = middle;
    }
    return Bytes{below};
}

}  // namespace rehearse
