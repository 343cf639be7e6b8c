// Orders of blocks that keep the members of groups together.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/scheduler/job_traffic.hpp"
#include "runtime/scheduler/slots.hpp"

namespace rehearse {

using BlockOrder = std::vector<std::uint32_t>;

// The groups of one family seen as lists of blocks: members in one block are one entry, equal lists are kept once,
// lists of a single block are left out.
class BlockFamily {
public:
    BlockFamily(const JobTraffic::Family& family, const Slots& slots);
    bool empty() const { return groups_.empty(); }
    std::uint32_t group_size() const { return group_size_; }  // of the largest group, in blocks
    const std::vector<std::vector<std::uint32_t>>& groups() const { return groups_; }
    const std::vector<std::uint32_t>& groups_of(std::uint32_t block) const { return groups_of_[block]; }

private:
    std::vector<std::vector<std::uint32_t>> groups_;
    std::vector<std::vector<std::uint32_t>> groups_of_;  // block -> indices into groups_
    std::uint32_t group_size_ = 0;
};

// Walks the families from the outermost (last) to the innermost (first): for each member of a group of the outer
// family, the groups of the inner one, and so on. On a grid of parallel dimensions the result is the grid with the
// first family fastest. Every block appears once.
BlockOrder nested_order(const std::vector<const BlockFamily*>& families, std::uint32_t blocks);

}  // namespace rehearse
