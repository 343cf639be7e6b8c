#include "scenarios/ablate/split.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

// |S|! (n - |S| - 1)! / n!: the share of the orders in which exactly the groups of S come before one that is not in S.
double share_of_orders(std::size_t before, std::size_t groups) {
    return std::tgamma(static_cast<double>(before + 1)) * std::tgamma(static_cast<double>(groups - before)) /
           std::tgamma(static_cast<double>(groups + 1));
}

GroupShare share_of(std::size_t group, std::span<const double> times, std::size_t groups) {
    const GroupSet self = GroupSet{1} << group;
    const auto gain = [&](GroupSet before) { return times[before] / times[before | self]; };
    GroupShare share{gain(self - 1), 0, gain(0), gain(0)};
    double log_mean = 0;
    for (GroupSet set = 0; set < times.size(); ++set) {
        if (contains(set, group)) continue;
        log_mean += share_of_orders(static_cast<std::size_t>(std::popcount(set)), groups) * std::log(gain(set));
        share.least = std::min(share.least, gain(set));
        share.most = std::max(share.most, gain(set));
    }
    share.shapley = std::exp(log_mean);
    return share;
}

}  // namespace

SpeedUpSplit split_speed_up(std::span<const double> times, std::size_t groups) {
    REHEARSE_CHECK(groups <= ablation_groups_most && times.size() == std::size_t{1} << groups,
                   "one step time per subset of the groups");
    REHEARSE_CHECK(std::ranges::all_of(times, [](double time) { return time > 0 && std::isfinite(time); }),
                   "a step takes time");
    SpeedUpSplit split{times.front() / times.back(), {}};
    for (std::size_t group = 0; group < groups; ++group) split.groups.push_back(share_of(group, times, groups));
    return split;
}

}  // namespace rehearse
