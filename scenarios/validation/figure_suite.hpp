// Published figures of any kind against predictions: tables with other quantities than steps, and suites of them.
//
// A suite of figures is a file tests/validation/SUITE.yaml (published.hpp) and a function from it to a prediction for
// each figure, by its quantity:
//
//     SuiteEntry imbalance_suite() { return figure_suite("imbalance", "what it compares", predict_imbalance); }
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/validation/published.hpp"
#include "sim/trace/table.hpp"

namespace rehearse {

struct SuiteEntry;

struct ValidationFigure {
    PublishedFigure published;
    double predicted = 0;                 // in its unit
    std::optional<double> error() const;  // predicted / published - 1; nothing without a published value
    bool exceeds_band() const;            // of any bound that it has
};

using FigurePredictions = std::map<std::string, double>;  // by quantity

// InvariantBroken when a figure has no prediction.
std::vector<ValidationFigure> with_predictions(const PublishedTable& table, const FigurePredictions& predicted);

Table figure_table(const std::vector<ValidationFigure>& figures);  // quantity, published, predicted, error, use, band
// How many of each use are within their bands, a line each.
std::string figure_notes(const std::vector<ValidationFigure>& figures);

// As inputs_fingerprint() of accuracy.hpp, of everything that stands in a table.
std::string table_fingerprint(const PublishedTable& table);

// `table` reads the published figures where they have another form.
SuiteEntry figure_suite(const std::string& name, const std::string& what,
                        FigurePredictions (*predict)(const PublishedTable&),
                        PublishedTable (*table)(const std::string& name) = published_suite);

}  // namespace rehearse
