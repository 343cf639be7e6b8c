#include "runtime/moe/paged_steps.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/pager/access_predictor.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

struct Visit {
    std::vector<std::uint32_t> pages;  // ascending
    SimDuration duration;
    PageAccess access = PageAccess::read;
};

class PagedRun {
public:
    PagedRun(const PagerPolicy& policy, const PagedRank& rank, std::size_t layers, std::size_t slots,
             std::uint64_t seed)
        : rank_(rank), slots_(slots), spec_(pager_spec(policy, rank.expert, layers * slots)),
          pager_(spec_, pcie_spec(policy)),
          predictor_(spec_.pages, seed) {}

    void step(const SlotRows& rows) {
        wait_ = {};
        const double held = static_cast<double>(pager_.held().value) / static_cast<double>(spec_.budget.value);
        pager_.plan(now_, predictor_.predict(1 - held));
        const std::vector<Visit> visits = visits_of(rows);
        schedule(visits.front());
        for (std::size_t i = 0; i < visits.size(); ++i) {
            if (i + 1 < visits.size()) schedule(visits[i + 1]);
            use(visits[i]);
        }
        predictor_.learn(rows_of_pages(rows));
    }
    const PagerCounters& counters() const { return pager_.counters(); }
    SimDuration wait() const { return wait_; }  // of the last step

private:
    std::uint32_t page_at(std::size_t expert, std::int64_t offset) const {
        return static_cast<std::uint32_t>((static_cast<std::int64_t>(expert) * rank_.expert.value + offset) /
                                          spec_.page.value);
    }

    bool is_used(float rows, std::int64_t micro_batch) const {
        const double share = static_cast<double>(rows) / static_cast<double>(rank_.micro_batches);
        const auto before = static_cast<double>(micro_batch);
        return std::floor(share * (before + 1)) > std::floor(share * before);
    }

    Visit visit(const SlotRows& rows, std::size_t layer, std::int64_t micro_batch, SimDuration duration,
                PageAccess access) const {
        Visit visit{{}, duration, access};
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            if (!is_used(rows[layer][slot], micro_batch)) continue;
            const std::size_t expert = layer * slots_ + slot;
            for (std::uint32_t page = page_at(expert, 0); page <= page_at(expert, rank_.expert.value - 1); ++page)
                if (visit.pages.empty() || visit.pages.back() < page) visit.pages.push_back(page);
        }
        return visit;
    }

    std::vector<Visit> visits_of(const SlotRows& rows) const {
        std::vector<Visit> visits;
        for (std::int64_t batch = 0; batch < rank_.micro_batches; ++batch) {
            const PageAccess access = batch + 1 == rank_.micro_batches ? PageAccess::write : PageAccess::read;
            for (std::size_t layer = 0; layer < rows.size(); ++layer)
                visits.push_back(visit(rows, layer, batch, rank_.pace.forward, PageAccess::read));
            for (std::size_t layer = rows.size(); layer-- > 0;)
                visits.push_back(visit(rows, layer, batch, rank_.pace.backward, access));
        }
        return visits;
    }

    std::vector<std::uint64_t> rows_of_pages(const SlotRows& rows) const {
        std::vector<std::uint64_t> tokens(spec_.pages);
        for (std::size_t expert = 0; expert < rows.size() * slots_; ++expert) {
            const auto here = static_cast<std::uint64_t>(std::llround(rows[expert / slots_][expert % slots_]));
            for (std::uint32_t page = page_at(expert, 0); page <= page_at(expert, rank_.expert.value - 1); ++page)
                tokens[page] += here;
        }
        return tokens;
    }

    void schedule(const Visit& visit) {
        for (const std::uint32_t page : visit.pages) pager_.schedule(now_, page);
    }

    void find_room(std::uint32_t page) {
        while (!pager_.request(now_, page) && pager_.pcie().is_busy()) now_ = pager_.pcie().next_end();
    }

    void use(const Visit& visit) {
        const SimTime begin = now_;
        for (const std::uint32_t page : visit.pages) {
            find_room(page);
            const PageManager::Use use = pager_.use(now_, page, visit.access);
            if (use.action != Degradation::drop) now_ = std::max(now_, use.ready);
        }
        wait_ += now_ - begin;
        now_ = now_ + visit.duration;
        for (const std::uint32_t page : visit.pages) pager_.release(now_, page);
    }

    const PagedRank& rank_;
    std::size_t slots_;
    PagerSpec spec_;
    PageManager pager_;
    AccessPredictor predictor_;
    SimTime now_;
    SimDuration wait_;
};

PagerCounters difference(const PagerCounters& to, const PagerCounters& from) {
    return {to.uses - from.uses,           to.misses - from.misses,
            to.faults - from.faults,       to.waits - from.waits,
            to.migrations - from.migrations, to.drops - from.drops,
            to.loads - from.loads,         to.evictions - from.evictions,
            to.prefetches_unused - from.prefetches_unused, to.stall - from.stall};
}

}  // namespace

PagerSpec pager_spec(const PagerPolicy& policy, Bytes expert, std::size_t experts) {
    PagerSpec spec = policy.spec;
    const std::int64_t bytes = expert.value * static_cast<std::int64_t>(experts);
    spec.pages = static_cast<std::uint32_t>((bytes + spec.page.value - 1) / spec.page.value);
    spec.budget = Bytes{std::llround(policy.resident * static_cast<double>(bytes))};
    if (policy.resident < 1) return spec;
    // All of them, and as much room besides as the pager keeps free: nothing ever leaves.
    const double all = std::ceil(static_cast<double>(spec.pages) / (1 - spec.load_above)) + 1;
    spec.budget = spec.page * static_cast<std::int64_t>(all);
    return spec;
}

PcieSpec pcie_spec(const PagerPolicy& policy) {
    return {policy.pcie_alone.bytes_per_second() / policy.gpus_per_switch,
            policy.pcie_duplex.bytes_per_second() / policy.gpus_per_switch};
}

PagedStep run_paged_steps(const PagerPolicy& policy, const PagedRank& rank, std::span<const SlotRows> steps,
                          std::uint64_t seed) {
    REHEARSE_CHECK(!steps.empty() && !steps.front().empty(), "the pager has no step with experts");
    PagedRun run(policy, rank, steps.front().size(), steps.front().front().size(), seed);
    PagerCounters before;
    for (const SlotRows& rows : steps) {
        before = run.counters();
        run.step(rows);
    }
    return {difference(run.counters(), before), run.wait()};
}

}  // namespace rehearse
