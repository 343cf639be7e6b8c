#include "runtime/live/live_executor.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>

#include "kernels/communicator/thread_ranks.hpp"
#include "runtime/live/live_rank.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/fingerprint.hpp"
#include "sim/base/quantile.hpp"

namespace rehearse {

namespace {

SimTime at(double seconds) { return SimTime{std::llround(seconds * 1e12)}; }

// Every rank gets the times of all of them: begin and end of each operation in each step, and its rows.
std::vector<std::vector<OperationTimes>> gather(Communicator& world, const OperationLog& log) {
    const std::size_t operations = log.operations().size(), steps = log.steps(), row = 2 * steps + 1;
    std::vector<double> mine(operations * row), all(mine.size() * world.size());
    for (std::size_t i = 0; i < operations; ++i) {
        const OperationTimes& times = log.times(i);
        std::copy(times.begin.begin(), times.begin.end(), mine.begin() + static_cast<std::ptrdiff_t>(i * row));
        std::copy(times.end.begin(), times.end.end(), mine.begin() + static_cast<std::ptrdiff_t>(i * row + steps));
        mine[i * row + 2 * steps] = times.rows;
    }
    world.all_gather(std::as_bytes(std::span<const double>(mine)), std::as_writable_bytes(std::span(all)));
    std::vector<std::vector<OperationTimes>> result(world.size());
    for (std::uint32_t rank = 0; rank < world.size(); ++rank) {
        for (std::size_t i = 0; i < operations; ++i) {
            const auto first = all.begin() + static_cast<std::ptrdiff_t>((rank * operations + i) * row);
            const auto half = first + static_cast<std::ptrdiff_t>(steps);
            result[rank].push_back({{first, half}, {half, half + static_cast<std::ptrdiff_t>(steps)},
                                    *(half + static_cast<std::ptrdiff_t>(steps))});
        }
    }
    return result;
}

bool agreed(Communicator& world, bool mine) {
    std::vector<std::byte> all(world.size());
    const std::byte one{static_cast<unsigned char>(mine)};
    world.all_gather(std::span(&one, 1), all);
    return all.front() != std::byte{0};
}

std::uint64_t joined(Communicator& world, std::uint64_t mine) {
    std::vector<std::uint64_t> all(world.size());
    world.all_gather(std::as_bytes(std::span<const std::uint64_t>(&mine, 1)), std::as_writable_bytes(std::span(all)));
    Fingerprint fingerprint;
    for (const std::uint64_t one : all) fingerprint.add(one);
    return fingerprint.value();
}

Timeline timeline_of(const LiveReport& report) {
    Timeline timeline;
    timeline.fingerprint = report.value_fingerprint;
    const std::size_t step = report.median_step(), ranks = report.times.size();
    timeline.end = at(report.step_seconds[step]);
    timeline.parts.resize(ranks);
    timeline.last_arrivals.resize(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        SimTime begin;  // an operation begins where the one before has ended: the gaps are a few clock reads
        for (std::size_t i = 0; i < report.operations.size(); ++i) {
            const Operation& operation = report.operations[i];
            const bool is_last = i + 1 == report.operations.size();
            const SimTime end = is_last ? timeline.end : std::max(begin, at(report.times[rank][i].end[step]));
            timeline.parts[rank][static_cast<std::size_t>(operation.part)] += end - begin;
            timeline.spans.push_back({RankId{rank}, operation.stream, operation.part, operation.phase, 0, 0, begin, end,
                                      operation.work});
            begin = end;
        }
        timeline.events += report.operations.size();
    }
    for (std::size_t i = 0; i < report.operations.size(); ++i) {
        if (report.operations[i].kind != OperationKind::wait) continue;
        std::uint32_t last = 0;
        for (std::uint32_t rank = 1; rank < ranks; ++rank) {
            if (report.times[rank][i].begin[step] > report.times[last][i].begin[step]) last = rank;
        }
        ++timeline.last_arrivals[last];
    }
    return timeline;
}

}  // namespace

std::size_t LiveReport::median_step() const {
    REHEARSE_CHECK(!step_seconds.empty(), "no step was measured");
    std::vector<std::size_t> order(step_seconds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return step_seconds[a] < step_seconds[b]; });
    return order[(order.size() - 1) / 2];
}

double LiveReport::seconds(std::size_t operation) const {
    double sum = 0;
    for (const std::vector<OperationTimes>& rank : times) {
        std::vector<double> values;
        for (std::size_t step = 0; step < step_seconds.size(); ++step)
            values.push_back(rank[operation].end[step] - rank[operation].begin[step]);
        sum += median(std::move(values));
    }
    return sum / static_cast<double>(times.size());
}

double LiveReport::spread() const { return relative_spread(step_seconds); }

RunRanks on_threads(std::uint32_t ranks) {
    return [ranks](const std::function<void(Communicator&)>& body) { run_thread_ranks(ranks, body); };
}

std::int64_t local_cores() {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

// Goes on while the steps that count are no calm ones; the first rank's clock says for how long.
ChosenSteps LiveExecutor::run_steps(LiveRank& rank, Communicator& world) const {
    using Clock = Communicator::Clock;
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(spec_.patience));
    for (;;) {
        for (std::int64_t i = 0; i < spec_.steps * spec_.oversample + 1; ++i) rank.step();
        const OperationLog& log = rank.log();
        const auto calmest = calmest_steps(world, log.paces(), static_cast<std::size_t>(spec_.steps));
        const Pace pace = pace_of(world, log.paces(), calmest);
        const bool calm = is_calm(spec_, pace, log.step_seconds(), calmest);
        if (!agreed(world, calm || Clock::now() >= until)) continue;
        const auto run = static_cast<std::int64_t>(log.steps());
        rank.log().keep(calmest);
        return {pace, run, calm};
    }
}

Timeline LiveExecutor::execute(const Workload& workload) {
    report_ = {};
    std::atomic<bool> is_kept{false};
    run_ranks_([&](Communicator& world) {
        REHEARSE_CHECK(world.size() == workload.layout.rank_count(), "a rank for each of the workload");
        LiveRank rank(workload, policies_, spec_.seed, world);
        for (std::int64_t i = 0; i < spec_.warmup_steps; ++i) rank.step();
        rank.log().forget();
        const ChosenSteps chosen = run_steps(rank, world);
        std::vector<std::vector<OperationTimes>> times = gather(world, rank.log());
        const std::uint64_t fingerprint = joined(world, rank.value_fingerprint());
        if (is_kept.exchange(true)) return;  // by another rank of this process
        report_ = {rank.log().operations(), std::move(times), rank.log().step_seconds(), chosen, fingerprint};
    });
    return timeline_of(report_);
}

}  // namespace rehearse
