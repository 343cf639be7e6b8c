#include "tests/tidy/source.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>

namespace rehearse::tidy {

namespace fs = std::filesystem;

namespace {

bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::vector<std::string> split_lines(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string blanks_of(std::string_view text) {
    std::string blanks(text);
    for (char& c : blanks) {
        if (c != '\n') c = ' ';
    }
    return blanks;
}

// Walks the text once and copies each piece into the layer it belongs to.
class Splitter {
public:
    explicit Splitter(std::string_view text) : text_(text), code_(blanks_of(text)), comments_(code_) {}

    void run() {
        while (at_ < text_.size()) {
            if (looking_at("//")) {
                copy_comment(std::min(text_.find('\n', at_), text_.size()));
            } else if (looking_at("/*")) {
                const std::size_t end = text_.find("*/", at_ + 2);
                copy_comment(end == text_.npos ? text_.size() : end + 2);
            } else if (looking_at("R\"") && (at_ == 0 || !is_identifier(text_[at_ - 1]))) {
                skip_raw_string();
            } else if (text_[at_] == '"' || (text_[at_] == '\'' && !is_digit_separator())) {
                skip_literal(text_[at_]);
            } else {
                copy_code();
            }
        }
    }
    const std::string& code() const { return code_; }
    const std::string& comments() const { return comments_; }

private:
    bool looking_at(std::string_view piece) const { return text_.substr(at_, piece.size()) == piece; }

    bool is_digit_separator() const {
        std::size_t begin = at_;
        while (begin > 0 && (is_identifier(text_[begin - 1]) || text_[begin - 1] == '\'')) --begin;
        return begin < at_ && std::isdigit(static_cast<unsigned char>(text_[begin]));
    }

    void copy_code() {
        code_[at_] = text_[at_];
        ++at_;
    }

    void copy_comment(std::size_t end) {
        for (; at_ < end; ++at_) comments_[at_] = text_[at_];
    }

    void skip_literal(char quote) {
        copy_code();
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
        if (at_ < text_.size()) copy_code();
    }

    void skip_raw_string() {
        const std::size_t open = text_.find('(', at_);
        if (open == text_.npos) return copy_code();
        const std::string close = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
        const std::size_t end = text_.find(close, open);
        code_[at_ + 1] = '"';
        at_ = end == text_.npos ? text_.size() : end + close.size();
        code_[at_ - 1] = '"';
    }

    std::string_view text_;
    std::string code_;
    std::string comments_;
    std::size_t at_ = 0;
};

bool is_looked_at(const fs::path& path) {
    static const std::set<std::string> suffixes = {".cpp", ".hpp",  ".cu",    ".cuh", ".py",
                                                   ".md",  ".yaml", ".cmake", ".json"};
    static const std::set<std::string> names = {"CMakeLists.txt", "Makefile", "run", ".clang-format", ".clang-tidy"};
    return suffixes.count(path.extension().string()) > 0 || names.count(path.filename().string()) > 0;
}

bool is_entered(const fs::path& folder) {
    const std::string name = folder.filename().string();
    return name == ".ci" || (name[0] != '.' && name != "build" && name != "results" && name != "__pycache__");
}

}  // namespace

Language language_of(std::string_view path) {
    for (const char* suffix : {".cpp", ".hpp", ".cu", ".cuh"}) {
        if (ends_with(path, suffix)) return Language::cpp;
    }
    return ends_with(path, ".py") ? Language::python : Language::text;
}

SourceFile make_source(std::string path, std::string_view text) {
    SourceFile file{std::move(path), split_lines(text), {}, {}};
    if (language_of(file.path) != Language::cpp) {
        file.code = file.lines;
        file.comments.assign(file.lines.size(), "");
        return file;
    }
    Splitter splitter(text);
    splitter.run();
    file.code = split_lines(splitter.code());
    file.comments = split_lines(splitter.comments());
    return file;
}

std::vector<SourceFile> read_tree(const fs::path& root) {
    std::vector<SourceFile> files;
    for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
        if (entry->is_directory()) {
            if (!is_entered(entry->path())) entry.disable_recursion_pending();
            continue;
        }
        if (!is_looked_at(entry->path())) continue;
        std::ifstream in(entry->path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        files.push_back(make_source(fs::relative(entry->path(), root).generic_string(), text));
    }
    std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return files;
}

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool ends_with(std::string_view text, std::string_view suffix) {
    return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::string_view trim(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::size_t find_word(std::string_view line, std::string_view word, std::size_t from) {
    for (std::size_t at = line.find(word, from); at != line.npos; at = line.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool free_before = !is_identifier(word.front()) || at == 0 || !is_identifier(line[at - 1]);
        const bool free_after = !is_identifier(word.back()) || end == line.size() || !is_identifier(line[end]);
        if (free_before && free_after) return at;
    }
    return line.npos;
}

}  // namespace rehearse::tidy
