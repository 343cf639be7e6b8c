#include <algorithm>
#include <string_view>

#include "tests/tidy/rules.hpp"

namespace rehearse::tidy {

namespace {

// Finds the outermost function bodies by matching braces. A brace opens a function when the text since the last
// statement has a parameter list and is not a namespace, a type or an initializer.
class FunctionScan {
public:
    explicit FunctionScan(const SourceFile& file) : file_(file) {}

    Findings run() {
        for (std::size_t i = 0; i < file_.code.size(); ++i) {
            line_ = static_cast<int>(i) + 1;
            if (is_preprocessor(i)) continue;
            for (char c : file_.code[i]) step(c);
            head_ += ' ';
        }
        return findings_;
    }

private:
    enum class Block { scope, function, inside, initializer };

    bool is_preprocessor(std::size_t i) {
        const std::string_view text = trim(file_.code[i]);
        const bool is = continued_ || (!text.empty() && text.front() == '#');
        continued_ = is && !text.empty() && text.back() == '\\';
        return is;
    }

    void step(char c) {
        if (c == '{') return open();
        if (c == '}') return close();
        if (c == '(') ++parentheses_;
        if (c == ')') --parentheses_;
        if (c == ';' && parentheses_ == 0) {
            head_.clear();
            return;
        }
        if (trim(head_).empty()) {
            head_.clear();
            head_line_ = line_;
        }
        head_ += c;
    }

    void open() {
        const bool in_function = std::find(blocks_.begin(), blocks_.end(), Block::function) != blocks_.end();
        const Block block = in_function ? Block::inside : kind_of(trim(head_));
        if (block == Block::function) {
            begin_ = head_line_;
            name_ = std::string(trim(head_));
            name_.resize(std::min(name_.size(), name_.find('(')));
        }
        blocks_.push_back(block);
        if (block != Block::initializer) head_.clear();
    }

    void close() {
        if (blocks_.empty()) return;
        const Block block = blocks_.back();
        blocks_.pop_back();
        if (block != Block::initializer) head_.clear();
        const int length = line_ - begin_ + 1;
        if (block == Block::function && length > function_lines_most) {
            findings_.push_back({file_.path, begin_,
                                 std::string(trim(name_)) + " has " + std::to_string(length) + " lines (at most " +
                                     std::to_string(function_lines_most) + ")",
                                 "a function that fits one screen can be checked by reading it once"});
        }
    }

    static Block kind_of(std::string_view head) {
        if (starts_with(head, "template")) return kind_of(trim(after_template(head)));
        const std::size_t parameters = head.find('(');
        for (const char* word : {"namespace", "class", "struct", "union", "enum"}) {
            if (find_word(head, word) < parameters) return Block::scope;
        }
        if (starts_with(head, "extern") && parameters == head.npos) return Block::scope;
        if (head.empty() || head.back() == '=' || parameters == head.npos) return Block::initializer;
        return Block::function;
    }

    static std::string_view after_template(std::string_view head) {
        int depth = 0;
        for (std::size_t i = 0; i < head.size(); ++i) {
            if (head[i] == '<') ++depth;
            if (head[i] == '>' && --depth == 0) return head.substr(i + 1);
        }
        return {};
    }

    const SourceFile& file_;
    Findings findings_;
    std::vector<Block> blocks_;
    std::string head_;
    std::string name_;
    int head_line_ = 1;
    int begin_ = 1;
    int line_ = 1;
    int parentheses_ = 0;
    bool continued_ = false;
};

int code_points(std::string_view line) {
    return static_cast<int>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// The element that a share `q` of the sorted values do not exceed.
int quantile(const std::vector<int>& sorted, double q) {
    const auto index = static_cast<std::size_t>(q * static_cast<double>(sorted.size()));
    return sorted[std::min(index, sorted.size() - 1)];
}

}  // namespace

Findings check_file_length(const SourceFile& file) {
    const int length = static_cast<int>(file.lines.size());
    if (language_of(file.path) == Language::text || length <= file_lines_most) return {};
    return {{file.path, 0, std::to_string(length) + " lines (at most " + std::to_string(file_lines_most) + ")",
             "a file about one thing is short; carve it by meaning"}};
}

Findings check_length_spread(const std::vector<SourceFile>& files) {
    std::vector<int> lengths;
    for (const SourceFile& file : files) {
        if (language_of(file.path) != Language::text) lengths.push_back(static_cast<int>(file.lines.size()));
    }
    if (lengths.empty()) return {};
    std::sort(lengths.begin(), lengths.end());
    Findings findings;
    const auto expect_most = [&](const char* what, int is, int most) {
        if (is > most) {
            findings.push_back({"(tree)", 0,
                                std::string(what) + " file has " + std::to_string(is) + " lines (at most " +
                                    std::to_string(most) + ")",
                                "short files keep the parts of the program apart"});
        }
    };
    expect_most("the median", quantile(lengths, 0.5), file_lines_median);
    expect_most("the ninth-decile", quantile(lengths, 0.9), file_lines_ninth_decile);
    return findings;
}

Findings check_columns(const SourceFile& file) {
    Findings findings;
    // Tables keep one row per line, however long.
    for (const char* table : {".md", ".json", ".yaml"}) {
        if (ends_with(file.path, table)) return findings;
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        const int columns = code_points(file.lines[i]);
        if (columns > columns_most) {
            findings.push_back({file.path, static_cast<int>(i) + 1,
                                std::to_string(columns) + " columns (at most " + std::to_string(columns_most) + ")",
                                "two files fit side by side"});
        }
    }
    return findings;
}

Findings check_functions(const SourceFile& file) {
    if (language_of(file.path) != Language::cpp) return {};
    return FunctionScan(file).run();
}

}  // namespace rehearse::tidy
