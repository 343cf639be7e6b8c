// The suite `rehearse validate deepseek-v3`: a step on 2,048 GPUs and one traced pair of chunks. Nothing is fitted on it;
// what the profile reads of the same trace are the times of single kernels (models/compute/profiles/h800-deepseek.yaml).
#pragma once

#include "scenarios/validation/validation.hpp"

namespace rehearse {

ValidationSuite deepseek_v3_suite(const ValidateRequest& request);

}  // namespace rehearse
