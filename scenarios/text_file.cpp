#include "scenarios/text_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "sim/trace/output_error.hpp"

namespace rehearse {

void close_or_throw(std::ofstream& file, const std::string& path) {
    file.close();
    if (!file) throw OutputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    close_or_throw(file, path);
}

}  // namespace rehearse
