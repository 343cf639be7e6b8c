#include "models/network/transfer_log.hpp"

namespace rehearse {

TransferRequest TransferRecord::request(const Transfer& transfer) const {
    TransferRequest request;
    request.pattern = ends[transfer.ends].pattern;
    request.gpus = ends[transfer.ends].gpus;
    request.size = transfer.size;
    request.efficiency = transfer.efficiency;
    request.steps = transfer.steps;
    request.kind = transfer.kind;
    return request;
}

std::uint32_t TransferLog::ends_of(const TransferRequest& request) {
    const auto next = static_cast<std::uint32_t>(record_->ends.size());
    if (request.group_key != 0) {
        const auto [known, is_new] = known_.try_emplace(request.group_key, next);
        if (!is_new) return known->second;
    }
    record_->ends.push_back({request.pattern, {request.gpus.begin(), request.gpus.end()}});
    return next;
}

FlowId TransferLog::start(SimTime at, const TransferRequest& request) {
    const FlowId flow = model_->start(at, request);
    under_way_[flow.value] = static_cast<std::uint32_t>(record_->transfers.size());
    record_->transfers.push_back(
        {at, at, request.size, request.efficiency, request.steps, ends_of(request), request.kind});
    return flow;
}

void TransferLog::advance(SimTime to, std::vector<Completion>& done) {
    const std::size_t first = done.size();
    model_->advance(to, done);
    for (std::size_t i = first; i < done.size(); ++i) {
        const auto found = under_way_.find(done[i].flow.value);
        record_->transfers[found->second].end = done[i].at;
        under_way_.erase(found);
    }
}

}  // namespace rehearse
