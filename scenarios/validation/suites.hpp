// The suites of `rehearse validate` that have a file of their own; validate_suites.cpp lists them.
#pragma once

#include "scenarios/validation/validation.hpp"

namespace rehearse {

SuiteEntry deepep_suite();             // kernels that exchange experts' rows: deepep_suite.hpp
SuiteEntry megatron_exchange_suite();  // the same under Megatron-Core, H100
SuiteEntry moe_memory_suite();         // what recomputation saves
SuiteEntry qwen3_imbalance_suite();    // unequal routing against forced balance
SuiteEntry article_suite();            // claims of a synthetic profile: article_claims.hpp

}  // namespace rehearse
