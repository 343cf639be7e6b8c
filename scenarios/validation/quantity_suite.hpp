// Published quantities of any kind (rates, ratios, times of a kernel, bytes), row by row against predictions: what a
// table of steps (published.hpp) cannot say. A table is a file tests/validation/SUITE.yaml:
//
//     suite: imbalance
//     title: Real routing against forced balance
//     scenarios: [a, b]            # of the library: what the predictions are made from
//     notes: ["what is assumed"]   # printed below the table
//     rows:
//       - {quantity: slow-down at 16K, value: 1.245, use: fit, within: 0.05, source: "..."}
//       - {quantity: dispatch EP8, unit: us, value: 77, use: predict, band: 10 %, source: "..."}
//       - {quantity: hidden share, unit: "%", least: 95, use: predict, source: "..."}
//
// `band` is an allowed relative error, `within` an absolute one in the row's unit; `least` and `most` are the ends of a
// published range, or bounds that a requirement names. A row without any of them is compared and requires nothing; one
// without a figure is predicted alone. A suite finds its rows by `quantity`.
//
// A suite is its file and a function from the table to a prediction for each row:
//
//     SuiteEntry imbalance_suite() { return quantity_suite("imbalance", "what it compares", predict_imbalance); }
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/validation/published.hpp"
#include "sim/trace/table.hpp"

namespace rehearse {

class Reader;
struct SuiteEntry;

struct PublishedQuantity {
    std::string quantity;                 // names the row, once in its table
    std::string unit = {};                // of all figures of the row; "" = a pure number
    std::optional<double> value = {};     // published
    std::optional<double> band = {}, within = {};  // at most one of them
    std::optional<double> least = {}, most = {};   // published, or required
    PublishedUse use = PublishedUse::none;
    std::string source = {};
    bool has_bound() const { return band || within || least || most; }
};

struct QuantityTable {
    std::string suite, title;
    std::vector<std::string> scenarios, notes;
    std::vector<PublishedQuantity> rows;
};

struct QuantityRow {
    PublishedQuantity published;
    double predicted = 0;                 // in the row's unit
    std::optional<double> error() const;  // predicted / published - 1; nothing without a published value
    bool exceeds_band() const;            // of any bound that the row has
};

// By the name of the row.
using QuantityPredictions = std::map<std::string, double>;

// Keys of a row from `unit` on, for a table whose rows are named in another way; the caller calls finish().
PublishedQuantity read_figures(Reader& row);

// InputError with every fault of the file: two rows of one name, a figure without its source, a band around nothing.
QuantityTable read_quantities(const std::string& path);
// tests/validation/SUITE.yaml of the installation.
QuantityTable published_quantities(const std::string& suite);

// InvariantBroken when a row has no prediction.
std::vector<QuantityRow> with_predictions(const QuantityTable& table, const QuantityPredictions& predicted);

Table quantity_table(const std::vector<QuantityRow>& rows);  // quantity, published, predicted, error, use, band
// How many rows of each use are within their bands, a line each.
std::string quantity_notes(const std::vector<QuantityRow>& rows);

// As inputs_fingerprint() of accuracy.hpp, with the scenarios of the quantities behind those of `rows`, and the figures.
std::string suite_fingerprint(std::vector<PublishedRow> rows, const QuantityTable& quantities);

// The suite of tests/validation/NAME.yaml. `table` reads it where it has another form.
SuiteEntry quantity_suite(const std::string& name, const std::string& what,
                          QuantityPredictions (*predict)(const QuantityTable&),
                          QuantityTable (*table)(const std::string& name) = published_quantities);

}  // namespace rehearse
