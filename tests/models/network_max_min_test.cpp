// The fast max-min solver against the slow one and against the definition of max-min fairness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "models/network/flow/max_min_reference.hpp"
#include "models/network/flow/max_min_solver.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

std::vector<WeightedLink> path(std::initializer_list<std::uint32_t> links) {
    std::vector<WeightedLink> out;
    for (const std::uint32_t link : links) out.push_back({LinkId{link}, 1.0});
    return out;
}

// Two links A (10) and B (4); f crosses both, g only A, h only B. B is shared by f and h: 2 each. A leaves 8 to g.
TEST(MaxMin, TextbookTriangle) {
    const std::vector<double> capacities{10, 4};
    const std::vector<ReferenceFlow> flows{{path({0, 1})}, {path({0})}, {path({1})}};
    EXPECT_THAT(max_min_reference(capacities, flows), (std::vector<double>{2, 8, 2}));
    MaxMinSolver solver(capacities);
    for (const ReferenceFlow& flow : flows) solver.join(solver.create({flow.links}));
    solver.resolve();
    EXPECT_DOUBLE_EQ(solver.rate(0), 2);
    EXPECT_DOUBLE_EQ(solver.rate(1), 8);
    EXPECT_DOUBLE_EQ(solver.rate(2), 2);
    solver.leave(2);  // h ends: f gets min(10 / 2, 4) = 4, g 6
    EXPECT_EQ(solver.resolve().size(), 2U);
    EXPECT_DOUBLE_EQ(solver.rate(0), 4);
    EXPECT_DOUBLE_EQ(solver.rate(1), 6);
}

// A flow that crosses a link twice (weight 2) at rate x takes 2 x: with one plain flow on C = 9, x = 9 / 3.
TEST(MaxMin, WeightIsConsumptionPerUnitOfRate) {
    const std::vector<double> capacities{9};
    const std::vector<ReferenceFlow> flows{{{{LinkId{0}, 2.0}}}, {path({0})}, {path({0}), 1.5}};
    const std::vector<double> rates = max_min_reference(capacities, flows);
    EXPECT_DOUBLE_EQ(rates[0], 2.5);  // (9 - 1.5) / 3
    EXPECT_DOUBLE_EQ(rates[1], 2.5);
    EXPECT_DOUBLE_EQ(rates[2], 1.5);
}

// Three links of 10 in a row, crossed by f and g: whichever of them is looked at limits both, one suffices. With h on
// the last link alone that one is the bottleneck, 10 / 3 each, until h leaves.
TEST(MaxMin, OneLinkInARowIsWatched) {
    const std::vector<double> capacities{10, 10, 10};
    MaxMinSolver solver(capacities);
    for (int i = 0; i < 2; ++i) solver.join(solver.create({path({0, 1, 2})}));
    solver.resolve();
    EXPECT_EQ(solver.links_visited(), 1U);
    EXPECT_DOUBLE_EQ(solver.rate(0), 5);
    const std::uint32_t h = solver.create({path({2})});
    solver.join(h);
    solver.resolve();
    for (std::uint32_t f = 0; f < 3; ++f) EXPECT_DOUBLE_EQ(solver.rate(f), 10.0 / 3) << f;
    solver.leave(h);
    solver.resolve();
    for (std::uint32_t f = 0; f < 2; ++f) EXPECT_DOUBLE_EQ(solver.rate(f), 5) << f;
}

struct Case {
    const char* name;
    std::uint32_t links;
    std::uint32_t hops_max;
    bool equal_capacities;  // few distinct capacities, caps and weights: many ties
    bool weights;
    double capped;        // fraction of flows with a cap of their own
    std::uint32_t batch;  // changes between two solves, at most
    std::uint32_t flows;  // aimed at
    bool tree = false;    // paths lead from some link l over l / 2, l / 4, ... upwards: many links cover others
};

class MaxMinProperty : public ::testing::TestWithParam<std::tuple<Case, int>> {};

class World {
public:
    World(const Case& setting, std::uint64_t seed) : setting_(setting), draw_(seed, "max_min_property") {
        for (std::uint32_t l = 0; l < setting.links; ++l) {
            capacities_.push_back(setting.equal_capacities ? 1.0 + below(3) : 1.0 + 99.0 * next());
        }
        solver_ = std::make_unique<MaxMinSolver>(capacities_);
    }
    double next() { return draw_.uniform(0, counter_++); }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() * n); }

    void change() {
        for (std::uint32_t i = 0, n = 1 + below(setting_.batch); i < n; ++i) {
            const bool grow = next() < (active_.size() < setting_.flows ? 0.8 : 0.45);
            if (grow || active_.empty()) {
                add();
            } else {
                const std::uint32_t victim = below(static_cast<std::uint32_t>(active_.size()));
                if (fresh_.contains(active_[victim].first)) continue;
                solver_->leave(active_[victim].first);
                solver_->destroy(active_[victim].first);
                active_.erase(active_.begin() + victim);
            }
        }
        fresh_.clear();
    }

    void check() {
        solver_->resolve();
        std::vector<ReferenceFlow> flows;
        for (const auto& [index, flow] : active_) flows.push_back(flow);
        const std::vector<double> expected = max_min_reference(capacities_, flows);
        for (std::size_t f = 0; f < flows.size(); ++f) {
            const double scale = std::max(expected[f], 1e-9);
            ASSERT_NEAR(solver_->rate(active_[f].first) / scale, expected[f] / scale, 1e-9) << "flow " << f;
        }
    }

private:
    void add() {
        ReferenceFlow flow;
        std::set<std::uint32_t> used;
        std::uint32_t link_next = below(setting_.links);
        for (std::uint32_t h = 0, n = 1 + below(setting_.hops_max); h < n; ++h) {
            used.insert(link_next);
            link_next = setting_.tree ? link_next / 2 : below(setting_.links);
        }
        for (const std::uint32_t link : used) {
            const double weight = setting_.equal_capacities ? 0.5 * (1 + below(3)) : 0.05 + 2 * next();
            flow.links.push_back({LinkId{link}, setting_.weights ? weight : 1.0});
        }
        if (next() < setting_.capped) flow.cap = setting_.equal_capacities ? 0.25 * (1 + below(4)) : 20 * next() + 0.01;
        const std::uint32_t index =
            solver_->create({flow.links, 1.0, std::min(flow.cap, solver_->lone_rate({flow.links}))});
        solver_->join(index);
        fresh_.insert(index);
        active_.emplace_back(index, flow);
    }

    Case setting_;
    Stream draw_;
    std::uint64_t counter_ = 0;
    std::vector<double> capacities_;
    std::unique_ptr<MaxMinSolver> solver_;
    std::vector<std::pair<std::uint32_t, ReferenceFlow>> active_;
    std::set<std::uint32_t> fresh_;
};

TEST_P(MaxMinProperty, EqualsReferenceAfterEveryChange) {
    const auto& [setting, seed] = GetParam();
    World world(setting, static_cast<std::uint64_t>(seed));
    for (int step = 0; step < 150; ++step) {
        world.change();
        ASSERT_NO_FATAL_FAILURE(world.check()) << setting.name << " seed " << seed << " step " << step;
    }
}

INSTANTIATE_TEST_SUITE_P(Random, MaxMinProperty,
                         ::testing::Combine(::testing::Values(Case{"few links", 4, 4, false, false, 0.2, 1, 12},
                                                              Case{"ties", 12, 4, true, false, 0.2, 2, 30},
                                                              Case{"weights", 20, 5, false, true, 0.3, 1, 40},
                                                              Case{"tied weights", 20, 5, true, true, 0.0, 3, 40},
                                                              Case{"tied caps", 30, 4, true, true, 0.5, 1, 60},
                                                              Case{"batches", 30, 6, false, false, 0.1, 20, 60},
                                                              Case{"sparse", 60, 3, false, false, 0.1, 1, 60},
                                                              Case{"long", 60, 30, false, true, 0.1, 2, 40},
                                                              Case{"crowded", 6, 2, true, false, 0.1, 2, 100},
                                                              Case{"tree", 40, 6, false, false, 0.1, 2, 30, true},
                                                              Case{"tied tree", 40, 6, true, true, 0.1, 3, 30, true}),
                                            ::testing::Range(1, 13)));

}  // namespace
}  // namespace rehearse
