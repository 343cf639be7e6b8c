// RankLayout: which rank holds which coordinate of the parallel grid, and which ranks form a process group.
// With order (tensor, context, data, pipeline) rank = tensor + t (context + c (data + d pipeline)).
// Experts lie on a grid of their own over the ranks of a stage (Megatron-LM's parallel folding): expert_span() of them,
// consecutive in (tensor, context, data), hold every expert once, the cut of one expert varying fastest.
// Under DualPipe the ranks at stage r and p - 1 - r hold the same two chunks: groups of gradients join both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/workload/spec.hpp"
#include "sim/base/ids.hpp"

namespace rehearse {

struct Coordinate {
    std::uint32_t tensor = 0, context = 0, data = 0, pipeline = 0;
    std::uint32_t& operator[](Dimension dimension);
    std::uint32_t operator[](Dimension dimension) const;
    friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

// Families of process groups. A group of a family joins the ranks that differ only in the named dimensions.
enum class GroupFamily : std::uint8_t {
    local,     // tensor x context, and with experts all ranks that hold them once: they meet within a layer
    data,      // data x context (x tensor where attention cuts the sequence): gradients of what each of them holds
    pipeline,  // the stages of one replica
    model,     // tensor x pipeline: gradient norm
    embedding, // first and last stage of one replica, which share the embedding matrix
    expert_data,  // the ranks that hold the same experts: gradients of experts
};
inline constexpr std::size_t group_family_count = 6;

class RankLayout {
public:
    explicit RankLayout(const ParallelSpec& parallel);
    std::uint32_t rank_count() const { return rank_count_; }
    Coordinate coordinate(RankId rank) const;
    RankId rank(const Coordinate& at) const;
    std::uint32_t size(Dimension dimension) const { return size_[static_cast<std::size_t>(dimension)]; }

    std::uint32_t group_size(GroupFamily family) const;
    std::uint32_t group_count(GroupFamily family) const;
    // Groups are numbered by the coordinate of their fixed dimensions; members are in rank order.
    std::uint32_t group_of(GroupFamily family, RankId rank) const;
    std::vector<RankId> members(GroupFamily family, std::uint32_t group) const;
    // Same tensor, context and data coordinate, next (or previous) stage, wrapping round.
    RankId next_stage(RankId rank) const;
    RankId previous_stage(RankId rank) const;

private:
    // Data splits in two: replicas inside the group that holds the experts once, and the groups.
    // Under DualPipe so does pipeline: min(r, p - 1 - r), and which of the two ranks it is.
    enum class Axis : std::uint8_t { tensor, context, data_inside, data_outside, pipeline, side };
    static constexpr std::size_t axis_count = 6;
    static unsigned bit(Axis axis) { return 1u << static_cast<unsigned>(axis); }
    unsigned varying(GroupFamily family) const;
    std::array<std::uint32_t, axis_count> axes(const Coordinate& at) const;
    RankId moved(RankId rank, Axis axis, std::uint32_t steps) const;  // along an axis on which it is first

    std::array<std::uint32_t, 4> size_{};    // by Dimension
    std::array<std::uint32_t, 4> stride_{};  // by Dimension
    std::array<std::uint32_t, axis_count> axis_size_{}, axis_stride_{};
    std::uint32_t rank_count_ = 1;
    AttentionCut attention_ = AttentionCut::heads;
    bool is_dual_ = false;
    bool experts_in_tensor_group_ = true;  // then context ranks hold the same ones
};

// The groups whose ranks exchange rows of experts: of each local group, one of the ranks that cut an expert. None when
// one rank, or one cut, holds all experts.
std::vector<std::vector<RankId>> exchange_groups(const ParallelSpec& parallel, const RankLayout& layout);

}  // namespace rehearse
