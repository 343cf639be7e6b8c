#include "sim/trace/result_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"
#include "sim/trace/output_error.hpp"

namespace rehearse {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, std::string wrong, std::string expected) {
    throw InputError({Fault{{path, 0, 0}, "", std::move(wrong), std::move(expected), "choose another --out"}});
}

// Resolves links and trailing slashes, so that the real folder is replaced and the last part is its name.
fs::path resolve(const std::string& path) {
    if (path.empty()) refuse("--out", "the name of the results folder is empty", "");
    std::error_code error;
    fs::path resolved = fs::weakly_canonical(fs::absolute(path, error), error);
    if (error) refuse(path, "cannot be used: " + error.message(), "");
    if (!resolved.has_filename()) resolved = resolved.parent_path();
    return resolved;
}

// Many programs write a metrics.json: ours begins with its version.
bool is_result(const fs::path& folder) {
    std::string start(64, ' ');
    std::ifstream(folder / "metrics.json", std::ios::binary).read(start.data(), static_cast<long>(start.size()));
    return start.find("\"schema_version\"") != start.npos;
}

bool replaceable(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(path, error))) return true;
    return fs::is_directory(path, error) && (fs::is_empty(path, error) || is_result(path));
}

void refuse_others(const fs::path& path) {
    if (replaceable(path)) return;
    refuse(path.string(), "exists and is not a results folder",
           "a new name, or a folder with metrics.json of an earlier run");
}

[[noreturn]] void fail(const char* what, const fs::path& path) {
    throw OutputError(fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno)));
}

fs::path make_sibling(const fs::path& final_path) {
    std::error_code error;
    fs::create_directories(final_path.parent_path(), error);
    for (int n = 0; !error && n < 1'000; ++n) {
        fs::path sibling =
            final_path.parent_path() / fmt::format(".{}.partial-{}-{}", final_path.filename().string(), getpid(), n);
        if (fs::create_directory(sibling, error)) return sibling;
    }
    refuse(final_path.string(), "the folder cannot be made: " + error.message(), "");
}

}  // namespace

ResultFolder::ResultFolder(const std::string& final_path) : final_(resolve(final_path)) {
    refuse_others(final_);
    partial_ = make_sibling(final_);
}

void ResultFolder::rename(const std::string& final_path) {
    const fs::path renamed = resolve(final_path);
    REHEARSE_CHECK(!published_ && renamed.parent_path() == final_.parent_path(), "a results folder moves elsewhere");
    refuse_others(renamed);
    final_ = renamed;
}

ResultFolder::~ResultFolder() { discard(); }

void ResultFolder::discard() {
    std::error_code ignored;
    if (!published_) fs::remove_all(partial_, ignored);
}

std::string ResultFolder::file(const std::string& name) const {
    const fs::path full = path() / name;
    std::error_code error;
    fs::create_directories(full.parent_path(), error);
    if (error) throw OutputError(fmt::format("cannot make {}: {}", full.parent_path().string(), error.message()));
    return full.string();
}

// Linked, not moved: whenever the program ends, the folder under the final name has them.
void ResultFolder::keep_others() {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(final_, error)) {
        const fs::path name = entry.path().filename();
        if (fs::exists(fs::symlink_status(partial_ / name))) continue;
        using enum fs::copy_options;
        fs::copy(entry.path(), partial_ / name, recursive | copy_symlinks | create_hard_links, error);
        if (error)
            throw OutputError(fmt::format("cannot keep {} beside the new results: {}; the results of before stay",
                                          entry.path().string(), error.message()));
        kept_.push_back(name.string());
    }
    std::sort(kept_.begin(), kept_.end());
}

void ResultFolder::publish() {
    REHEARSE_CHECK(!published_, "a results folder is published twice");
    refuse_others(final_);
    keep_others();
    const char* const partial = partial_.c_str();
    // rename() moves onto a free name or an empty folder; a full one is swapped, so the name is never without a result.
    if (std::rename(partial, final_.c_str()) == 0) {
        published_ = true;
        return;
    }
    if (errno != ENOTEMPTY && errno != EEXIST) fail("rename to", final_);
    std::error_code ignored;
    if (renameat2(AT_FDCWD, partial, AT_FDCWD, final_.c_str(), RENAME_EXCHANGE) == 0) {
        published_ = true;
        fs::remove_all(partial_, ignored);  // now the old result
        return;
    }
    // A file system without exchange: two renames.
    const fs::path old = partial_.string() + ".old";
    if (std::rename(final_.c_str(), old.c_str()) != 0) fail("rename", final_);
    if (std::rename(partial, final_.c_str()) != 0) {
        const int reason = errno;
        std::rename(old.c_str(), final_.c_str());
        errno = reason;
        fail("rename to", final_);
    }
    published_ = true;
    fs::remove_all(old, ignored);
}

}  // namespace rehearse
