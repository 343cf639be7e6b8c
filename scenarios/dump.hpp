// The dump of each stage of a run, for people and for golden tests.
#pragma once

#include <string>

#include "models/workload/workload.hpp"
#include "runtime/timeline.hpp"

namespace rehearse {

std::string workload_dump(const Workload& workload);
std::string timeline_dump(const Timeline& timeline, const Workload& workload);

}  // namespace rehearse
