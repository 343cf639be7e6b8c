// The synthetic profile of the article: its scenarios are what they say, and every claim has an answer that is
// computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/ablate/ablate.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/article_claims.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;

Claims article() { return Claims(data_path("tests/validation/article.yaml").string()); }

// The full scenario with every group of its ablation off, word for word.
TEST(Article, TheBaselineIsTheFullSystemWithoutItsGroups) {
    for (const std::string system : {"moe_article_256", "moe_article_8"}) {
        std::vector<std::string> set{"ablation={}"};
        Scenario baseline = read_scenario(library_path(system + "_baseline"));
        for (const AblationGroup& group : read_scenario(library_path(system + "_full")).ablation)
            set.insert(set.end(), group.off.begin(), group.off.end());
        ASSERT_EQ(set.size(), 8U);
        Scenario off = read_scenario(library_path(system + "_full"), set);
        off.name = baseline.name;
        EXPECT_EQ(scenario_yaml(off), scenario_yaml(baseline)) << system;
    }
}

TEST(Article, ItsScenariosAreLabelledAndHaveAProfileOfTheirOwn) {
    for (const std::string name : {"256_baseline", "256_full", "8_baseline", "8_full"}) {
        const Scenario scenario = read_scenario(library_path("moe_article_" + name));
        EXPECT_THAT(scenario.name, HasSubstr("synthetic"));
        EXPECT_EQ(scenario.models.profile_name, "a100-article");
        EXPECT_THAT(slurp(library_path("moe_article_" + name)), ::testing::StartsWith("# Synthetic"));
        for (const ProfileNote& note : scenario.models.profile.notes)
            EXPECT_TRUE(note.provenance == Provenance::published || note.provenance == Provenance::assumed) << note.key;
    }
}

// By hand: 64 MiB / 24.75 GB/s = 2.711 ms; 44 intervals of 30 s = 22 min; 16 x 16 GT/s x 128/130 / 8 = 31.5 GB/s;
// 11 hops of 5 us; 976 x 2,048 < 2M; 1 - 0.6 / 6; 2 x 2,048 + 2 x 1,441 B; 8 % of 27 experts.
TEST(Article, ArithmeticAnswersWhatNeedsNoSimulation) {
    Answers answers;
    answer_by_arithmetic(article(), answers);
    const std::map<std::string, double> expected{{"page_64", 2.711}, {"start", 22},          {"pcie", 31.51},
                                                 {"broadcast", 0.055}, {"capacity_976", 100}, {"hidden", 90},
                                                 {"map", 6978},      {"least", 8.0 / 27}};
    for (const auto& [id, value] : expected) EXPECT_NEAR(answers.at(id).predicted.at(0), value, 1e-3 * value) << id;
    EXPECT_LT(answers.at("tree").predicted.at(0), 0);  // forwarding sends more bytes, not less
    EXPECT_THAT(answers.at("least").why, HasSubstr("45 experts"));
    EXPECT_THAT(answers.at("capacity_976").why, HasSubstr("1.30 %"));
}

// Step times within 5 %; the split multiplies to the speed-up; what the article's own numbers exclude is named.
TEST(Article, EveryClaimHasAnAnswer) {
    const Claims claims = article();
    const ValidationSuite suite = answered_claims();
    ASSERT_EQ(suite.claims.size(), claims.all().size());
    EXPECT_FALSE(suite.exceeds_band());
    std::map<std::string, std::vector<double>> predicted;
    for (const ClaimRow& row : suite.claims) {
        EXPECT_EQ(row.predicted.size(), row.claimed.size()) << row.id;
        EXPECT_FALSE(row.why.empty()) << row.id;
        predicted[row.id] = row.predicted;
    }
    const std::vector<double>& step = predicted["step_256"];
    EXPECT_NEAR(step[0], claims("step_256"), 0.05 * claims("step_256"));
    EXPECT_NEAR(step[1], claims("step_256", 1), 0.05 * claims("step_256", 1));
    const std::vector<double>& split = predicted["split"];
    EXPECT_NEAR(split[0] * split[1] * split[2], step[0] / step[1], 1e-6);
    EXPECT_LT(split[2], 1);  // pages are waited for only where there are pages
    EXPECT_NEAR(predicted["step_8"][0], claims("step_8"), 0.05 * claims("step_8"));
    const std::string text = suite_text(suite);
    for (const char* part : {"predicted", "1.53 by itself", "26 tokens a step"}) EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(suite_markdown(suite), HasSubstr("why they differ"));
}

TEST(Article, APageLargerThanTheBudgetIsRefused) {
    const ProgramResult result =
        run_rehearse({"run", library_path("moe_article_256_full"), "--set", "policies.pager.page=4GB"},
                     data_path("scenarios").string());
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("policies.pager.page: a page of 4 GB is larger than the budget"));
}

}  // namespace
}  // namespace rehearse
