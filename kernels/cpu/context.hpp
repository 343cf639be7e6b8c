// What a launcher needs besides its arguments: how many threads it may use, and memory that it keeps between calls.
//
// One context per calling thread; several threads may work at the same time, each with its own. With 1 thread (the
// default) a launcher runs on the calling thread alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sim/base/checks.hpp"

namespace rehearse::kernels {

// Whose memory a piece of scratch is; a name is used by one launcher on a call path at a time.
enum class Scratch {
    route,
    gemm,
    gemm_left,
    gemm_right,
    gemm_result, padded_left, padded_right, padded_result,
    scores,
    probabilities,
    d_probabilities,
    d_scores,
    pointers,
    count
};

class GemmLibrary;  // cpu/gemm_library.hpp

class CpuContext {
public:
    explicit CpuContext(int threads = 1);
    ~CpuContext();
    CpuContext(CpuContext&&) noexcept;

    int threads() const { return threads_; }
    GemmLibrary& gemm_library() { return *gemm_library_; }

    // `n` elements, not initialised, valid until the next request under that name; a warm context allocates nothing.
    template <class T>
    std::span<T> scratch(Scratch name, std::int64_t n) {
        return {reinterpret_cast<T*>(bytes(name, static_cast<std::size_t>(n) * sizeof(T))),
                static_cast<std::size_t>(n)};
    }

private:
    struct Free {
        void operator()(std::byte* bytes) const;
    };
    struct Piece {
        std::unique_ptr<std::byte, Free> bytes;
        std::size_t size = 0;
    };

    std::byte* bytes(Scratch name, std::size_t size);

    int threads_;
    std::unique_ptr<GemmLibrary> gemm_library_;
    std::array<Piece, static_cast<std::size_t>(Scratch::count)> pieces_;
};

}  // namespace rehearse::kernels
