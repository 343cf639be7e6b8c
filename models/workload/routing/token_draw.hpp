// How many tokens each expert gets, drawn. From each source rank s with N_s tokens, expert e gets n[s][e] of them:
//     0 <= n <= N_s,  sum_e n[s][e] = N_s k exactly,  E[n] = N_s pi[e],
// where pi are the inclusion probabilities of routing.hpp. Within a source the experts are drawn in order, each given
// the ones before, from the distribution that an asymptotically normal sample of fixed size has (Hajek, Ann. Math.
// Statist. 35, 1964):
//     v[e] = N pi[e] (1 - pi[e]);  V, M = sums of v and N pi over this expert and those that follow; R = still to place
//     mean = N pi + (R - M) v / V,   variance = mean c (1 - pi) (1 - v / V),   c = 1 / (1 - sum v^2 / V^2) over all
// where c makes up for what fixing the sum takes away, so that the variance of n is N pi (1 - pi);
// discretised as a binomial of that mean and variance (inverted below a mean of 32, rounded normal above). For equal
// pi << 1 it is the multinomial; with pi = 1 an expert gets every token.
//
// Every draw is a function of (seed, step, layer, source, expert); the tokens of different sources are independent.
// Cost: about 0.1 us an (expert, source).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rehearse {

class TokenDraw {
public:
    // `inclusion` sums to a whole number k >= 1, each in 0..1; InvariantBroken otherwise.
    explicit TokenDraw(std::span<const double> inclusion);

    std::uint32_t experts() const { return static_cast<std::uint32_t>(inclusion_.size()); }
    std::uint32_t top_k() const { return top_k_; }

    // `out` has a place for each expert.
    void draw(std::int64_t tokens, std::uint32_t layer, std::uint32_t step, std::uint32_t source, std::uint64_t seed,
              std::span<std::uint32_t> out) const;
    // Tokens of the whole layer, as one source.
    std::vector<std::uint32_t> tokens_per_expert(std::int64_t tokens, std::uint32_t layer, std::uint32_t step,
                                                 std::uint64_t seed) const;
    // [source][expert]; each source has `tokens_per_source` tokens.
    std::vector<std::uint32_t> tokens_per_source(std::uint32_t sources, std::int64_t tokens_per_source,
                                                 std::uint32_t layer, std::uint32_t step, std::uint64_t seed) const;

private:
    std::vector<double> inclusion_;
    std::vector<double> mean_left_, variance_left_;  // of one token, over this expert and those that follow
    double inflation_ = 1;                           // c
    std::uint32_t top_k_ = 0;
};

}  // namespace rehearse
