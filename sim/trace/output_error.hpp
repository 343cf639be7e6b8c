// A result could not be written: no space, no permission, a folder that vanished. The message names the file and the
// reason.
#pragma once

#include <stdexcept>

namespace rehearse {

struct OutputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace rehearse
