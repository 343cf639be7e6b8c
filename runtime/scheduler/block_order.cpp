#include "runtime/scheduler/block_order.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/checks.hpp"

namespace rehearse {

BlockFamily::BlockFamily(const JobTraffic::Family& family, const Slots& slots) : groups_of_(slots.blocks) {
    std::vector<std::uint32_t> blocks, last_group(slots.blocks, UINT32_MAX);
    for (std::uint32_t g = 0; g < family.groups.size(); ++g) {
        blocks.clear();
        for (RankId rank : family.groups[g]) {
            const std::uint32_t block = rank.value / slots.block;
            REHEARSE_CHECK(block < slots.blocks, "a group of family " + family.name + " has an unplaced rank");
            if (std::exchange(last_group[block], g) != g) blocks.push_back(block);
        }
        if (blocks.size() > 1) groups_.push_back(blocks);
    }
    std::sort(groups_.begin(), groups_.end());
    groups_.erase(std::unique(groups_.begin(), groups_.end()), groups_.end());
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
        group_size_ = std::max(group_size_, static_cast<std::uint32_t>(groups_[g].size()));
        for (std::uint32_t block : groups_[g]) groups_of_[block].push_back(g);
    }
}

namespace {

class NestedWalk {
public:
    NestedWalk(const std::vector<const BlockFamily*>& families, std::uint32_t blocks)
        : families_(families), seen_(blocks, false) {
        order_.reserve(blocks);
    }

    BlockOrder run() {
        for (std::uint32_t block = 0; block < seen_.size(); ++block) visit(block, families_.size());
        return std::move(order_);
    }

private:
    // A block already emitted has had its inner groups walked too.
    void visit(std::uint32_t block, std::size_t level) {
        if (seen_[block]) return;
        if (level == 0) {
            seen_[block] = true;
            order_.push_back(block);
            return;
        }
        const BlockFamily& family = *families_[level - 1];
        for (std::uint32_t group : family.groups_of(block))
            for (std::uint32_t member : family.groups()[group]) visit(member, level - 1);
        visit(block, level - 1);
    }

    const std::vector<const BlockFamily*>& families_;
    std::vector<bool> seen_;
    BlockOrder order_;
};

}  // namespace

BlockOrder nested_order(const std::vector<const BlockFamily*>& families, std::uint32_t blocks) {
    return NestedWalk(families, blocks).run();
}

}  // namespace rehearse
