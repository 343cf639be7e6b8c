// Scenario: everything that the user says about one rehearsal, as plain data. ValidScenario: the same, proved consistent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/compute/profile.hpp"
#include "models/network/spec.hpp"
#include "models/workload/spec.hpp"
#include "runtime/scheduler/place.hpp"
#include "sim/base/fault.hpp"
#include "topology/spec.hpp"

namespace rehearse {

struct JobSpec {
    std::int64_t gpus = 0;
    PlacementPolicy placement = PlacementPolicy::packed;
};

struct ModelsSpec {
    std::string profile_name;   // as written: a name of the library or a path
    DeviceProfile profile;      // read from it
    NetworkSpec network;
};

struct Scenario {
    std::string name;
    std::uint64_t seed = 1;
    ClusterSpec cluster;
    JobSpec job;
    TrainingSpec training;      // rank order, read from job.rank_order, stands in training.parallel
    ModelsSpec models;
    Place source;               // the file; for messages that belong to no key
};

}  // namespace rehearse
