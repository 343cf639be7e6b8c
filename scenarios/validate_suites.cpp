#include "scenarios/validation.hpp"

namespace rehearse {

std::vector<SuiteEntry> validation_suites() { return {}; }

}  // namespace rehearse
