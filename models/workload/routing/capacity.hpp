// Expert capacity: what is dropped when an expert, or the experts of a GPU together, take at most so many assignments.
//
//     capacity = ceil(F N k / groups)   (Megatron-Core rounds up), F the capacity factor; F = 0: dropless
// A group is one expert (Megatron-Core, GShard) or all experts of a GPU (MegaScale-MoE, arXiv 2505.11432, counts so).
//
// "Overflow" is said in three ways, which differ by orders of magnitude and are often mixed up:
//     dropped   fraction of the assignments that find no place
//     over      fraction of (group, step) pairs with more assignments than the capacity
//     steps     fraction of steps in which at least one group is over
// Example: 2,048 experts, top-2, 1,000,000 tokens, capacity 976: 976 x 2,048 < 2,000,000, so steps = 1 whatever the
// router does; dropped is 1.3 % for uniform routing.
//
// Closed form for group loads near a normal distribution with coefficient of variation c:
//     dropped = c (phi(z) - z (1 - Phi(z))),  over = 1 - Phi(z),  steps = 1 - (1 - over)^groups,  z = (F - 1) / c
// and for uniform routing over E experts c = sqrt((1 - k/E) E / (N k)).
#pragma once

#include <cstdint>
#include <span>

#include "models/workload/routing/token_draw.hpp"

namespace rehearse {

struct DropReport {
    double dropped = 0, over = 0, steps = 0;  // fractions, see above
};

// ceil(F N k / groups); INT64_MAX when F = 0. InvariantBroken when F < 0 or groups = 0.
std::int64_t expert_capacity(double factor, std::int64_t tokens, std::uint32_t top_k, std::uint32_t groups);

// Of one step's assignments per group.
DropReport count_drops(std::span<const std::uint32_t> assignments, std::int64_t capacity);

// Means over `steps` drawn steps of one layer. `experts_per_group` consecutive experts share a capacity: 1 = each its
// own. InvariantBroken when the groups do not divide the experts.
DropReport draw_drops(const TokenDraw& draw, std::int64_t tokens, std::int64_t capacity,
                      std::uint32_t experts_per_group, std::uint32_t steps, std::uint32_t layer, std::uint64_t seed);

// The closed form; c <= 0 means that all groups have the same load.
DropReport normal_drops(double variation, double factor, std::uint32_t groups);
double uniform_variation(std::int64_t tokens, std::uint32_t experts, std::uint32_t top_k);

}  // namespace rehearse
