#include "sim/trace/csv_writer.hpp"

#include "sim/base/checks.hpp"
#include "sim/trace/output_error.hpp"

namespace rehearse {

std::string csv_cell(std::string_view text) {
    const bool edge_blank = !text.empty() && (text.front() == ' ' || text.back() == ' ');
    if (text.find_first_of(",\"\r\n") == std::string_view::npos && !edge_blank) return std::string(text);
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
    return out;
}

CsvWriter::CsvWriter(const std::string& path, const std::vector<std::string>& columns)
    : path_(path), columns_(columns.size()), file_(path, std::ios::binary | std::ios::trunc) {
    if (!file_) throw OutputError(fmt::format("cannot open {}", path_));
    row_of(columns);
}

void CsvWriter::row_of(const std::vector<std::string>& cells) {
    REHEARSE_CHECK(cells.size() == columns_, fmt::format("a row of {} cells under {} columns", cells.size(), columns_));
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) line += ',';
        line += csv_cell(cells[i]);
    }
    line += '\n';
    file_ << line;
}

void CsvWriter::close() {
    file_.close();
    if (!file_) throw OutputError(fmt::format("cannot write {}", path_));
}

}  // namespace rehearse
