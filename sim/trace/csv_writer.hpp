// Comma-separated values as RFC 4180 has them: one header row, a dot as decimal point, cells in quotes where needed.
//
//     CsvWriter csv(folder.file("links.csv"), {"link", "bytes", "utilisation_ratio"});
//     csv.row("leaf 0 -> spine 3", 4096, 0.25);
//     csv.close();
//
// Reals are written with the fewest digits that read back equal. Errors: OutputError; a row whose number of cells
// differs from the header is an InvariantBroken error.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rehearse {

std::string csv_cell(std::string_view text);

class CsvWriter {
public:
    CsvWriter(const std::string& path, const std::vector<std::string>& columns);

    template <class... Cells>
    void row(const Cells&... cells) {
        row_of({text_of(cells)...});
    }
    void row_of(const std::vector<std::string>& cells);
    void close();

private:
    template <class T>
    static std::string text_of(const T& cell) {
        if constexpr (std::is_arithmetic_v<T>) return fmt::format("{}", cell);
        else return std::string(cell);
    }

    std::string path_;
    std::size_t columns_;
    std::ofstream file_;
};

}  // namespace rehearse
