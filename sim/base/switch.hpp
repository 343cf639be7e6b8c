// A two-valued choice with a name, so that no public function takes a bare boolean.
#pragma once

#include <cstdint>

namespace rehearse {

enum class Switch : std::uint8_t { off, on };
constexpr bool is_on(Switch value) { return value == Switch::on; }

}  // namespace rehearse
