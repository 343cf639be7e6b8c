#include "models/workload/layout.hpp"

#include <algorithm>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

constexpr std::array all_dimensions{Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};

// Bit set over Dimension: the dimensions in which the members of a group differ.
constexpr unsigned bit(Dimension dimension) { return 1u << static_cast<unsigned>(dimension); }

unsigned varying(GroupFamily family) {
    switch (family) {
        case GroupFamily::local: return bit(Dimension::tensor) | bit(Dimension::context);
        case GroupFamily::data: return bit(Dimension::data) | bit(Dimension::context);
        case GroupFamily::pipeline:
        case GroupFamily::embedding: return bit(Dimension::pipeline);
        case GroupFamily::model: return bit(Dimension::tensor) | bit(Dimension::pipeline);
    }
    return 0;
}

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

RankLayout::RankLayout(const ParallelSpec& parallel) {
    const std::array sizes{parallel.tensor, parallel.context, parallel.data, parallel.pipeline};
    unsigned seen = 0;
    for (Dimension dimension : all_dimensions) {
        const auto i = static_cast<std::size_t>(dimension);
        REHEARSE_CHECK(sizes[i] > 0 && sizes[i] < (1 << 24), "a parallel degree must be positive");
        size_[i] = static_cast<std::uint32_t>(sizes[i]);
    }
    for (Dimension dimension : parallel.rank_order) {
        REHEARSE_CHECK((seen & bit(dimension)) == 0, "a dimension stands twice in the rank order");
        seen |= bit(dimension);
        stride_[static_cast<std::size_t>(dimension)] = rank_count_;
        rank_count_ *= size_[static_cast<std::size_t>(dimension)];
    }
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
    for (Dimension dimension : all_dimensions) {
        if (varying(family) & bit(dimension)) size *= size_[static_cast<std::size_t>(dimension)];
    }
    return size;
}

std::uint32_t RankLayout::group_count(GroupFamily family) const {
    const GroupFamily base = family == GroupFamily::embedding ? GroupFamily::pipeline : family;
    return rank_count_ / group_size(base);
}

std::uint32_t RankLayout::group_of(GroupFamily family, RankId rank) const {
    const Coordinate at = coordinate(rank);
    std::uint32_t group = 0, stride = 1;
    for (Dimension dimension : all_dimensions) {
        if (varying(family) & bit(dimension)) continue;
        group += at[dimension] * stride;
        stride *= size_[static_cast<std::size_t>(dimension)];
    }
    return group;
}

std::vector<RankId> RankLayout::members(GroupFamily family, std::uint32_t group) const {
    Coordinate at;
    for (Dimension dimension : all_dimensions) {
        const std::uint32_t size = size_[static_cast<std::size_t>(dimension)];
        if (varying(family) & bit(dimension)) continue;
        at[dimension] = group % size;
        group /= size;
    }
    std::vector<RankId> ranks{rank(at)};
    for (Dimension dimension : all_dimensions) {
        if (!(varying(family) & bit(dimension))) continue;
        const auto i = static_cast<std::size_t>(dimension);
        const std::size_t so_far = ranks.size();
        for (std::uint32_t k = 1; k < size_[i]; ++k) {
            for (std::size_t j = 0; j < so_far; ++j) ranks.push_back(RankId{ranks[j].value + k * stride_[i]});
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
