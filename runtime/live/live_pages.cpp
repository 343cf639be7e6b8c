#include "runtime/live/live_pages.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

#include "runtime/moe/paged_steps.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

std::size_t bytes_of_expert(const ExpertLayerShape& shape) {
    return static_cast<std::size_t>(3 * shape.hidden * shape.inner) * sizeof(LiveElement);
}

}  // namespace

LivePages::LivePages(const PagerPolicy& policy, std::vector<ExpertLayer*> layers, std::uint64_t seed)
    : layers_(std::move(layers)), expert_bytes_(bytes_of_expert(layers_.front()->shape())),
      spec_(pager_spec(policy, Bytes{static_cast<std::int64_t>(expert_bytes_)},
                       layers_.size() * layers_.front()->shape().slots)),
      pager_(spec_, pcie_spec(policy)), predictor_(spec_.pages, seed), is_here_(spec_.pages), is_written_(spec_.pages),
      last_used_(layers_.size()), held_(layers_.size()), rows_(spec_.pages) {
    for (ExpertLayer* layer : layers_) {
        host_up_.push_back(layer->weights().up);
        host_down_.push_back(layer->weights().down);
        // Nothing is there yet: whoever read it would spread it.
        const LiveElement not_a_number{0x7fff};
        std::fill(layer->weights().up.begin(), layer->weights().up.end(), not_a_number);
        std::fill(layer->weights().down.begin(), layer->weights().down.end(), not_a_number);
    }
}

SimTime LivePages::now() const {
    const auto passed = Communicator::Clock::now() - began_;
    return SimTime{std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count() * 1000};
}

void LivePages::begin_step() {
    const double held = static_cast<double>(pager_.held().value) / static_cast<double>(spec_.budget.value);
    pager_.plan(now(), predictor_.predict(1 - held));
    settle();
}

void LivePages::end_step() {
    predictor_.learn(rows_);
    std::fill(rows_.begin(), rows_.end(), 0);
}

std::vector<std::uint32_t> LivePages::pages_of(std::size_t layer) const {
    std::vector<std::uint32_t> pages;
    const std::span<const std::int64_t> heights = layers_[layer]->heights();
    const auto page_bytes = static_cast<std::size_t>(spec_.page.value);
    for (std::size_t slot = 0; slot < heights.size(); ++slot) {
        if (heights[slot] == 0) continue;
        const std::size_t first = (layer * heights.size() + slot) * expert_bytes_;
        for (std::size_t page = first / page_bytes; page <= (first + expert_bytes_ - 1) / page_bytes; ++page) {
            if (pages.empty() || pages.back() < page) pages.push_back(static_cast<std::uint32_t>(page));
        }
    }
    return pages;
}

// A page may end one expert and begin the next, and each has its two matrices in two places.
std::vector<LivePages::Part> LivePages::parts_of(std::uint32_t page) {
    std::vector<Part> parts;
    const auto page_bytes = static_cast<std::size_t>(spec_.page.value);
    const ExpertLayerShape& shape = layers_.front()->shape();
    const std::size_t up = expert_bytes_ / 3 * 2, down = expert_bytes_ / 3;
    const std::size_t end = std::min((page + std::size_t{1}) * page_bytes,
                                     layers_.size() * shape.slots * expert_bytes_);
    for (std::size_t at = page * page_bytes; at < end;) {
        const std::size_t expert = at / expert_bytes_, inside = at % expert_bytes_;
        const std::size_t layer = expert / shape.slots, slot = expert % shape.slots;
        const bool is_up = inside < up;
        const std::size_t offset = is_up ? slot * up + inside : slot * down + inside - up;
        const std::size_t bytes = std::min(end - at, (is_up ? up : expert_bytes_) - inside);
        auto& device = is_up ? layers_[layer]->weights().up : layers_[layer]->weights().down;
        auto& host = is_up ? host_up_[layer] : host_down_[layer];
        parts.push_back({std::as_writable_bytes(std::span(device)).data() + offset,
                         std::as_writable_bytes(std::span(host)).data() + offset, bytes});
        at += bytes;
    }
    return parts;
}

void LivePages::fetch(std::uint32_t page) {
    if (is_here_[page] != 0) return;
    for (const Part& part : parts_of(page)) std::memcpy(part.device, part.host, part.bytes);
    is_here_[page] = 1;
    is_written_[page] = 0;
}

void LivePages::settle() {
    for (std::uint32_t page = 0; page < spec_.pages; ++page) {
        if (is_here_[page] == 0) continue;
        const PageState state = pager_.state(page);
        if (state != PageState::absent && state != PageState::standby) continue;
        if (is_written_[page] != 0) {
            for (const Part& part : parts_of(page)) std::memcpy(part.host, part.device, part.bytes);
        }
        is_here_[page] = 0;
    }
}

void LivePages::use(std::size_t layer, std::size_t next, PageAccess access) {
    if (next < layers_.size()) {
        for (const std::uint32_t page : last_used_[next]) {
            const auto& held = held_[next];
            if (std::find(held.begin(), held.end(), page) == held.end()) {
                pager_.schedule(now(), page);
                held_[next].push_back(page);
            }
        }
    }
    const std::vector<std::uint32_t> pages = pages_of(layer);
    for (const std::uint32_t page : pages) {
        auto& held = held_[layer];
        if (std::find(held.begin(), held.end(), page) == held.end()) {  // nobody had expected it
            pager_.schedule(now(), page);
            held.push_back(page);
        }
        while (!pager_.request(now(), page) && pager_.pcie().is_busy()) std::this_thread::yield();
        const PageManager::Use use = pager_.use(now(), page, access);
        fetch(page);  // also what found no room: values are never made up
        if (use.action == Degradation::drop) continue;
        while (now() < use.ready) std::this_thread::yield();
        if (access == PageAccess::write) is_written_[page] = 1;
    }
    const std::span<const std::int64_t> heights = layers_[layer]->heights();
    const auto page_bytes = static_cast<std::size_t>(spec_.page.value);
    for (std::size_t slot = 0; slot < heights.size(); ++slot) {
        const std::size_t first = (layer * heights.size() + slot) * expert_bytes_;
        for (std::size_t page = first / page_bytes; page <= (first + expert_bytes_ - 1) / page_bytes; ++page)
            rows_[page] += static_cast<std::uint64_t>(heights[slot]);
    }
    last_used_[layer] = pages;
    settle();
}

void LivePages::release(std::size_t layer) {
    for (const std::uint32_t page : held_[layer]) pager_.release(now(), page);
    held_[layer].clear();
}

}  // namespace rehearse
