// Scenario: everything that the user says about one rehearsal, as plain data. ValidScenario: the same, proved
// consistent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/compute/profile.hpp"
#include "models/network/packet/spec.hpp"
#include "models/network/slice.hpp"
#include "models/network/spec.hpp"
#include "models/workload/spec.hpp"
#include "runtime/moe/policy_spec.hpp"
#include "runtime/scheduler/place.hpp"
#include "sim/config/config_node.hpp"
#include "topology/spec.hpp"

namespace rehearse {

struct JobSpec {
    std::int64_t gpus = 0;
    PlacementPolicy placement = PlacementPolicy::packed;
};

struct ModelsSpec {
    std::string profile_name = "megascale-ampere";  // as written: a name, or a path relative to the scenario file
    std::string profile_path;                       // the file that was read
    DeviceProfile profile;                          // with models.variation laid over its own variation
    NetworkSpec network;
    SliceSpec slice;    // of packet fidelity: what goes as packets; without a bound all that leaves its node
    PacketSpec packet;  // the packet fabric
};

// Techniques that `rehearse ablate` switches on and off together.
struct AblationGroup {
    std::string name;
    std::vector<std::string> off;  // what the scenario gets without them, "key=value" as --set takes it
};

struct Scenario {
    std::string name;  // default: the file's name
    std::uint64_t seed = 1;
    ClusterSpec cluster;
    JobSpec job;
    TrainingSpec training;  // rank order, read from job.rank_order, stands in training.parallel;
                            // parallel.data = 0 means "what the GPUs leave"
    PolicySpec policies;    // kind moe
    ModelsSpec models;
    std::vector<AblationGroup> ablation;
    ConfigNode written;  // what the file said and where: find_place() answers for every key
};

// A scenario whose parts fit together: degrees multiply to the GPUs and divide what they cut, the cluster holds the
// job, every GPU's memory holds its share, and cluster.hosts and parallel.data are known numbers. Made by validate()
// alone.
class ValidScenario {
public:
    const std::string& name() const { return scenario_.name; }
    std::uint64_t seed() const { return scenario_.seed; }
    const ClusterSpec& cluster() const { return scenario_.cluster; }
    const JobSpec& job() const { return scenario_.job; }
    const TrainingSpec& training() const { return scenario_.training; }
    const PolicySpec& policies() const { return scenario_.policies; }
    const ModelsSpec& models() const { return scenario_.models; }
    const Scenario& plain() const { return scenario_; }
    // What runs but deserves a word, each line with its place.
    const std::vector<std::string>& warnings() const { return warnings_; }

private:
    friend ValidScenario validate(Scenario raw);
    ValidScenario() = default;
    Scenario scenario_;
    std::vector<std::string> warnings_;
};

}  // namespace rehearse
