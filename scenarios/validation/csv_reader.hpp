// A file of comma-separated values as other tools write it: a header line that names the columns, in any order; cells
// in quotes or not, with blanks around them or not; a byte-order mark, CRLF and empty lines are passed over.
//
//     FaultList faults;
//     const CsvReader csv("steps.csv", {"gpus", "time_ns"}, faults);
//     for (const CsvRow& row : csv.rows()) use(csv.whole(row, 0), csv.positive(row, 1));
//     faults.throw_if_any();
//
// Faults are located at line and column of the cell. A file that cannot be read, or lacks a column, has no rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/fault.hpp"

namespace rehearse {

struct CsvCell {
    std::string text;
    int column = 0;  // of its first character in the line, one-based
};

struct CsvRow {
    int line = 0;  // in the file, one-based
    std::vector<CsvCell> cells;
};

class CsvReader {
public:
    // `columns`: those that are read; the file may have others. `faults` must outlive the reader.
    CsvReader(std::string path, std::vector<std::string> columns, FaultList& faults);

    const std::vector<CsvRow>& rows() const { return rows_; }  // each with one cell per column, in the order asked for

    // The cell as a number > 0; the second as a whole one. A fault, and 1, where it is none or larger than `most`.
    double positive(const CsvRow& row, std::size_t column, double most = 1e9) const;
    std::int64_t whole(const CsvRow& row, std::size_t column, double most = 1e9) const;

    // A fault at a cell of the row.
    void fault(const CsvRow& row, std::size_t column, std::string wrong, std::string expected,
               std::string todo = "") const;
    // A fault of the file as a whole.
    void fault(std::string wrong, std::string expected, std::string todo = "") const;

private:
    std::vector<CsvCell> split(const std::string& line, int number) const;
    bool find_columns(const std::vector<CsvCell>& header);
    void add_row(const std::vector<CsvCell>& cells, int line);

    std::string path_;
    std::vector<std::string> columns_;
    FaultList& faults_;
    std::vector<std::size_t> positions_;  // of the columns in the file
    std::vector<CsvRow> rows_;
};

}  // namespace rehearse
