// The accuracy tables of a document: written between their markers, and known to be stale when their inputs changed.
#include "scenarios/validation/accuracy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scenarios/validation/marked_block.hpp"
#include "scenarios/validation/validation.hpp"
#include "sim/base/fault.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;

// The tables of README.md are those that `make accuracy` writes from the scenarios and profiles of today.
void expect_current(const std::string& suite, const std::string& inputs) {
    const std::string block = read_block(source_path("README.md"), suite);
    if (block.empty()) GTEST_SKIP() << "README.md has no table of " << suite << " yet: run make accuracy";
    EXPECT_EQ(inputs_of_block(block), inputs)
        << "the table of " << suite << " in README.md is older than what it was made from: run make accuracy";
    EXPECT_THAT(block, HasSubstr("| use "));
}

TEST(Accuracy, TheTablesOfTheReadmeAreCurrent) {
    for (const SuiteEntry& suite : validation_suites()) {
        if (suite.inputs) expect_current(suite.name, suite.inputs());
    }
    expect_current(a100_suite, inputs_fingerprint(a100_rows));
}

std::vector<PublishedRow> one_row() {
    PublishedRow row;
    row.scenario = "dense_8";
    row.step_s = 4.0;
    row.use = PublishedUse::predict;
    return {row};
}

TEST(Accuracy, TheFingerprintIsThatOfScenarioProfileAndPublishedFigures) {
    const std::string base = inputs_fingerprint(one_row());
    EXPECT_EQ(base, inputs_fingerprint(one_row()));
    EXPECT_EQ(base.size(), 16U);
    EXPECT_NE(base, inputs_fingerprint(one_row(), {"training.micro_batch=2"}));
    EXPECT_NE(base, inputs_fingerprint(one_row(), {"models.variation.jitter=0.5"}));
    EXPECT_NE(base, inputs_fingerprint(one_row(), {"models.profile=megascale-ampere"}));
    std::vector<PublishedRow> other = one_row();
    other[0].step_s = 4.5;
    EXPECT_NE(base, inputs_fingerprint(other));
    other = one_row();
    other[0].use = PublishedUse::fit;
    EXPECT_NE(base, inputs_fingerprint(other));
}

// predicted / published - 1 = 5 / 4 - 1 = 25 %.
TEST(Accuracy, ASuiteIsABlockWithItsInputs) {
    ValidationRow row;
    row.published = one_row()[0];
    row.system = "Dense GPT on 8 GPUs";
    row.gpus = 8;
    row.step_s = 5.0;
    const std::string block = suite_markdown({"toy", "Toy", {row}});
    EXPECT_EQ(inputs_of_block(block), inputs_fingerprint(one_row()));
    EXPECT_THAT(block, HasSubstr("| Dense GPT on 8 GPUs |    8 |        4.00 |        5.00 | +25.00 % |"));
    EXPECT_THAT(block, HasSubstr("\n\n- 1 rows predicted: mean |error| 25.00 %, largest 25.00 %\n"));
    const auto files = nlohmann::ordered_json::array({{{"file", "steps.csv"}, {"mape", 0.1}}});
    const nlohmann::ordered_json both = validation_json({{"toy", "Toy", {row}}}, files);
    EXPECT_EQ(both["schema_version"], 1);
    EXPECT_EQ(both["rows"][0]["predicted"], 5.0);
    EXPECT_EQ(both["files"][0]["file"], "steps.csv");
    EXPECT_FALSE(validation_json({}, files).contains("rows"));
    EXPECT_EQ(inputs_of_block(block.substr(1)), "");
    EXPECT_EQ(inputs_of_block(""), "");
}

class BlockTest : public ::testing::Test {
protected:
    std::string document(const std::string& text) {
        folder_.file("doc.md", text);
        return (folder_.path() / "doc.md").string();
    }
    std::string error_of(const std::string& text) {
        const std::string path = document(text);
        try {
            write_block(path, "x", "new\n");
        } catch (const InputError& error) {
            EXPECT_EQ(slurp(path), text);
            return std::string(error.what()).substr(folder_.path().string().size() + 1);
        }
        return "";
    }
    TemporaryFolder folder_;
};

TEST_F(BlockTest, ReplacesWhatStandsBetweenTheMarkersAndNothingElse) {
    const std::string before = "# Title\r\n\n<!-- begin x -->\n", after = "<!-- end x -->\n\ntail without a break";
    const std::string path = document(before + "old\nlines\n" + after);
    EXPECT_EQ(read_block(path, "x"), "old\nlines\n");
    write_block(path, "x", "new\n");
    EXPECT_EQ(slurp(path), before + "new\n" + after);
    const auto written = std::filesystem::last_write_time(path);
    write_block(path, "x", "new\n");
    EXPECT_EQ(std::filesystem::last_write_time(path), written);
    write_block(path, "x", "");
    EXPECT_EQ(slurp(path), before + after);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);  // nothing left beside it
}

TEST_F(BlockTest, AFaultOfTheMarkersIsLocated) {
    EXPECT_THAT(error_of("nothing\n"), HasSubstr("doc.md: no line \"<!-- begin x -->\""));
    EXPECT_THAT(error_of("nothing\n"), HasSubstr("doc.md: no line \"<!-- end x -->\""));
    EXPECT_THAT(error_of(" <!-- begin x -->\n<!-- end x -->\n"), HasSubstr("no line \"<!-- begin x -->\""));
    EXPECT_THAT(error_of("\n<!-- end x -->\n<!-- begin x -->\n"), HasSubstr("doc.md:2:1: \"<!-- end x -->\" comes"));
    EXPECT_THAT(error_of("<!-- begin x -->\n<!-- end x -->\n\n<!-- end x -->\n"),
                HasSubstr("doc.md:4:1: \"<!-- end x -->\" stands in line 2 already"));
    EXPECT_THAT(error_of(""), HasSubstr("no line"));
}

// The real command on one measured step.
TEST_F(BlockTest, ValidateWritesItsBlockAndChecksTheDocumentFirst) {
    folder_.file("steps.csv", "gpus,global_batch,micro_batch,hidden,heads,layers,seq,tp,dp,pp,iteration_ms\n"
                              "8,16,2,1024,16,8,512,2,2,2,100\n");
    document("a\n<!-- begin a100-steps -->\n<!-- end a100-steps -->\nb\n");
    const std::vector<std::string> words{"validate",   "a100-steps", "--data", "steps.csv",
                                         "--markdown", "doc.md",     "--json", "out.json"};
    const ProgramResult first = run_rehearse(words, folder_.path());
    ASSERT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(nlohmann::json::parse(slurp(folder_.path() / "out.json"))["files"][0]["rows"], 1);
    const std::string text = slurp(folder_.path() / "doc.md");
    EXPECT_THAT(text, HasSubstr("| steps.csv      |    1 |"));
    EXPECT_THAT(text, HasSubstr("| predicted |"));
    EXPECT_EQ(inputs_of_block(read_block((folder_.path() / "doc.md").string(), a100_suite)),
              inputs_fingerprint(a100_rows));
    run_rehearse(words, folder_.path());
    EXPECT_EQ(slurp(folder_.path() / "doc.md"), text);
    document("no markers\n");
    const ProgramResult second = run_rehearse(words, folder_.path());
    EXPECT_EQ(second.exit_code, 2);
    EXPECT_EQ(second.out, "");
    EXPECT_THAT(second.err, HasSubstr("doc.md: no line \"<!-- begin a100-steps -->\""));
    const ProgramResult third =
        run_rehearse({"validate", "megascale", "a100-steps", "--markdown", "doc.md"}, folder_.path());
    EXPECT_EQ(third.exit_code, 2);
    EXPECT_THAT(third.err, HasSubstr("\"<!-- begin megascale -->\""));
}

}  // namespace
}  // namespace rehearse
