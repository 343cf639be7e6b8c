// Text files read and written whole, or reported: InputError and OutputError name the file and the reason.
#pragma once

#include <fstream>
#include <string>

namespace rehearse {

void close_or_throw(std::ofstream& file, const std::string& path);
void write_text(const std::string& path, const std::string& text);

std::string read_text(const std::string& path);
// Writes the file in one step: a reader sees the old text (or no file) or the new one, also when the program is killed
// half-way. Follows links and keeps permissions; what is no plain file (a pipe, /dev/stdout) is written into.
void replace_text(const std::string& path, const std::string& text);

}  // namespace rehearse
