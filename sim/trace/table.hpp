// A small table for people, documents or programs: aligned text, Markdown or CSV.
//
//     Table table({"gpus", "step", "mfu"});
//     table.add({"12288", "6.34 s", "55.2 %"});
//     fmt::print("{}", table.render(TableFormat::text));
//
// A column is aligned to the right when each of its cells is empty, "-" or begins like a number. Width is counted in
// code points of UTF-8. A row with another number of cells than the header is an InvariantBroken error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rehearse {

enum class TableFormat : std::uint8_t { text, markdown, csv };

class Table {
public:
    explicit Table(std::vector<std::string> columns);
    void add(std::vector<std::string> cells);
    std::size_t rows() const { return rows_.size(); }
    std::string render(TableFormat format) const;

private:
    std::string render_aligned(TableFormat format) const;

    std::vector<std::string> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace rehearse
