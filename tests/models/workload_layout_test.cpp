// Layout: rank = t + T (c + C (d + D p)) for the default order; groups partition the ranks.
#include "models/workload/layout.hpp"

#include <gtest/gtest.h>

#include <set>

namespace rehearse {
namespace {

ParallelSpec grid(std::int64_t t, std::int64_t c, std::int64_t d, std::int64_t p) {
    ParallelSpec spec;
    spec.tensor = t;
    spec.context = c;
    spec.data = d;
    spec.pipeline = p;
    return spec;
}

// Every rank is in one group of the family, and the group knows it.
void expect_partition(const RankLayout& layout, GroupFamily family) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t group = 0; group < layout.group_count(family); ++group) {
        const auto members = layout.members(family, group);
        EXPECT_EQ(members.size(), layout.group_size(family));
        for (const RankId rank : members) {
            EXPECT_TRUE(seen.insert(rank.value).second);
            EXPECT_EQ(layout.group_of(family, rank), group);
        }
    }
    EXPECT_EQ(seen.size(), layout.rank_count());
}

TEST(Layout, DefaultOrderIsTensorContextDataPipeline) {
    const RankLayout layout(grid(8, 1, 192, 8));
    EXPECT_EQ(layout.rank_count(), 12288u);
    // One stage is 1,536 consecutive ranks.
    const Coordinate at = layout.coordinate(RankId{1536 * 3 + 8 * 5 + 2});
    EXPECT_EQ(at.tensor, 2u);
    EXPECT_EQ(at.data, 5u);
    EXPECT_EQ(at.pipeline, 3u);
    EXPECT_EQ(layout.rank(at), (RankId{1536 * 3 + 8 * 5 + 2}));
}

TEST(Layout, GroupsPartitionTheRanks) {
    for (const Dimension first : {Dimension::tensor, Dimension::pipeline}) {
        ParallelSpec spec = grid(2, 2, 3, 4);
        if (first == Dimension::pipeline) {
            spec.rank_order = {Dimension::pipeline, Dimension::data, Dimension::context, Dimension::tensor};
        }
        const RankLayout layout(spec);
        for (const GroupFamily family :
             {GroupFamily::local, GroupFamily::data, GroupFamily::pipeline, GroupFamily::model})
            expect_partition(layout, family);
    }
}

// Experts fold onto the ranks of a stage: 2 x 8 experts' ranks over tensor 2 x context 1 x data 16.
TEST(Layout, ExpertsFoldOntoAStage) {
    ParallelSpec spec = grid(2, 1, 16, 4);
    spec.expert = 8;
    spec.expert_tensor = 2;
    const RankLayout layout(spec);
    EXPECT_EQ(layout.group_size(GroupFamily::local), 16u);
    EXPECT_EQ(layout.group_size(GroupFamily::expert_data), 2u);
    EXPECT_EQ(layout.group_size(GroupFamily::data), 16u);
    EXPECT_EQ(layout.members(GroupFamily::local, 0).back(), (RankId{15}));
    EXPECT_EQ(layout.members(GroupFamily::expert_data, 3), (std::vector<RankId>{RankId{3}, RankId{19}}));
    EXPECT_EQ(layout.group_size(GroupFamily::expert_data), 2u);
    for (const GroupFamily family : {GroupFamily::local, GroupFamily::data, GroupFamily::expert_data})
        expect_partition(layout, family);
}

// Sequence-parallel attention leaves its weights whole on each rank of the tensor group: they all reduce them.
TEST(Layout, SequenceParallelAttentionReducesOverTheTensorGroup) {
    ParallelSpec spec = grid(8, 1, 2, 15);
    spec.attention = AttentionCut::sequence;
    spec.expert = 8;
    spec.expert_tensor = 1;
    const RankLayout layout(spec);
    EXPECT_EQ(layout.group_size(GroupFamily::local), 8u);
    EXPECT_EQ(layout.group_size(GroupFamily::data), 16u);
    EXPECT_EQ(layout.group_size(GroupFamily::expert_data), 2u);
}

// Under DualPipe the stages r and p - 1 - r hold the same parameters.
TEST(Layout, DualPipeJoinsMirroredStagesInGroupsOfGradients) {
    ParallelSpec spec = grid(1, 1, 8, 4);
    spec.expert = 4;
    spec.schedule = PipelineSchedule::dual_pipe;
    const RankLayout layout(spec);
    for (const GroupFamily family : {GroupFamily::local, GroupFamily::data, GroupFamily::expert_data,
                                     GroupFamily::pipeline, GroupFamily::model})
        expect_partition(layout, family);
    for (const GroupFamily family : {GroupFamily::data, GroupFamily::expert_data}) {
        for (std::uint32_t group = 0; group < layout.group_count(family); ++group) {
            const std::vector<RankId> members = layout.members(family, group);
            const std::uint32_t first = layout.coordinate(members.front()).pipeline;
            for (const RankId rank : members) {
                const std::uint32_t stage = layout.coordinate(rank).pipeline;
                EXPECT_TRUE(stage == first || stage == 3 - first);
            }
        }
    }
    EXPECT_EQ(layout.group_size(GroupFamily::data), 16u);
    EXPECT_EQ(layout.group_size(GroupFamily::expert_data), 4u);
    EXPECT_EQ(layout.group_size(GroupFamily::local), 4u);
}

TEST(Layout, EmbeddingGroupJoinsFirstAndLastStage) {
    const RankLayout layout(grid(2, 1, 3, 4));
    ASSERT_EQ(layout.group_count(GroupFamily::embedding), 6u);
    for (std::uint32_t group = 0; group < 6; ++group) {
        const auto members = layout.members(GroupFamily::embedding, group);
        ASSERT_EQ(members.size(), 2u);
        EXPECT_EQ(layout.coordinate(members[0]).pipeline, 0u);
        EXPECT_EQ(layout.coordinate(members[1]).pipeline, 3u);
    }
}

TEST(Layout, StagesWrapAround) {
    const RankLayout layout(grid(2, 1, 3, 4));
    const RankId last{static_cast<std::uint32_t>(layout.rank_count() - 1)};
    EXPECT_EQ(layout.coordinate(layout.next_stage(last)).pipeline, 0u);
    EXPECT_EQ(layout.previous_stage(layout.next_stage(last)), last);
}

}  // namespace
}  // namespace rehearse
