// The results folder: complete or absent, closed in its arithmetic, and enough to repeat the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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

// The first line of the resolved file says how to run it again; the fingerprint of N seeds is that of theirs in order.
TEST_F(ResultsTest, TheResolvedScenarioOfSeveralSeedsGivesTheSameFingerprint) {
    const std::vector<std::string> jitter{"job.yaml", "--set", "models.variation.jitter=3 %"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), jitter.begin(), jitter.end());
        return more;
    };
    const Json first = run(with({"--seed", "5", "--seeds", "3"}), "first")["run"];
    const std::string file = slurp(folder_.path() / "first/scenario.resolved.yaml");
    EXPECT_THAT(file.substr(0, file.find('\n')),
                HasSubstr("run scenario.resolved.yaml --seeds 3 gives fingerprint " +
                          first["fingerprint"].get<std::string>()));
    EXPECT_EQ(run({"first/scenario.resolved.yaml", "--seeds", "3"}, "second")["run"]["fingerprint"],
              first["fingerprint"]);
    EXPECT_EQ(first["fingerprints"].size(), 3U);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(run(with({"--seed", std::to_string(5 + i)}), "single")["run"]["fingerprint"],
                  first["fingerprints"][i]);
    EXPECT_NE(run(with({"--seed", "6", "--seeds", "3"}), "other")["run"]["fingerprint"], first["fingerprint"]);
    EXPECT_THAT(slurp(folder_.path() / "first/summary.txt"), HasSubstr("seeds 5 to 7, fingerprint of all in order "));
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

TEST_F(ResultsTest, AnotherRunKeepsWhatElseLiesInTheFolderAndSaysSo) {
    run({"job.yaml"}, "out");
    folder_.file("out/report/report.html", "page");
    folder_.file("out/notes.txt", "mine");
    const ProgramResult result =
        run_rehearse({"run", "job.yaml", "--seed", "2", "--out", "out", "--quiet"}, folder_.path());
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("not of these results: notes.txt, report\n"));
    EXPECT_EQ(slurp(folder_.path() / "out/report/report.html"), "page");
    EXPECT_EQ(slurp(folder_.path() / "out/notes.txt"), "mine");
    EXPECT_EQ(Json::parse(slurp(folder_.path() / "out/metrics.json"))["run"]["seed"], 2);
}

// A pipe cannot be linked into the new folder, so the old one stays; the simulation is not lost.
TEST_F(ResultsTest, TheScreenIsPrintedWhenTheFilesCannotBe) {
    run({"job.yaml"}, "out");
    ASSERT_EQ(mkfifo((folder_.path() / "out/pipe").c_str(), 0600), 0);
    const ProgramResult result = run_rehearse({"run", "job.yaml", "--seed", "2", "--out", "out"}, folder_.path());
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.out, HasSubstr("step time"));
    EXPECT_THAT(result.err, HasSubstr("pipe beside the new results"));
    EXPECT_EQ(Json::parse(slurp(folder_.path() / "out/metrics.json"))["run"]["seed"], 1);
}

// A scenario that would simulate for minutes ends at once: the folder is tried first.
TEST_F(ResultsTest, AFolderThatCannotBeMadeIsKnownBeforeTheSimulation) {
    folder_.file("file", "x");
    const std::string large = library_path("megascale_175b_1024");
    for (const std::string& out : {std::string("file"), std::string("file/out"), std::string()}) {
        const ProgramResult result =
            run_rehearse({"run", large, "--seeds", "1000", "--out", out}, folder_.path(), 20'000);
        EXPECT_EQ(result.exit_code, 2) << out;
        EXPECT_EQ(result.out, "");
        EXPECT_NE(result.err, "");
    }
    folder_.file("results", "a file where the default folder belongs");
    EXPECT_EQ(run_rehearse({"run", large, "--seeds", "1000"}, folder_.path(), 20'000).exit_code, 2);
}

// Ended in the midst of 1000 seeds, before which the hidden folder was made.
TEST_F(ResultsTest, AnInterruptedRunLeavesNothing) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const std::vector<std::string> words{"run", library_path("megascale_175b_1024"), "--seeds", "1000", "--out",
                                             "new/out"};
        const ProgramResult result = run_rehearse(words, folder_.path(), 500, signal);
        ASSERT_EQ(result.exit_code, 128 + signal);
        EXPECT_TRUE(!fs::exists(folder_.path() / "new") || fs::is_empty(folder_.path() / "new"));
    }
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
