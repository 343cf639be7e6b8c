// Id<Tag>: an index that cannot be mixed up with an index of another kind. 32 bits; the largest value means "none".
#pragma once

#include <compare>
#include <cstdint>

namespace rehearse {

template <class Tag>
struct Id {
    std::uint32_t value = UINT32_MAX;
    constexpr Id() = default;
    constexpr explicit Id(std::uint32_t index) : value(index) {}
    constexpr bool valid() const { return value != UINT32_MAX; }
    friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using VertexId = Id<struct VertexTag>;  // a vertex of the fabric graph: GPU, NVLink switch, NIC or packet switch
using LinkId = Id<struct LinkTag>;      // a one-way link
using NodeId = Id<struct NodeTag>;      // a server
using GpuId = Id<struct GpuTag>;        // an accelerator; node = gpu / gpus per node
using RankId = Id<struct RankTag>;      // a training process
using FlowId = Id<struct FlowTag>;      // an active transfer of a network model
using GroupId = Id<struct GroupTag>;    // a process group

}  // namespace rehearse
