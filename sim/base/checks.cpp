#include "sim/base/checks.hpp"

#include <cstring>

namespace rehearse {

void throw_invariant_broken(const char* file, int line, const char* condition, const std::string& message) {
    const char* slash = std::strrchr(file, '/');
    throw InvariantBroken(std::string(slash ? slash + 1 : file) + ":" + std::to_string(line) + ": " + message +
                          " (invariant: " + condition + ")");
}

}  // namespace rehearse
