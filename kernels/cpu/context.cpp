#include "kernels/cpu/context.hpp"

#include <new>

#include "kernels/cpu/gemm_library.hpp"

namespace rehearse::kernels {

namespace {

constexpr std::align_val_t page{4096};

}  // namespace

CpuContext::CpuContext(int threads) : threads_(threads), gemm_library_(std::make_unique<GemmLibrary>()) {
    REHEARSE_CHECK(threads >= 1, "a launcher runs on at least one thread");
}

CpuContext::~CpuContext() = default;
CpuContext::CpuContext(CpuContext&&) noexcept = default;

void CpuContext::Free::operator()(std::byte* bytes) const { ::operator delete(bytes, page); }

std::byte* CpuContext::bytes(Scratch name, std::size_t size) {
    Piece& piece = pieces_[static_cast<std::size_t>(name)];
    if (piece.size < size) {
        piece.bytes.reset();
        piece.size = 0;
        piece.bytes.reset(static_cast<std::byte*>(::operator new(size, page)));
        piece.size = size;
    }
    return piece.bytes.get();
}

}  // namespace rehearse::kernels
