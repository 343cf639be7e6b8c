// What the program knows about itself: its version, the commit it was built from, and where its data files lie.
//
// Data files (profiles, library scenarios, published tables) have one relative name everywhere. They are looked for in
//     1. <prefix>/share/rehearse, when the program runs as <prefix>/bin/rehearse;
//     2. the source tree above the program (build/release/rehearse);
//     3. the source tree it was built from.
// Example: data_path("scenarios/library/megascale_175b_12288.yaml").
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rehearse {

std::string_view version();  // "0.1.0"
std::string_view commit();   // 12 hex digits, "-dirty" appended when tracked files were changed; "unknown" without git

// The running program's file; empty where the system does not tell.
std::filesystem::path executable_path();

// Folders that may hold the data files of a program at `executable`, best first. Only existing folders are returned.
std::vector<std::filesystem::path> data_roots(const std::filesystem::path& executable);

// The first existing data_root / relative. Throws InputError naming the folders that were looked in.
std::filesystem::path data_path(std::string_view relative);

}  // namespace rehearse
