// One relative name finds a data file beside an installed program, in the tree above a built one, or in the source
// tree it was built from.
#include "scenarios/installation.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <regex>
#include <string>

#include "sim/base/fault.hpp"

namespace rehearse {
namespace {

namespace fs = std::filesystem;

class InstallationTest : public ::testing::Test {
protected:
    void SetUp() override {
        root_ = fs::path(::testing::TempDir()) / ("rehearse_installation_" + std::to_string(::getpid()));
        fs::create_directories(root_);
    }
    void TearDown() override { fs::remove_all(root_); }
    void make_library(const fs::path& root) { fs::create_directories(root / "scenarios/library"); }
    fs::path root_;
};

TEST_F(InstallationTest, InstalledDataComesBeforeTheSourceTree) {
    make_library(root_ / "share/rehearse");
    const auto roots = data_roots(root_ / "bin/rehearse");
    ASSERT_EQ(roots.size(), 2U);
    EXPECT_EQ(roots[0], root_ / "share/rehearse");
    EXPECT_EQ(roots[1], fs::path(REHEARSE_SOURCE_DIR));
}

TEST_F(InstallationTest, ABuiltProgramUsesTheTreeAboveIt) {
    make_library(root_ / "tree");
    const auto roots = data_roots(root_ / "tree/build/release/rehearse");
    ASSERT_EQ(roots.size(), 2U);
    EXPECT_EQ(roots[0], root_ / "tree");
}

TEST_F(InstallationTest, AnUnknownProgramFallsBackToTheSourceTree) {
    const auto roots = data_roots(fs::path{});
    ASSERT_EQ(roots.size(), 1U);
    EXPECT_EQ(roots[0], fs::path(REHEARSE_SOURCE_DIR));
}

TEST_F(InstallationTest, AMissingFileNamesTheFoldersLookedIn) {
    try {
        data_path("scenarios/library/no_such_scenario.yaml");
        FAIL() << "found a file that does not exist";
    } catch (const InputError& error) {
        ASSERT_EQ(error.faults().size(), 1U);
        EXPECT_EQ(error.faults()[0].place.file, "scenarios/library/no_such_scenario.yaml");
        EXPECT_NE(error.faults()[0].expected.find(REHEARSE_SOURCE_DIR), std::string::npos);
    }
}

TEST_F(InstallationTest, FindsTheLibraryOfThisTree) { EXPECT_TRUE(fs::is_directory(data_path("scenarios/library"))); }

TEST_F(InstallationTest, VersionAndCommitAreNamed) {
    EXPECT_TRUE(std::regex_match(std::string(version()), std::regex("[0-9]+\\.[0-9]+\\.[0-9]+")));
    EXPECT_TRUE(std::regex_match(std::string(commit()), std::regex("unknown|[0-9a-f]{12,40}(-dirty)?"))) << commit();
}

}  // namespace
}  // namespace rehearse
