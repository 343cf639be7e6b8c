#include <algorithm>
#include <string_view>

#include "tests/tidy/rules.hpp"

namespace rehearse::tidy {

namespace {

struct Banned {
    const char* word;
    const char* reason;
    std::vector<const char*> except;  // path prefixes that may use it
};

const std::vector<Banned>& banned_in_code() {
    static const char* const draws = "a draw is a function of seed, stream and entity: use Stream of sim/base/rng.hpp";
    static const char* const clang = "clang 14 with libstdc++ 12 cannot parse it, and clang-tidy has to";
    static const char* const clock = "a result depends on scenario, seed and commit, never on the time of day";
    static const std::vector<Banned> table = {
        {"rand(", draws, {}},
        {"srand(", draws, {}},
        {"drand48(", draws, {}},
        {"random_device", draws, {}},
        {"std::mt19937", draws, {}},
        {"std::mt19937_64", draws, {}},
        {"std::default_random_engine", draws, {}},
        {"std::shuffle", "its order differs between standard libraries", {}},
        {"std::sample", "its choice differs between standard libraries", {}},
        {"std::chrono::system_clock", clock, {"scenarios/main", "scenarios/results", "scenarios/calibrate/run_"}},
        {"gettimeofday", clock, {}},
        {"time(nullptr)", clock, {}},
        {"std::format", "fmt is the project's formatter; g++ 12 has no std::format", {}},
        {"std::views", clang, {}},
        {"std::ranges::views", clang, {}},
        {"std::source_location", clang, {}},
        {"assert(", "assert vanishes in Release; REHEARSE_CHECK stays", {}},
        {"thread_local", "state has one owner, and it is not a thread", {}},
        {"goto", "the house has no jumps", {}},
        {"reinterpret_cast", "the type system is the first test", {"sim/trace/", "kernels/", "scenarios/"}},
    };
    return table;
}

bool is_exempt(const SourceFile& file, const Banned& banned) {
    return std::any_of(banned.except.begin(), banned.except.end(),
                       [&](const char* prefix) { return starts_with(file.path, prefix); });
}

void add(Findings& findings, const SourceFile& file, std::size_t index, std::string wrong, std::string reason) {
    findings.push_back({file.path, static_cast<int>(index) + 1, std::move(wrong), std::move(reason)});
}

// The name of the container declared on a line, "" when the line declares none: std::unordered_map<K, V> name_;
std::string declared_name(std::string_view code) {
    const std::size_t close = code.rfind('>');
    if (close == code.npos) return "";
    std::string name;
    for (char c : trim(code.substr(close + 1))) {
        const bool is_part = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!is_part) break;
        name += c;
    }
    return name;
}

bool iterates(std::string_view code, const std::string& name) {
    if (find_word(code, name + ".begin()") != code.npos) return true;
    const std::size_t loop = find_word(code, "for");
    const std::size_t colon = loop == code.npos ? code.npos : code.find(" : ", loop);
    if (colon == code.npos) return false;
    const std::string_view range = trim(code.substr(colon + 3));
    return starts_with(range, name) && range.substr(name.size(), 1) == ")";
}

// A pointer as the key: the order of such a container is the order of addresses.
bool orders_by_address(std::string_view code) {
    for (const char* container : {"std::map<", "std::set<", "std::multimap<", "std::multiset<"}) {
        const std::size_t at = code.find(container);
        if (at == code.npos) continue;
        const std::string_view key = code.substr(at + std::string_view(container).size());
        if (key.substr(0, key.find_first_of(",>")).find('*') != key.npos) return true;
    }
    return false;
}

// "Bytes left = ..." assigns; "the way down = ..." is a sentence.
bool assigns(std::string_view text) {
    const std::string_view left = text.substr(0, std::min(text.find(" = "), text.size()));
    const bool is_prose = left.size() == text.size() || text.find(". ") != text.npos;
    return !is_prose && std::count(left.begin(), left.end(), ' ') <= 1 &&
           left.find_first_of(",;()+") == left.npos;
}

bool looks_like_code(std::string_view text) {
    if (text.empty()) return false;
    for (const char* start : {"#include ", "return ", "if (", "for (", "while (", "} else"}) {
        if (starts_with(text, start) && (text.back() == ';' || text.back() == '{' || text[0] == '#')) return true;
    }
    if (text == "}" || text == "};") return true;
    if (text.back() != ';') return false;
    const std::size_t call = text.find('(');
    const bool calls = call != text.npos && call > 0 && text[call - 1] != ' ' && text[text.size() - 2] == ')';
    return calls || assigns(text) || starts_with(text, "std::");
}

}  // namespace

Findings check_layout(const SourceFile& file) {
    Findings findings;
    const bool tabs_are_syntax = ends_with(file.path, "Makefile");
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        const std::string& line = file.lines[i];
        if (!tabs_are_syntax && line.find('\t') != line.npos) add(findings, file, i, "tab", "a tab's width is a guess");
        if (!line.empty() && line.back() == '\r') add(findings, file, i, "carriage return", "lines end in one newline");
        else if (!line.empty() && line.back() == ' ') add(findings, file, i, "trailing blank", "invisible differences");
    }
    return findings;
}

Findings check_constructs(const SourceFile& file) {
    Findings findings;
    if (language_of(file.path) != Language::cpp) return findings;
    const bool is_test = starts_with(file.path, "tests/");
    for (std::size_t i = 0; i < file.code.size(); ++i) {
        const std::string& code = file.code[i];
        for (const Banned& banned : banned_in_code()) {
            if (find_word(code, banned.word) != code.npos && !is_exempt(file, banned)) {
                add(findings, file, i, std::string(banned.word) + " is banned", banned.reason);
            }
        }
        if (find_word(code, "using namespace") != code.npos && !(is_test && ends_with(file.path, ".cpp"))) {
            add(findings, file, i, "using namespace", "a reader sees where a name comes from");
        }
        if (code.find("_distribution<") != code.npos) {
            add(findings, file, i, "a distribution of the standard library", "its values differ between libraries");
        }
        if (orders_by_address(code)) {
            add(findings, file, i, "a pointer as the key of an ordered container", "addresses differ from run to run");
        }
    }
    return findings;
}

Findings check_unordered(const SourceFile& file) {
    Findings findings;
    if (language_of(file.path) != Language::cpp) return findings;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < file.code.size(); ++i) {
        if (file.code[i].find("std::unordered_") == std::string::npos) continue;
        const bool said = file.comments[i].find("lookup only") != std::string::npos ||
                          (i > 0 && file.comments[i - 1].find("lookup only") != std::string::npos);
        if (!said) {
            add(findings, file, i, "an unordered container without \"// lookup only\" on its line or the one above",
                "its order differs between libraries, so nothing may ever walk it");
        }
        if (std::string name = declared_name(file.code[i]); !name.empty()) names.push_back(std::move(name));
    }
    for (std::size_t i = 0; i < file.code.size(); ++i) {
        for (const std::string& name : names) {
            if (iterates(file.code[i], name)) {
                add(findings, file, i, "walks the unordered container " + name, "its order differs between libraries");
            }
        }
    }
    return findings;
}

Findings check_parameters(const SourceFile& file) {
    Findings findings;
    if (!ends_with(file.path, ".hpp") || starts_with(file.path, "tests/")) return findings;
    int depth = 0;
    char before = ' ';  // the last character that is not a blank
    for (std::size_t i = 0; i < file.code.size(); ++i) {
        const std::string& code = file.code[i];
        for (std::size_t k = 0; k < code.size(); ++k) {
            const bool is_parameter = depth > 0 && (before == '(' || before == ',') && find_word(code, "bool ", k) == k;
            const char next = is_parameter && k + 5 < code.size() ? code[k + 5] : ' ';
            if ((next >= 'a' && next <= 'z') || next == '_') {
                add(findings, file, i, "a boolean parameter", "f(true, false) says nothing: use an enum, or Switch");
            }
            if (code[k] == '(') ++depth;
            if (code[k] == ')') --depth;
            if (code[k] != ' ') before = code[k];
        }
    }
    return findings;
}

Findings check_comments(const SourceFile& file) {
    Findings findings;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        for (const char* word : {"TO"
                                 "DO",
                                 "FIX"
                                 "ME",
                                 "XX"
                                 "X"}) {
            if (find_word(file.lines[i], word) != std::string::npos) {
                add(findings, file, i, std::string(word) + " left in", "a README says what is missing, and its effect");
            }
        }
        const std::string_view text = i < file.comments.size() ? trim(file.comments[i]) : std::string_view{};
        const bool is_alone = starts_with(text, "//") && trim(file.code[i]).empty();
        // An example in a contract is indented below its sentence; disabled code keeps one blank at most.
        const bool is_example = starts_with(text, "//  ") || text.find("Example:") != text.npos;
        if (is_alone && !is_example && looks_like_code(trim(text.substr(2)))) {
            add(findings, file, i, "commented-out code", "git remembers it; indent it if it is an example");
        }
    }
    return findings;
}

Findings check_paths(const SourceFile& file) {
    Findings findings;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        std::string line = file.lines[i];
        const std::string data =
            "../"
            "shared/data";  // the one place outside the tree with a name: measured tables
        for (std::size_t at = line.find(data); at != line.npos; at = line.find(data)) line.erase(at, data.size());
        for (const char* path : {"/wo"
                                 "rk/",
                                 "../"
                                 "shared/",
                                 "/ho"
                                 "me/",
                                 "/ro"
                                 "ot/",
                                 "/tm"
                                 "p/build"}) {
            if (line.find(path) != std::string::npos) {
                add(findings, file, i, std::string("the path ") + path, "it exists on one machine only");
            }
        }
    }
    return findings;
}

}  // namespace rehearse::tidy
