#include "scenarios/validation/claim_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/trace/table.hpp"

namespace rehearse {

namespace {

// "1247, 663 ms"
std::string shown(const std::vector<double>& values, const std::string& unit) {
    std::vector<std::string> words;
    for (const double value : values) words.push_back(fmt::format("{:.4g}", value));
    return fmt::format("{}{}{}", fmt::join(words, ", "), unit.empty() ? "" : " ", unit);
}

}  // namespace

std::string claims_markdown(const std::vector<ClaimRow>& rows) {
    Table table({"claim", "claimed", "predicted", "why they differ"});
    for (const ClaimRow& row : rows)
        table.add({row.claim, shown(row.claimed, row.unit), shown(row.predicted, row.unit), row.why});
    return table.render(TableFormat::markdown);
}

std::string claims_text(const std::vector<ClaimRow>& rows) {
    Table table({"claim", "claimed", "predicted"});
    for (const ClaimRow& row : rows)
        table.add({row.claim, shown(row.claimed, row.unit), shown(row.predicted, row.unit)});
    std::istringstream lines(table.render(TableFormat::text));
    std::string text;
    std::size_t line_number = 0;
    for (std::string line; std::getline(lines, line); ++line_number) {
        text += line + "\n";
        if (line_number >= 2) text += "    " + rows[line_number - 2].why + "\n";  // below the header
    }
    return text;
}

nlohmann::ordered_json claim_json(const std::string& suite, const ClaimRow& row) {
    return {{"suite", suite},           {"id", row.id},               {"claim", row.claim}, {"unit", row.unit},
            {"claimed", row.claimed}, {"predicted", row.predicted}, {"why", row.why}};
}

}  // namespace rehearse
