// A block of a document that the program writes, in a text that people write:
//
//     <!-- begin megascale -->
//     ...whatever stands here is replaced...
//     <!-- end megascale -->
//
// Each marker is a line of its own and stands once. InputError with file and line where the two markers are not as
// they should be; nothing is written then.
#pragma once

#include <string>

namespace rehearse {

std::string read_block(const std::string& path, const std::string& name);  // the lines between the markers
// `body` ends with a line break or is empty. Everything outside of the markers stays byte for byte; the file is
// replaced in one step, and not touched when it says the same already.
void write_block(const std::string& path, const std::string& name, const std::string& body);

}  // namespace rehearse
