// Keys of a mixture of experts: faults at their place, warnings, and the resolved text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/sensitivity/sensitivity.hpp"
#include "scenarios/workload_of.hpp"
#include "sim/base/fault.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/scenarios/small.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using testing::HasSubstr;

const std::string moe_yaml = R"(name: moe
cluster:
  node: {gpus: 8, nics: 8, nic: 200 Gbps, nvlink: 200 GB/s}
job: {gpus: 32}
training:
  model: {kind: moe, layers: 4, hidden: 1024, heads: 16, kv_heads: 4, ffn: 2048, vocab: 32000, sequence: 1024,
          experts: {routed: 16, top_k: 2}}
  batch_global: 32
  parallel: {tensor: 2, pipeline: 2, sequence: on, zero: 1, expert: 8, expert_tensor: 1}
models: {profile: h800-sxm}
)";

ValidScenario valid(const std::vector<std::string>& overrides = {}) {
    return validate(parse_scenario(moe_yaml, "moe.yaml", overrides));
}

std::string error_of(const std::vector<std::string>& overrides) {
    try {
        valid(overrides);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

struct Bad {
    std::string name, override, at, says;
};
void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }
class BadMoe : public testing::TestWithParam<Bad> {};

TEST_P(BadMoe, IsAFaultOfItsKey) {
    const std::string error = error_of({GetParam().override});
    EXPECT_THAT(error, HasSubstr(GetParam().at + ": "));
    EXPECT_THAT(error, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadMoe,
    testing::Values(
        Bad{"topK", "training.model.experts.top_k=17", "training.model.experts.top_k",
            "17 experts per token, there are 16"},
        Bad{"expertRanks", "training.parallel.expert=5", "training.model.experts.routed", "not divisible by expert 5"},
        Bad{"fold", "training.parallel.expert_tensor=4", "training.parallel.expert", "do not fold onto"},
        Bad{"keyHeads", "training.model.kv_heads=3", "training.model.heads", "not divisible by kv_heads 3"},
        Bad{"tokens", "training.parallel.sequence=off", "training.parallel.sequence", "cuts the tokens"},
        Bad{"denseLayers", "training.model.experts.dense_layers=5", "training.model.experts.dense_layers", "5 dense"},
        Bad{"capacity", "training.capacity.factor=-1", "training.capacity.factor", "a number of at least 0"},
        Bad{"zipf", "training.routing={kind: zipf, exponent: -1}", "training.routing.exponent",
            "a number of at least 0"},
        Bad{"shares", "training.routing={kind: skew, groups: [{experts: 3, share: 1.5}]}", "training.routing.groups",
            "share 1.5"},
        Bad{"noTrace", "training.routing={kind: recorded}", "training.routing.trace", "comes from a file"},
        Bad{"threshold", "policies.stream.threshold=0", "policies.stream.threshold", "0 of the ring"},
        Bad{"slots", "policies.balancer={active: on, slots_per_gpu: 1}", "policies.balancer.slots_per_gpu",
            "1 slots for 2 experts"},
        Bad{"page", "policies.pager={active: on, page: 1 GiB}", "policies.pager.page", "larger than the budget"},
        Bad{"pagerOrder", "policies.pager={active: on, load_above: 0.1}", "policies.pager.load_above",
            "evicting below"},
        Bad{"resident", "policies.pager={active: on, resident: 0}", "policies.pager.resident", "0 of the experts"},
        Bad{"capacityHuge", "training.capacity.factor=1e17", "training.capacity.factor", "1e+17 times"},
        Bad{"keep", "policies.calibrator.keep=1", "policies.calibrator.keep", "1 is out of range"},
        Bad{"noLink", "policies.pager={active: on, page: 1 MiB, pcie_alone: 0 B/s}", "policies.pager.pcie_alone",
            "at least 100 MB/s"},
        Bad{"manyPages", "policies.pager={active: on, page: 1 B}", "policies.pager.page", "at most 16384"},
        Bad{"budget", "policies.pager={active: on, page: 1 MiB, resident: 0.1}", "policies.pager.resident",
            "cannot hold the experts of one layer"},
        Bad{"switch", "policies.pager={active: on, page: 1 MiB, gpus_per_switch: 9}", "policies.pager.gpus_per_switch",
            "a node of 8"},
        Bad{"slotsMost", "policies.balancer={active: on, spare_slots: 15}", "policies.balancer", "17 slots of a GPU"},
        Bad{"noFile", "training.routing={kind: recorded, trace: none.jsonl}", "training.routing.trace", "no file"},
        Bad{"latent", "training.model.latent.rope=64", "training.model.latent", "a rank of queries"},
        Bad{"unknown", "policies.balancer.perod=3", "policies.balancer.perod", "period"}),
    [](const testing::TestParamInfo<Bad>& row) { return row.param.name; });

TEST(MoeKeys, KeysThatActOnAGptAloneAreRefused) {
    for (const char* key : {"technique.parallel_block=on", "technique.window=64", "technique.overlap_tensor=on",
                            "dropout=on"})
        EXPECT_THAT(error_of({std::string("training.") + key}), HasSubstr("unknown key")) << key;
}

TEST(MoeKeys, AGptHasNone) {
    EXPECT_THROW(parse_scenario(small_yaml, "small.yaml", {"training.routing.kind=uniform"}), InputError);
    EXPECT_THROW(parse_scenario(small_yaml, "small.yaml", {"policies.warmup_steps=3"}), InputError);
}

TEST(MoeKeys, ResolvedTextReadsBackToItself) {
    for (const std::vector<std::string>& overrides : std::vector<std::vector<std::string>>{
             {},
             {"training.routing={kind: dirichlet, concentration: 3, drift: 0.1}", "training.precision=fp8"},
             {"training.routing={kind: skew, groups: [{experts: 3, share: 0.47}, {experts: 5, share: 0.2}]}"},
             {"policies.balancer.active=on", "policies.pager={active: on, page: 1 MiB}",
              "policies.stream.refills=6"},
             {"training.technique.exchange=tree", "training.capacity={factor: 1.25, scope: gpu}"}}) {
        const std::string first = scenario_yaml(valid(overrides).plain());
        EXPECT_EQ(scenario_yaml(parse_scenario(first, "resolved.yaml")), first);
    }
}

// Every standard change does what it should, or says why it does nothing.
TEST(MoeKeys, StandardChangesGoTheirWay) {
    const TemporaryFolder folder;
    const std::string path = folder.file("moe.yaml", moe_yaml);
    const std::vector<std::string> steady{"models.variation.jitter=0", "training.capacity.factor=1.1",
                                          "training.routing={kind: zipf, exponent: 0.6}"};
    const Sensitivity all = measure_sensitivity({path, steady, {}, "", 1});
    EXPECT_EQ(all.effects.size(), levers().size() - 4);  // those of kind gpt
    for (const Effect& effect : all.effects)
        EXPECT_THAT(effect.reason, testing::Not(HasSubstr("against expectation"))) << effect.change.lever.key;
}

// Replicas take memory and time: weights and gradients of every slot, and their sums and copies once a step.
TEST(MoeKeys, ReplicasAreNotFree) {
    const auto with = [](const char* slots) {
        return workload_of(valid({"training.routing={kind: zipf, exponent: 1}", "policies.warmup_steps=10",
                                  std::string("policies.balancer={active: on, slots_per_gpu: ") + slots + "}"}));
    };
    const Workload one = with("2"), twice = with("4");
    const double experts = 2.0 * 3 * 1024 * 2048 * 2;  // two experts in each of a stage's two layers
    EXPECT_NEAR(static_cast<double>((twice.memory.weights - one.memory.weights).value), 2 * experts, 1);
    EXPECT_NEAR(static_cast<double>((twice.memory.gradients - one.memory.gradients).value), 4 * experts, 1);
    EXPECT_EQ(one.experts.replica_s, 0);
    EXPECT_NEAR(twice.experts.replica_s, 4 * experts / 200e9, 1e-9);
}

// A line that cannot be read is named, and the rest counts.
TEST(MoeKeys, ABrokenTraceLineIsNamedAndTheRestCounts) {
    const TemporaryFolder folder;
    folder.file("moe.yaml", moe_yaml);
    const std::string good =
        R"({"step": 1, "block": "decoder", "layer": 0, "rank": 0, "num_tokens": 2, "topk_indices": [[1, 2], [3, 4]]})";
    const std::string bad =
        R"({"step": 1, "block": "decoder", "layer": 1, "rank": 0, "num_tokens": 1, "topk_indices": [[1, 99]]})";
    folder.file("trace.jsonl", good + "\n" + bad + "\n{\"step\": 1, \"blo");
    const std::string routing = "training.routing={kind: recorded, trace: trace.jsonl}";
    const ProgramResult result = run_rehearse({"run", "moe.yaml", "--set", routing, "--quiet"}, folder.path());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("trace.jsonl:2"));
    EXPECT_THAT(result.err, HasSubstr("trace.jsonl:3"));
    folder.file("empty.jsonl", "");
    const std::string empty = "training.routing={kind: recorded, trace: empty.jsonl}";
    EXPECT_EQ(run_rehearse({"run", "moe.yaml", "--set", empty}, folder.path()).exit_code, 2);
}

// Uneven routing costs time, which the balancer gives back; balanced routing changes nothing.
TEST(MoeKeys, PoliciesReachTheWorkload) {
    const auto most = [](const std::vector<std::string>& overrides) {
        return workload_of(valid(overrides)).experts.figures.rank_max_over_mean;
    };
    const std::string zipf = "training.routing={kind: zipf, exponent: 1}";
    EXPECT_EQ(most({}), 1);
    EXPECT_GT(most({zipf}), 1.3);
    EXPECT_LT(most({zipf, "policies.warmup_steps=100", "policies.balancer={active: on, slots_per_gpu: 4}"}), 1.2);
    EXPECT_NEAR(workload_of(valid({zipf, "policies.stream.refills=6"})).training.technique.stream_first, 0.1, 0.01);
}

}  // namespace
}  // namespace rehearse
