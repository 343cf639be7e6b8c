// Least squares with coefficients that are costs, so that none is negative: minimise |A x - b|, x >= 0, by the active
// set method of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23). The minimum is exact and unique
// where the columns are independent.
#pragma once

#include <vector>

namespace rehearse {

// One row of A per target. Columns may differ by many orders of magnitude. InvariantBroken without rows or columns,
// for rows of different lengths or a figure that is not finite.
std::vector<double> fit_non_negative(const std::vector<std::vector<double>>& rows, const std::vector<double>& targets);

// The same for positive quantities, by relative error: minimise sum (prediction / target - 1)^2.
std::vector<double> fit_non_negative_relative(std::vector<std::vector<double>> rows,
                                              const std::vector<double>& targets);

}  // namespace rehearse
