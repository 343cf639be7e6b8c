// The suite `rehearse validate deepseek-v3`: a step on 2,048 GPUs and one traced pair of chunks. Nothing is fitted on
// it; the profile reads times of single kernels of the same trace (models/compute/profiles/h800-deepseek.yaml).
#pragma once

#include "scenarios/validation/validation.hpp"

namespace rehearse {

ValidationSuite deepseek_v3_suite(const ValidateRequest& request);

}  // namespace rehearse
