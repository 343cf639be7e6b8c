// Which slot of which GPU holds which expert. A GPU has the same number of slots as every other; an expert may stand in
// several slots (replicas), and every expert stands in at least one. Slot s lies on GPU s / slots_per_gpu of the expert
// group. Maps are values with a version; between two of them goes a delta, which names the slots that change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rehearse {

class ExpertMap {
public:
    // Throws InputError (path: balancer) when the slots do not divide among the GPUs or an expert has none.
    ExpertMap(std::uint32_t experts, std::uint32_t gpus, std::vector<std::uint32_t> expert_of_slot,
              std::uint64_t version = 0);
    // Expert e in slot e: one slot each, the GPUs in order. Throws InputError when the GPUs don't divide the experts.
    static ExpertMap contiguous(std::uint32_t experts, std::uint32_t gpus);

    std::uint32_t expert_count() const { return static_cast<std::uint32_t>(first_.size() - 1); }
    std::uint32_t gpu_count() const { return gpus_; }
    std::uint32_t slot_count() const { return static_cast<std::uint32_t>(expert_of_slot_.size()); }
    std::uint32_t slots_per_gpu() const { return slots_per_gpu_; }
    std::uint64_t version() const { return version_; }
    std::uint32_t gpu_of(std::uint32_t slot) const { return slot / slots_per_gpu_; }
    std::span<const std::uint32_t> expert_of_slot() const { return expert_of_slot_; }
    // Ascending; compressed rows, as the router of tokens reads them.
    std::span<const std::uint32_t> slots_of(std::uint32_t expert) const {
        return {slots_.data() + first_[expert], first_[expert + 1] - first_[expert]};
    }

    // Load of each GPU when the tokens of an expert spread evenly over its replicas.
    std::vector<double> gpu_load(std::span<const double> expert_load) const;

private:
    std::uint32_t gpus_, slots_per_gpu_ = 1;
    std::uint64_t version_;
    std::vector<std::uint32_t> expert_of_slot_;
    std::vector<std::uint32_t> first_, slots_;  // expert -> its slots
};

// max / mean; 1 when all are equal, and when all are zero.
double max_over_mean(std::span<const double> loads);

struct MapDelta {
    struct Change {
        std::uint32_t slot = 0, expert = 0;
    };
    std::uint64_t from = 0, to = 0;  // versions
    std::vector<Change> changes;     // by slot

    // On the wire: two versions of 8 bytes, a count of 4, and 2 + 2 bytes a change (4 + 4 beyond 65,536 slots).
    std::int64_t bytes(std::uint32_t slots) const;
};

MapDelta difference(const ExpertMap& from, const ExpertMap& to);
// Throws InvariantBroken when the map is not of the version that the delta starts from: a step was missed.
ExpertMap apply(const ExpertMap& map, const MapDelta& delta);

}  // namespace rehearse
