// Published tables (tests/validation/*.yaml): rows with their source, what they may be used for and the allowed error.
//
//     suite: megascale
//     title: ...
//     rows:
//       - {scenario: megascale_175b_256, step: 32.0 s, mfu: 65.3 %, use: fit, band: 3 %, source: "NSDI'24, table 2"}
//       - {scenario: megascale_175b_512}        # no figure is held: the prediction is printed alone
//     ratios:                                   # step of `slower` over step of `faster`, both rows of this table
//       - {slower: megatron_175b_12288, faster: megascale_175b_12288, ratio: 1.35, band: 0.04, source: "..."}
//     figures:                                  # of any kind: rates, ratios, bytes, parts of a step
//       - {scenario: deepseek_v3_2048, quantity: bubble, unit: s, value: 2.06, band: 10 %, source: "..."}
//       - {quantity: slow-down at 16K, value: 1.245, use: fit, within: 0.05, source: "..."}
//       - {quantity: memory, unit: GB, least: 49, most: 60, source: "..."}
//     scenarios: [a, b]                         # what the figures are predicted from, beside the rows'
//     notes: ["what is assumed"]                # printed below the table
//
// Of a figure `band` is an allowed relative error, `within` an absolute one in its unit; `least` and `most` are the
// ends of a published range, or bounds that a requirement names. Without any of them it is compared and requires
// nothing; without value and range it is predicted alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace rehearse {

enum class PublishedUse : std::uint8_t { none, fit, predict };
std::string_view use_word(PublishedUse use);  // not held, fitted, predicted

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
    std::string scenario = {};            // that it belongs to; "" = none
    std::string quantity = {};            // with the scenario the name of the figure, once in its table
    std::string unit = {};                // of every number here; "" = a pure number
    std::optional<double> value = {};     // published
    std::optional<double> band = {}, within = {};  // allowed error, relative and absolute; one of them
    std::optional<double> least = {}, most = {};   // published, or required
    PublishedUse use = PublishedUse::none;         // predict where nothing is said and something is published
    std::string source = {};
    bool has_bound() const { return band || within || least || most; }
};

struct PublishedTable {
    std::string suite, title;
    std::vector<PublishedRow> rows = {};
    std::vector<PublishedRatio> ratios = {};
    std::vector<PublishedFigure> figures = {};
    std::vector<std::string> scenarios = {}, notes = {};
};

// InputError with every fault of the file: two figures of one name, a figure without its source, a band around nothing.
PublishedTable read_published(const std::string& path);
PublishedTable published_suite(const std::string& suite);  // tests/validation/SUITE.yaml of the installation

// The keys of a figure from `unit` on, for tables that name theirs in another way; the caller calls finish().
class Reader;
PublishedFigure read_figure(Reader& figure);

// File name of measured steps -> allowed mean absolute relative error (`bands: [{file: a.csv, mape: 5 %}]`).
std::map<std::string, double> read_error_bands(const std::string& path);

// The same without the rows that no figure is held for, neither a step nor a ratio.
PublishedTable held_rows(PublishedTable table);

}  // namespace rehearse
