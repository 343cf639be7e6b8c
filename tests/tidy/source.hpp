// A source file as the house rules see it: the raw lines, the code alone, and the comments alone.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rehearse::tidy {

struct SourceFile {
    std::string path;                   // relative to the root, with '/'
    std::vector<std::string> lines;     // as written, without the line end
    std::vector<std::string> code;      // same lines; comments and the insides of literals are blanks
    std::vector<std::string> comments;  // same lines; everything but the text of comments is blanks
};

enum class Language { cpp, python, text };

Language language_of(std::string_view path);  // by suffix: .cpp .hpp .cu .cuh | .py | the rest

// Splits `text`; for C++ also separates code from comments and literals (raw strings and 1'000 included).
SourceFile make_source(std::string path, std::string_view text);

// Every text file of the project below root, ordered by path. Build folders, results, hidden folders other than .ci and
// files of measurements (.csv, .txt beside them) are left out.
std::vector<SourceFile> read_tree(const std::filesystem::path& root);

bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);
std::string_view trim(std::string_view text);

// Position of `word` in `line` from `from` on, where it does not touch another identifier character; npos when absent.
std::size_t find_word(std::string_view line, std::string_view word, std::size_t from = 0);

}  // namespace rehearse::tidy
