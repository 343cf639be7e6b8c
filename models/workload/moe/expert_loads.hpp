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

// By layer of the model; empty: every expert gets the same.
using ExpertLoads = std::vector<LayerLoad>;

}  // namespace rehearse
