// A small sound scenario as text: 16 GPUs in two nodes. Tests replace single values by --set texts.
#pragma once

#include <string>
#include <vector>

#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"

namespace rehearse {

inline const std::string small_yaml = R"(name: small
cluster:
  node: {gpus: 8, nics: 8, nic: 200 Gbps, nvlink: 300 GB/s}
job: {gpus: 16, rank_order: [tensor, data, pipeline]}
training:
  model: {kind: gpt, layers: 8, hidden: 1024, heads: 16, vocab: 32000, sequence: 512}
  batch_global: 32
  micro_batch: 2
  parallel: {tensor: 2, pipeline: 2, virtual: 2, data: 4}
)";

// t p d = 2 x 2 x 4 = 16; m = 32 / (2 x 4) = 4, a multiple of p = 2; 8 layers = 2 stages x 2 chunks x 2 layers.
inline Scenario small_scenario(const std::vector<std::string>& overrides = {}) {
    return parse_scenario(small_yaml, "small.yaml", overrides);
}
inline ValidScenario valid_small(const std::vector<std::string>& overrides = {}) {
    return validate(small_scenario(overrides));
}

}  // namespace rehearse
