// How the tokens of a step choose experts: the share of each expert in the assignments of one MoE layer.
//
// A layer of N tokens makes N k assignments, k different experts a token. `share[e]` is expert e's part of them; the
// shares of a layer sum to 1. An expert is chosen at most once by a token, so that its inclusion probability, the part
// of tokens that choose it, is
//     pi[e] = min(1, c share[e]),  c such that sum pi = k
// (c = k unless an expert is capped; what is capped off goes to the others in proportion to their shares).
//
//   kind       share
//   uniform    1 / E
//   zipf       proportional to r^-exponent; the rank r of an expert is a random permutation of its layer
//   dirichlet  a draw from the symmetric Dirichlet(a), a = concentration: gamma(a) weights, normalised. With drift d
//              the weights walk as w_t = Beta(a (1-d), a d) w_{t-1} + Gamma(a d) (the beta-gamma auto-regression of
//              Lewis, 1982): the distribution stays Dirichlet(a); weights of two steps correlate by (1-d)^distance
//   skew       groups of experts with given shares, inside a group even; the rest even over the other experts; which
//              experts form the groups is a random permutation of the layer. The article that claims it gives 3 experts
//              47 % and the next 25 experts 8 % of 128, top-2: {{3, 0.47}, {25, 0.08}}
//   balanced   1 / E, and every expert gets exactly its share: nothing is drawn (forced balance, as benchmarks use it)
//   recorded   counts per step and layer: a histogram (one step) or a router trace; step and layer wrap around
//
// Everything is a function of (spec, experts, layer, step, seed): counter-based draws, no state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/fault.hpp"

namespace rehearse {

enum class RoutingKind : std::uint8_t { uniform, zipf, dirichlet, skew, recorded, balanced };
std::string_view name(RoutingKind kind);

struct SkewGroup {
    std::uint32_t experts = 0;
    double share = 0;  // of all assignments, for the whole group
};

// Assignments counted per expert, as a router trace or a histogram gives them.
struct RecordedRouting {
    std::uint32_t experts = 0;
    std::uint32_t steps = 0;
    std::uint32_t layers = 0;
    std::vector<double> counts;  // [step][layer][expert]; a layer that a step lacks is all zero
    std::span<const double> at(std::uint32_t step, std::uint32_t layer) const {
        const std::size_t row = std::size_t{step % steps} * layers + layer % layers;
        return std::span(counts).subspan(row * experts, experts);
    }
};

struct RoutingSpec {
    RoutingKind kind = RoutingKind::uniform;
    double exponent = 1;             // zipf, >= 0
    double concentration = 1;        // dirichlet, > 0: large is even, small is skewed; CV^2 = (E - 1) / (E a + 1)
    double drift = 0;                // dirichlet, 0..1 a step: 0 never changes, 1 draws each step afresh
    std::vector<SkewGroup> groups;   // skew
    RecordedRouting recorded;        // recorded
    std::string source;              // recorded: the file
    std::uint32_t trace_top_k = 0;   // recorded: experts of a token there; 0 = not known
    std::vector<std::string> skipped;  // recorded: what of the file is not counted, a line each
};

// Faults of a spec for a layer of `experts` experts and top-k routing, each under `path`.key.
void check_routing(const RoutingSpec& spec, std::uint32_t experts, std::uint32_t top_k, const std::string& path,
                   FaultList& faults);

// Shares of the assignments. The spec has passed check_routing(). A recorded layer without any count is even.
std::vector<double> expert_shares(const RoutingSpec& spec, std::uint32_t experts, std::uint32_t layer,
                                  std::uint32_t step, std::uint64_t seed);

// pi of the header. InvariantBroken when k > experts. When fewer than k experts have a share, the rest of the k is
// spread evenly over the experts that have none: a token chooses k experts whatever their weights.
std::vector<double> inclusion_probabilities(std::span<const double> shares, std::uint32_t top_k);

}  // namespace rehearse
