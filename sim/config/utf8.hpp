// Is a text UTF-8? What reads our files and results (JSON above all) takes nothing else.
#pragma once

#include <cstddef>
#include <string_view>

namespace rehearse {

// The offset of the first byte that begins no well-formed sequence (RFC 3629: no overlong forms, no surrogates, at most
// U+10FFFF); text.size() when all of it is UTF-8. Example: find_non_utf8("a\xff") == 1.
std::size_t find_non_utf8(std::string_view text);

}  // namespace rehearse
