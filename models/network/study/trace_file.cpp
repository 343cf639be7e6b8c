#include "models/network/study/trace_file.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace rehearse {

namespace {

struct Column {
    const char* name;
    std::int64_t most;
};
constexpr std::array<Column, 4> columns{Column{"source", 1 << 24}, Column{"destination", 1 << 24},
                                        Column{"bytes", std::int64_t{1} << 50}, Column{"start", std::int64_t{1} << 60}};

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

class LineReader {
public:
    LineReader(const std::string& file, int line, FaultList& faults) : file_(file), line_(line), faults_(faults) {}

    // The four numbers of a line; a fault at the first cell that is none.
    bool read(std::string_view text, std::array<std::int64_t, 4>& numbers) {
        std::size_t begin = 0;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const std::size_t end = std::min(text.find(',', begin), text.size());
            const std::string_view cell = trimmed(text.substr(begin, end - begin));
            const auto [last, error] = std::from_chars(cell.data(), cell.data() + cell.size(), numbers[i]);
            if (cell.empty() || error != std::errc{} || last != cell.data() + cell.size())
                return fault(begin, columns[i].name, in_quotes(cell) + " is no whole number",
                             "source,destination,bytes,start in ps");
            if (numbers[i] < 0 || numbers[i] > columns[i].most)
                return fault(begin, columns[i].name, std::string(cell) + " is out of range",
                             "0 to " + std::to_string(columns[i].most));
            if (end == text.size() && i + 1 < columns.size())
                return fault(end, columns[i + 1].name, "the line ends too early", "four numbers");
            begin = end + 1;
        }
        if (begin <= text.size()) return fault(begin, "", "the line has more than four cells", "four numbers");
        return true;
    }
    bool fault(std::size_t at, const char* key, std::string wrong, std::string expected) {
        faults_.add({{file_, line_, static_cast<int>(at) + 1}, key, std::move(wrong), std::move(expected), ""});
        return false;
    }

private:
    const std::string& file_;
    int line_;
    FaultList& faults_;
};

}  // namespace

std::vector<TraceFlow> parse_trace(const std::string& text, const std::string& file, FaultList& faults) {
    std::vector<TraceFlow> flows;
    int number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line(text.data() + begin, end - begin);
        begin = end + 1;
        ++number;
        const std::string_view content = trimmed(line);
        const bool is_header = number == 1 && content == "src,dst,bytes,start_ps";
        if (content.empty() || content.front() == '#' || is_header) continue;
        std::array<std::int64_t, 4> n{};
        LineReader reader(file, number, faults);
        if (!reader.read(line, n)) continue;
        if (n[0] == n[1]) {
            reader.fault(0, "destination", "a flow to its own source", "two GPUs");
            continue;
        }
        flows.push_back({static_cast<std::uint32_t>(n[0]), static_cast<std::uint32_t>(n[1]), Bytes{n[2]},
                         SimTime{n[3]}});
    }
    if (flows.empty() && faults.empty()) faults.add({{file, 0, 0}, "", "the trace has no flow", "one a line", ""});
    return flows;
}

}  // namespace rehearse
