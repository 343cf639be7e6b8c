// What a document says about the accuracy of the program: the block that `rehearse validate SUITE --markdown FILE`
// writes between the markers of the suite (marked_block.hpp).
//
//     <!-- inputs 0123456789abcdef: written by rehearse validate -->
//     | system | ... |
//
// The inputs are what a prediction is made from and compared with: scenarios with every default spelled out, the
// numbers of their device profiles (not their sources and comments), and the published rows. A table whose inputs are
// not those of today is stale, which a test tells without a simulation. Changes of the program itself are not seen by
// it.
#pragma once

#include <string>
#include <vector>

#include "scenarios/validation/published.hpp"

namespace rehearse {

inline constexpr const char* a100_suite = "a100-steps";
// Its steps are made from one template, and what they are compared with is no part of the project.
inline const std::vector<PublishedRow> a100_rows{{"a100_step", {}, {}, {}, {}, {}, {}}};

// 16 hex digits. `overrides` act on every scenario, as --set does.
std::string inputs_fingerprint(const std::vector<PublishedRow>& rows, const std::vector<std::string>& overrides = {});

// The text of a block: its inputs, the table (Markdown), and each line of `notes` as an item of a list.
std::string accuracy_block(const std::string& inputs, const std::string& table, const std::string& notes);
// The inputs that a block names; "" when it names none.
std::string inputs_of_block(const std::string& block);

}  // namespace rehearse
