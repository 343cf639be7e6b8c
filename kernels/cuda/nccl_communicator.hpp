// Collectives between GPUs: NCCL. Buffers are device memory; each call returns at once, its work is in the order of the
// stream. Built where nccl.h is found.
#pragma once

#include <nccl.h>

#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/context.hpp"
#include "kernels/element.hpp"

namespace rehearse::kernels::cuda {

void check_nccl_call(ncclResult_t result, const char* file, int line, const char* call);

enum class AllToAll { native, send_receive };

class NcclCommunicator {
public:
    // What the first rank makes and all others are given by other means.
    static ncclUniqueId make_id();

    // Collective over all ranks; blocks until they are there. The current device is this rank's.
    NcclCommunicator(const ncclUniqueId& id, int ranks, int rank);

    int ranks() const { return ranks_; }
    int rank() const { return rank_; }

    // NCCL has an all-to-all of its own from 2.28 on.
    static bool has_native_all_to_all();

    // `send` and `receive` are `ranks` blocks of equal size, block i for and from rank i.
    template <class T>
    void all_to_all(AllToAll how, std::span<const std::type_identity_t<T>> send, std::span<T> receive,
                    cudaStream_t stream);
    // Blocks of unequal sizes, one behind the other: counts per rank, in elements.
    template <class T>
    void all_to_all_v(std::span<const std::type_identity_t<T>> send, std::span<const std::int64_t> send_counts,
                      std::span<T> receive, std::span<const std::int64_t> receive_counts, cudaStream_t stream);

    // receive = the ranks' `send` one behind the other.
    template <class T>
    void all_gather(std::span<const std::type_identity_t<T>> send, std::span<T> receive, cudaStream_t stream);
    // receive = block `rank` of the sum over ranks of `send`.
    template <class T>
    void reduce_scatter(std::span<const std::type_identity_t<T>> send, std::span<T> receive, cudaStream_t stream);
    // receive = the sum over ranks of `send`; the two may be one.
    template <class T>
    void all_reduce(std::span<const std::type_identity_t<T>> send, std::span<T> receive, cudaStream_t stream);

    // An error that happened since (a lost peer, a network fault) is thrown as a DeviceError. Does not block.
    void check_health() const;

private:
    std::unique_ptr<ncclComm, DestroyHandle<ncclCommDestroy>> communicator_;
    int ranks_, rank_;
};

}  // namespace rehearse::kernels::cuda
