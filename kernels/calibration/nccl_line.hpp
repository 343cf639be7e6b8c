// One line of an nccl-tests log: what stands in front of it taken off, and read as a header or a row.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/calibration/nccl_log.hpp"

namespace rehearse {

struct LogLine {
    std::string tag;                 // of the process: "0:" (srun -l), "[1,0]" (mpirun --tag-output), "" = none
    std::string text;                // the rest, with terminal colours, table bars and no-break spaces made blanks
    std::vector<std::string> words;  // of the rest
};
LogLine split_line(std::string_view raw);

// Where a message of NCCL ("node01:195:195 [0] NCCL INFO ...") begins in the words, if one does; what a row printed
// before it stays, also where no blank stands between ("-1node01:195:195").
struct Message {
    std::vector<std::string> before;
};
std::optional<Message> find_message(const std::vector<std::string>& words);

// The columns that the line "# size count type ... time algbw busbw ..." names.
struct NcclLayout {
    int sides = 2;
    int cells = 4;      // of a side: time, algbw, busbw and, where there is one, #wrong or error
    int root = 0;       // columns
    int timestamp = 0;  // words after the sides
    int error = 0;      // 1: the fourth cell is a relative error, printed with an exponent
};
// None where the line is no header. A header with other columns is none either: its rows are read without.
std::optional<NcclLayout> parse_header(const std::vector<std::string>& words);

enum class LineEnd : unsigned char { whole, cut };  // cut: the text ends here without a line break

struct NoRow {};
struct BrokenRow {
    std::string reason;
    enum class What : unsigned char { wrong, unfinished } what = What::wrong;  // unfinished: sound as far as it goes
};
using RowOutcome = std::variant<NoRow, NcclRow, BrokenRow>;
// Without a layout the columns follow from their number, and the rates must agree with the time.
RowOutcome parse_row(const std::vector<std::string>& words, const std::optional<NcclLayout>& layout, LineEnd end);

// Is this the beginning of a row, up to and with its type?
bool begins_row(const std::vector<std::string>& words);
// Are all words figures or N/A?
bool all_cells(const std::vector<std::string>& words);

std::int64_t element_bytes(std::string_view type);  // 0: no type of nccl-tests
// size / (count x bytes of an element); 0 for a zero-size row, none where it is no whole number.
std::optional<std::int64_t> parts_of(const NcclRow& row);
// Do both sides' algbw agree with the time, under either definition?
bool rates_agree(const NcclRow& row);

}  // namespace rehearse
