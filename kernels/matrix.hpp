// A matrix in row-major order without gaps, as a view of the caller's memory. Its shape is checked where it is made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "sim/base/checks.hpp"

namespace rehearse::kernels {

template <class T>
class Matrix {
public:
    Matrix(std::span<T> values, std::int64_t rows, std::int64_t cols) : values_(values), rows_(rows), cols_(cols) {
        REHEARSE_CHECK(rows >= 0 && cols >= 0, "a matrix of " + shape());
        REHEARSE_CHECK(static_cast<std::int64_t>(values.size()) == rows * cols,
                       "a matrix of " + shape() + " over " + std::to_string(values.size()) + " elements");
    }

    // What may be written may be read.
    template <class U>
        requires(std::is_same_v<const U, T>)
    Matrix(const Matrix<U>& other) : values_(other.values()), rows_(other.rows()), cols_(other.cols()) {}

    std::int64_t rows() const { return rows_; }
    std::int64_t cols() const { return cols_; }
    std::span<T> values() const { return values_; }
    T* data() const { return values_.data(); }

    // `count` rows from `first`.
    Matrix slice(std::int64_t first, std::int64_t count) const {
        REHEARSE_CHECK(first >= 0 && count >= 0 && first + count <= rows_, "a slice of rows of a matrix of " + shape());
        return {values_.subspan(static_cast<std::size_t>(first * cols_), static_cast<std::size_t>(count * cols_)),
                count, cols_};
    }

    std::string shape() const { return std::to_string(rows_) + " x " + std::to_string(cols_); }

private:
    std::span<T> values_;
    std::int64_t rows_, cols_;
};

// A matrix that a function reads; the element type is deduced from the one that it writes.
template <class T>
using Input = Matrix<const std::type_identity_t<T>>;

template <class A, class B>
void check_same_shape(const Matrix<A>& a, const Matrix<B>& b, const char* what) {
    REHEARSE_CHECK(a.rows() == b.rows() && a.cols() == b.cols(),
                   std::string(what) + ": " + a.shape() + " and " + b.shape() + " should be of one shape");
}

}  // namespace rehearse::kernels
