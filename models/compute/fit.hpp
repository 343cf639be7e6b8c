// Bounded least squares for device profiles: Levenberg-Marquardt (Marquardt, 1963) on parameters scaled to [0, 1],
// steps projected onto the bounds, soft-L1 loss so that a few rows that no mechanism explains do not rule the rest.
//
//     minimise sum_i rho(r_i),  rho(r) = 2 f^2 (sqrt(1 + (r / f)^2) - 1)
// The Jacobian may come from a cheaper model than the residuals (one replica instead of all, one seed instead of five).
// Then it is a quasi-Newton method: it still ends only where the true cost no longer falls.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace rehearse {

struct FitParameter {
    std::string key;     // of the profile, see profile_keys.hpp
    double start = 0, low = 0, high = 1;
    std::string meaning;
};

struct FitOptions {
    double loss_scale = 0.01;       // f: residuals well above it count linearly
    int iterations = 12;
    double step = 0.01;             // finite-difference step, as a share of the range low..high
    double cost_tolerance = 1e-4;   // stop when the cost falls by less, relative
};

struct FitResult {
    std::vector<double> values;
    std::vector<double> standard_errors;  // from the last Jacobian; infinite where the data do not determine the value
    std::vector<double> residuals;
    double cost = 0;
    int evaluations = 0;
};

using ResidualFunction = std::function<std::vector<double>(const std::vector<double>& values)>;

// Throws InvariantBroken when the two functions return different numbers of residuals or a value that is not finite.
FitResult fit_bounded(const std::vector<FitParameter>& parameters, const ResidualFunction& residuals,
                      const ResidualFunction& jacobian_model, const FitOptions& options);

// What a fit would have given without some of its residuals, from the values that it did give: one re-weighted
// Gauss-Newton step on the residuals that are left. Exact for linear models, and good where the step is short; no
// further evaluation is needed. The residuals and their derivatives are evaluated once, in the constructor.
class LinearisedFit {
public:
    LinearisedFit(std::vector<FitParameter> parameters, const ResidualFunction& residuals,
                  const ResidualFunction& jacobian_model, const FitOptions& options);  // at each parameter's start
    std::vector<double> values_without(const std::vector<std::size_t>& left_out) const;

private:
    std::vector<FitParameter> parameters_;
    FitOptions options_;
    std::vector<double> residuals_;
    std::vector<double> jacobian_;  // residuals x parameters, row by row, of parameters scaled to [0, 1]
};

}  // namespace rehearse
