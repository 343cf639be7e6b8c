// The house rules over the whole tree. Each test prints every place that breaks its rule, with the rule's reason.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/tidy/rules.hpp"
#include "tests/tidy/source.hpp"

namespace rehearse::tidy {
namespace {

const std::vector<SourceFile>& tree() {
    static const std::vector<SourceFile> files = read_tree(REHEARSE_SOURCE_DIR);
    return files;
}

std::set<std::string> known_paths() {
    std::set<std::string> known;
    for (const SourceFile& file : tree()) known.insert(file.path);
    return known;
}

void expect_none(const Findings& findings) {
    std::string text;
    for (const Finding& finding : findings) text += to_string(finding) + "\n";
    EXPECT_TRUE(findings.empty()) << findings.size() << " places break the rule:\n" << text;
}

template <class Rule>
void expect_clean(Rule rule) {
    Findings all;
    for (const SourceFile& file : tree()) {
        const Findings some = rule(file);
        all.insert(all.end(), some.begin(), some.end());
    }
    expect_none(all);
}

TEST(TidyTree, IsRead) {
    EXPECT_GT(tree().size(), 50U);
    EXPECT_EQ(known_paths().count("sim/base/units.hpp"), 1U);
    EXPECT_EQ(known_paths().count("tests/tidy/tidy_test.cpp"), 1U);
}

TEST(TidyTree, IncludesPointDownwards) {
    const std::set<std::string> known = known_paths();
    expect_clean([&](const SourceFile& file) { return check_includes(file, known); });
}

TEST(TidyTree, FilesAreShort) {
    expect_clean(check_file_length);
    expect_none(check_length_spread(tree()));
}

TEST(TidyTree, FunctionsFitOneScreen) { expect_clean(check_functions); }
TEST(TidyTree, LinesFitTheirColumns) { expect_clean(check_columns); }
TEST(TidyTree, NoTabsNorTrailingBlanks) { expect_clean(check_layout); }
TEST(TidyTree, NoBannedConstructs) { expect_clean(check_constructs); }
TEST(TidyTree, UnorderedContainersAreNeverWalked) { expect_clean(check_unordered); }
TEST(TidyTree, NoBooleanParametersInHeaders) { expect_clean(check_parameters); }
TEST(TidyTree, NoDeadCodeNorNotesToSelf) { expect_clean(check_comments); }
TEST(TidyTree, NoPathsOfOneMachine) { expect_clean(check_paths); }

TEST(TidyTree, EveryFolderHasItsReadme) {
    const std::set<std::string> known = known_paths();
    std::set<std::string> folders;
    for (const std::string& path : known) {
        if (path.front() != '.' && path.find('/') != path.npos) folders.insert(path.substr(0, path.find('/')));
    }
    folders.erase("cmake");
    for (const std::string& folder : folders) {
        EXPECT_EQ(known.count(folder + "/README.md"), 1U)
            << folder << "/README.md is missing (it says what the folder holds, how the pieces fit, what was decided)";
    }
}

}  // namespace
}  // namespace rehearse::tidy
