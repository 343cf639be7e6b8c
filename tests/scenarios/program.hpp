// Runs the real binary, or another program, and keeps what it said.
#pragma once

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace rehearse {

struct ProgramResult {
    int exit_code = -1;  // 128 + signal when it was ended by one
    std::string out;
    std::string err;
};

// Runs words[0], looked up on the path, with the other words in `folder`. kill_after_ms > 0 sends `signal` after
// that time. The exit code is 127 where there is no such program.
ProgramResult run_command(std::vector<std::string> words, const std::filesystem::path& folder, int kill_after_ms = 0,
                          int signal = SIGKILL);
// The same with the built `rehearse` in front.
ProgramResult run_rehearse(const std::vector<std::string>& words, const std::filesystem::path& folder,
                           int kill_after_ms = 0, int signal = SIGKILL);

std::string source_path(const std::string& relative);  // of the source tree
std::string library_path(const std::string& name);     // "dense_8" -> .../scenarios/library/dense_8.yaml
std::vector<std::string> library_names();              // those of `run`, sorted
std::vector<std::string> net_library_names();          // those of `net`

}  // namespace rehearse
