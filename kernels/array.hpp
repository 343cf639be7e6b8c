// Array: a vector whose first element stands at the beginning of a cache line, as that of every row then does whose
// bytes are a multiple of 64. Matrix units load and store lines: a product whose operands lie 16 bytes beside them, as
// malloc gives them, takes up to three times as long, and how much depends on the shape.
#pragma once

#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <vector>

namespace rehearse::kernels {

inline constexpr std::size_t cache_line = 64;  // bytes

template <class T>
using Array = std::vector<T, boost::alignment::aligned_allocator<T, cache_line>>;

}  // namespace rehearse::kernels
