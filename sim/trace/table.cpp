#include "sim/trace/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/checks.hpp"
#include "sim/trace/csv_writer.hpp"

namespace rehearse {

namespace {

bool number_like(const std::string& cell) {
    if (cell.empty() || cell == "-" || cell == "nan" || cell == "inf") return true;
    const std::size_t sign = cell[0] == '-' || cell[0] == '+' ? 1 : 0;
    return cell.size() > sign && cell[sign] >= '0' && cell[sign] <= '9';
}

std::size_t width_of(const std::string& text) {
    // Bytes 10xxxxxx continue a code point.
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

struct Column {
    std::size_t width = 0;
    bool right = true;
};

std::string pad(const std::string& text, const Column& column) {
    const std::string blanks(column.width - std::min(column.width, width_of(text)), ' ');
    return column.right ? blanks + text : text + blanks;
}

std::string markdown_cell(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string join_line(const std::vector<std::string>& cells, const std::vector<Column>& columns, TableFormat format) {
    const bool markdown = format == TableFormat::markdown;
    std::string line = markdown ? "| " : "";
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) line += markdown ? " | " : "  ";
        line += pad(cells[i], columns[i]);
    }
    if (markdown) line += " |";
    else line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
    return line;
}

}  // namespace

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
    REHEARSE_CHECK(cells.size() == columns_.size(),
                   fmt::format("a row of {} cells under {} columns", cells.size(), columns_.size()));
    rows_.push_back(std::move(cells));
}

std::string Table::render_aligned(TableFormat format) const {
    std::vector<std::vector<std::string>> lines{columns_};
    lines.insert(lines.end(), rows_.begin(), rows_.end());
    std::vector<Column> columns(columns_.size());
    for (std::size_t row = 0; row < lines.size(); ++row) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            std::string& cell = lines[row][i];
            if (format == TableFormat::markdown) cell = markdown_cell(cell);
            columns[i].width = std::max(columns[i].width, width_of(cell));
            if (row > 0) columns[i].right = columns[i].right && number_like(cell);
        }
    }
    std::vector<std::string> rule;
    for (Column& column : columns) {
        if (format == TableFormat::markdown) column.width = std::max<std::size_t>(column.width, 3);
        rule.emplace_back(column.width, '-');
        if (format == TableFormat::markdown && column.right) rule.back().back() = ':';
    }
    std::string text = join_line(lines[0], columns, format) + join_line(rule, columns, format);
    for (std::size_t row = 1; row < lines.size(); ++row) text += join_line(lines[row], columns, format);
    return text;
}

std::string Table::render(TableFormat format) const {
    if (format != TableFormat::csv) return render_aligned(format);
    std::string text;
    const auto add_line = [&](const std::vector<std::string>& cells) {
        for (std::size_t i = 0; i < cells.size(); ++i)
            text += fmt::format("{}{}", i == 0 ? "" : ",", csv_cell(cells[i]));
        text += '\n';
    };
    add_line(columns_);
    for (const auto& row : rows_) add_line(row);
    return text;
}

}  // namespace rehearse
