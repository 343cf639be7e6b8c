// Published tables (tests/validation/*.yaml): rows with their source, what they may be used for and the allowed error.
//
//     suite: megascale
//     title: ...
//     rows:
//       - {scenario: megascale_175b_256, step: 32.0 s, mfu: 65.3 %, use: fit, band: 3 %, source: "NSDI'24, table 2"}
//       - {scenario: megascale_175b_512}        # no figure is held: the prediction is printed alone
//     ratios:                                   # step of `slower` over step of `faster`, both rows of this table
//       - {slower: megatron_175b_12288, faster: megascale_175b_12288, ratio: 1.35, band: 0.04, source: "..."}
//     figures:                                  # of a step, other than its time; `least` instead of a band: at least
//       - {scenario: deepseek_v3_2048, quantity: bubble, unit: s, value: 2.06, band: 10 %, source: "..."}
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace rehearse {

enum class PublishedUse : std::uint8_t { none, fit, predict };

struct PublishedRow {
    std::string scenario;                  // name of a library scenario
    std::optional<double> step_s;
    std::optional<double> mfu;             // fraction
    PublishedUse use = PublishedUse::none;
    std::optional<double> band;            // allowed relative error of the step time
    std::optional<double> mfu_band;        // allowed error of MFU, absolute fraction
    std::string source;
};

struct PublishedRatio {
    std::string slower, faster;  // scenarios
    double ratio = 0, band = 0;  // allowed error, absolute
    std::string source;
};

struct PublishedFigure {
    std::string scenario, quantity, unit;
    std::optional<double> value;   // nothing: only predicted
    std::optional<double> band;    // allowed relative error
    std::optional<double> least;   // allowed from here on
    std::string source;
};

struct PublishedTable {
    std::string suite, title;
    std::vector<PublishedRow> rows;
    std::vector<PublishedRatio> ratios;
    std::vector<PublishedFigure> figures;
};

PublishedTable read_published(const std::string& path);

// File name of measured steps -> allowed mean absolute relative error (`bands: [{file: a.csv, mape: 5 %}]`).
std::map<std::string, double> read_error_bands(const std::string& path);

// The same without the rows that no figure is held for, neither a step nor a ratio.
PublishedTable held_rows(PublishedTable table);

}  // namespace rehearse
