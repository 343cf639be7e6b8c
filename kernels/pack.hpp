// A run of neighbouring elements as fp32 registers. With nvcc a pack of 16 bytes is one load and one store.
#pragma once

#include "kernels/element.hpp"

namespace rehearse::kernels {

template <int width>
struct Pack {
    float lane[width];
};

#if defined(__CUDACC__)
template <class T, int width>
struct alignas(sizeof(T) * width) Stored {
    T lane[width];
};
#else
template <class T, int width>
struct Stored {
    T lane[width];
};
#endif

template <int width, class T>
REHEARSE_SCALAR Pack<width> load(const T* from) {
    Stored<T, width> stored;
#if defined(__CUDACC__)
    stored = *reinterpret_cast<const Stored<T, width>*>(from);
#else
    std::memcpy(&stored, from, sizeof stored);
#endif
    Pack<width> pack;
    for (int i = 0; i < width; ++i) pack.lane[i] = to_float(stored.lane[i]);
    return pack;
}

template <int width, class T>
REHEARSE_SCALAR void store(T* to, const Pack<width>& pack) {
    Stored<T, width> stored;
    for (int i = 0; i < width; ++i) stored.lane[i] = from_float<T>(pack.lane[i]);
#if defined(__CUDACC__)
    *reinterpret_cast<Stored<T, width>*>(to) = stored;
#else
    std::memcpy(to, &stored, sizeof stored);
#endif
}

// Elements as they are, without a conversion.
template <int width, class T>
REHEARSE_SCALAR void copy_pack(const T* from, T* to) {
#if defined(__CUDACC__)
    *reinterpret_cast<Stored<T, width>*>(to) = *reinterpret_cast<const Stored<T, width>*>(from);
#else
    std::memcpy(to, from, sizeof(T) * width);
#endif
}

}  // namespace rehearse::kernels
