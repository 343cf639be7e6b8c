// RankLayout: which rank holds which coordinate of the parallel grid, and which ranks form a process group.
// With order (tensor, context, data, pipeline) rank = tensor + t (context + c (data + d pipeline)).
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
    local,     // tensor x context: the ranks that share one micro-batch and one stage
    data,      // data x context: gradient synchronisation
    pipeline,  // the stages of one replica
    model,     // tensor x pipeline: gradient norm
    embedding, // first and last stage of one replica, which share the embedding matrix
};
inline constexpr std::size_t group_family_count = 5;

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
    std::array<std::uint32_t, 4> size_{};    // by Dimension
    std::array<std::uint32_t, 4> stride_{};  // by Dimension
    std::uint32_t rank_count_ = 1;
};

}  // namespace rehearse
