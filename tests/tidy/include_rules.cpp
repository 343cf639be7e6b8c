#include <algorithm>
#include <cstring>

#include "tests/tidy/rules.hpp"

namespace rehearse::tidy {

namespace {

// Who may see whom. A row grants a folder the headers of other folders; the longest matching row decides.
struct Layer {
    const char* folder;
    std::vector<const char*> sees;
};

const std::vector<Layer>& layers() {
    static const std::vector<Layer> table = {
        {"sim/base/", {"sim/base/"}},
        {"sim/engine/", {"sim/base/", "sim/engine/"}},
        {"sim/config/", {"sim/base/", "sim/config/"}},
        {"sim/trace/", {"sim/base/", "sim/trace/"}},
        {"sim/", {"sim/"}},
        {"topology/", {"sim/", "topology/"}},
        {"kernels/", {"sim/base/", "sim/config/", "kernels/"}},
        {"models/", {"sim/", "topology/", "kernels/", "models/"}},
        {"runtime/", {"sim/", "topology/", "kernels/", "models/", "runtime/"}},
        {"scenarios/", {"sim/", "topology/", "kernels/", "models/", "runtime/", "scenarios/"}},
        {"tests/", {"sim/", "topology/", "kernels/", "models/", "runtime/", "scenarios/", "tests/"}},
    };
    return table;
}

// Which folders may see a third-party or system header. A row ending in '/' matches every header below it.
struct Guest {
    const char* header;
    std::vector<const char*> hosts;
};

const std::vector<Guest>& guests() {
    static const std::vector<const char*> threads = {"sim/engine/parallel/", "kernels/", "runtime/"};
    static const std::vector<const char*> system = {"sim/trace/", "kernels/", "runtime/", "scenarios/"};
    static const std::vector<Guest> table = {
        {"fmt/", {""}},
        {"Random123/", {"sim/base/rng"}},
        {"yaml-cpp/", {"sim/config/"}},
        {"zlib.h", {"sim/trace/"}},
        {"boost/", {"topology/detail/", "kernels/array.hpp"}},
        {"Eigen/", {"models/", "kernels/", "scenarios/"}},
        {"unsupported/Eigen/", {"models/", "kernels/", "scenarios/"}},
        {"CLI/", {"scenarios/"}},
        {"nlohmann/", {"scenarios/"}},
        {"sqlite3.h", {"scenarios/"}},
        {"gtest/", {}},
        {"gmock/", {}},
        {"benchmark/", {}},
        {"simgrid/", {}},
        {"nccl.h", {"runtime/", "kernels/"}},
        {"cuda", {"kernels/cuda/"}},
        {"cublas", {"kernels/cuda/"}},
        {"dnnl.hpp", {"kernels/cpu/"}},
        {"omp.h", {"kernels/cpu/"}},
        {"immintrin.h", {"kernels/vectors"}},
        {"mpi.h", threads},
        {"thread", threads},
        {"mutex", threads},
        {"shared_mutex", threads},
        {"atomic", threads},
        {"barrier", threads},
        {"latch", threads},
        {"semaphore", threads},
        {"condition_variable", threads},
        {"future", threads},
        {"stop_token", threads},
        {"pthread.h", threads},
        {"sched.h", threads},
        {"sys/", system},
        {"unistd.h", system},
        {"fcntl.h", system},
        {"signal.h", system},
        {"dlfcn.h", system},
    };
    return table;
}

struct BannedHeader {
    const char* header;
    const char* reason;
};

const std::vector<BannedHeader>& banned_headers() {
    static const std::vector<BannedHeader> table = {
        {"format", "fmt is the project's formatter; g++ 12 and clang 14 have no <format>"},
        {"ranges", "clang 14 cannot parse the views of libstdc++ 12, and clang-tidy needs to read the file"},
        {"source_location", "clang 14 does not have it"},
        {"random", "engines and distributions differ between libraries; sim/base/rng.hpp draws"},
        {"cassert", "assert vanishes in Release; REHEARSE_CHECK stays"},
        {"bits/stdc++.h", "includes name what the file uses"},
    };
    return table;
}

bool matches(const std::string& header, const char* row) {
    const std::size_t length = std::strlen(row);
    const bool is_prefix = row[length - 1] == '/' || !std::strcmp(row, "cuda") || !std::strcmp(row, "cublas");
    return is_prefix ? starts_with(header, row) : header == row;
}

bool lies_in(const std::string& path, const std::vector<const char*>& folders) {
    return std::any_of(folders.begin(), folders.end(), [&](const char* folder) { return starts_with(path, folder); });
}

std::string join(const std::vector<const char*>& folders) {
    std::string text;
    for (const char* folder : folders) text += (text.empty() ? "" : ", ") + std::string(folder);
    return text.empty() ? "tests/" : text;
}

void check_own(const SourceFile& file, int line, const std::string& header, const std::set<std::string>& known,
               Findings& findings) {
    if (header == "rehearse_commit.hpp" && file.path == "scenarios/installation.cpp") return;  // made by the build
    if (known.count(header) == 0) {
        findings.push_back({file.path, line, "\"" + header + "\" is not a file of the tree",
                            "own headers are included by their path from the root, so that one name means one file"});
        return;
    }
    const auto layer = std::find_if(layers().begin(), layers().end(),
                                    [&](const Layer& candidate) { return starts_with(file.path, candidate.folder); });
    if (layer == layers().end()) return;
    if (!lies_in(header, layer->sees)) {
        findings.push_back({file.path, line, std::string(layer->folder) + " may not see \"" + header + "\"",
                            "the include direction keeps every folder testable without those above it"});
    }
    const std::size_t detail = header.find("detail/");
    const bool is_outside = detail != header.npos && !starts_with(file.path, header.substr(0, detail));
    if (is_outside && !starts_with(file.path, "tests/")) {
        findings.push_back({file.path, line, "\"" + header + "\" is another folder's detail",
                            "detail/ may change without notice to anyone outside"});
    }
}

void check_guest(const SourceFile& file, int line, const std::string& header, Findings& findings) {
    for (const BannedHeader& banned : banned_headers()) {
        if (header == banned.header) findings.push_back({file.path, line, "<" + header + "> is banned", banned.reason});
    }
    if (starts_with(file.path, "tests/")) return;
    const auto guest = std::find_if(guests().begin(), guests().end(),
                                    [&](const Guest& candidate) { return matches(header, candidate.header); });
    if (guest != guests().end()) {
        if (lies_in(file.path, guest->hosts)) return;
        findings.push_back({file.path, line, "<" + header + "> belongs in " + join(guest->hosts),
                            "a dependency that one folder sees can be replaced in one folder"});
    } else if (header.find_first_of("./") != header.npos) {
        findings.push_back({file.path, line, "<" + header + "> is not in the list of third-party headers",
                            "a dependency is a decision: give it a row and a folder in tests/tidy/include_rules.cpp"});
    }
}

}  // namespace

Findings check_includes(const SourceFile& file, const std::set<std::string>& known) {
    Findings findings;
    if (language_of(file.path) != Language::cpp) return findings;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        std::string_view text = trim(file.code[i]);
        if (text.empty() || text.front() != '#' || find_word(text, "include") == text.npos) continue;
        text = file.lines[i];  // the name is a literal, so it is blank in the code
        const std::size_t open = text.find_first_of("\"<");
        const std::size_t close = open == text.npos ? open : text.find_first_of("\">", open + 1);
        if (close == text.npos) continue;
        const std::string header(text.substr(open + 1, close - open - 1));
        const int line = static_cast<int>(i) + 1;
        if (text[open] == '"') check_own(file, line, header, known, findings);
        else check_guest(file, line, header, findings);
    }
    return findings;
}

}  // namespace rehearse::tidy
