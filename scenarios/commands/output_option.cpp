// Options that name a file to write: a place that cannot be written is told with the command line, before the work.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "scenarios/commands/commands.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

namespace fs = std::filesystem;

// Why the file cannot be written, or "". Nothing is made or emptied.
std::string refusal(const std::string& path) {
    if (path.empty()) return "the name of the file is empty";
    std::error_code error;
    if (fs::is_directory(path, error)) return fmt::format("{} is a folder (a file was expected)", in_quotes(path));
    const bool exists = fs::exists(path, error);
    const fs::path parent = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
    if (!exists && !fs::is_directory(parent, error))
        return fmt::format("{} cannot be written: there is no folder {}", in_quotes(path), in_quotes(parent.string()));
    if (::access(exists ? path.c_str() : parent.c_str(), W_OK) == 0) return "";
    return fmt::format("{} cannot be written: {}", in_quotes(path), std::strerror(errno));
}

}  // namespace

void add_output_file(CLI::App& command, const std::string& name, std::string& path, const std::string& what) {
    CLI::Option* option = command.add_option(name, path, what)->type_name("FILE");
    option->check([](const std::string& text) { return refusal(text); }, "", "");
}

}  // namespace rehearse
