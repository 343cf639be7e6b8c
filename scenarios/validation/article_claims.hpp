// What the article claims (tests/validation/article.yaml), and an answer to each claim: what the simulator or plain
// arithmetic gives, and why the two differ. An answer names figures by computing them: from the claims themselves, from
// the scenarios, or from the formulas of the models.
//
//     suite: article
//     title: ...
//     claims:
//       - {id: step_256, claim: "step without and with the policies", values: [1247, 663], unit: ms, source: "..."}
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenarios/validation/suites.hpp"

namespace rehearse {

struct Claim {
    std::string id, text, unit, source;
    std::vector<double> values;
};

class Claims {
public:
    explicit Claims(const std::string& path);  // InputError with its faults
    const std::string& suite() const { return suite_; }
    const std::string& title() const { return title_; }
    const std::vector<Claim>& all() const { return claims_; }
    double operator()(const std::string& id, std::size_t value = 0) const;

private:
    std::string suite_, title_;
    std::vector<Claim> claims_;
};

struct Answer {
    std::vector<double> predicted;  // in the unit of the claim
    std::string why;
};
using Answers = std::map<std::string, Answer>;  // by id

// Sizes, rates and counts that no simulation is needed for.
void answer_by_arithmetic(const Claims& claims, Answers& answers);
// The four scenarios, and the ablation of the two full ones.
void answer_by_simulation(const Claims& claims, Answers& answers);

// One row per claim. InvariantBroken when one has no answer.
std::vector<ClaimRow> claim_rows(const Claims& claims, const Answers& answers);
ValidationSuite answered_claims();

}  // namespace rehearse
