// ExpertLayer's dispatch through a token stream. Each rank is the receiving end of its own stream, and tells the others
// by messages how many rows they may send; it is also a peer of every other stream.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/padded_gemm.hpp"
#include "runtime/live/expert_layer.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

using kernels::Matrix;
using kernels::Transposed;

namespace {

enum class Kind : std::uint32_t { credits, rows };

struct Header {
    Kind kind;
    std::uint32_t count;  // credits, or rows: their slots and then their elements follow
};

}  // namespace

// What streams: rows that are sent, where they end, and the product that is made of them there.
struct ExpertLayer::StreamedProduct {
    kernels::Array<LiveElement>& sent;
    kernels::Array<LiveElement>& received;
    kernels::Array<LiveElement>& result;
    kernels::Stacked<const LiveElement> weights;
    Transposed transposed;
    std::int64_t columns;  // of the result
};

namespace {

// Where the rows of each (slot, source) begin in the received rows, and how many have come.
struct Run {
    std::size_t first = 0, arrived = 0, computed = 0;
};

// The rows that this rank has for another one: `count` of them from `next` on.
struct Outgoing {
    std::size_t next = 0, left = 0;
    std::uint32_t credits = 0;
};

class StreamedDispatch {
public:
    StreamedDispatch(Communicator& group, const RowExchange& plan, TokenStream& stream, std::uint32_t slots,
                     std::size_t row_bytes)
        : group_(group), stream_(stream), slots_(slots), row_bytes_(row_bytes), outgoing_(group.size()),
          ungranted_(group.size()), runs_(std::size_t{slots} * group.size()) {
        std::size_t first = 0;
        for (std::uint32_t slot = 0; slot < slots; ++slot) {
            for (std::uint32_t source = 0; source < group.size(); ++source) {
                const auto count = static_cast<std::size_t>(plan.rows(source, group.rank() * slots + slot));
                run(slot, source) = {first, 0, 0};
                ungranted_[source] += static_cast<std::uint32_t>(count);
                first += count;
            }
            first += static_cast<std::size_t>(plan.padded()[slot] - plan.heights()[slot]);
        }
        first = 0;
        for (std::uint32_t slot = 0; slot < slots * group.size(); ++slot) {
            const auto count = static_cast<std::size_t>(plan.rows(group.rank(), slot));
            Outgoing& out = outgoing_[slot / slots];
            if (out.left == 0) out.next = first;
            out.left += count;
            first += count;
            slot_of_row_.insert(slot_of_row_.end(), count, slot % slots);
        }
        left_from_ = ungranted_;
        for (std::uint32_t peer = 0; peer < group.size(); ++peer) {
            if (ungranted_[peer] == 0) stream.close(peer);
        }
    }

    // compute(slot, first, count): rows of the received ones that are complete.
    template <class Compute>
    void run_all(std::span<const std::byte> sent, std::span<std::byte> received, const Compute& compute) {
        while (!stream_.is_drained() || !all_sent()) {
            while (const auto message = group_.poll()) handle(*message);
            for (std::uint32_t peer = 0; peer < group_.size(); ++peer) grant(peer);
            for (std::uint32_t peer = 0; peer < group_.size(); ++peer) send(peer, sent);
            const std::optional<TokenChunk> chunk = stream_.take();
            if (!chunk) continue;
            store(*chunk, received);
            stream_.release(*chunk);
            for (std::size_t i = 0; i < runs_.size(); ++i) {
                Run& part = runs_[i];
                if (part.arrived == part.computed) continue;
                compute(i / group_.size(), part.first + part.computed, part.arrived - part.computed);
                part.computed = part.arrived;
            }
        }
    }

private:
    Run& run(std::uint32_t slot, std::uint32_t source) { return runs_[std::size_t{slot} * group_.size() + source]; }
    bool all_sent() const {
        return std::all_of(outgoing_.begin(), outgoing_.end(), [](const Outgoing& out) { return out.left == 0; });
    }

    void grant(std::uint32_t peer) {
        if (ungranted_[peer] == 0) return;
        const std::uint32_t credits = stream_.grant(peer, ungranted_[peer]);
        if (credits == 0) return;
        ungranted_[peer] -= credits;
        if (peer == group_.rank()) {
            outgoing_[peer].credits += credits;
            return;
        }
        const Header header{Kind::credits, credits};
        group_.post(peer, std::as_bytes(std::span(&header, 1)));
    }

    void send(std::uint32_t peer, std::span<const std::byte> sent) {
        Outgoing& out = outgoing_[peer];
        const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(out.credits, out.left));
        if (count == 0) return;
        const std::span<const std::uint32_t> slots(slot_of_row_.data() + out.next, count);
        const std::span<const std::byte> rows = sent.subspan(out.next * row_bytes_, count * row_bytes_);
        out.next += count;
        out.left -= count;
        out.credits -= count;
        if (peer == group_.rank()) return accept(peer, slots, rows);
        const Header header{Kind::rows, count};
        message_.resize(sizeof header + slots.size_bytes() + rows.size());
        std::byte* to = message_.data();
        for (const std::span<const std::byte> part :
             {std::as_bytes(std::span(&header, 1)), std::as_bytes(slots), rows}) {
            std::memcpy(to, part.data(), part.size());
            to += part.size();
        }
        group_.post(peer, message_);
    }

    void handle(const Communicator::Message& message) {
        Header header;
        std::memcpy(&header, message.data.data(), sizeof header);
        if (header.kind == Kind::credits) {
            outgoing_[message.from].credits += header.count;
            return;
        }
        incoming_slots_.resize(header.count);
        const std::size_t slots = header.count * sizeof(std::uint32_t);
        std::memcpy(incoming_slots_.data(), message.data.data() + sizeof header, slots);
        accept(message.from, incoming_slots_, std::span(message.data).subspan(sizeof header + slots));
    }

    void accept(std::uint32_t peer, std::span<const std::uint32_t> slots, std::span<const std::byte> rows) {
        tokens_.clear();
        for (const std::uint32_t slot : slots) tokens_.push_back({slot, peer, 0});
        stream_.deliver(peer, tokens_, rows);
        left_from_[peer] -= static_cast<std::uint32_t>(slots.size());
        if (left_from_[peer] == 0) stream_.close(peer);
    }

    void store(const TokenChunk& chunk, std::span<std::byte> received) {
        for (const std::uint32_t slot : chunk.slots) {
            const TokenRow& row = stream_.row(slot);
            Run& part = run(row.expert, row.peer);
            std::memcpy(received.data() + (part.first + part.arrived++) * row_bytes_, stream_.payload(slot).data(),
                        row_bytes_);
        }
    }

    Communicator& group_;
    TokenStream& stream_;
    std::uint32_t slots_;
    std::size_t row_bytes_;
    std::vector<Outgoing> outgoing_;
    std::vector<std::uint32_t> ungranted_, left_from_;  // rows, by peer
    std::vector<Run> runs_;
    std::vector<std::uint32_t> slot_of_row_, incoming_slots_;
    std::vector<TokenRow> tokens_;
    std::vector<std::byte> message_;
};

}  // namespace

ExpertLayer::StreamedProduct ExpertLayer::streamed(std::string_view product) {
    const std::int64_t h = shape_.hidden, f = shape_.inner;
    if (product == "expert up")
        return {rows_, received_, up_, {weights_.up, shape_.slots, h, 2 * f}, Transposed::none, 2 * f};
    REHEARSE_CHECK(product == "expert down dgrad", "no product that takes dispatched rows: " + std::string(product));
    return {results_gradient_, down_gradient_, activated_gradient_, {weights_.down, shape_.slots, f, h},
            Transposed::right, f};
}

double ExpertLayer::dispatch_into(std::string_view product, const StreamPolicy& policy) {
    using Clock = Communicator::Clock;
    if (!is_backward_) plan_exchange();
    const StreamedProduct what = streamed(product);
    const std::size_t row_bytes = static_cast<std::size_t>(shape_.hidden) * sizeof(LiveElement);
    if (!stream_) {
        TokenStreamSpec spec;
        const std::int64_t rows = shape_.tokens * shape_.top_k;  // of an average rank
        spec.rows = std::max(static_cast<std::uint32_t>((rows + policy.refills - 1) / policy.refills), group_.size());
        spec.row_bytes = static_cast<std::uint32_t>(row_bytes);
        spec.peers = group_.size();
        spec.experts = shape_.slots;
        spec.threshold = policy.threshold;
        stream_.emplace(spec);
    } else {
        stream_->reopen();
    }
    const Matrix<LiveElement> rows = received(what.received, shape_.hidden),
                              result = received(what.result, what.columns);
    exchange_.clear_pads(std::as_writable_bytes(rows.values()));
    Clock::duration busy{};
    StreamedDispatch(group_, exchange_, *stream_, shape_.slots, row_bytes)
        .run_all(std::as_bytes(std::span(what.sent)), std::as_writable_bytes(rows.values()),
                 [&](std::size_t slot, std::size_t first, std::size_t count) {
                     const Clock::time_point began = Clock::now();
                     const auto from = static_cast<std::int64_t>(first), height = static_cast<std::int64_t>(count);
                     kernels::padded_gemm<LiveElement>(context_, rows.slice(from, height),
                                                       what.weights.of(static_cast<std::int64_t>(slot)),
                                                       result.slice(from, height), what.transposed);
                     busy += Clock::now() - began;
                 });
    return std::chrono::duration<double>(busy).count();
}

}  // namespace rehearse
