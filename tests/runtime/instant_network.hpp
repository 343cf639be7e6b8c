// A network of unlimited rate and no latency: a transfer ends when it begins.
#pragma once

#include <algorithm>
#include <vector>

#include "models/network/network_model.hpp"

namespace rehearse {

class InstantNetwork : public NetworkModel {
public:
    FlowId start(SimTime at, const TransferRequest& request) override {
        waiting_.push_back({at, FlowId{count_++}, request.token});
        std::push_heap(waiting_.begin(), waiting_.end(), later);
        return FlowId{count_ - 1};
    }
    SimTime next_event_time() override { return waiting_.empty() ? SimTime{INT64_MAX} : waiting_.front().at; }
    void advance(SimTime to, std::vector<Completion>& done) override {
        while (!waiting_.empty() && waiting_.front().at <= to) {
            done.push_back(waiting_.front());
            std::pop_heap(waiting_.begin(), waiting_.end(), later);
            waiting_.pop_back();
        }
    }
    const LinkTraffic& traffic() const override { return traffic_; }
    std::uint64_t events() const override { return count_; }

private:
    static bool later(const Completion& a, const Completion& b) {
        return a.at != b.at ? a.at > b.at : a.flow.value > b.flow.value;
    }
    std::vector<Completion> waiting_;
    std::uint32_t count_ = 0;
    LinkTraffic traffic_;
};

}  // namespace rehearse
