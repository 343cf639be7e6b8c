// Text files written whole or reported: OutputError names the file and the reason.
#pragma once

#include <fstream>
#include <string>

namespace rehearse {

void close_or_throw(std::ofstream& file, const std::string& path);
void write_text(const std::string& path, const std::string& text);

}  // namespace rehearse
