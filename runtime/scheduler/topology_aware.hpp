// Placement by traffic: a contest of candidate orders, judged by bytes x tier.
#pragma once

#include <vector>

#include "runtime/scheduler/job_traffic.hpp"
#include "runtime/scheduler/slots.hpp"

namespace rehearse {

// The GPU of every rank with the least bytes x tier among: packed, rail_aligned, spread, and every nesting of the (at
// most four) families that move most, each filled host by host, place by place, and with groups kept whole in a ToR set
// where spare hosts allow. Ties keep the candidate named first.
std::vector<GpuId> place_by_traffic(const JobTraffic& traffic, const Slots& slots, const Cluster& cluster);

}  // namespace rehearse
