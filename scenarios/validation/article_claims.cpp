#include "scenarios/validation/article_claims.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/installation.hpp"
#include "sim/base/checks.hpp"
#include "sim/config/load_config.hpp"
#include "sim/config/reader.hpp"

namespace rehearse {

Claims::Claims(const std::string& path) {
    const ConfigNode tree = load_config(path);
    FaultList faults;
    Reader root(tree, "", faults);
    root.read("suite", suite_);
    root.read("title", title_);
    for (Reader& entry : root.children("claims")) {
        Claim& claim = claims_.emplace_back();
        for (const char* key : {"id", "claim", "values"}) entry.require(key);
        entry.require("source", "a published figure names its source");
        entry.read("id", claim.id);
        entry.read("claim", claim.text);
        entry.read("values", claim.values);
        entry.read("unit", claim.unit);
        entry.read("source", claim.source);
        entry.finish();
    }
    root.finish();
    faults.throw_if_any();
}

double Claims::operator()(const std::string& id, std::size_t value) const {
    const auto at = std::ranges::find(claims_, id, &Claim::id);
    REHEARSE_CHECK(at != claims_.end() && value < at->values.size(), fmt::format("the article claims no {}", id));
    return at->values[value];
}

std::vector<ClaimRow> claim_rows(const Claims& claims, const Answers& answers) {
    std::vector<ClaimRow> rows;
    for (const Claim& claim : claims.all()) {
        const auto answer = answers.find(claim.id);
        REHEARSE_CHECK(answer != answers.end(), fmt::format("nothing answers the claim {}", claim.id));
        rows.push_back({claim.id, claim.text, claim.unit, claim.values, answer->second.predicted, answer->second.why});
    }
    return rows;
}

ValidationSuite answered_claims() {
    const Claims claims(data_path("tests/validation/article.yaml").string());
    Answers answers;
    answer_by_arithmetic(claims, answers);
    answer_by_simulation(claims, answers);
    ValidationSuite suite{claims.suite(), claims.title(), {}};
    suite.claims = claim_rows(claims, answers);
    suite.scenarios = {"moe_article_256_baseline", "moe_article_256_full", "moe_article_8_baseline",
                       "moe_article_8_full"};
    return suite;
}

SuiteEntry article_suite() {
    return {"article", "claims of the article's synthetic profile: claimed, predicted, why they differ",
            [](const ValidateRequest&) { return answered_claims(); }};
}

}  // namespace rehearse
