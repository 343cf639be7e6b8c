#include "kernels/cuda/nccl_communicator.hpp"

#include <fmt/core.h>

#include <numeric>

#define REHEARSE_NCCL(call) check_nccl_call((call), __FILE__, __LINE__, #call)

namespace rehearse::kernels::cuda {

namespace {

template <class T>
constexpr ncclDataType_t type_of = ncclFloat32;
template <>
constexpr ncclDataType_t type_of<Bf16> = ncclBfloat16;
template <>
constexpr ncclDataType_t type_of<Fp16> = ncclFloat16;

// Calls between begin and end become one operation.
class Group {
public:
    Group() { REHEARSE_NCCL(ncclGroupStart()); }
    void end() { REHEARSE_NCCL(ncclGroupEnd()); }
};

std::int64_t total(std::span<const std::int64_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace

void check_nccl_call(ncclResult_t result, const char* file, int line, const char* call) {
    if (result == ncclSuccess || result == ncclInProgress) return;
    throw DeviceError(fmt::format("{}:{}: {}: {} (result {}); NCCL_DEBUG=INFO says more", file, line, call,
                                  ncclGetErrorString(result), static_cast<int>(result)));
}

ncclUniqueId NcclCommunicator::make_id() {
    ncclUniqueId id;
    REHEARSE_NCCL(ncclGetUniqueId(&id));
    return id;
}

NcclCommunicator::NcclCommunicator(const ncclUniqueId& id, int ranks, int rank) : ranks_(ranks), rank_(rank) {
    REHEARSE_CHECK(ranks >= 1 && rank >= 0 && rank < ranks, fmt::format("rank {} of {}", rank, ranks));
    ncclComm_t communicator = nullptr;
    REHEARSE_NCCL(ncclCommInitRank(&communicator, ranks, id, rank));
    communicator_.reset(communicator);
}

bool NcclCommunicator::has_native_all_to_all() { return NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0); }

template <class T>
void NcclCommunicator::all_to_all(AllToAll how, std::span<const std::type_identity_t<T>> send, std::span<T> receive,
                                  cudaStream_t stream) {
    const auto ranks = static_cast<std::size_t>(ranks_);
    REHEARSE_CHECK(send.size() == receive.size() && send.size() % ranks == 0,
                   fmt::format("all-to-all of {} and {} elements on {} ranks", send.size(), receive.size(), ranks));
    const std::size_t count = send.size() / ranks;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    if (how == AllToAll::native) {
        REHEARSE_NCCL(ncclAlltoAll(send.data(), receive.data(), count, type_of<T>, communicator_.get(), stream));
        return;
    }
#endif
    REHEARSE_CHECK(how == AllToAll::send_receive, "this NCCL has no all-to-all of its own");
    const std::vector<std::int64_t> counts(ranks, static_cast<std::int64_t>(count));
    all_to_all_v<T>(send, counts, receive, counts, stream);
}

template <class T>
void NcclCommunicator::all_to_all_v(std::span<const std::type_identity_t<T>> send,
                                    std::span<const std::int64_t> send_counts, std::span<T> receive,
                                    std::span<const std::int64_t> receive_counts, cudaStream_t stream) {
    const auto ranks = static_cast<std::size_t>(ranks_);
    REHEARSE_CHECK(send_counts.size() == ranks && receive_counts.size() == ranks, "one count per rank");
    REHEARSE_CHECK(total(send_counts) == static_cast<std::int64_t>(send.size()) &&
                       total(receive_counts) == static_cast<std::int64_t>(receive.size()),
                   "the counts add up to the buffers");
    const T* from = send.data();
    T* to = receive.data();
    Group group;
    for (std::size_t peer = 0; peer < ranks; ++peer) {
        const auto out = static_cast<std::size_t>(send_counts[peer]),
                   in = static_cast<std::size_t>(receive_counts[peer]);
        const int other = static_cast<int>(peer);
        if (out > 0) REHEARSE_NCCL(ncclSend(from, out, type_of<T>, other, communicator_.get(), stream));
        if (in > 0) REHEARSE_NCCL(ncclRecv(to, in, type_of<T>, other, communicator_.get(), stream));
        from += out;
        to += in;
    }
    group.end();
}

template <class T>
void NcclCommunicator::all_gather(std::span<const std::type_identity_t<T>> send, std::span<T> receive,
                                  cudaStream_t stream) {
    REHEARSE_CHECK(receive.size() == send.size() * static_cast<std::size_t>(ranks_), "room for every rank's part");
    REHEARSE_NCCL(ncclAllGather(send.data(), receive.data(), send.size(), type_of<T>, communicator_.get(), stream));
}

template <class T>
void NcclCommunicator::reduce_scatter(std::span<const std::type_identity_t<T>> send, std::span<T> receive,
                                      cudaStream_t stream) {
    REHEARSE_CHECK(send.size() == receive.size() * static_cast<std::size_t>(ranks_), "a part for every rank");
    REHEARSE_NCCL(ncclReduceScatter(send.data(), receive.data(), receive.size(), type_of<T>, ncclSum,
                                    communicator_.get(), stream));
}

template <class T>
void NcclCommunicator::all_reduce(std::span<const std::type_identity_t<T>> send, std::span<T> receive,
                                  cudaStream_t stream) {
    REHEARSE_CHECK(send.size() == receive.size(), "all-reduce keeps the size");
    REHEARSE_NCCL(
        ncclAllReduce(send.data(), receive.data(), send.size(), type_of<T>, ncclSum, communicator_.get(), stream));
}

void NcclCommunicator::check_health() const {
    ncclResult_t result = ncclSuccess;
    REHEARSE_NCCL(ncclCommGetAsyncError(communicator_.get(), &result));
    REHEARSE_NCCL(result);
}

#define REHEARSE_INSTANTIATE(T)                                                                                       \
    template void NcclCommunicator::all_to_all(AllToAll, std::span<const T>, std::span<T>, cudaStream_t);             \
    template void NcclCommunicator::all_to_all_v(std::span<const T>, std::span<const std::int64_t>, std::span<T>,     \
                                                 std::span<const std::int64_t>, cudaStream_t);                        \
    template void NcclCommunicator::all_gather(std::span<const T>, std::span<T>, cudaStream_t);                       \
    template void NcclCommunicator::reduce_scatter(std::span<const T>, std::span<T>, cudaStream_t);                   \
    template void NcclCommunicator::all_reduce(std::span<const T>, std::span<T>, cudaStream_t)

REHEARSE_INSTANTIATE(float);
REHEARSE_INSTANTIATE(Bf16);
REHEARSE_INSTANTIATE(Fp16);

}  // namespace rehearse::kernels::cuda
