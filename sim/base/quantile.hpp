// Order statistics of measured and simulated times. Values in any order; none is InvariantBroken.
#pragma once

#include <vector>

namespace rehearse {

// The value below which that share of them lies, straight between the two nearest; share from 0 to 1.
double quantile(std::vector<double> values, double share);
double median(std::vector<double> values);
double relative_spread(std::vector<double> values);  // (third - first quartile) / median; 0 for one value

}  // namespace rehearse
