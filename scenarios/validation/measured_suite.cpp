#include "scenarios/validation/measured_suite.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "scenarios/validation/measured_steps.hpp"

namespace rehearse {

std::string data_file(const std::string& name) { return (std::filesystem::path(data_folder()) / name).string(); }

SuiteEntry measured_suite(const std::string& name, const std::string& what, const std::string& data,
                          FigurePredictions (*predict)(const PublishedTable&)) {
    SuiteEntry entry = figure_suite(name, what, predict);
    entry.compute = [data, inner = entry.compute, name](const ValidateRequest& request) {
        if (std::filesystem::exists(data_file(data))) return inner(request);
        ValidationSuite suite{name, published_suite(name).title, {}};
        suite.skipped = fmt::format("{} is not there; set REHEARSE_DATA", data_file(data));
        return suite;
    };
    return entry;
}

}  // namespace rehearse
