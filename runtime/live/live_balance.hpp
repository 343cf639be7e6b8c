// The load balancer at work on a live rank: one per layer, fed with the counts of a step as summed over all ranks, so
// that every rank decides alike. What it decides is carried out between two steps: experts travel to their new slots.
// Within a step, ranks that hold copies of an expert add up its gradients at the first of them and get its weights
// back.
#pragma once

#include <memory>
#include <vector>

#include "models/workload/spec.hpp"
#include "runtime/balancer/load_balancer.hpp"
#include "runtime/live/expert_layer.hpp"
#include "runtime/moe/policy_spec.hpp"

namespace rehearse {

class LiveBalance {
public:
    // `layers`: those with experts, in order; kept by reference. Places the experts.
    LiveBalance(const TrainingSpec& training, const BalancerPolicy& policy, std::vector<ExpertLayer*> layers,
                Communicator& group, Communicator& world);

    void count(std::size_t layer);  // after the top-k of a micro-batch
    void decide();                  // collective
    void migrate();                 // collective
    void join_replicas();           // collective: gradients, then weights

private:
    // Of one layer: what goes from a slot to another one, in the order of both.
    struct Move {
        std::uint32_t from = 0, to = 0;
    };
    template <class T>
    struct Stacks {
        kernels::Array<T>& up;
        kernels::Array<T>& down;
    };
    // land(part, values) for the part of each slot that something has come for.
    template <class T, class Land>
    void carry(ExpertLayer& layer, const std::vector<Move>& moves, Stacks<T> stacks, kernels::Array<T>& landed,
               const Land& land);
    void carry_weights(ExpertLayer& layer, const std::vector<Move>& moves);
    std::vector<Move> replica_moves(const ExpertMap& map) const;  // from each copy to the first slot of its expert

    std::vector<ExpertLayer*> layers_;
    Communicator& group_;
    Communicator& world_;
    std::vector<LoadBalancer> balancers_;
    std::vector<std::vector<float>> counts_;         // of the step, by layer and expert
    std::vector<std::vector<Move>> decided_;         // by layer
    kernels::Array<LiveElement> weights_;            // that have come
    kernels::Array<float> gradients_;
};

}  // namespace rehearse
