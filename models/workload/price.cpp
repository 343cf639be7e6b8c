#include "models/workload/price.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "kernels/cpu/row_calls.hpp"
#include "models/compute/cost.hpp"
#include "models/workload/price_collective.hpp"

namespace rehearse {

namespace {

class Pricing {
public:
    Pricing(const Workload& workload, const DeviceProfile& profile, const LocalFabric& fabric)
        : profile_(profile), collectives_(profile, fabric), loads_(workload.experts.loads),
          members_(workload.layout.group_size(GroupFamily::local)),
          expert_width_(static_cast<std::uint32_t>(workload.training.parallel.expert_width())) {}

    PricedWork price(const Work& work) const {
        std::vector<double> compute(work.segments.size()), communication(work.segments.size());
        std::vector<double> whole(work.segments.size());
        std::vector<double> device(work.regions.size()), floor(work.regions.size());
        for (std::size_t r = 0; r < work.regions.size(); ++r) floor[r] = host_floor(work.regions[r]);
        double idle = 0, left = 0;
        for (std::size_t i = 0; i < work.segments.size(); ++i) {
            const double head = i > 0 ? head_start(work.segments[i], work.segments[i - 1], idle) : 0;
            if (head > 0) {  // the operators before miss the multiprocessors for that time
                compute[i - 1] += head * collectives_.taken_by(work.segments[i].collective);
                device[work.segments[i - 1].region] += head * collectives_.taken_by(work.segments[i].collective);
            }
            const SegmentTime time = segment_time(work.segments[i], {}, head - left);
            left = i + 1 < work.segments.size() ? left_over(work.segments[i], work.segments[i + 1], time) : 0;
            compute[i] = time.compute;
            communication[i] = time.communication - left;
            whole[i] = time.whole;
            idle = time.idle;
            device[work.segments[i].region] += compute[i];
            if (floor[work.segments[i].region] > 0 && communication[i] > 0) {
                floor[work.segments[i].region] += profile_.host_collective.seconds();
            }
        }
        PricedWork priced;
        for (std::size_t i = 0; i < work.segments.size(); ++i) {
            const std::size_t r = work.segments[i].region;
            // The host issues kernels ahead of the device; where it cannot keep up, its pace rules the whole region.
            const double stretch = device[r] > 0 ? std::max(1.0, floor[r] / device[r]) : 1.0;
            PricedSegment segment{seconds(compute[i] * stretch), seconds(communication[i])};
            segment.collective = seconds(whole[i]);
            segment.part = part_of(work.segments[i].collective.kind);
            add_members(work.segments[i], stretch, segment, priced);
            priced.add(segment);
        }
        return priced;
    }

    std::vector<PricedOperator> operators(const Work& work) const {
        std::vector<PricedOperator> result;
        for (const Segment& segment : work.segments) {
            const LayerLoad* load = load_of(segment);
            for (std::size_t i = 0; i < segment.operators.size(); ++i) {
                double time = 0;
                const std::uint32_t ranks = load != nullptr ? load->ranks : 1;
                for (std::uint32_t rank = 0; rank < ranks; ++rank)
                    time +=
                        operator_seconds(segment, i, load != nullptr ? MemberLoad{load, rank} : MemberLoad{}) / ranks;
                result.push_back({&segment.operators[i], LocalCollectiveKind::none, time});
            }
            if (segment.collective.kind == LocalCollectiveKind::none) continue;
            result.push_back({nullptr, segment.collective.kind, segment_time(segment, {}, 0).whole});
        }
        return result;
    }

private:
    static Part part_of(LocalCollectiveKind kind) {
        const bool exchange = kind == LocalCollectiveKind::dispatch || kind == LocalCollectiveKind::combine;
        return exchange ? Part::ep_exposed : Part::tp_exposed;
    }

    const LayerLoad* load_of(const Segment& segment) const {
        return segment.layer < loads_.size() && loads_[segment.layer].ranks > 0 ? &loads_[segment.layer] : nullptr;
    }

    // Unequal loads: each member computes for its own rows; the collective, as long as the busiest rank needs, is
    // hidden by what an average member computes.
    void add_members(const Segment& segment, double stretch, PricedSegment& priced, PricedWork& work) const {
        const LayerLoad* load = load_of(segment);
        const bool is_loaded = std::any_of(segment.operators.begin(), segment.operators.end(), [](const Operator& op) {
            return op.expert_rows != ExpertRows::none;
        });
        if (load == nullptr || !is_loaded) return;
        std::vector<double> times(load->ranks);
        for (std::uint32_t rank = 0; rank < load->ranks; ++rank) {
            times[rank] = segment_time(segment, {load, rank}, 0).compute;
        }
        std::vector<SimDuration>& row = work.of_member.emplace_back();
        for (std::uint32_t member = 0; member < members_; ++member)  // those that cut one expert are neighbours
            row.push_back(seconds(times[member / expert_width_ % load->ranks] * stretch));
        priced.members = static_cast<std::uint32_t>(work.of_member.size() - 1);
    }

    double host_floor(const HostRegion& region) const {
        return region.layers_forward * profile_.host_layer_forward.seconds() +
               region.layers_backward * profile_.host_layer_backward.seconds() +
               region.micro_batches * profile_.host_micro_batch.seconds();
    }

    struct MemberLoad {
        const LayerLoad* load = nullptr;  // none: balanced
        std::uint32_t rank = 0;
    };

    // On a device whose products are calls of a library, those of streamed rows are cut: a source sends slot by slot,
    // and what of a slot has come from one source with a chunk is multiplied apart from the rest.
    bool is_cut(const Segment& segment, std::size_t index) const {
        const LocalCollective& collective = segment.collective;
        return collective.hiding == Hiding::streamed && collective.kind == LocalCollectiveKind::dispatch &&
               index >= collective.partner && segment.operators[index].kind == OperatorKind::gemm &&
               profile_.measured.product("grouped gemm") != nullptr;
    }

    // A chunk holds the part `chunk` of the rows that an average rank gets.
    double cut_product_seconds(const Operator& op, MemberLoad member, double chunk) const {
        const std::size_t slots = member.load != nullptr ? member.load->slots : static_cast<std::size_t>(op.batch);
        const double sources = collectives_.expert_ranks();
        const double rows = static_cast<double>(op.batch * op.m) / sources, piece = chunk * rows;
        std::vector<double> heights;
        double left = piece;  // of the chunk
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const double share = member.load != nullptr
                                     ? static_cast<double>(member.load->rows[member.rank * slots + slot])
                                     : 1.0 / static_cast<double>(slots);
            for (double height = rows * share; height > 0.5;) {
                const double part = std::min(height, left);
                heights.insert(heights.end(), static_cast<std::size_t>(sources), part);
                height -= part;
                left -= part;
                if (left < 0.5) left = piece;
            }
        }
        return grouped_gemm_seconds(profile_, {op.batch, op.m, op.n, op.k, op.output_bytes, 1, 1, role_of(op)},
                                    GroupedBy::m, heights);
    }

    // Where products are calls of a library, the rows of an expert are padded as they arrive (runtime/live).
    double on_device(double rows) const {
        if (profile_.measured.product("grouped gemm") == nullptr) return rows;
        return static_cast<double>(kernels::padded(std::llround(rows), kernels::depth_pad));
    }

    static GemmRole role_of(const Operator& op) {
        const std::string_view name = op.name;
        if (name.ends_with("wgrad")) return GemmRole::weight_gradient;
        return name.ends_with("dgrad") ? GemmRole::input_gradient : GemmRole::forward;
    }

    double product_seconds(const Operator& op, MemberLoad member) const {
        const double rate = op.precision == Precision::fp8 ? profile_.fp8_rate.value : 1.0;
        const GemmShape shape{op.batch, op.m, op.n, op.k, op.output_bytes, op.fill, rate, role_of(op)};
        if (member.load == nullptr || op.expert_rows == ExpertRows::none) return gemm_seconds(profile_, shape);
        const GroupedBy by = op.expert_rows == ExpertRows::m ? GroupedBy::m : GroupedBy::k;
        const double rows = static_cast<double>(op.batch * (by == GroupedBy::m ? op.m : op.k));
        std::vector<double> heights(member.load->slots);
        for (std::uint32_t slot = 0; slot < member.load->slots; ++slot)
            heights[slot] =
                on_device(rows * member.load->rows[std::size_t{member.rank} * member.load->slots + slot]);
        return grouped_gemm_seconds(profile_, shape, by, heights);
    }

    double operator_seconds(const Segment& segment, std::size_t index, MemberLoad member) const {
        const Operator& op = segment.operators[index];
        return is_cut(segment, index) ? cut_product_seconds(op, member, segment.collective.chunk)
                                      : operator_seconds(op, member);
    }

    double operator_seconds(const Operator& op, MemberLoad member) const {
        switch (op.kind) {
            case OperatorKind::gemm: return product_seconds(op, member);
            case OperatorKind::attention:
                return attention_seconds(profile_, op.name, op.flops.value, op.bytes, op.kernels,
                                         op.phase == AttentionPhase::forward ? Ratio{1} : profile_.attention_backward);
            case OperatorKind::memory: {
                const bool scales = member.load != nullptr && op.expert_rows == ExpertRows::bytes;
                return memory_seconds(profile_, op.name, op.bytes * (scales ? member.load->rank_rows(member.rank) : 1),
                                      op.kernels);
            }
            case OperatorKind::host: break;
        }
        switch (op.host) {
            case HostCost::none: return op.seconds;
            case HostCost::exchange: return profile_.host_exchange.seconds();
            case HostCost::input: return profile_.host_input.seconds();
            case HostCost::step: return profile_.host_step.seconds();
        }
        return 0;
    }

    struct SegmentTime {
        double compute = 0, communication = 0;  // `communication`: what is exposed
        double whole = 0;  // the collective, hidden or not
        double idle = 0;  // from the end of a hidden collective to the end of the operators beside it
    };

    // How much sooner the collective of a segment begins than its partners: beside operators of the segment before.
    double head_start(const Segment& segment, const Segment& before, double idle) const {
        const LocalCollective& collective = segment.collective;
        double beside = 0;
        for (std::size_t i = collective.early; i < before.operators.size(); ++i)
            beside += operator_seconds(before.operators[i], {});
        return std::min({beside, idle, collectives_.seconds(collective, 1.0, 1.0)});
    }

    // What of a collective runs on beside the first operators of the segment behind.
    double left_over(const Segment& segment, const Segment& behind, const SegmentTime& time) const {
        double beside = 0;
        for (std::size_t i = 0; i < std::min(segment.collective.late, behind.operators.size()); ++i)
            beside += operator_seconds(behind.operators[i], {});
        return segment.collective.hiding == Hiding::under ? std::min(beside, time.communication) : 0;
    }

    // `head`: by how much the collective begins before its partners; negative: after them.
    SegmentTime segment_time(const Segment& segment, MemberLoad member, double head) const {
        const LocalCollective& collective = segment.collective;
        SegmentTime time;
        double partner = 0;
        for (std::size_t i = 0; i < segment.operators.size(); ++i) {
            const double of_this = operator_seconds(segment, i, member);
            time.compute += of_this;
            if (i >= collective.partner) partner += of_this;
        }
        const LayerLoad* load = load_of(segment);
        const double busiest = load != nullptr ? load->exchange : 1.0;
        time.whole = collectives_.seconds(collective, 1.0, busiest);
        const double whole = time.whole > 0 ? time.whole - head : 0;
        if (whole <= 0) return time;
        const double taken = collectives_.taken_by(collective);
        if (collective.hiding == Hiding::none || partner <= 0) {
            time.communication = whole;
        } else if (collective.hiding == Hiding::under) {
            // The collective occupies multiprocessors that the operators beside it miss.
            time.compute += std::min(whole, partner) * taken;
            const double beside = partner + std::min(whole, partner) * taken;
            time.communication = std::max(0.0, whole - beside);
            time.idle = std::max(0.0, beside - whole);
        } else if (collective.hiding == Hiding::fused) {
            price_fused(collective, whole, partner, time.compute, time.communication);
        } else if (collective.hiding == Hiding::streamed) {
            const double rest = (1 - collective.first) * whole, hidden = std::min(rest, partner) * taken;
            time.compute += hidden;
            time.communication = collective.first * whole + std::max(0.0, rest - partner - hidden);
        } else {
            price_chunked(collective, busiest, partner, time.compute, time.communication);
        }
        return time;
    }

    // n pieces: the first is exposed, the others run beside the product.
    void price_fused(const LocalCollective& collective, double whole, double product, double& compute,
                     double& communication) const {
        const double n = static_cast<double>(profile_.overlap_chunks);
        const double rest = whole * (n - 1) / n, steal = std::min(rest, product) * collectives_.taken_by(collective);
        const double behind = product * (n - 1) / n;  // what the last piece does not hide
        compute += steal;
        communication = whole / n + std::max(0.0, rest - behind - steal);
    }

    // n chunks: the first chunk's collective is exposed, the others run beside the GEMM and take multiprocessors from
    // it.
    void price_chunked(const LocalCollective& collective, double busiest, double gemm, double& compute,
                       double& communication) const {
        const double n = static_cast<double>(profile_.overlap_chunks);
        const double chunk = collectives_.seconds(collective, 1.0 / n, busiest);
        const double launches = (n - 1) * profile_.kernel_overhead.seconds() * profile_.kernel_slowdown.value;
        const double steal = n * chunk * collectives_.taken_by(collective);
        const double busy = gemm + launches;
        const double total = chunk + std::max(busy + steal, (n - 1) * chunk + busy / n);
        compute += launches;
        communication = std::max(0.0, total - busy);
        const double blocking = gemm + collectives_.seconds(collective, 1.0, busiest);
        if (total >= blocking) {  // chunking would lose: libraries fall back to the plain form
            compute -= launches;
            communication = blocking - gemm;
        }
    }

    const DeviceProfile& profile_;
    CollectivePricing collectives_;
    const ExpertLoads& loads_;
    std::uint32_t members_, expert_width_;
};

}  // namespace

SimDuration PricedWork::compute() const {
    SimDuration total;
    for (const PricedSegment& segment : segments) total += segment.compute;
    return total;
}

SimDuration PricedWork::communication() const {
    SimDuration total;
    for (const PricedSegment& segment : segments) total += segment.communication;
    return total;
}

std::vector<PricedOperator> price_operators(const Workload& workload, const Work& work, const DeviceProfile& profile,
                                            const LocalFabric& fabric) {
    return Pricing(workload, profile, fabric).operators(work);
}

std::vector<PricedWork> price(const Workload& workload, const DeviceProfile& profile, const LocalFabric& fabric) {
    const Pricing pricing(workload, profile, fabric);
    std::vector<PricedWork> prices;
    prices.reserve(workload.works.size());
    for (const Work& work : workload.works) prices.push_back(pricing.price(work));
    return prices;
}

}  // namespace rehearse
