#include "sim/base/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace rehearse {

namespace {

constexpr int whole_edit = 3;  // a change of case costs one third of this

int change_cost(char a, char b) {
    if (a == b) return 0;
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    return lower(a) == lower(b) ? 1 : whole_edit;
}

// Optimal string alignment: insert, delete, change, swap of neighbours. Three rows of the usual table.
int distance(std::string_view a, std::string_view b) {
    std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j) * whole_edit;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = static_cast<int>(i) * whole_edit;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min(
                {above[j] + whole_edit, row[j - 1] + whole_edit, above[j - 1] + change_cost(a[i - 1], b[j - 1])});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + whole_edit);
        }
        before.swap(above);
        above.swap(row);
    }
    return above[b.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t longest = 64;  // nobody meant a key by a longer word; keeps the table small
    if (word.empty() || word.size() > longest) return "";
    std::string best;
    int best_distance = std::max(whole_edit, static_cast<int>(word.size()));  // a third of the length, in thirds
    for (const std::string& candidate : known) {
        if (candidate.size() > longest) continue;
        const int d = distance(word, candidate);
        if (d < best_distance || (d == best_distance && best.empty())) {
            best = candidate;
            best_distance = d;
        }
    }
    return best;
}

}  // namespace rehearse
