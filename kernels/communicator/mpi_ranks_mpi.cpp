// MpiRanks over MPI. Only in builds that found one (kernels/CMakeLists.txt).
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <deque>

#include "kernels/communicator/mpi_ranks.hpp"
#include "kernels/communicator/pieces.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

constexpr int part_tag = 1, message_tag = 2;

int whole(std::size_t value) {
    REHEARSE_CHECK(value <= 0x7fffffff, "MPI counts with 31 bits");
    return static_cast<int>(value);
}

// The pieces at their places in memory, as one message.
template <class Piece>
MPI_Datatype type_of(const std::vector<Piece>& pieces) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for (const Piece& piece : pieces) {
        lengths.push_back(whole(piece.size()));
        MPI_Get_address(piece.data(), &places.emplace_back());
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(whole(pieces.size()), lengths.data(), places.data(), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

class MpiCommunicator : public Communicator {
public:
    explicit MpiCommunicator(MPI_Comm group) : group_(group) {
        int rank = 0, size = 1;
        MPI_Comm_rank(group, &rank);
        MPI_Comm_size(group, &size);
        rank_ = static_cast<std::uint32_t>(rank);
        size_ = static_cast<std::uint32_t>(size);
    }
    ~MpiCommunicator() override {
        for (Outgoing& message : sent_) MPI_Wait(&message.request, MPI_STATUS_IGNORE);
        if (group_ != MPI_COMM_WORLD) MPI_Comm_free(&group_);
    }

    std::uint32_t rank() const override { return rank_; }
    std::uint32_t size() const override { return size_; }

    // One clock for all processes of a host: CLOCK_MONOTONIC.
    Clock::time_point meet() override {
        std::int64_t last = Clock::now().time_since_epoch().count();
        MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT64_T, MPI_MAX, group_);
        return Clock::time_point{Clock::duration{last}};
    }

    void all_to_all(const Parts& parts, const Rooms& into) override {
        REHEARSE_CHECK(parts.size() == size_ && into.size() == size_, "one part per member");
        std::vector<MPI_Request> pending;
        std::vector<MPI_Datatype> types;
        for (std::uint32_t i = 1; i < size_; ++i) {
            const std::uint32_t from = (rank_ + size_ - i) % size_;
            if (pieces_size(into[from]) == 0) continue;
            types.push_back(type_of(into[from]));
            MPI_Irecv(MPI_BOTTOM, 1, types.back(), static_cast<int>(from), part_tag, group_, &pending.emplace_back());
        }
        for (std::uint32_t i = 1; i < size_; ++i) {
            const std::uint32_t to = (rank_ + i) % size_;
            if (pieces_size(parts[to]) == 0) continue;
            types.push_back(type_of(parts[to]));
            MPI_Isend(MPI_BOTTOM, 1, types.back(), static_cast<int>(to), part_tag, group_, &pending.emplace_back());
        }
        REHEARSE_CHECK(copy_pieces(parts[rank_], into[rank_]), "members disagree on the size of a part");
        std::vector<MPI_Status> statuses(pending.size());
        MPI_Waitall(whole(pending.size()), pending.data(), statuses.data());
        for (MPI_Datatype& type : types) MPI_Type_free(&type);
    }

    void all_gather(Bytes mine, Room all) override {
        REHEARSE_CHECK(all.size() == mine.size() * size_, "an all-gather holds what all members bring");
        MPI_Allgather(mine.data(), whole(mine.size()), MPI_BYTE, all.data(), whole(mine.size()), MPI_BYTE, group_);
    }

    // In the order of ranks, as the threads sum: MPI's own reductions may take any order.
    void reduce_scatter(std::span<const float> all, std::span<float> mine) override {
        REHEARSE_CHECK(all.size() == mine.size() * size_, "a slice per member");
        sum_slices(all, mine.size(), mine);
    }

    void all_reduce(std::span<float> data) override {
        const std::size_t slice = (data.size() + size_ - 1) / size_;
        padded_.assign(data.begin(), data.end());
        padded_.resize(slice * size_);
        sums_.resize(slice);
        sum_slices(padded_, slice, sums_);
        all_gather(std::as_bytes(std::span(sums_)), std::as_writable_bytes(std::span(padded_)));
        std::copy_n(padded_.begin(), data.size(), data.begin());
    }

    void post(std::uint32_t to, Bytes data) override {
        while (!sent_.empty()) {  // let go of what is through
            int done = 0;
            MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE);
            if (done == 0) break;
            sent_.pop_front();
        }
        Outgoing& message = sent_.emplace_back();
        message.data.assign(data.begin(), data.end());
        MPI_Isend(message.data.data(), whole(message.data.size()), MPI_BYTE, static_cast<int>(to), message_tag, group_,
                  &message.request);
    }

    std::optional<Message> poll() override {
        int found = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, message_tag, group_, &found, &status);
        if (found == 0) return std::nullopt;
        int bytes = 0;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        Message message{static_cast<std::uint32_t>(status.MPI_SOURCE), {}};
        message.data.resize(static_cast<std::size_t>(bytes));
        MPI_Recv(message.data.data(), bytes, MPI_BYTE, status.MPI_SOURCE, message_tag, group_, MPI_STATUS_IGNORE);
        return message;
    }

    std::unique_ptr<Communicator> split(std::uint32_t colour) override {
        MPI_Comm group = MPI_COMM_NULL;
        MPI_Comm_split(group_, static_cast<int>(colour), static_cast<int>(rank_), &group);
        return std::make_unique<MpiCommunicator>(group);
    }

private:
    struct Outgoing {
        std::vector<std::byte> data;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    void sum_slices(std::span<const float> all, std::size_t slice, std::span<float> mine) {
        received_.resize(slice * size_);
        Parts parts(size_);
        Rooms into(size_);
        for (std::uint32_t member = 0; member < size_; ++member) {
            parts[member] = {std::as_bytes(all.subspan(member * slice, slice))};
            into[member] = {std::as_writable_bytes(std::span(received_).subspan(member * slice, slice))};
        }
        all_to_all(parts, into);
        std::copy_n(received_.begin(), slice, mine.begin());
        for (std::uint32_t member = 1; member < size_; ++member) {
            const float* other = received_.data() + member * slice;
            for (std::size_t i = 0; i < slice; ++i) mine[i] += other[i];
        }
    }

    MPI_Comm group_;
    std::uint32_t rank_ = 0, size_ = 1;
    std::deque<Outgoing> sent_;
    std::vector<float> received_, padded_, sums_;
};

}  // namespace

bool MpiRanks::is_available() { return true; }

MpiRanks::MpiRanks() {
    MPI_Init(nullptr, nullptr);
    world_ = std::make_unique<MpiCommunicator>(MPI_COMM_WORLD);
}

MpiRanks::~MpiRanks() {
    world_.reset();
    MPI_Finalize();
}

void MpiRanks::abort(int exit_code) {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::abort();
}

}  // namespace rehearse
