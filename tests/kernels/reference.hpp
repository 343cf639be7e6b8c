// Random inputs, poisoned outputs and fp64 references of the kernels.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kernels/element.hpp"
#include "sim/base/rng.hpp"

namespace rehearse::kernels::test {

// A test draws other inputs with REHEARSE_SEED=N in the environment.
inline std::uint64_t seed() {
    const char* const text = std::getenv("REHEARSE_SEED");
    return text ? std::strtoull(text, nullptr, 10) : 1;
}

// Standard normal values, rounded to T.
template <class T>
std::vector<T> drawn(const std::string& name, std::int64_t n) {
    const Stream stream(seed(), name);
    std::vector<T> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = from_float<T>(static_cast<float>(stream.normal(0, i)));
    return values;
}

template <class T>
T not_a_number() {
    return from_float<T>(std::numeric_limits<float>::quiet_NaN());
}

// An output that no kernel has written yet: an element left out stays NaN and fails the comparison.
template <class T>
std::vector<T> poisoned(std::int64_t n) {
    return std::vector<T>(static_cast<std::size_t>(n), not_a_number<T>());
}

template <>
inline std::vector<std::int32_t> poisoned(std::int64_t n) {
    return std::vector<std::int32_t>(static_cast<std::size_t>(n), -1);
}

// A value in fp64 and the sum of the magnitudes that it was added up from.
struct Exact {
    double value = 0, scale = 0;
    void add(double term) { value += term, scale += std::abs(term); }
};

template <class T>
constexpr double tolerance = 1e-5;
template <>
inline constexpr double tolerance<Bf16> = 1e-2;
template <>
inline constexpr double tolerance<Fp16> = 2e-3;

// |values[i] - exact(i)| <= tolerance * its scale, for every i; a NaN is no number within any distance.
template <class T>
void expect_close(const std::vector<T>& values, const std::function<Exact(std::int64_t)>& exact,
                  double allowed = tolerance<T>) {
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Exact expected = exact(static_cast<std::int64_t>(i));
        const double error = std::abs(to_float(values[i]) - expected.value);
        const double least = 1e-30;  // a scale of 0 allows 0
        ASSERT_LE(error, allowed * std::max(expected.scale, least)) << "element " << i << " is " << to_float(values[i])
                                                                    << ", expected " << expected.value;
        worst = std::max(worst, error / std::max(expected.scale, least));
    }
    testing::Test::RecordProperty("worst_error", std::to_string(worst));
}

// The product of row r of A and column c of B, A stored m x k (or k x m), B stored k x n (or n x k).
struct ExactGemm {
    std::int64_t m, n, k;
    bool left = false, right = false;

    template <class T>
    Exact at(const T* a, const T* b, std::int64_t row, std::int64_t col) const {
        Exact sum;
        for (std::int64_t i = 0; i < k; ++i) {
            sum.add(double{to_float(a[left ? i * m + row : row * k + i])} *
                    double{to_float(b[right ? col * k + i : i * n + col])});
        }
        return sum;
    }
};

}  // namespace rehearse::kernels::test
