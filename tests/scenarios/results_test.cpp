// The results folder: complete or absent, closed in its arithmetic, and enough to repeat the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/scenarios/program.hpp"
#include "tests/scenarios/small.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using ::testing::HasSubstr;

class ResultsTest : public ::testing::Test {
protected:
    void SetUp() override { folder_.file("job.yaml", small_yaml); }
    Json run(std::vector<std::string> words, const std::string& out) {
        words.insert(words.begin(), "run");
        words.insert(words.end(), {"--out", out, "--quiet"});
        const ProgramResult result = run_rehearse(words, folder_.path());
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return Json::parse(slurp(folder_.path() / out / "metrics.json"));
    }
    TemporaryFolder folder_;
};

TEST_F(ResultsTest, HoldsTheNamedFilesAndNothingElse) {
    run({"job.yaml"}, "out");
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "out"))
        names.push_back(entry.path().filename().string());
    EXPECT_THAT(names, ::testing::UnorderedElementsAre("metrics.json", "scenario.resolved.yaml", "placement.csv",
                                                       "links.csv", "timeline.json.gz", "summary.txt"));
    EXPECT_THAT(slurp(folder_.path() / "out/links.csv"),
                ::testing::StartsWith("link,from,to,tier,rate_bps,bytes,utilisation\n"));
}

// sum of parts = step; tokens/s = batch x sequence / step = 32 x 512 / step; per GPU / 16.
TEST_F(ResultsTest, TheFiguresCloseOnEachOther) {
    const Json metrics = run({"job.yaml"}, "out");
    double sum = 0;
    for (const auto& [part, seconds] : metrics["breakdown_s"].items()) sum += seconds.get<double>();
    const double step = metrics["step_time_s"];
    EXPECT_NEAR(sum, step, 1e-12 * step + 1e-12);
    EXPECT_NEAR(metrics["tokens_per_s"].get<double>() * step, 32 * 512, 1e-6);
    EXPECT_NEAR(metrics["tokens_per_s_per_gpu"].get<double>() * step * 16, 32 * 512, 1e-6);
    EXPECT_EQ(metrics["schema_version"], 1);
    EXPECT_EQ(metrics["run"]["ranks"], 16);
    EXPECT_EQ(metrics["run"]["scenario"], "small");
    EXPECT_GT(metrics["run"]["wall_s"].get<double>(), 0);
    EXPECT_GT(metrics["run"]["peak_rss_bytes"].get<double>(), 1 << 20);
    for (const char* key : {"mfu", "hfu", "model_flops_per_token", "memory_bytes_per_gpu"})
        EXPECT_GT(metrics[key].get<double>(), 0) << key;
    EXPECT_EQ(metrics["network"]["pauses"], 0);
    EXPECT_FALSE(metrics["provenance"].empty());
}

TEST_F(ResultsTest, TheResolvedScenarioGivesTheSameFingerprint) {
    const Json first = run({"job.yaml", "--seed", "7", "--set", "models.variation.jitter=3 %"}, "first");
    const Json second = run({"first/scenario.resolved.yaml"}, "second");
    EXPECT_EQ(first["run"]["fingerprint"], second["run"]["fingerprint"]);
    EXPECT_EQ(first["step_time_s"], second["step_time_s"]);
    EXPECT_EQ(second["run"]["seed"], 7);
    const Json other = run({"job.yaml", "--seed", "8", "--set", "models.variation.jitter=3 %"}, "other");
    EXPECT_NE(first["run"]["fingerprint"], other["run"]["fingerprint"]);
    for (const char* name : {"placement.csv", "links.csv", "scenario.resolved.yaml", "timeline.json.gz", "summary.txt"})
        EXPECT_EQ(slurp(folder_.path() / "first" / name), slurp(folder_.path() / "second" / name)) << name;
}

TEST_F(ResultsTest, SeveralSeedsGiveMedianMinAndMaxWhateverTheThreads) {
    const std::vector<std::string> words{"job.yaml", "--seeds", "3", "--set", "models.variation.jitter=3 %"};
    std::vector<std::string> threaded = words;
    threaded.insert(threaded.end(), {"--threads", "3"});
    Json one = run(words, "one"), three = run(threaded, "three");
    EXPECT_EQ(one["run"]["seeds"], Json({1, 2, 3}));
    const Json step = one["step_time_s"];
    EXPECT_LT(step["min"].get<double>(), step["median"].get<double>());
    EXPECT_LT(step["median"].get<double>(), step["max"].get<double>());
    EXPECT_TRUE(one["breakdown_s"]["compute"].contains("median"));
    for (Json* json : {&one, &three}) {
        (*json)["run"].erase("wall_s");
        (*json)["run"].erase("peak_rss_bytes");
    }
    EXPECT_EQ(one, three);
}

TEST_F(ResultsTest, TheDefaultFolderIsNamedAfterScenarioAndFingerprint) {
    const ProgramResult result = run_rehearse({"run", "job.yaml"}, folder_.path());
    ASSERT_EQ(result.exit_code, 0) << result.err;
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "results")) folders.push_back(entry.path());
    ASSERT_EQ(folders.size(), 1U);
    const Json metrics = Json::parse(slurp(folders[0] / "metrics.json"));
    EXPECT_EQ(folders[0].filename().string(), "small-" + metrics["run"]["fingerprint"].get<std::string>());
    EXPECT_THAT(result.out, HasSubstr("step time"));
    EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 40);
}

TEST_F(ResultsTest, AFolderThatIsNoResultsFolderIsLeftAlone) {
    folder_.file("precious/notes.txt", "mine");
    const ProgramResult result = run_rehearse({"run", "job.yaml", "--out", "precious"}, folder_.path());
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(slurp(folder_.path() / "precious/notes.txt"), "mine");
}

// A step of some seconds of wall clock, killed in its midst.
TEST_F(ResultsTest, AKilledRunLeavesNoFolder) {
    const std::vector<std::string> words{"run",   library_path("megascale_175b_1024"), "--seeds", "50", "--out",
                                         "killed"};
    const ProgramResult result = run_rehearse(words, folder_.path(), 300);
    ASSERT_EQ(result.exit_code, 128 + 9) << "the run ended before it could be killed";
    EXPECT_FALSE(fs::exists(folder_.path() / "killed"));
}

}  // namespace
}  // namespace rehearse
