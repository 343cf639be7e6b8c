// `rehearse calibrate import`, `show` and `diff` as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string header = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
// On 8 GPUs: 1 MiB in 100 us is 10.49 GB/s, times 7/4 on the bus of all_reduce, times 7/8 on that of all_gather.
const std::string reduce = "1048576 262144 float sum -1 100.0 10.49 18.35 0 50.00 20.97 36.70 0\n";
const std::string reduce_2 = "2097152 524288 float sum -1 100.0 20.97 36.70 0 50.00 41.94 73.40 0\n";
const std::string gather = "1048576 32768 float none -1 100.0 10.49 9.18 0 50.00 20.97 18.35 0\n";

class CalibrateTest : public ::testing::Test {
protected:
    ProgramResult run(std::vector<std::string> words) {
        words.insert(words.begin(), "calibrate");
        return run_rehearse(words, folder_.path(), 20'000);
    }
    bool exists(const std::string& name) { return std::filesystem::exists(folder_.path() / name); }
    TemporaryFolder folder_;
};

TEST_F(CalibrateTest, ImportPrintsOneJsonDocument) {
    folder_.file("a.log", header + reduce + reduce_2 + "1048576 262144 float sum -1 100.0\n");
    folder_.file("b.log", header + reduce + header + gather);
    const ProgramResult result = run({"import", "a.log", "b.log", "--json", "--nodes", "2"});
    EXPECT_EQ(result.exit_code, 0);
    const auto json = nlohmann::ordered_json::parse(result.out);
    EXPECT_EQ(json["rows"], 4);
    ASSERT_EQ(json["files"].size(), 2U);
    EXPECT_EQ(json["files"][0], (nlohmann::ordered_json{{"file", "a.log"},
                                                        {"collective", "all_reduce"},
                                                        {"gpus", 8},
                                                        {"nodes", 2},
                                                        {"rows", 2},
                                                        {"unparsed", json["files"][0]["unparsed"]}}));
    ASSERT_EQ(json["files"][0]["unparsed"].size(), 1U);
    EXPECT_EQ(json["files"][0]["unparsed"][0]["line"], 4);
    EXPECT_EQ(json["files"][1]["collective"], "all_reduce+all_gather");
    EXPECT_THAT(result.err, HasSubstr("a.log:4: not parsed: "));
}

TEST_F(CalibrateTest, OneBadFileDoesNotHoldTheOthersUp) {
    folder_.file("good.log", header + reduce);
    folder_.file("failed.log", header + "node01: Test NCCL failure common.cu:958 'unhandled system error'\n");
    folder_.file("empty.log", "");
    std::filesystem::create_directory(folder_.path() / "logs");
    const ProgramResult result =
        run({"import", "failed.log", "good.log", "empty.log", "logs", "no.log", "--out", "c.yaml"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.out, HasSubstr("good.log    all_reduce"));
    for (const char* part : {"failed.log:2:1: no row; the run failed here", "empty.log: the log is empty",
                             "logs: this is a folder", "no.log: cannot read the file"})
        EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_TRUE(exists("c.yaml"));
    EXPECT_EQ(run({"import", "empty.log", "--out", "none.yaml"}).exit_code, 2);
    EXPECT_FALSE(exists("none.yaml"));
}

TEST_F(CalibrateTest, ImportedLogsAreShownAndCompared) {
    folder_.file("a.log", "# Rank 0 Pid 1 on n1 device 0 [0x1] NVIDIA A100\n" + header + reduce + reduce_2 + reduce +
                              "0 0 float sum -1 5.00 0.00 0.00 0 5.00 0.00 0.00 0\n");
    folder_.file("b.log", header + "1048576 262144 float sum -1 50.00 20.97 36.70 0 50.00 20.97 36.70 0\n" + gather);
    ASSERT_EQ(run({"import", "a.log", "--out", "a.yaml"}).exit_code, 0);
    ASSERT_EQ(run({"import", "b.log", "--out", "b.yaml", "--device", "NVIDIA H100"}).exit_code, 0);
    const ProgramResult shown = run({"show", "a.yaml"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("8 x NVIDIA A100 (gpu)"));
    EXPECT_THAT(shown.out, HasSubstr("2 samples"));  // the same size twice is one, no size is none
    EXPECT_THAT(shown.out, ::testing::ContainsRegex("bytes=1048576 ranks=8 +float +- +2 +100 us +0.0 %"));
    EXPECT_THAT(shown.out, HasSubstr("no fits"));
    const ProgramResult compared = run({"diff", "a.yaml", "b.yaml"});
    EXPECT_EQ(compared.exit_code, 0);
    EXPECT_THAT(compared.out, ::testing::ContainsRegex("all_reduce bytes=1048576 ranks=8 float +100 us +50 us +0.500"));
    EXPECT_THAT(compared.out, HasSubstr("1 samples in both, 1 only in A, 1 only in B"));
    EXPECT_THAT(compared.err, HasSubstr("the devices differ: A was measured on \"NVIDIA A100\", B on \"NVIDIA H100\""));
}

TEST_F(CalibrateTest, LogsOfDifferentDevicesDoNotShareAFile) {
    folder_.file("a.log", "# Rank 0 Pid 1 on n1 device 0 [0x1] NVIDIA A100\n" + header + reduce);
    folder_.file("b.log", "# Rank 0 Pid 1 on n1 device 0 [0x1] NVIDIA H100\n" + header + reduce);
    const ProgramResult result = run({"import", "a.log", "b.log", "--out", "c.yaml"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("b.log: measured on \"NVIDIA H100\" (a calibration file has one device)"));
    EXPECT_FALSE(exists("c.yaml"));
    EXPECT_EQ(run({"import", "a.log", "b.log"}).exit_code, 0);
}

TEST_F(CalibrateTest, WrongUseIsToldBeforeTheWork) {
    folder_.file("a.log", header + reduce);
    EXPECT_EQ(run({"import"}).exit_code, 2);
    EXPECT_EQ(run({"import", "a.log", "--gpus", "0"}).exit_code, 2);
    EXPECT_EQ(run({"import", "a.log", "--collective", "allreduce"}).exit_code, 2);
    EXPECT_EQ(run({"import", "a.log", "--out", "no/such/c.yaml"}).exit_code, 2);
    EXPECT_EQ(run({"show", "a.log"}).exit_code, 2);
    EXPECT_EQ(run({"diff", "a.log"}).exit_code, 2);
}

// A file that is already there is replaced at once; nothing else is left beside it.
TEST_F(CalibrateTest, TheOldFileIsReplacedWhole) {
    folder_.file("a.log", header + reduce);
    folder_.file("c.yaml", "old");
    ASSERT_EQ(run({"import", "a.log", "--out", "c.yaml"}).exit_code, 0);
    EXPECT_THAT(slurp(folder_.path() / "c.yaml"), Not(HasSubstr("old")));
    EXPECT_THAT(run({"import", "a.log", "--out", "/dev/stdout"}).out, HasSubstr("schema_version: 1"));
    int entries = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) ++entries;
    EXPECT_EQ(entries, 2);
}

}  // namespace
}  // namespace rehearse
