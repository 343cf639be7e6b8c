// What a local collective takes on one device profile and fabric (price.hpp says how the groups lie).
#pragma once

#include <optional>

#include "models/collectives/collective.hpp"
#include "models/compute/profile.hpp"
#include "models/workload/price.hpp"

namespace rehearse {

class CollectivePricing {
public:
    // Both are kept by reference.
    CollectivePricing(const DeviceProfile& profile, const LocalFabric& fabric) : profile_(profile), fabric_(fabric) {}
    // Of `share` of the collective's bytes; `busiest` stretches an exchange of rows.
    double seconds(const LocalCollective& collective, double share, double busiest) const;
    std::uint32_t expert_ranks() const { return fabric_.expert.size; }
    // Share of the multiprocessors that it takes while it runs.
    double taken_by(const LocalCollective& collective) const;

private:
    double all_to_all_seconds(double bytes, GroupShape group) const;
    bool gathers(const LocalCollective& collective) const;
    double rows_seconds(const LocalCollective& collective, double share, double busiest) const;
    double rows_direct(const LocalCollective& collective, double share) const;
    double rows_in_form(const LocalCollective& collective, std::optional<ExchangeForm> form, double share) const;
    double rows_as_gather(const LocalCollective& collective, double share) const;
    double tensor_seconds(double bytes, CollectiveKind kind) const;
    double context_seconds(double bytes) const;
    double network_rate(double ranks) const;

    const DeviceProfile& profile_;
    const LocalFabric& fabric_;
};

}  // namespace rehearse
