// Cross checks: each broken relation is reported at the key that breaks it, with the numbers that show it.
#include "scenarios/reading/validate_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenarios/small.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string error_of(const std::vector<std::string>& overrides) {
    try {
        valid_small(overrides);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

std::string warnings_of(const std::vector<std::string>& overrides) {
    const ValidScenario scenario = valid_small(overrides);
    std::string all;
    for (const std::string& warning : scenario.warnings()) all += warning + "\n";
    return all;
}

TEST(ValidateScenario, ASoundScenarioPassesWithoutWarnings) {
    const ValidScenario scenario = valid_small();
    EXPECT_THAT(scenario.warnings(), IsEmpty());
    EXPECT_EQ(scenario.training().micro_batches(), 4);
}

// d = GPUs / (t p c) = 16 / 4 = 4. Hosts: the whole ToR set that two hosts need, 32 down ports x 2 NICs each = 64.
TEST(ValidateScenario, FillsInWhatFollows) {
    std::vector<std::string> overrides{"training.parallel={tensor: 2, pipeline: 2, virtual: 2}"};
    EXPECT_EQ(valid_small(overrides).training().parallel.data, 4);
    EXPECT_EQ(valid_small().cluster().hosts, 64);
}

TEST(ValidateScenario, TheProductOfDegreesIsShown) {
    const std::string error = error_of({"training.parallel.data=3"});
    EXPECT_THAT(error,
                HasSubstr("small.yaml:9:13: training.parallel: tensor 2 x pipeline 2 x data 3 x context 1 = 12 GPUs, "
                          "the job has 16"));
    EXPECT_THAT(error, HasSubstr("set data: 4"));
}

TEST(ValidateScenario, DegreesThatLeaveNoDataParallelism) {
    EXPECT_THAT(error_of({"training.parallel={tensor: 2, pipeline: 3}"}),
                HasSubstr("tensor 2 x pipeline 3 x context 1 does not divide the 16 GPUs"));
}

TEST(ValidateScenario, ProductsThatOverflowAreStillFaults) {
    const std::string error =
        error_of({"training.parallel={tensor: 1048576, pipeline: 1048576, data: 1048576, context: 1048576}"});
    EXPECT_THAT(error, HasSubstr("more than 2^63 GPUs"));
}

TEST(ValidateScenario, LayersAreCutIntoWholeChunks) {
    const std::string error = error_of({"training.model.layers=10"});
    EXPECT_THAT(error,
                HasSubstr("training.model.layers: 10 layers cannot be cut into pipeline 2 x virtual 2 = 4 chunks"));
    EXPECT_THAT(error, HasSubstr("for example 12 layers"));
}

TEST(ValidateScenario, HeadsHiddenAndSequenceAreDivisible) {
    EXPECT_THAT(error_of({"training.model.heads=15"}),
                HasSubstr("training.model.heads: 15 is not divisible by tensor 2"));
    EXPECT_THAT(error_of({"training.model.heads=12"}),
                HasSubstr("training.model.hidden: 1024 is not divisible by heads 12"));
    EXPECT_THAT(error_of({"training.model.sequence=511", "training.parallel.sequence=on"}),
                HasSubstr("training.model.sequence: 511 tokens cannot be cut over context 1 x tensor 2"));
    EXPECT_THAT(error_of({"training.parallel.context=2", "training.parallel.data=2", "training.model.sequence=511"}),
                HasSubstr("511 is not divisible by context 2"));
    EXPECT_THAT(error_of({"training.parallel.context=2", "training.parallel.data=2", "training.model.sequence=510"}),
                HasSubstr("510 tokens leave each of context 2 ranks an odd number, not two mirrored slices (a multiple "
                          "of 4); for example 512"));
}

TEST(ValidateScenario, TheBatchIsCutIntoMicroBatches) {
    EXPECT_THAT(
        error_of({"training.batch_global=30"}),
        HasSubstr(
            "training.batch_global: a batch of 30 sequences cannot be cut into micro-batches of 2 for 4 replicas"));
    EXPECT_THAT(error_of({"training.batch_global=4"}), HasSubstr("a batch of 4 sequences"));
    // m = 24 / 8 = 3 is no multiple of p = 2; the next batch that works has m = 4.
    const std::string error = error_of({"training.batch_global=24"});
    EXPECT_THAT(error, HasSubstr("3 micro-batches per replica are not a multiple of pipeline 2"));
    EXPECT_THAT(error, HasSubstr("use a batch of 32"));
    EXPECT_EQ(error_of({"training.batch_global=24", "training.parallel.virtual=1"}), "");
}

TEST(ValidateScenario, TheLambFactorCountsInTheBatch) {
    EXPECT_EQ(error_of({"training.technique.batch_factor=3", "training.parallel.virtual=1"}), "");
    EXPECT_THAT(error_of({"training.batch_global=20", "training.technique.batch_factor=3"}),
                HasSubstr("a batch of 60"));
}

TEST(ValidateScenario, InterleavingNeedsAPipeline) {
    EXPECT_THAT(error_of({"training.parallel={tensor: 2, pipeline: 1, virtual: 2, data: 8}"}),
                HasSubstr("training.parallel.virtual"));
}

TEST(ValidateScenario, NodesAreFilled) {
    EXPECT_THAT(error_of({"job.gpus=12", "training.parallel.data=3", "training.batch_global=24"}),
                HasSubstr("job.gpus: 12 GPUs do not fill whole nodes of 8"));
    EXPECT_EQ(error_of({"job.gpus=4", "training.parallel.data=1"}), "");
}

TEST(ValidateScenario, TheClusterHoldsTheJob) {
    EXPECT_THAT(error_of({"cluster.hosts=1"}), HasSubstr("the job needs 16 GPUs, the cluster has 1 hosts x 8 = 8"));
    EXPECT_EQ(error_of({"cluster.hosts=2"}), "");
}

TEST(ValidateScenario, FabricFaultsCarryTheirPlace) {
    const std::string error = error_of({"cluster.fabric={tiers: 5}"});
    EXPECT_THAT(error, HasSubstr("cluster.fabric.tiers: 5 is out of range"));
    EXPECT_THAT(error, HasSubstr("--set cluster.fabric"));
}

// 12 h^2 l / (t p) = 12 x 12288^2 x 96 / 4 = 43e9 parameters on a GPU, 87 GB of weights alone. The verdict names the
// need, the room and the parts.
TEST(ValidateScenario, MemoryOverflowIsAVerdict) {
    const std::string error =
        error_of({"training.model={layers: 96, hidden: 12288, heads: 96, vocab: 32000, sequence: 512}"});
    EXPECT_THAT(error, HasSubstr("a GPU needs "));
    EXPECT_THAT(error, HasSubstr("GB of 76.0 GB on pipeline stage"));
    EXPECT_THAT(error, HasSubstr("weights "));
    EXPECT_THAT(error, HasSubstr("use more tensor or pipeline stages"));
}

// 12 h^2 l / (t p) = 12 x 8192^2 x 32 / 4 = 6.4e9 parameters on a GPU. Optimizer state of 12 B each is 77 GB, too much;
// sharded over four replicas it is 19 GB, and all fits into 76 GB with 39 GB of weights and gradients.
TEST(ValidateScenario, MemoryOverflowNamesTheCheapestRemedy) {
    const std::string error =
        error_of({"training.model={layers: 32, hidden: 8192, heads: 64, vocab: 32000, sequence: 512}"});
    EXPECT_THAT(error, HasSubstr("set training.parallel.zero: 1"));
    EXPECT_EQ(error_of({"training.model={layers: 32, hidden: 8192, heads: 64, vocab: 32000, sequence: 512}",
                        "training.parallel.zero=1"}),
              "");
}

TEST(ValidateScenario, AStepWithTooManyPassesIsRefused) {
    EXPECT_THAT(error_of({"training.batch_global=1073741824"}), HasSubstr("is more than a simulated step takes"));
}

TEST(ValidateScenario, PacketFidelityHasItsOwnChecks) {
    EXPECT_EQ(error_of({"models.network.fidelity=packet"}), "");
    EXPECT_THAT(error_of({"models.network.fidelity=packet", "models.network.packet.ecn.mark_min=3 MB"}),
                HasSubstr("mark_min < mark_max < XOFF"));
}

// Two hosts give a ToR one down port (two NICs on a split port); a ToR has an up-link, so 1:1 is what it has.
TEST(ValidateScenario, OversubscriptionThatCannotTakeEffectIsAWarning) {
    EXPECT_THAT(warnings_of({"cluster.fabric.hosts_per_tor_set=2", "cluster.fabric.oversubscription=32"}),
                HasSubstr("cluster.fabric.oversubscription: a ToR of 1 down ports has 1 up-links, so 1 results and not "
                          "the 32 asked for"));
    EXPECT_EQ(warnings_of({"cluster.fabric.oversubscription=2"}), "");  // 32 down ports, 16 up-links
    // ceil(32 / 3) = 11 up-links.
    EXPECT_THAT(warnings_of({"cluster.fabric.oversubscription=3"}), HasSubstr("so 2.909 results"));
    EXPECT_THAT(warnings_of({"cluster.fabric.kind=rail_only", "cluster.fabric.oversubscription=2"}),
                HasSubstr("a rail of one switch has no up-links; it changes nothing"));
}

TEST(ValidateScenario, AFatTreeRoutesByItself) {
    const std::vector<std::string> tree{"cluster.fabric={kind: fat_tree, fat_tree_k: 4}",
                                        "cluster.node={gpus: 1, nics: 1, pcie: 0 B/s}"};
    const auto with = [&](const std::string& more) {
        std::vector<std::string> all = tree;
        all.push_back(more);
        return all;
    };
    EXPECT_EQ(valid_small(tree).models().network.ecmp.hash, HashFunction::d_mod_k);
    EXPECT_THAT(warnings_of(with("models.network.ecmp.hash=crc32")), HasSubstr("models.network.ecmp.hash: a fat tree"));
    EXPECT_THAT(warnings_of(with("models.network.ecmp.hash=d_mod_k")), ::testing::Not(HasSubstr("ecmp.hash")));
    EXPECT_THAT(warnings_of(tree), ::testing::Not(HasSubstr("ecmp.hash")));
    EXPECT_THAT(warnings_of(with("cluster.fabric.oversubscription=2")), HasSubstr("as much capacity up as down"));
}

TEST(ValidateScenario, WhatRunsButDeservesAWordIsAWarning) {
    EXPECT_THAT(
        warnings_of({"training.technique.window=512"}),
        HasSubstr("warning: --set training.technique.window: training.technique.window: a window of 512 tokens covers "
                  "the whole sequence of 512"));
    EXPECT_THAT(warnings_of({"training.parallel={tensor: 16, pipeline: 1, data: 1}"}),
                HasSubstr("training.parallel.tensor: a tensor group of 16 GPUs is larger than the NVLink domain of 8"));
    EXPECT_THAT(warnings_of({"training.recompute=selective", "training.technique.operators=efficient"}),
                HasSubstr("training.recompute: the efficient operators keep no attention scores to compute again"));
    EXPECT_EQ(warnings_of({"training.recompute=selective", "training.technique.operators=fused"}), "");
    EXPECT_THAT(warnings_of({"job.rank_order=[data, pipeline, tensor]"}), HasSubstr("do not share a node"));
    EXPECT_THAT(
        warnings_of({"training.parallel={tensor: 2, pipeline: 1, data: 8}", "training.technique.overlap_pipeline=on"}),
        HasSubstr("no pipeline communication to hide"));
}

}  // namespace
}  // namespace rehearse
