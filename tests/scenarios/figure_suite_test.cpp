// Tables of published figures: how they are read, when a prediction is beyond a bound, and how they are printed.
#include "scenarios/validation/figure_suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scenarios/validation/accuracy.hpp"
#include "scenarios/validation/validation.hpp"
#include "sim/base/fault.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;

class FigureSuite : public ::testing::Test {
protected:
    PublishedTable read(const std::string& rows) {
        folder_.file("t.yaml", "suite: toy\ntitle: Toy\nnotes: [assumed]\nfigures:\n" + rows);
        return read_published((folder_.path() / "t.yaml").string());
    }
    std::string error_of(const std::string& rows) {
        try {
            read(rows);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }
    TemporaryFolder folder_;
};

TEST_F(FigureSuite, EachBoundIsKeptUpToItsEnd) {
    const PublishedTable table = read("  - {quantity: a, value: 1.2, within: 0.05, use: fit, source: s}\n"
                                     "  - {quantity: b, unit: us, value: 200, band: 10 %, use: predict, source: s}\n"
                                     "  - {quantity: c, unit: GB, least: 49, most: 60, use: predict, source: s}\n"
                                     "  - {quantity: d}\n");
    const auto exceeded = [&](double a, double b, double c) {
        std::string text;
        for (const ValidationFigure& row : with_predictions(table, {{"a", a}, {"b", b}, {"c", c}, {"d", 7}}))
            if (row.exceeds_band()) text += row.published.quantity;
        return text;
    };
    EXPECT_EQ(exceeded(1.249, 219, 49), "");
    EXPECT_EQ(exceeded(1.151, 181, 60), "");
    EXPECT_EQ(exceeded(1.251, 221, 60.1), "abc");
    EXPECT_EQ(exceeded(1.149, 179, 48.9), "abc");
}

// b: 190 / 200 - 1 = -5 %.
TEST_F(FigureSuite, IsPrintedAsTableBlockAndJson) {
    ValidationSuite suite{"toy", "Toy", {}};
    const PublishedTable table = read("  - {quantity: a, value: 1.2, within: 0.05, use: fit, source: s}\n"
                           "  - {quantity: b, unit: us, value: 200, band: 10 %, use: predict, source: s}\n"
                           "  - {quantity: c, unit: GB, least: 49, most: 60, use: predict, source: s}\n");
    suite.figures = with_predictions(table, {{"a", 1.3}, {"b", 190}, {"c", 50}});
    suite.notes = table.notes;
    EXPECT_TRUE(suite.exceeds_band());
    const std::string block = suite_markdown(suite);
    EXPECT_EQ(inputs_of_block(block), table_fingerprint(table));
    EXPECT_THAT(block, HasSubstr("| a        |       1.2 |       1.3 | +8.3 % | fitted    | +- 0.05 EXCEEDED |"));
    EXPECT_THAT(block, HasSubstr("| b        |    200 us |    190 us | -5.0 % | predicted |             10 % |"));
    EXPECT_THAT(block, HasSubstr("| c        |"));
    EXPECT_THAT(block, HasSubstr("49 to 60 GB"));
    EXPECT_THAT(block, HasSubstr("- 2 of 2 figures predicted are within their bands\n"));
    EXPECT_THAT(block, HasSubstr("- 0 of 1 figures fitted are within their bands\n- assumed\n"));
    const nlohmann::ordered_json json = validation_json({suite}, {});
    EXPECT_EQ(json["rows"][1]["quantity"], "b");
    EXPECT_EQ(json["rows"][1]["unit"], "us");
    EXPECT_NEAR(json["rows"][1]["error"].get<double>(), -0.05, 1e-12);
    EXPECT_TRUE(json["rows"][2]["published"].is_null());
    PublishedTable other = table;
    other.figures[0].value = 1.3;
    EXPECT_NE(table_fingerprint(other), table_fingerprint(table));
}

TEST_F(FigureSuite, FaultsOfTheFileAreLocated) {
    EXPECT_THAT(error_of("  - {quantity: a, value: 1}\n"), HasSubstr("t.yaml:5:5: figures[0].source: is missing"));
    EXPECT_THAT(error_of("  - {quantity: a, band: 5 %, source: s}\n"), HasSubstr("figures[0].value: is missing"));
    EXPECT_THAT(error_of("  - {unit: a}\n"), HasSubstr("figures[0].quantity: is missing"));
    EXPECT_THAT(error_of("  - {quantity: a}\n  - {quantity: a}\n"),
                HasSubstr("t.yaml:6:16: figures[1].quantity: a second"));
    EXPECT_THAT(error_of("  - {quantity: a, value: 1, band: 5 %, within: 1, source: s}\n"), HasSubstr("two bands"));
    EXPECT_THAT(error_of("  - {quantity: a, values: 1}\n"), HasSubstr("value"));
}

}  // namespace
}  // namespace rehearse
