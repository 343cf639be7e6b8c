// The fabric as text: a table for people, DOT and GraphML for other tools; and what must be bought to wire it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "topology/cluster.hpp"

namespace rehearse {

// One tier of links. `capacity` sums one direction. Cables and optics are counted for the tiers of the fabric only:
// an aggregation or core link is a fibre with a transceiver at each end; a host link is an active optical cable with
// fixed ends: one at the ToR and one at the NIC, or, with split ports, one at the ToR and two at two NICs.
struct TierSummary {
    LinkTier tier = LinkTier::nvlink;
    std::int64_t links = 0;  // both directions counted as one
    Bandwidth rate;          // of one link, one way
    double capacity_bits_per_second = 0;
    std::int64_t cables = 0;
    std::int64_t optics = 0;  // optical ends
};

std::vector<TierSummary> summarize_tiers(const Cluster& cluster);  // the tiers that have links, from below

// Counts, capacity per tier, cables and checks, ready to print.
std::string fabric_table(const Cluster& cluster);

void write_dot(std::ostream& out, const Cluster& cluster);      // Graphviz digraph
void write_graphml(std::ostream& out, const Cluster& cluster);  // attributes: name, kind; tier, rate_bps, latency_ps

}  // namespace rehearse
