// Logs of nccl-tests, as people paste them: from any version, with what other programs print before and between.
//
//     NcclLog log = parse_nccl_log(text, "allreduce.log", {});
//     for (const NcclRun& run : log.runs) use(run.collective, run.gpus, run.rows);
//     if (log.rows() == 0) throw InputError({no_row_fault(log, text)});
//
// A row is kept as printed or not at all: a line that looks like a row and is none stands in `unparsed` with the
// reason; one whose figures contradict each other is kept and stands in `findings`. Nothing is corrected or made up. A
// row that messages of NCCL have torn apart is joined again where its rates then agree with its time.
//
// Definitions (nccl-tests, doc/PERFORMANCE.md): algbw = size / time, busbw = algbw x a factor of the collective:
// 2 (n-1)/n of all_reduce, (n-1)/n of all_gather, reduce_scatter, alltoall, gather and scatter, else 1. Before 2020
// all_gather and reduce_scatter printed size (n-1)/n / time as both (AlgbwDefinition::moved).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/fault.hpp"

namespace rehearse {

// A figure and half a unit of its last printed digit: "0.27" is 0.27 +- 0.005.
struct Printed {
    double value = 0;
    double half = 0;
    friend bool operator==(const Printed&, const Printed&) = default;
};

// One half of a row: out-of-place or in-place.
struct NcclSide {
    Printed time_us;
    Printed algbw, busbw;         // GB/s
    std::optional<double> wrong;  // column #wrong (elements) or error (relative); none: N/A or no such column
    friend bool operator==(const NcclSide&, const NcclSide&) = default;
};

struct NcclRow {  // one size measured
    int line = 0;
    std::int64_t size = 0;    // bytes
    std::int64_t count = 0;   // elements
    std::string type, redop;  // redop "": no such column, or blank
    std::optional<std::int64_t> root;
    std::optional<NcclSide> out_of_place, in_place;  // at least one
    friend bool operator==(const NcclRow&, const NcclRow&) = default;
};

enum class AlgbwDefinition : std::uint8_t { size, moved };
// Where a run's collective, GPUs or nodes come from.
enum class NcclOrigin : std::uint8_t { unknown, stated, rows, hint, file_name };

struct GpuRange {  // both ends belong to it; low > high: none
    std::int64_t low = 1;
    std::int64_t high = std::numeric_limits<std::int64_t>::max();
};

// Rows of one output, of one collective on one set of GPUs.
struct NcclRun {
    int line = 0;                        // of the first row
    std::string collective = "unknown";  // "all_reduce", ...
    NcclOrigin collective_from = NcclOrigin::unknown;
    std::optional<std::int64_t> gpus, nodes;
    GpuRange gpus_that_fit;  // the rows
    NcclOrigin gpus_from = NcclOrigin::unknown, nodes_from = NcclOrigin::unknown;
    std::string device;            // as the lines "# Rank" name it, "" = they don't
    std::string version, library;  // of nccl-tests and NCCL, "" = not stated
    AlgbwDefinition definition = AlgbwDefinition::size;
    std::int64_t parts = 0;  // size / (count x bytes of an element); 0: only zero-size rows
    std::vector<NcclRow> rows;
};

struct NcclNote {
    int line = 0;
    std::string reason;
    std::string text;  // of the line, "" where the reason says all
};

struct NcclLog {
    std::string file;
    std::vector<NcclRun> runs;  // by first row
    std::vector<NcclNote> unparsed, findings;
    std::vector<int> headers;  // lines at which a table begins

    std::size_t rows() const;
};

// What the caller knows. Used where the log itself doesn't tell; contradictions become findings.
struct NcclHints {
    std::optional<std::int64_t> gpus, nodes;
    std::string collective;
};

// Never fails. `file` names the log in messages, and its own name is the last hint ("all_reduce_16xh100_2n.txt").
NcclLog parse_nccl_log(std::string_view text, const std::string& file, const NcclHints& hints);

// Why a log without rows has none: empty, compressed, binary, a run that failed, a table cut before its first row.
Fault no_row_fault(const NcclLog& log, std::string_view text);

const std::vector<std::string>& nccl_collectives();  // the names that nccl-tests has programs for

}  // namespace rehearse
