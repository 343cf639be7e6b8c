// The known word that a mistyped word most likely meant, for "did you mean" sentences.
//
// The measure is the edit distance with neighbouring swaps (optimal string alignment), case counted as a third of an
// edit. A word further away than a third of its length (at least one edit) is no suggestion.
// Example: nearest_word("nvlnk", {"nic", "nvlink"}) == "nvlink"; nearest_word("zzz", {"nic"}) == "".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rehearse {

// Ties go to the word that stands first in `known`. "" when nothing is near.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace rehearse
