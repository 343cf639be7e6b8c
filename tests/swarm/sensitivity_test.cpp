// Directions: more work or less bandwidth never makes a step faster, each technique helps the system it was made for,
// and an input without effect says which resource hides it. Steps without jitter and slow hosts, unless they are the
// input, so that only the mechanism moves the answer.
#include <gtest/gtest.h>

#include <functional>

#include "scenarios/predict.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"

namespace rehearse {
namespace {

using Overrides = std::vector<std::string>;
using ProfileChange = std::function<void(DeviceProfile&)>;

struct Change {
    const char* name;
    Overrides change;
    Overrides both = {};         // also of the step that it is compared with
    ProfileChange profile = {};  // instead of, or beside, the overrides
};
void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

// 175B cut to 16 layers on 64 GPUs: tensor 8, pipeline 4 with two chunks, data 2. Nothing overlaps, ZeRO-1.
double step(Overrides changes, const ProfileChange& profile_change = {}) {
    Overrides overrides{"job.gpus=64",
                        "training.model.layers=16",
                        "training.parallel.pipeline=4",
                        "training.parallel.virtual=2",
                        "training.batch_global=32",
                        "models.variation.jitter=0",
                        "models.variation.host_tail_slowdown=0"};
    overrides.insert(overrides.end(), changes.begin(), changes.end());
    const std::string path = std::string(REHEARSE_SOURCE_DIR) + "/scenarios/library/megascale_ablation_1.yaml";
    const Predictor predictor(validate(read_scenario(path, overrides)));
    DeviceProfile profile = predictor.scenario().models().profile;
    if (profile_change) profile_change(profile);
    return predictor.step_seconds(profile, {1}, Fidelity::flow);
}

double base(const Change& change) { return step(change.both); }
double changed(const Change& change) {
    Overrides all = change.both;
    all.insert(all.end(), change.change.begin(), change.change.end());
    return step(all, change.profile);
}

std::string label(const testing::TestParamInfo<Change>& row) { return row.param.name; }

class Slower : public testing::TestWithParam<Change> {};
TEST_P(Slower, ThanTheBase) { EXPECT_GT(changed(GetParam()), base(GetParam()) * (1 + 1e-6)); }

class Faster : public testing::TestWithParam<Change> {};
TEST_P(Faster, ThanTheBase) { EXPECT_LT(changed(GetParam()), base(GetParam()) * (1 - 1e-6)); }

class Same : public testing::TestWithParam<Change> {};
TEST_P(Same, AsTheBase) { EXPECT_DOUBLE_EQ(changed(GetParam()), base(GetParam())); }

// --- Sizes: twice as large is slower.

const Overrides full{"training.recompute=full"};  // so that twice the activations fit into memory

INSTANTIATE_TEST_SUITE_P(Sizes, Slower,
                         testing::Values(Change{"hidden", {"training.model.hidden=24576"}, full},
                                         Change{"ffn", {"training.model.ffn=98304"}, full},
                                         Change{"layers", {"training.model.layers=32"}},
                                         Change{"vocab", {"training.model.vocab=128000"}},
                                         Change{"sequence", {"training.model.sequence=4096"}, full},
                                         Change{"batch", {"training.batch_global=64"}},
                                         Change{"gradientBytes", {"training.gradient_bytes=4"}},
                                         Change{"dropout", {"training.dropout=on"}}),
                         label);

// --- Rates halved, latencies and host times doubled.

template <class Field>
ProfileChange halved(Field field) {
    return [field](DeviceProfile& p) { p.*field = p.*field * Ratio{0.5}; };
}
ProfileChange halved(Ratio DeviceProfile::*field) {
    return [field](DeviceProfile& p) { (p.*field).value /= 2; };
}
ProfileChange doubled(SimDuration DeviceProfile::*field) {
    return [field](DeviceProfile& p) { p.*field = p.*field * 2; };
}
void halve_bus(DeviceProfile& p) {
    for (LocalLink& link : p.local_links) link.bus = link.bus * Ratio{0.5};
}

const Overrides fused{"training.technique.operators=efficient"};

INSTANTIATE_TEST_SUITE_P(
    Rates, Slower,
    testing::Values(Change{"nic", {"cluster.node.nic=100 Gbps"}}, Change{"pcie", {"cluster.node.pcie=10 GB/s"}},
                    Change{"peak", {}, {}, halved(&DeviceProfile::peak)},
                    Change{"memory", {}, {}, halved(&DeviceProfile::memory)}, Change{"nvlinkBus", {}, {}, halve_bus},
                    Change{"gemmEfficiency", {}, {}, halved(&DeviceProfile::gemm_efficiency)},
                    Change{"memoryEfficiency", {}, {}, halved(&DeviceProfile::memory_efficiency)},
                    Change{"attentionEfficiency", {}, fused, halved(&DeviceProfile::attention_efficiency)},
                    Change{"networkEfficiency", {}, {}, halved(&DeviceProfile::network_efficiency)},
                    Change{"groupEfficiency", {}, {}, halved(&DeviceProfile::group_efficiency)},
                    Change{"messageLatency", {}, {}, doubled(&DeviceProfile::message_latency)},
                    Change{"kernelOverhead", {}, {}, doubled(&DeviceProfile::kernel_overhead)},
                    Change{"hostStep", {}, {}, doubled(&DeviceProfile::host_step)},
                    Change{"hostInput", {}, {}, doubled(&DeviceProfile::host_input)},
                    Change{"hostExchange", {}, {}, doubled(&DeviceProfile::host_exchange)}),
    label);

INSTANTIATE_TEST_SUITE_P(
    Rates, Same,
    testing::Values(
        // A node holds one tensor group, which the profile's bus prices; no message travels inside a node.
        Change{"nvlinkOfTheCluster", {"cluster.node.nvlink=150 GB/s"}},
        // Eight hosts hang under one set of ToRs: nothing climbs to the tiers above.
        Change{"oversubscription", {"cluster.fabric.oversubscription=2"}},
        // The device needs longer for a layer than the host for its launches.
        Change{"hostLaunches", {}, {}, [](DeviceProfile& p) { p.host_layer_forward = microseconds(1); }},
        // Materialised attention runs as matrix products.
        Change{"attentionEfficiency", {}, {}, halved(&DeviceProfile::attention_efficiency)}),
    label);

// --- Techniques and parallelism.

const Overrides decoupled{"training.technique.overlap_pipeline=on"};
const Overrides narrow{"training.parallel.tensor=1", "training.parallel.sequence=off", "training.model.hidden=2048",
                       "training.model.heads=16",    "training.parallel.data=16",      "training.batch_global=128"};

INSTANTIATE_TEST_SUITE_P(Techniques, Faster,
                         testing::Values(Change{"parallelBlock", {"training.technique.parallel_block=on"}},
                                         Change{"window", {"training.technique.window=768"}},
                                         Change{"windowFused", {"training.technique.window=768"}, fused},
                                         Change{"overlapTensor", {"training.technique.overlap_tensor=on"}},
                                         Change{"overlapPipeline", decoupled},
                                         Change{"overlapData", {"training.technique.overlap_data=on"}},
                                         Change{"fusedOperators", {"training.technique.operators=fused"}},
                                         Change{"efficientOperators", fused, {"training.technique.operators=fused"}},
                                         Change{"overlapInput", {"training.technique.overlap_input=on"}},
                                         Change{"zero", {"training.parallel.zero=1"}, {"training.parallel.zero=0"}},
                                         Change{"virtual", {"training.parallel.virtual=4"}, decoupled}),
                         label);

INSTANTIATE_TEST_SUITE_P(
    Techniques, Slower,
    testing::Values(Change{"withoutSequence", {"training.parallel.sequence=off"}},
                    Change{"selectiveRecompute", {"training.recompute=selective"}},
                    Change{"fullRecompute", {"training.recompute=full"}, {"training.recompute=selective"}},
                    Change{"withoutVirtual", {"training.parallel.virtual=1"}, decoupled}),
    label);

INSTANTIATE_TEST_SUITE_P(
    Techniques, Same,
    testing::Values(
        // ZeRO-2 shards the gradients that are kept: memory, not time.
        Change{"zero2", {"training.parallel.zero=2"}},
        // A window as long as the sequence masks nothing.
        Change{"wideWindow", {"training.technique.window=2048"}},
        // Nothing to hide: one tensor rank, one stage, one replica.
        Change{"overlapTensorOfOne", {"training.technique.overlap_tensor=on"}, narrow},
        Change{"overlapPipelineOfOne",
               decoupled,
               {"training.parallel.pipeline=1", "training.parallel.virtual=1", "training.parallel.data=8",
                "training.model.layers=2"}},
        Change{"overlapDataOfOne", {"training.technique.overlap_data=on"}, {"job.gpus=32", "training.parallel.data=1"}},
        // Fused attention keeps no scores, so there are none to recompute.
        Change{"selectiveRecomputeFused", {"training.recompute=selective"}, fused}),
    label);

// LAMB: three times the batch takes less than three times the step, because the fixed parts and the bubble stay.
TEST(Lamb, AmortisesTheFixedPartsOfAStep) { EXPECT_LT(step({"training.technique.batch_factor=3"}), 3 * step({})); }

// --- Variation.

const Overrides tail{"models.variation.host_tail_share=0.2", "models.variation.host_tail_slowdown=0.1"};

INSTANTIATE_TEST_SUITE_P(
    Variation, Slower,
    testing::Values(Change{"jitter", {"models.variation.jitter=0.05"}},
                    Change{"moreJitter", {"models.variation.jitter=0.1"}, {"models.variation.jitter=0.05"}},
                    Change{"hostTail", tail}, Change{"hostTailShare", {"models.variation.host_tail_share=0.4"}, tail},
                    Change{"hostTailSlowdown", {"models.variation.host_tail_slowdown=0.2"}, tail},
                    Change{"slowHost",
                           {"models.variation.slow_host_share=0.1", "models.variation.slow_host_slowdown=0.1"}},
                    Change{"slowHostSlowdown",
                           {"models.variation.slow_host_slowdown=0.2"},
                           {"models.variation.slow_host_share=0.1", "models.variation.slow_host_slowdown=0.1"}}),
    label);

INSTANTIATE_TEST_SUITE_P(Variation, Same,
                         testing::Values(
                             // No host is slow, or the slow ones are not slower.
                             Change{"slowHostSlowdownOfNone", {"models.variation.slow_host_slowdown=0.2"}},
                             Change{"slowHostShareOfEqual", {"models.variation.slow_host_share=0.5"}},
                             Change{"hostTailShareOfEqual", {"models.variation.host_tail_share=0.5"}}),
                         label);

// More slow hosts are never faster; the slowest host of a pipeline sets its pace, so that a second one beside it in the
// same stage is hidden.
TEST(Variation, MoreSlowHostsAreNeverFaster) {
    double before = 0;
    for (const char* share : {"0", "0.1", "0.3", "0.5", "1"}) {
        const double now =
            step({std::string("models.variation.slow_host_share=") + share, "models.variation.slow_host_slowdown=0.1"});
        EXPECT_GE(now, before * (1 - 1e-9)) << share;
        before = now;
    }
}

// --- Context parallelism, on sequences of 16,384 tokens: four ranks in a node, or, with data ranks between them, on
// two nodes with NICs so slow that attention no longer hides the exchange.

const Overrides long_sequence{"training.model.layers=8",
                              "training.model.hidden=2048",
                              "training.model.heads=16",
                              "training.model.sequence=16384",
                              "training.parallel.tensor=2",
                              "training.parallel.virtual=1",
                              "training.technique.operators=efficient",
                              "training.parallel.data=8"};
const Overrides ring_of_four{"training.parallel.context=4", "training.parallel.data=2"};

Overrides joined(Overrides first, const Overrides& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

INSTANTIATE_TEST_SUITE_P(Context, Slower,
                         testing::Values(Change{"nvlinkBus", {}, joined(long_sequence, ring_of_four), halve_bus},
                                         Change{"multiprocessorsTaken",
                                                {},
                                                joined(long_sequence, ring_of_four),
                                                [](DeviceProfile& p) { p.communication_multiprocessors = {0.3}; }},
                                         Change{"acrossNodes",
                                                {"job.rank_order=[tensor, data, context, pipeline]"},
                                                joined(joined(long_sequence, ring_of_four),
                                                       {"job.placement=packed", "cluster.node.nic=25 Gbps"})}),
                         label);

}  // namespace
}  // namespace rehearse
