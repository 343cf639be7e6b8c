// What the real scheduler and policies take to decide on this machine, as samples of a calibration file.
//
//     balancer_slow, balancer_fast   {experts}: one decision of the planner with 8 experts on a GPU, under loads that
//                                    change each time
//     pager                          {pages}: prediction and plan of a step
//     placement                      {gpus}: the scheduler, topology_aware, for ranks in nodes of 8
#pragma once

#include <vector>

#include "kernels/calibration/calibration_file.hpp"

namespace rehearse {

std::vector<CalibrationSample> policy_samples(std::int64_t repeats);

}  // namespace rehearse
