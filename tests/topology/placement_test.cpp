#include "topology/placement.hpp"

#include <gtest/gtest.h>

#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

TEST(Placement, MapsRanksToDistinctGpus) {
    const Placement placement({GpuId{3}, GpuId{0}}, 4);
    EXPECT_EQ(placement.rank_count(), 2u);
    EXPECT_EQ(placement.gpu(RankId{0}), GpuId{3});
    EXPECT_THROW(Placement({GpuId{1}, GpuId{1}}, 4), InvariantBroken);
    EXPECT_THROW(Placement({GpuId{4}}, 4), InvariantBroken);
}

}  // namespace
}  // namespace rehearse
