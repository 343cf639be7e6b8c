// The house rules that a program can check. Each rule is a plain function from source files to findings; a finding
// names the place, what is wrong, and why the rule exists.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source.hpp"

namespace rehearse::tidy {

struct Finding {
    std::string file;
    int line = 0;  // one-based; 0 = the whole file
    std::string wrong;
    std::string reason;
};

std::string to_string(const Finding& finding);  // "file:line: wrong (reason)"

using Findings = std::vector<Finding>;

inline constexpr int columns_most = 120;
inline constexpr int function_lines_most = 80;
inline constexpr int file_lines_most = 600;
inline constexpr int file_lines_ninth_decile = 300;
inline constexpr int file_lines_median = 120;

// include_rules.cpp
// reports | scenarios -> runtime -> models -> topology -> sim, kernels -> sim/base and sim/config, tests -> everything;
// third-party headers in the folders that the table in include_rules.cpp names. `known` holds every path of the tree,
// so that an include which is not root-relative is found.
Findings check_includes(const SourceFile& file, const std::set<std::string>& known);

// size_rules.cpp
Findings check_file_length(const SourceFile& file);                  // none over file_lines_most
Findings check_length_spread(const std::vector<SourceFile>& files);  // median and ninth decile of the code files
Findings check_columns(const SourceFile& file);                      // code points per line
Findings check_functions(const SourceFile& file);                    // first line of the head to the last brace

// construct_rules.cpp
Findings check_layout(const SourceFile& file);      // tabs, trailing blanks, line ends
Findings check_constructs(const SourceFile& file);  // words that are banned in code, with the folders that may use them
Findings check_unordered(const SourceFile& file);   // unordered containers only for look-up, and said so
Findings check_parameters(const SourceFile& file);  // no boolean parameters in public headers
Findings check_comments(const SourceFile& file);    // commented-out code, notes to self
Findings check_paths(const SourceFile& file);       // paths of one person's machine

// All rules over one file.
Findings check_file(const SourceFile& file, const std::set<std::string>& known);

}  // namespace rehearse::tidy
