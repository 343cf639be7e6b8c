// Claims without a band: what was claimed, what the simulator or arithmetic gives instead, and why the two differ.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace rehearse {

struct ClaimRow {
    std::string id, claim, unit;
    std::vector<double> claimed, predicted;  // in the unit
    std::string why;
};

std::string claims_text(const std::vector<ClaimRow>& rows);      // why they differ under each row
std::string claims_markdown(const std::vector<ClaimRow>& rows);  // and as a column
nlohmann::ordered_json claim_json(const std::string& suite, const ClaimRow& row);

}  // namespace rehearse
