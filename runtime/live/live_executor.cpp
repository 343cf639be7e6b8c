#include "runtime/live/live_executor.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "kernels/communicator/thread_ranks.hpp"
#include "runtime/live/live_rank.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/fingerprint.hpp"

namespace rehearse {

namespace {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return 0.5 * (values[(values.size() - 1) / 2] + values[values.size() / 2]);
}

// Median over the steps, mean over the ranks.
Pace pace_of(Communicator& world, const std::vector<Pace>& steps) {
    std::vector<double> compute, memory;
    for (const Pace& step : steps) {
        compute.push_back(step.compute);
        memory.push_back(step.memory);
    }
    const Pace mine{median(std::move(compute)), median(std::move(memory))};
    std::vector<Pace> all(world.size());
    world.all_gather(std::as_bytes(std::span<const Pace>(&mine, 1)), std::as_writable_bytes(std::span(all)));
    Pace mean;
    for (const Pace& one : all) {
        mean.compute += one.compute / static_cast<double>(all.size());
        mean.memory += one.memory / static_cast<double>(all.size());
    }
    return mean;
}

// The steps in whose beginning and end the slowest rank was fastest, in the order of time: the last one has no end.
std::vector<std::size_t> calmest(Communicator& world, const std::vector<Pace>& mine, std::size_t count) {
    std::vector<Pace> all(mine.size() * world.size());
    world.all_gather(std::as_bytes(std::span<const Pace>(mine)), std::as_writable_bytes(std::span(all)));
    std::vector<double> slowest(mine.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        slowest[i % mine.size()] = std::max(slowest[i % mine.size()], all[i].compute);
    std::vector<std::size_t> order(std::max<std::size_t>(1, mine.size() - 1));
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto both = [&](std::size_t step) {
        return std::max(slowest[step], slowest[std::min(step + 1, mine.size() - 1)]);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return both(a) < both(b); });
    order.resize(std::min(order.size(), count));
    std::sort(order.begin(), order.end());
    return order;
}

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

double LiveReport::spread() const {
    std::vector<double> sorted = step_seconds;
    std::sort(sorted.begin(), sorted.end());
    return (sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4]) / median(sorted);
}

RunRanks on_threads(std::uint32_t ranks) {
    return [ranks](const std::function<void(Communicator&)>& body) { run_thread_ranks(ranks, body); };
}

std::int64_t local_cores() {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

Timeline LiveExecutor::execute(const Workload& workload) {
    report_ = {};
    std::atomic<bool> is_kept{false};
    run_ranks_([&](Communicator& world) {
        REHEARSE_CHECK(world.size() == workload.layout.rank_count(), "a rank for each of the workload");
        LiveRank rank(workload, policies_, spec_.seed, world);
        for (std::int64_t i = 0; i < spec_.warmup_steps; ++i) rank.step();
        rank.log().forget();
        for (std::int64_t i = 0; i < spec_.steps * spec_.oversample + 1; ++i) rank.step();
        rank.log().keep(calmest(world, rank.log().paces(), static_cast<std::size_t>(spec_.steps)));
        std::vector<std::vector<OperationTimes>> times = gather(world, rank.log());
        const std::uint64_t fingerprint = joined(world, rank.value_fingerprint());
        const Pace pace = pace_of(world, rank.log().paces());
        if (is_kept.exchange(true)) return;  // by another rank of this process
        report_ = {rank.log().operations(), std::move(times), rank.log().step_seconds(), pace, fingerprint};
    });
    return timeline_of(report_);
}

}  // namespace rehearse
