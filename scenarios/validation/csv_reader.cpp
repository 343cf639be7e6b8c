#include "scenarios/validation/csv_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

#include "sim/base/nearest.hpp"

namespace rehearse {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf", blanks = " \t\r";

int column_of(std::size_t at) { return static_cast<int>(at) + 1; }

}  // namespace

CsvReader::CsvReader(std::string path, std::vector<std::string> columns, FaultList& faults)
    : path_(std::move(path)), columns_(std::move(columns)), faults_(faults) {
    std::ifstream file(path_);
    std::string line;
    if (!std::getline(file, line)) {
        const bool empty = file.is_open() && file.eof();
        const std::string expected = fmt::format("a CSV file whose first line names {}", fmt::join(columns_, ", "));
        fault(empty ? "the file is empty" : "the file cannot be read", expected, "check the path");
        return;
    }
    if (line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    if (!find_columns(split(line, 1))) return;
    for (int number = 2; std::getline(file, line); ++number) {
        if (line.find_first_not_of(blanks) != line.npos) add_row(split(line, number), number);
    }
}

// RFC 4180, less tolerance for breaks inside of quotes: "" is a quote within quotes.
std::vector<CsvCell> CsvReader::split(const std::string& line, int number) const {
    std::vector<CsvCell> cells;
    for (std::size_t at = 0; at <= line.size(); ++at) {
        at = std::min(line.find_first_not_of(blanks, at), line.size());
        CsvCell cell{"", column_of(at)};
        if (at < line.size() && line[at] == '"') {
            for (++at; at < line.size() && (line[at] != '"' || line.substr(at, 2) == "\"\""); ++at) {
                if (line[at] == '"') ++at;
                cell.text += line[at];
            }
            if (at == line.size())
                faults_.add({{path_, number, cell.column}, "", "a quote is opened and not closed in its line", "", ""});
            ++at;
        }
        const std::size_t end = std::min(line.find(',', std::min(at, line.size())), line.size());
        if (at < end) cell.text += line.substr(at, end - at);
        cell.text.erase(cell.text.find_last_not_of(blanks) + 1);
        cells.push_back(std::move(cell));
        at = end;
    }
    return cells;
}

bool CsvReader::find_columns(const std::vector<CsvCell>& header) {
    std::vector<std::string> names;
    for (const CsvCell& cell : header) names.push_back(cell.text);
    bool complete = true;
    for (const std::string& column : columns_) {
        const auto at = std::find(names.begin(), names.end(), column);
        positions_.push_back(static_cast<std::size_t>(at - names.begin()));
        if (at != names.end() && std::find(at + 1, names.end(), column) == names.end()) continue;
        complete = false;
        const std::string near = at == names.end() ? nearest_word(column, names) : "";
        faults_.add({{path_, 1, 1}, column, at == names.end() ? "column is missing" : "column stands twice",
                     "each column once", near.empty() ? "name it in the first line"
                                                      : fmt::format("is it {}?", in_quotes(near))});
    }
    return complete;
}

void CsvReader::add_row(const std::vector<CsvCell>& cells, int line) {
    CsvRow row{line, {}};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (positions_[i] < cells.size()) {
            row.cells.push_back(cells[positions_[i]]);
        } else {
            faults_.add({{path_, line, 1}, columns_[i], "cell is missing", "", "give every column a value"});
        }
    }
    if (row.cells.size() == columns_.size()) rows_.push_back(std::move(row));
}

double CsvReader::positive(const CsvRow& row, std::size_t column, double most) const {
    const std::string& text = row.cells[column].text;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value > 0 && value <= most) return value;
    fault(row, column, fmt::format("{} is not a positive number", in_quotes(text)),
          fmt::format("more than 0, at most {:g}", most));
    return 1;
}

std::int64_t CsvReader::whole(const CsvRow& row, std::size_t column, double most) const {
    const double value = positive(row, column, most);
    if (value == std::floor(value)) return static_cast<std::int64_t>(value);
    fault(row, column, fmt::format("{} is not a whole number", in_quotes(row.cells[column].text)), "1, 2, ...");
    return 1;
}

void CsvReader::fault(const CsvRow& row, std::size_t column, std::string wrong, std::string expected,
                      std::string todo) const {
    faults_.add({{path_, row.line, row.cells[column].column}, columns_[column], std::move(wrong), std::move(expected),
                 std::move(todo)});
}

void CsvReader::fault(std::string wrong, std::string expected, std::string todo) const {
    faults_.add({{path_, 0, 0}, "", std::move(wrong), std::move(expected), std::move(todo)});
}

}  // namespace rehearse
