#include "scenarios/text_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "sim/base/fault.hpp"
#include "sim/trace/output_error.hpp"

namespace rehearse {

namespace fs = std::filesystem;

void close_or_throw(std::ofstream& file, const std::string& path) {
    file.close();
    if (!file) throw OutputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    close_or_throw(file, path);
}

std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file.is_open() || text.bad())
        throw InputError({{{path, 0, 0}, "", "cannot read the file", "", "check the path"}});
    return text.str();
}

void replace_text(const std::string& path, const std::string& text) {
    std::error_code failed;
    const bool exists = fs::exists(path, failed);
    if (exists && !fs::is_regular_file(path, failed)) return write_text(path, text);
    const fs::path target = fs::weakly_canonical(path, failed);
    const fs::path partial = fmt::format("{}.partial-{}", target.string(), ::getpid());
    try {
        if (!failed) write_text(partial.string(), text);
    } catch (const OutputError&) {
        std::error_code ignored;
        fs::remove(partial, ignored);
        throw;
    }
    if (!failed && exists) fs::permissions(partial, fs::status(target).permissions(), failed);
    if (!failed) fs::rename(partial, target, failed);
    if (!failed) return;
    std::error_code ignored;
    fs::remove(partial, ignored);
    throw OutputError(fmt::format("{}: cannot be written: {}", path, failed.message()));
}

}  // namespace rehearse
