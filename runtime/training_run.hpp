// TrainingRun: the simulated step. Each rank runs ahead in its own time until it needs something that has not happened
// yet (a member of its local group, a message, a collective); the network alone keeps a global order of time. That is
// exact, because programs only ever wait and never poll (a Kahn network), and needs no event per instruction.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/compute/variation.hpp"
#include "models/network/network_model.hpp"
#include "models/workload/price.hpp"
#include "runtime/timeline.hpp"
#include "runtime/training_state.hpp"
#include "sim/base/fingerprint.hpp"
#include "topology/cluster.hpp"
#include "topology/placement.hpp"

namespace rehearse {

struct TrainingRunInputs {
    const Workload& workload;
    const std::vector<PricedWork>& prices;  // by work
    const Cluster& cluster;
    const Placement& placement;
    const Variation& variation;
    const DeviceProfile& profile;           // collectives inside a node, software latencies
    std::span<const RankId> sampled;        // ranks whose spans are kept
};

// The job's hosts numbered in order of their first rank: per rank, the number of its host.
std::vector<std::uint32_t> hosts_of_ranks(const Placement& placement, const Cluster& cluster);

class TrainingRun {
public:
    TrainingRun(const TrainingRunInputs& inputs, NetworkModel& network);
    // Throws InvariantBroken that names the blocked ranks when the step cannot end.
    Timeline run();

private:
    struct LocalGroup {
        std::uint32_t first = 0;   // into local_members_
        std::uint32_t arrived = 0;
    };

    void fetch_ahead();
    void advance_rank(std::uint32_t rank);
    // Each returns whether the rank may go on.
    bool run_work(std::uint32_t rank, const Instruction& instruction);
    bool receive(std::uint32_t rank, const Instruction& instruction);
    bool flush(std::uint32_t rank);
    bool await(std::uint32_t rank, const Instruction& instruction);
    void send(std::uint32_t rank, const Instruction& instruction);
    void offer(std::uint32_t rank, const Instruction& instruction);
    void start_message(std::uint32_t index, SimTime at);
    void post(std::uint32_t rank, const Instruction& instruction);

    void execute_work(std::span<const std::uint32_t> members, const Instruction& instruction);
    PostedCollective& posted(GroupFamily family, std::uint32_t group, std::uint32_t sequence);
    void try_start(GroupFamily family, std::uint32_t group, std::uint32_t sequence);
    void start_transfer(GroupFamily family, std::uint32_t group, std::uint32_t sequence);
    void finish_collective(GroupFamily family, std::uint32_t group, std::uint32_t sequence, SimTime at);
    void deliver(const Completion& completion);
    void wait_until(std::uint32_t rank, SimTime until, Part part, const Instruction& instruction);
    void add_span(std::uint32_t rank, SpanStream stream, Part part, const Instruction& instruction, SimTime begin,
                  SimTime end);
    void check_all_finished() const;
    std::vector<GpuId> group_gpus(GroupFamily family, std::uint32_t group) const;

    TrainingRunInputs in_;
    NetworkModel& network_;
    std::vector<RankCursor> ranks_;
    std::vector<PartTimes> parts_;
    std::vector<LocalGroup> local_groups_;
    std::vector<std::uint32_t> local_members_;
    std::uint32_t local_size_ = 1;
    MessagePool messages_;
    std::vector<PostedCollective> collectives_[group_family_count];
    std::uint32_t per_group_[group_family_count] = {};
    std::vector<std::uint32_t> runnable_;
    std::vector<double> factors_;   // of the ranks at work: lasting speed times jitter
    std::vector<SimTime> begins_;   // of their compute spans
    std::vector<std::uint32_t> last_arrivals_;
    std::vector<std::uint8_t> sampled_;
    std::vector<Span> spans_;
    Fingerprint fingerprint_;
    std::uint64_t instructions_ = 0;
};

}  // namespace rehearse
