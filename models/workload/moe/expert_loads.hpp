// How unevenly the rows of a layer fall on the ranks of an expert group, and on the experts of each rank. Decided above
// (runtime/moe): by routing, replication and placement of experts, capacity.
#pragma once

#include <cstdint>
#include <vector>

namespace rehearse {

struct LayerLoad {
    std::uint32_t ranks = 0;
    std::uint32_t slots = 0;      // experts (or replicas) on a rank
    std::vector<float> rows;      // ranks x slots, in units of the rows of an average rank
    float exchange = 1;           // bytes that the busiest rank sends or receives, relative to the balanced case

    // Of one rank, all its slots.
    double rank_rows(std::uint32_t rank) const {
        double sum = 0;
        for (std::uint32_t slot = 0; slot < slots; ++slot) sum += rows[std::size_t{rank} * slots + slot];
        return sum;
    }
};

// What a rank holds of experts, relative to its share of them: paged ones less, replicas more.
struct ExpertMemory {
    double weights = 1, gradients = 1;
};

// By layer of the model; empty: every expert gets the same.
using ExpertLoads = std::vector<LayerLoad>;

// Means over the layers with experts, of one micro-batch of the simulated step.
struct ExpertFigures {
    double expert_max_over_mean = 1, rank_max_over_mean = 1;  // tokens
    double rank_deviation = 0;                                // standard deviation / mean over ranks
    double dropped = 0, experts_over = 0, steps_over = 0;     // by capacity: fractions, see routing/capacity.hpp
    std::int64_t decisions = 0;                               // of the balancer, over layers and warm-up steps
    std::int64_t migrated_bytes = 0;                          // over the warm-up steps
    double page_misses = 0, page_faults = 0;                  // per use of a page
    std::int64_t page_waits = 0, page_migrations = 0, page_drops = 0;
};

// What the policies on experts leave for the simulated step.
struct ExpertStep {
    ExpertLoads loads;
    ExpertFigures figures;
    double decision_s = 0;        // host time of the policies, at the end of a step
    double migration_s = 0;       // moving experts between two steps
    double replica_s = 0;         // summing gradients and copying weights of replicas, once a step
    double page_wait_s = 0;       // waiting for experts that are not in GPU memory
    double resident_experts = 1;  // part of the experts' weights in GPU memory
    ExpertMemory memory;
};

}  // namespace rehearse
