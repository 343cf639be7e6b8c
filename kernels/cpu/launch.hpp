// Runs a body's blocks on the CPU, each as a SerialBlock.
#pragma once

#include <functional>

#include "kernels/cpu/context.hpp"
#include "kernels/serial_block.hpp"

namespace rehearse::kernels {

// Shared memory of a block on the CPU lives on the stack of the thread that runs it.
constexpr std::size_t shared_bytes_most = 64 * 1024;

// Calls part(first, last) so that [0, count) is covered: once, or by as many threads as the context has.
void split(const CpuContext& context, std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& part);

template <class Body>
void run_blocks(const CpuContext& context, std::int64_t count, const Body& body) {
    REHEARSE_CHECK(body.shared_bytes() <= shared_bytes_most, "a block shares at most 64 KiB");
    const auto part = [&](std::int64_t first, std::int64_t last) {
        alignas(shared_alignment) std::byte shared[shared_bytes_most];
        const Body local = body;  // a copy of its own: no store of the body can change its arguments
        for (std::int64_t i = first; i < last; ++i) {
            SerialBlock block(shared);
            local(block, i);
        }
    };
    split(context, count, std::cref(part));
}

}  // namespace rehearse::kernels
