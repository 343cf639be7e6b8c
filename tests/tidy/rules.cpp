#include "tests/tidy/rules.hpp"

#include <iterator>

namespace rehearse::tidy {

std::string to_string(const Finding& finding) {
    return finding.file + ":" + std::to_string(finding.line) + ": " + finding.wrong + " (" + finding.reason + ")";
}

Findings check_file(const SourceFile& file, const std::set<std::string>& known) {
    Findings all = check_includes(file, known);
    for (const auto rule : {check_file_length, check_columns, check_functions, check_layout, check_constructs,
                            check_unordered, check_parameters, check_comments, check_paths}) {
        Findings some = rule(file);
        all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    }
    return all;
}

}  // namespace rehearse::tidy
