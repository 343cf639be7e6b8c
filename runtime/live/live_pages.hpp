// The page manager at work on a live rank: the weights of its experts lie in host memory and are copied to where the
// kernels read them, page by page, when the real PageManager says so.
//
// Pages are laid out as in runtime/moe/paged_steps.hpp: the experts of the rank one behind the other, by layer and
// slot, each its up-projection and then its down-projection. A core has no link to host memory of its own: the copy is
// real, and the page counts as there when the PcieLink of the page manager has brought it too, on the wall clock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/live/expert_layer.hpp"
#include "runtime/moe/policy_spec.hpp"
#include "runtime/pager/access_predictor.hpp"
#include "runtime/pager/page_manager.hpp"

namespace rehearse {

class LivePages {
public:
    // `layers`: those with experts, in order. Kept by reference.
    LivePages(const PagerPolicy& policy, std::vector<ExpertLayer*> layers, std::uint64_t seed);

    void begin_step();                // predicts and plans
    void end_step();                  // learns from what the step used
    // Before and behind the products of a layer that has received its rows: waits for the pages of the slots with rows,
    // and asks for those that the layer `next` used last (no_layer: none).
    void use(std::size_t layer, std::size_t next, PageAccess access);
    void release(std::size_t layer);
    const PagerCounters& counters() const { return pager_.counters(); }

private:
    struct Part {
        std::byte* device;
        std::byte* host;
        std::size_t bytes;
    };
    SimTime now() const;
    std::vector<std::uint32_t> pages_of(std::size_t layer) const;  // of its slots with rows, ascending
    std::vector<Part> parts_of(std::uint32_t page);
    void fetch(std::uint32_t page);
    void settle();  // pages that have left are written back and forgotten

    std::vector<ExpertLayer*> layers_;
    std::size_t expert_bytes_;
    PagerSpec spec_;
    PageManager pager_;
    AccessPredictor predictor_;
    std::vector<kernels::Array<LiveElement>> host_up_, host_down_;  // by layer
    std::vector<char> is_here_, is_written_;                     // by page
    std::vector<std::vector<std::uint32_t>> last_used_, held_;   // pages, by layer
    std::vector<std::uint64_t> rows_;                            // of the step, by page
    Communicator::Clock::time_point began_ = Communicator::Clock::now();
};

}  // namespace rehearse
