// The parts of validate().
#pragma once

#include "models/network/packet/shared_buffer.hpp"
#include "models/network/packet/spec.hpp"
#include "scenarios/reading/findings.hpp"
#include "scenarios/scenario.hpp"

namespace rehearse {

// Degrees against GPUs, layers, heads, batch; techniques that cannot act. Sets parallel.data where it was left open.
void check_training(TrainingSpec& training, const JobSpec& job, Findings& findings);
// The fabric can be wired and holds the job. Sets cluster.hosts where it was left open.
void check_cluster(ClusterSpec& cluster, const JobSpec& job, const ParallelSpec& parallel, Findings& findings);
// Routing, capacity and policies of kind moe.
void check_policies(const TrainingSpec& training, const PolicySpec& policies, std::int64_t node_gpus,
                    Findings& findings);
// The fullest GPU holds its share. Needs a training spec without faults.
void check_memory(const TrainingSpec& training, const PolicySpec& policies, const DeviceProfile& profile,
                  Findings& findings);
// Sets the hash of a fat tree, which routes D-mod-k.
void check_network(NetworkSpec& network, const FabricSpec& fabric, Findings& findings);
// The slice is one of the job's ranks, and of packets; packets do not wait for a slow bus.
void check_slice(const ModelsSpec& models, const JobSpec& job, const NodeSpec& node, Findings& findings);
// Packet fidelity: sizes that no packet fits into, values that contradict each other; a warning for each value that is
// no default and that nothing looks at. Of net scenarios too.
void check_packet(const PacketSpec& packet, const NetworkSpec& network, Findings& findings);
void warn_without_effect(std::string_view key, std::string_view why, std::string_view needs, Findings& findings);
// What only the built fabric knows: headroom comes from its links, XOFF from what the headroom leaves. InputError;
// returns warnings.
std::vector<std::string> check_buffers(const PacketSpec& packet, const SharedBuffer::Limits& limits,
                                       const ConfigNode& written);

}  // namespace rehearse
