#include "kernels/communicator/thread_ranks.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "kernels/communicator/meeting_point.hpp"
#include "kernels/communicator/pieces.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

// What the members of one group share. Each writes its own entry, between two meetings.
struct Shared {
    Shared(std::uint32_t members, const std::atomic<bool>& failed)
        : point(members, failed), parts(members), data(members), colour(members), group(members), inbox(members),
          locks(members) {}
    MeetingPoint point;
    std::atomic<std::uint32_t> readers{0};  // members that read what others own
    std::vector<const Communicator::Parts*> parts;
    std::vector<const float*> data;
    std::vector<std::uint32_t> colour;
    std::vector<std::shared_ptr<Shared>> group;
    std::vector<std::deque<Communicator::Message>> inbox;
    std::vector<std::mutex> locks;  // of the inboxes
};

class ThreadCommunicator : public Communicator {
public:
    ThreadCommunicator(std::shared_ptr<Shared> shared, std::uint32_t rank, std::uint32_t size,
                       const std::atomic<bool>& failed)
        : shared_(std::move(shared)), failed_(failed), rank_(rank), size_(size) {}

    std::uint32_t rank() const override { return rank_; }
    std::uint32_t size() const override { return size_; }

    Clock::time_point meet() override {
        const std::optional<Clock::time_point> last = shared_->point.wait();
        if (last) return *last;
        while (shared_->readers > 0) std::this_thread::yield();  // of what this rank is about to let go
        throw RanksGaveUp();
    }

    void all_to_all(const Parts& parts, const Rooms& into) override {
        REHEARSE_CHECK(parts.size() == size_ && into.size() == size_, "one part per member");
        shared_->parts[rank_] = &parts;
        meet();
        bool agree = true;
        {
            const Reading reading(*this);
            for (std::uint32_t i = 0; i < size_; ++i) {
                const std::uint32_t peer = (rank_ + i) % size_;  // not all from the same one at a time
                agree = copy_pieces((*shared_->parts[peer])[rank_], into[peer]) && agree;
            }
        }
        meet();
        REHEARSE_CHECK(agree, "members disagree on the size of a part");
    }

    void all_gather(Bytes mine, Room all) override {
        REHEARSE_CHECK(all.size() == mine.size() * size_, "an all-gather holds what all members bring");
        const Parts parts(size_, {mine});
        Rooms into(size_);
        for (std::uint32_t i = 0; i < size_; ++i) into[i] = {all.subspan(i * mine.size(), mine.size())};
        all_to_all(parts, into);
    }

    void reduce_scatter(std::span<const float> all, std::span<float> mine) override {
        REHEARSE_CHECK(all.size() == mine.size() * size_, "a slice per member");
        shared_->data[rank_] = all.data();
        meet();
        sum_into(mine, rank_ * mine.size());
        meet();
    }

    // Each member sums a slice, and all copy the sums of the others.
    void all_reduce(std::span<float> data) override {
        const std::size_t slice = (data.size() + size_ - 1) / size_;
        const auto first = [&](std::uint32_t member) { return std::min(member * slice, data.size()); };
        sums_.resize(slice);
        const std::span<float> mine(sums_.data(), first(rank_ + 1) - first(rank_));
        shared_->data[rank_] = data.data();
        meet();
        sum_into(mine, first(rank_));
        meet();
        std::copy(mine.begin(), mine.end(), data.begin() + static_cast<std::ptrdiff_t>(first(rank_)));
        meet();
        {
            const Reading reading(*this);
            for (std::uint32_t member = 0; member < size_; ++member) {
                if (member == rank_) continue;
                std::copy(shared_->data[member] + first(member), shared_->data[member] + first(member + 1),
                          data.begin() + static_cast<std::ptrdiff_t>(first(member)));
            }
        }
        meet();
    }

    void post(std::uint32_t to, Bytes data) override {
        REHEARSE_CHECK(to < size_, "a message to no member");
        const std::lock_guard lock(shared_->locks[to]);
        shared_->inbox[to].push_back({rank_, {data.begin(), data.end()}});
    }

    std::optional<Message> poll() override {
        if (failed_) throw RanksGaveUp();
        const std::lock_guard lock(shared_->locks[rank_]);
        std::deque<Message>& inbox = shared_->inbox[rank_];
        if (inbox.empty()) return std::nullopt;
        Message message = std::move(inbox.front());
        inbox.pop_front();
        return message;
    }

    std::unique_ptr<Communicator> split(std::uint32_t colour) override {
        shared_->colour[rank_] = colour;
        meet();
        const auto& colours = shared_->colour;
        const auto leader = static_cast<std::size_t>(std::find(colours.begin(), colours.end(), colour) -
                                                     colours.begin());
        const auto members = static_cast<std::uint32_t>(std::count(colours.begin(), colours.end(), colour));
        const auto place = std::count(colours.begin(), colours.begin() + static_cast<std::ptrdiff_t>(rank_), colour);
        if (leader == rank_) shared_->group[rank_] = std::make_shared<Shared>(members, failed_);
        meet();
        std::shared_ptr<Shared> group = shared_->group[leader];
        meet();
        return std::make_unique<ThreadCommunicator>(std::move(group), static_cast<std::uint32_t>(place), members,
                                                    failed_);
    }

private:
    // While one lives, no member leaves with the data that it has published, also when another rank fails.
    class Reading {
    public:
        explicit Reading(ThreadCommunicator& member) : readers_(member.shared_->readers) {
            ++readers_;
            if (!member.failed_) return;
            --readers_;
            throw RanksGaveUp();
        }
        ~Reading() { --readers_; }
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;

    private:
        std::atomic<std::uint32_t>& readers_;
    };

    void sum_into(std::span<float> sums, std::size_t first) {
        const Reading reading(*this);
        std::copy_n(shared_->data[0] + first, sums.size(), sums.begin());
        for (std::uint32_t member = 1; member < size_; ++member) {
            const float* other = shared_->data[member] + first;
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other[i];
        }
    }

    std::shared_ptr<Shared> shared_;
    const std::atomic<bool>& failed_;
    std::uint32_t rank_, size_;
    std::vector<float> sums_;
};

// Best effort: without the right to pin, the ranks run where the system puts them.
void pin_to_core(std::uint32_t rank, std::uint32_t ranks) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < static_cast<int>(ranks)) return;
    std::uint32_t seen = 0;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &allowed) || seen++ != rank) continue;
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(core, &own);
        pthread_setaffinity_np(pthread_self(), sizeof own, &own);
        return;
    }
}

}  // namespace

void run_thread_ranks(std::uint32_t ranks, const std::function<void(Communicator&)>& body) {
    REHEARSE_CHECK(ranks > 0, "no ranks to run");
    std::atomic<bool> failed{false};
    const auto shared = std::make_shared<Shared>(ranks, failed);
    std::mutex lock;
    std::exception_ptr first;
    {
        std::vector<std::jthread> threads;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            threads.emplace_back([&, rank] {
                pin_to_core(rank, ranks);
                ThreadCommunicator communicator(shared, rank, ranks, failed);
                try {
                    body(communicator);
                } catch (...) {
                    const std::lock_guard held(lock);
                    if (!first) first = std::current_exception();
                    failed = true;
                }
            });
        }
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace rehearse
