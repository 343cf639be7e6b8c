#include "models/workload/layout.hpp"

#include <algorithm>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

constexpr std::array all_dimensions{Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};

}  // namespace

std::uint32_t& Coordinate::operator[](Dimension dimension) {
    switch (dimension) {
        case Dimension::tensor: return tensor;
        case Dimension::context: return context;
        case Dimension::data: return data;
        case Dimension::pipeline: break;
    }
    return pipeline;
}

std::uint32_t Coordinate::operator[](Dimension dimension) const {
    return const_cast<Coordinate&>(*this)[dimension];
}

unsigned RankLayout::varying(GroupFamily family) const {
    const unsigned data = bit(Axis::data_inside) | bit(Axis::data_outside) | bit(Axis::side);
    const unsigned pipeline = bit(Axis::pipeline) | bit(Axis::side);
    switch (family) {
        case GroupFamily::local: return bit(Axis::tensor) | bit(Axis::context) | bit(Axis::data_inside);
        case GroupFamily::data:
            return data | bit(Axis::context) | (attention_ == AttentionCut::sequence ? bit(Axis::tensor) : 0);
        case GroupFamily::expert_data:
            return bit(Axis::data_outside) | bit(Axis::side) | (experts_in_tensor_group_ ? bit(Axis::context) : 0);
        case GroupFamily::pipeline:
        case GroupFamily::embedding: return pipeline;
        case GroupFamily::model: return bit(Axis::tensor) | pipeline;
    }
    return 0;
}

RankLayout::RankLayout(const ParallelSpec& parallel) : attention_(parallel.attention), is_dual_(parallel.is_dual()) {
    const std::array sizes{parallel.tensor, parallel.context, parallel.data, parallel.pipeline};
    unsigned seen = 0;
    for (Dimension dimension : all_dimensions) {
        const auto i = static_cast<std::size_t>(dimension);
        REHEARSE_CHECK(sizes[i] > 0 && sizes[i] < (1 << 24), "a parallel degree must be positive");
        size_[i] = static_cast<std::uint32_t>(sizes[i]);
    }
    for (Dimension dimension : parallel.rank_order) {
        const unsigned mask = 1u << static_cast<unsigned>(dimension);
        REHEARSE_CHECK((seen & mask) == 0, "a dimension stands twice in the rank order");
        seen |= mask;
        stride_[static_cast<std::size_t>(dimension)] = rank_count_;
        rank_count_ *= size_[static_cast<std::size_t>(dimension)];
    }
    const std::int64_t whole = parallel.tensor * parallel.context;
    const std::int64_t inside = std::max<std::int64_t>(1, parallel.expert_span() / whole);
    REHEARSE_CHECK(inside == 1 || (parallel.expert_span() % whole == 0 && parallel.data % inside == 0),
                   "the experts' grid does not fold onto the ranks of a stage");
    experts_in_tensor_group_ = parallel.expert_span() == parallel.tensor;
    const auto part = static_cast<std::uint32_t>(inside);
    const std::uint32_t data_stride = stride_[static_cast<std::size_t>(Dimension::data)];
    const std::uint32_t sides = is_dual_ ? 2 : 1;
    REHEARSE_CHECK(size(Dimension::pipeline) % sides == 0, "DualPipe folds an even number of stages");
    axis_size_ = {size(Dimension::tensor), size(Dimension::context), part, size(Dimension::data) / part,
                  size(Dimension::pipeline) / sides, sides};
    axis_stride_ = {stride_[0], stride_[1], data_stride, data_stride * part, stride_[3], 0};
}

std::array<std::uint32_t, RankLayout::axis_count> RankLayout::axes(const Coordinate& at) const {
    const std::uint32_t inside = axis_size_[static_cast<std::size_t>(Axis::data_inside)];
    const bool far = is_dual_ && at.pipeline >= size(Dimension::pipeline) / 2;
    return {at.tensor, at.context, at.data % inside, at.data / inside,
            far ? size(Dimension::pipeline) - 1 - at.pipeline : at.pipeline, far ? 1u : 0u};
}

RankId RankLayout::moved(RankId rank, Axis axis, std::uint32_t steps) const {
    if (axis != Axis::side) return RankId{rank.value + steps * axis_stride_[static_cast<std::size_t>(axis)]};
    if (steps == 0) return rank;
    Coordinate at = coordinate(rank);
    at.pipeline = size(Dimension::pipeline) - 1 - at.pipeline;
    return this->rank(at);
}

Coordinate RankLayout::coordinate(RankId rank) const {
    Coordinate at;
    for (Dimension dimension : all_dimensions) {
        const auto i = static_cast<std::size_t>(dimension);
        at[dimension] = rank.value / stride_[i] % size_[i];
    }
    return at;
}

RankId RankLayout::rank(const Coordinate& at) const {
    std::uint32_t value = 0;
    for (Dimension dimension : all_dimensions) value += at[dimension] * stride_[static_cast<std::size_t>(dimension)];
    return RankId{value};
}

std::uint32_t RankLayout::group_size(GroupFamily family) const {
    if (family == GroupFamily::embedding) return std::min(size_[static_cast<std::size_t>(Dimension::pipeline)], 2u);
    std::uint32_t size = 1;
    for (std::size_t axis = 0; axis < axis_count; ++axis) {
        if (varying(family) >> axis & 1u) size *= axis_size_[axis];
    }
    return size;
}

std::uint32_t RankLayout::group_count(GroupFamily family) const {
    const GroupFamily base = family == GroupFamily::embedding ? GroupFamily::pipeline : family;
    return rank_count_ / group_size(base);
}

std::uint32_t RankLayout::group_of(GroupFamily family, RankId rank) const {
    const std::array<std::uint32_t, axis_count> at = axes(coordinate(rank));
    std::uint32_t group = 0, stride = 1;
    for (std::size_t axis = 0; axis < axis_count; ++axis) {
        if (varying(family) >> axis & 1u) continue;
        group += at[axis] * stride;
        stride *= axis_size_[axis];
    }
    return group;
}

std::vector<RankId> RankLayout::members(GroupFamily family, std::uint32_t group) const {
    std::vector<RankId> ranks{RankId{0}};
    for (std::size_t axis = 0; axis < axis_count; ++axis) {
        if (varying(family) >> axis & 1u) continue;
        ranks.front() = moved(ranks.front(), static_cast<Axis>(axis), group % axis_size_[axis]);
        group /= axis_size_[axis];
    }
    for (std::size_t axis = 0; axis < axis_count; ++axis) {
        if (!(varying(family) >> axis & 1u)) continue;
        const std::size_t so_far = ranks.size();
        for (std::uint32_t k = 1; k < axis_size_[axis]; ++k) {
            for (std::size_t j = 0; j < so_far; ++j) ranks.push_back(moved(ranks[j], static_cast<Axis>(axis), k));
        }
    }
    std::sort(ranks.begin(), ranks.end());
    if (family == GroupFamily::embedding && ranks.size() > 2) {
        const Coordinate first = coordinate(ranks.front());
        std::erase_if(ranks, [&](RankId r) {
            const std::uint32_t stage = coordinate(r).pipeline;
            return stage != first.pipeline && stage + 1 != size(Dimension::pipeline);
        });
    }
    return ranks;
}

std::vector<std::vector<RankId>> exchange_groups(const ParallelSpec& parallel, const RankLayout& layout) {
    std::vector<std::vector<RankId>> groups;
    if (parallel.expert <= 1) return groups;
    const auto width = static_cast<std::size_t>(parallel.expert_width());
    for (std::uint32_t local = 0; local < layout.group_count(GroupFamily::local); ++local) {
        const std::vector<RankId> members = layout.members(GroupFamily::local, local);
        for (std::size_t cut = 0; cut < width; ++cut) {
            std::vector<RankId>& group = groups.emplace_back();
            for (std::size_t i = cut; i < members.size(); i += width) group.push_back(members[i]);
        }
    }
    return groups;
}

RankId RankLayout::next_stage(RankId rank) const {
    Coordinate at = coordinate(rank);
    at.pipeline = (at.pipeline + 1) % size(Dimension::pipeline);
    return this->rank(at);
}

RankId RankLayout::previous_stage(RankId rank) const {
    Coordinate at = coordinate(rank);
    const std::uint32_t stages = size(Dimension::pipeline);
    at.pipeline = (at.pipeline + stages - 1) % stages;
    return this->rank(at);
}

}  // namespace rehearse
