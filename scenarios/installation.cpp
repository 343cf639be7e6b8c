#include "scenarios/installation.hpp"

#include <algorithm>
#include <system_error>

#include "rehearse_commit.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace fs = std::filesystem;

std::string_view version() { return REHEARSE_VERSION; }
std::string_view commit() { return REHEARSE_COMMIT; }

fs::path executable_path() {
    std::error_code failed;
    const fs::path path = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::path{} : path;
}

std::vector<fs::path> data_roots(const fs::path& executable) {
    std::vector<fs::path> roots;
    const auto add = [&roots](const fs::path& root) {
        std::error_code ignored;
        const bool known = std::find(roots.begin(), roots.end(), root) != roots.end();
        if (!known && fs::is_directory(root / "scenarios/library", ignored)) roots.push_back(root);
    };
    const fs::path folder = executable.parent_path();
    if (!folder.empty()) add(folder.parent_path() / "share/rehearse");
    for (fs::path up = folder; !up.empty(); up = up.parent_path()) {
        add(up);
        if (up == up.root_path()) break;
    }
    add(REHEARSE_SOURCE_DIR);
    return roots;
}

fs::path data_path(std::string_view relative) {
    const std::vector<fs::path> roots = data_roots(executable_path());
    std::string looked;
    for (const fs::path& root : roots) {
        fs::path candidate = root / relative;
        std::error_code ignored;
        if (fs::exists(candidate, ignored)) return candidate;
        looked += (looked.empty() ? "" : ", ") + root.string();
    }
    if (looked.empty()) looked = "no data folder at all";
    Fault fault;
    fault.place.file = relative;
    fault.wrong = "data file not found";
    fault.expected = "looked in " + looked;
    fault.todo = "install the program with its data, or run it from the source tree";
    throw InputError({fault});
}

}  // namespace rehearse
