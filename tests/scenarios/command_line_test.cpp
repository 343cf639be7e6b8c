// The command line: help everywhere with an example, own exit codes, suggestions for mistyped words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/scenarios/program.hpp"
#include "tests/scenarios/small.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CommandLineTest : public ::testing::Test {
protected:
    void SetUp() override { folder_.file("job.yaml", small_yaml); }
    ProgramResult run(const std::vector<std::string>& words) const { return run_rehearse(words, folder_.path()); }
    std::vector<std::string> commands() const {
        std::vector<std::string> names;
        std::istringstream lines(run({}).out);
        for (std::string line; std::getline(lines, line);) {
            if (line.rfind("  rehearse ", 0) == 0) names.push_back(line.substr(11, line.find(' ', 11) - 11));
        }
        return names;
    }
    TemporaryFolder folder_;
};

TEST_F(CommandLineTest, ABareCallListsTheCommands) {
    const ProgramResult result = run({});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(commands(), ::testing::Contains("run"));
}

TEST_F(CommandLineTest, EveryCommandExplainsItselfWithOneExample) {
    for (const std::string& command : commands()) {
        const ProgramResult result = run({command, "--help"});
        EXPECT_EQ(result.exit_code, 0) << command;
        EXPECT_THAT(result.out, HasSubstr("Example:\n  ")) << command;
        EXPECT_EQ(result.err, "") << command;
    }
}

TEST_F(CommandLineTest, MistypedWordsExitWith2AndASuggestion) {
    const auto expect_usage = [&](const std::vector<std::string>& words, const std::string& says) {
        const ProgramResult result = run(words);
        EXPECT_EQ(result.exit_code, 2) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_THAT(result.err, HasSubstr(says));
    };
    expect_usage({"rnu", "job.yaml"}, "unknown command \"rnu\"; did you mean \"run\"?");
    expect_usage({"run", "job.yaml", "--qiuet"}, "unknown option \"--qiuet\"; did you mean \"--quiet\"?");
    expect_usage({"run"}, "scenario is required");
    expect_usage({"run", "job.yaml", "--seeds", "0"}, "--seeds");
    expect_usage({"run", "job.yaml", "--seed", "x"}, "--seed");
    expect_usage({"run", "job.yaml", "--seed", "-1"}, "--seed: \"-1\" is out of range (expected an integer from 0 to");
    expect_usage({"net", "job.yaml", "--seed", "-1"}, "--seed: \"-1\" is out of range (expected an integer from 0 to");
    expect_usage({"run", "job.yaml", "--seed", "18446744073709551615", "--seeds", "2"},
                 "--seeds: 2 seeds from 18446744073709551615 on pass the largest one");
    expect_usage({"run", "job.yaml", "--stop-after", "lunch"},
                 "--stop-after: \"lunch\" is unknown (expected one of scenario, cluster, workload, placement, "
                 "timeline, metrics)");
    expect_usage({"run", "job.yaml", "--fidelity", "flwo"}, "did you mean \"flow\"?");
    expect_usage({"run", "job.yaml", "--set", "job.gpus"}, "job.gpus");
}

TEST_F(CommandLineTest, VersionNamesTheCommit) {
    const ProgramResult result = run({"--version"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, StartsWith("rehearse "));
}

TEST_F(CommandLineTest, EveryStageHasADump) {
    for (const char* stage : {"scenario", "cluster", "workload", "placement", "timeline", "metrics"}) {
        const ProgramResult result = run({"run", "job.yaml", "--stop-after", stage});
        EXPECT_EQ(result.exit_code, 0) << stage << result.err;
        EXPECT_GT(result.out.size(), 100U) << stage;
    }
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "results"));
}

TEST_F(CommandLineTest, TopoPrintsExportsAndChecks) {
    EXPECT_THAT(run({"topo", "job.yaml"}).out, HasSubstr("ToRs"));
    EXPECT_THAT(run({"topo", "job.yaml", "--format", "dot"}).out, HasSubstr("digraph"));
    EXPECT_THAT(run({"topo", "job.yaml", "--format", "graphml"}).out, HasSubstr("graphml"));
    const ProgramResult checks = run({"topo", "job.yaml", "--check"});
    EXPECT_EQ(checks.exit_code, 0);
    EXPECT_THAT(checks.out, HasSubstr("tor 1:1"));
    EXPECT_EQ(run({"topo", "job.yaml", "--out", "no/such/folder/x"}).exit_code, 2);
}

// Each of these would work for minutes before it writes.
TEST_F(CommandLineTest, AFileThatCannotBeWrittenIsKnownBeforeTheWork) {
    const std::vector<std::vector<std::string>> commands{
        {"validate", "megascale", "--json"},     {"validate", "megascale", "--markdown"},
        {"validate", "a100-steps", "--json"},    {"calibrate", "fit", "megascale-ampere", "--out"},
        {"sensitivity", "job.yaml", "--json"},   {"topo", "job.yaml", "--out"},
        {"ablate", "job.yaml", "--json"},
    };
    for (std::vector<std::string> words : commands) {
        for (const char* path : {"no/such/folder/x", "", "."}) {
            words.emplace_back(path);
            const ProgramResult result = run_rehearse(words, folder_.path(), 20'000);
            EXPECT_EQ(result.exit_code, 2) << words[0] << " " << path << "\n" << result.err;
            EXPECT_EQ(result.out, "");
            EXPECT_THAT(result.err, HasSubstr(words[words.size() - 2]));
            words.pop_back();
        }
    }
    EXPECT_EQ(run({"report", "job.yaml", "--out", ""}).exit_code, 2);
}

// 16 ranks in two nodes of eight slots.
TEST_F(CommandLineTest, PlacePrintsNodesAndAHostfile) {
    EXPECT_THAT(run({"place", "job.yaml"}).out, HasSubstr("node1"));
    EXPECT_EQ(run({"place", "job.yaml", "--policy", "packed", "--format", "hostfile"}).out,
              "node0 slots=8\nnode1 slots=8\n");
    const std::string csv = run({"place", "job.yaml", "--format", "csv"}).out;
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 17);
}

TEST_F(CommandLineTest, CompletionKnowsCommandsAndOptions) {
    const std::string bash = run({"completion", "bash"}).out;
    EXPECT_THAT(bash, HasSubstr("--stop-after"));
    EXPECT_THAT(bash, Not(HasSubstr("bashcompinit")));
    EXPECT_THAT(run({"completion", "zsh"}).out, HasSubstr("bashcompinit"));
}

// What could not be printed is not done.
TEST(CommandLineOutput, AFullPlaceIsAnError) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    const TemporaryFolder folder;
    const std::string command = std::string(REHEARSE_BINARY) + " topo " +
                                source_path("scenarios/library/dense_8.yaml") + " > /dev/full";
    const ProgramResult result = run_command({"sh", "-c", command}, folder.path());
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find("rehearse: "), result.err.npos) << result.err;
}

}  // namespace
}  // namespace rehearse
