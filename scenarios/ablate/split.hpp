// How the speed-up of several techniques together divides among them. Pure arithmetic on the step times of all subsets.
//
// With T(S) the step time when the groups in S are on, N all groups, and g(i, S) = T(S) / T(S + i) what switching on i
// gains over S:
//     speed-up   T(none) / T(N)
//     ordered    g(i, the groups before i): the gains when the groups are switched on one after the other
//     Shapley    exp(sum over S without i of |S|! (n - |S| - 1)! / n! log g(i, S)): the geometric mean of the gain of i
//                over all orders (Shapley, 1953, on the logarithm of the step time)
//     least,     of g(i, S) over all S, which is over all orders, as every S comes before i in one of them
//     most
// The ordered factors multiply to the speed-up, and so do the Shapley factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rehearse {

// Which groups are on: bit i is group i.
using GroupSet = std::uint32_t;

constexpr bool contains(GroupSet set, std::size_t group) { return (set >> group & 1U) != 0; }

inline constexpr std::size_t ablation_groups_most = 10;  // 1,024 subsets

struct GroupShare {
    double ordered = 1, shapley = 1, least = 1, most = 1;
};

struct SpeedUpSplit {
    double speed_up = 1;
    std::vector<GroupShare> groups;
};

// `times`: one per GroupSet, 2^groups of them, all positive. InvariantBroken otherwise.
SpeedUpSplit split_speed_up(std::span<const double> times, std::size_t groups);

}  // namespace rehearse
