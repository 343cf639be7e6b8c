// Text files read and written whole, or reported: InputError and OutputError name the file and the reason.
#pragma once

#include <fstream>
#include <string>

namespace rehearse {

void close_or_throw(std::ofstream& file, const std::string& path);
void write_text(const std::string& path, const std::string& text);

std::string read_text(const std::string& path);
// Puts `text` in the place of an existing file in one step: a reader sees the old text or the new one, also when the
// program is killed half-way. Follows links and keeps permissions.
void replace_text(const std::string& path, const std::string& text);

}  // namespace rehearse
