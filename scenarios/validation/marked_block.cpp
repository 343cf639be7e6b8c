#include "scenarios/validation/marked_block.hpp"

#include <fmt/format.h>

#include "scenarios/text_file.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

struct Marker {
    std::string text;
    int line = 0;          // 0: not found
    std::size_t from = 0;  // of its line
    std::size_t end = 0;   // of its line, the line break included
};

struct Block {
    std::string text;       // of the whole document
    std::size_t from = 0;   // behind the first marker
    std::size_t end = 0;    // before the second
};

void find(const std::string& document, const std::string& path, Marker& marker, FaultList& faults) {
    std::size_t from = 0;
    for (int line = 1; from < document.size(); ++line) {
        const std::size_t end = std::min(document.find('\n', from), document.size() - 1) + 1;
        std::string_view words(document.data() + from, end - from);
        words = words.substr(0, words.find_last_not_of("\r\n") + 1);
        if (words == marker.text && marker.line > 0) {
            faults.add({{path, line, 1}, "", fmt::format("{} stands in line {} already", in_quotes(marker.text),
                                                         marker.line), "each marker once", "remove one"});
        } else if (words == marker.text) {
            marker = {marker.text, line, from, end};
        }
        from = end;
    }
    if (marker.line == 0)
        faults.add({{path, 0, 0}, "", fmt::format("no line {}", in_quotes(marker.text)),
                    "two markers, with the text to replace between them", "add the line where the text belongs"});
}

Block find_block(const std::string& path, const std::string& name) {
    Block block{read_text(path)};
    Marker begin{fmt::format("<!-- begin {} -->", name)}, end{fmt::format("<!-- end {} -->", name)};
    FaultList faults;
    find(block.text, path, begin, faults);
    find(block.text, path, end, faults);
    if (faults.empty() && end.line < begin.line)
        faults.add({{path, end.line, 1}, "", fmt::format("{} comes before its beginning in line {}",
                                                         in_quotes(end.text), begin.line), "", "swap the two lines"});
    faults.throw_if_any();
    block.from = begin.end;
    block.end = end.from;
    return block;
}

}  // namespace

std::string read_block(const std::string& path, const std::string& name) {
    const Block block = find_block(path, name);
    return block.text.substr(block.from, block.end - block.from);
}

void write_block(const std::string& path, const std::string& name, const std::string& body) {
    const Block block = find_block(path, name);
    const std::string text = block.text.substr(0, block.from) + body + block.text.substr(block.end);
    if (text != block.text) replace_text(path, text);
}

}  // namespace rehearse
