// Checks of a built fabric, counted on its links and not on the arithmetic that laid them.
//
// 1:1 means, at every switch that has links up: capacity up >= capacity down (times 1/oversubscription at a ToR); at a
// core: the same capacity to every pod.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/cluster.hpp"

namespace rehearse {

enum class CheckRelation : std::uint8_t { at_least, at_most, equal };

struct FabricCheck {
    std::string name;           // "tor 1:1"
    std::string value_meaning;  // "least capacity up / capacity down of a ToR"
    double value = 0;
    CheckRelation relation = CheckRelation::equal;
    double bound = 0;
    bool passed = false;
};

// Every check that applies to this fabric, in a fixed order; a fabric that build_cluster() made passes them all.
std::vector<FabricCheck> check_fabric(const Cluster& cluster);

}  // namespace rehearse
