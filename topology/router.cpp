#include "topology/router.hpp"

#include <bit>

#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

constexpr std::uint32_t network_prefix = 10u << 24;  // NIC n has the address 10.0.0.0 + n

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
    std::uint64_t state = seed ^ value;
    return splitmix64(state);
}

// Rotated right by the offset of the tier, within the width of the hash.
std::uint32_t windowed(std::uint32_t value, HashFunction function, int offset) {
    const bool narrow = function == HashFunction::crc16 || function == HashFunction::xor_fold;
    if (!narrow) return std::rotr(value, offset);
    return std::rotr(static_cast<std::uint16_t>(value), offset);
}

}  // namespace

Router::Router(const Cluster& cluster, EcmpSpec ecmp, std::uint64_t seed)
    : cluster_(&cluster), ecmp_(ecmp), port_seed_(mix(seed, hash_name("ecmp.source_port"))) {
    if (cluster.spec().fabric.kind == FabricKind::fat_tree) ecmp_.hash = HashFunction::d_mod_k;
    linear_hash_ = ecmp_.hash != HashFunction::jenkins && ecmp_.hash != HashFunction::d_mod_k;
    tor_rows_ = cluster.shape().tor_count();
    core_rows_ = tor_rows_ + cluster.shape().aggregation_count();
    fill_host_offsets();
    fill_switch_rows();
    const std::uint64_t fabric_seed = mix(seed, hash_name("ecmp.switch"));
    for (std::uint32_t row = 0; row < rows_.size(); ++row) {
        const std::uint32_t role = row < tor_rows_ ? 0 : row < core_rows_ ? 1 : 2;
        std::uint64_t scope = 0;
        if (ecmp_.seed_scope == HashSeedScope::per_role) scope = role + 1;
        if (ecmp_.seed_scope == HashSeedScope::per_switch) scope = std::uint64_t{row} + 4;
        const auto value = static_cast<std::uint32_t>(mix(fabric_seed, scope) >> 32);
        rows_[row].hash_seed = linear_hash_ ? ecmp_hash(ecmp_.hash, {}, value) ^ ecmp_hash(ecmp_.hash, {}, 0) : value;
    }
}

void Router::fill_host_offsets() {
    const Cluster& cluster = *cluster_;
    const FabricShape& shape = cluster.shape();
    const std::uint32_t gpus_per_nic = shape.gpus_per_host / shape.nics_per_host;
    const bool nvlink = shape.nvlink_switches_per_host > 0, pcie = shape.nic_vertices_per_host > 0;
    for (GpuId gpu{0}; gpu.value < shape.gpus_per_host; ++gpu.value) {
        const auto links = cluster.out_links(cluster.gpu_vertex(gpu));
        if (nvlink) {
            nvlink_up_.push_back(links[0].value);
            nvlink_down_.push_back(cluster.out_links(cluster.nvlink_switch_vertex(NodeId{0}))[gpu.value].value);
        }
        const auto nic_links = cluster.out_links(cluster.nic_vertex(gpu));
        if (pcie) {
            pcie_up_.push_back(links.back().value);
            pcie_down_.push_back(nic_links[gpu.value % gpus_per_nic].value);
        }
        if (gpu.value % gpus_per_nic == 0) host_up_.push_back(nic_links.back().value);
    }
    links_per_host_ = cluster.out_links(cluster.tor_vertex(0)).front().value / shape.hosts;
}

void Router::fill_switch_rows() {
    const Cluster& cluster = *cluster_;
    const FabricShape& shape = cluster.shape();
    rows_.resize(core_rows_ + shape.core_count());
    for (std::uint32_t row = 0; row < rows_.size(); ++row) {
        const auto links = cluster.out_links(VertexId{cluster.tor_vertex(0).value + row});
        if (links.empty()) continue;  // a ToR set without hosts has up-links; nothing else is bare
        const std::uint32_t up = row < tor_rows_    ? shape.tor_up_links
                                 : row < core_rows_ ? shape.aggregation_up_links
                                                    : 0;
        rows_[row].first_down = links.front().value;
        rows_[row].first_up = links.back().value + 1 - up;
    }
}

Router::Target Router::target_of(GpuId gpu) const {
    const FabricShape& shape = cluster_->shape();
    Target t{};
    t.node = gpu.value / shape.gpus_per_host;
    t.local = gpu.value - t.node * shape.gpus_per_host;
    const std::uint32_t nic = t.local * shape.nics_per_host / shape.gpus_per_host;
    t.nic = t.node * shape.nics_per_host + nic;
    const std::uint32_t slot = nic / shape.rails;
    t.rail = nic - slot * shape.rails;
    const std::uint32_t set = t.node / shape.hosts_per_tor_set;
    t.tor = set * shape.rails + t.rail;
    t.tor_port = (t.node - set * shape.hosts_per_tor_set) * shape.nics_per_tor + slot;
    t.group = shape.group_of_tor(t.tor);
    t.child = shape.child_of_tor(t.tor);
    return t;
}

Router::Group Router::at_tor(std::uint32_t tor, const Target& to) const {
    if (tor == to.tor) return {rows_[tor].first_down + to.tor_port, 1};
    return {rows_[tor].first_up, cluster_->shape().tor_up_links};
}

Router::Group Router::at_aggregation(std::uint32_t index, const Target& to) const {
    const FabricShape& shape = cluster_->shape();
    const SwitchRow& row = rows_[tor_rows_ + index];
    if (index / shape.aggregations_per_group != to.group) return {row.first_up, shape.aggregation_up_links};
    return {row.first_down + to.child * shape.links_per_tor, shape.links_per_tor};
}

Router::Group Router::at_core(std::uint32_t index, const Target& to) const {
    const std::uint32_t width = cluster_->shape().links_per_core;
    return {rows_[core_rows_ + index].first_down + to.group * width, width};
}

// Inside a host: towards the GPU over NVLink when it is here or, rail-only, when the NIC here is on another rail.
Router::Group Router::at_host(VertexId at, const Target& to) const {
    const FabricShape& shape = cluster_->shape();
    const Vertex& v = cluster_->vertex(at);
    const bool here = v.node == to.node;
    if (v.kind == VertexKind::nvlink_switch) return {host_link(v.node, nvlink_down_[to.local]).value, 1};
    const std::uint32_t gpus_per_nic = shape.gpus_per_host / shape.nics_per_host;
    const std::uint32_t nic = v.kind == VertexKind::nic ? v.index : v.index / gpus_per_nic;
    if (v.kind == VertexKind::nic && here) return {host_link(v.node, pcie_down_[to.local]).value, 1};
    if (v.kind == VertexKind::gpu) {
        if (here && v.index == to.local) return {0, 0};
        if (here || (shape.rail_groups && nic % shape.rails != to.rail))
            return {host_link(v.node, nvlink_up_[v.index]).value, 1};
        if (!pcie_up_.empty()) return {host_link(v.node, pcie_up_[v.index]).value, 1};
    }
    return {host_link(v.node, host_up_[nic]).value, 1};
}

std::span<const LinkId> Router::next_hops(VertexId at, GpuId destination) const {
    const Target to = target_of(destination);
    const VertexKind kind = cluster_->vertex(at).kind;
    Group group{};
    if (kind == VertexKind::tor) group = at_tor(at.value - cluster_->tor_vertex(0).value, to);
    else if (kind == VertexKind::aggregation)
        group = at_aggregation(at.value - cluster_->aggregation_vertex(0).value, to);
    else if (kind == VertexKind::core) group = at_core(at.value - cluster_->core_vertex(0).value, to);
    else group = at_host(at, to);
    const auto row = cluster_->out_links(at);
    return row.subspan(group.count == 0 ? 0 : group.first - row.front().value, group.count);
}

// As the Linux drivers do: a hash of the queue pair numbers in the ephemeral range (0xC000 | 14 bits).
std::uint16_t Router::source_port(const FlowKey& key) const {
    const std::uint64_t pair = mix(port_seed_, (std::uint64_t{key.source.value} << 32) | key.destination.value);
    return static_cast<std::uint16_t>(0xC000 | (mix(pair, key.queue_pair) & 0x3FFF));
}

Router::Header Router::header_of(const FlowKey& key, const Target& from, const Target& to) const {
    Header header{.key = {.source_address = network_prefix + from.nic,
                          .destination_address = network_prefix + to.nic,
                          .source_port = source_port(key)},
                  .destination = to.nic};
    if (linear_hash_ && from.tor != to.tor) header.unseeded = ecmp_hash(ecmp_.hash, header.key, 0);
    return header;
}

std::uint32_t Router::pick(Role role, std::uint32_t row, std::uint32_t count, const Header& header) const {
    if (count == 1) return 0;
    if (ecmp_.hash == HashFunction::d_mod_k) {
        const std::uint32_t nic = header.destination;
        return (role == Role::aggregation ? nic / cluster_->shape().tor_up_links : nic) % count;
    }
    constexpr int offsets[] = {0, 10, 5};  // ToR and leaf as SONiC; the core takes the bits between them
    const std::uint32_t seed = rows_[row].hash_seed;
    std::uint32_t value = linear_hash_ ? header.unseeded ^ seed : ecmp_hash(ecmp_.hash, header.key, seed);
    if (ecmp_.window == HashWindow::per_tier) value = windowed(value, ecmp_.hash, offsets[static_cast<int>(role)]);
    return value % count;
}

Path Router::route(const FlowKey& key) const {
    Path path;
    if (key.source == key.destination) return path;
    const FabricShape& shape = cluster_->shape();
    Target from = target_of(key.source);
    const Target to = target_of(key.destination);
    const bool same_node = from.node == to.node;
    if (same_node || (shape.rail_groups && from.rail != to.rail)) {
        path.push(host_link(from.node, nvlink_up_[from.local]));
        path.push(host_link(from.node, nvlink_down_[to.local]));
        if (same_node) return path;
        from = target_of(GpuId{from.node * shape.gpus_per_host + to.local});
    }
    const Header header = header_of(key, from, to);
    if (!pcie_up_.empty()) path.push(host_link(from.node, pcie_up_[from.local]));
    path.push(host_link(from.node, host_up_[from.nic % shape.nics_per_host]));
    cross_fabric(from, to, header, path);
    if (!pcie_down_.empty()) path.push(host_link(to.node, pcie_down_[to.local]));
    return path;
}

// From the source's ToR to the destination's NIC. The switch behind a link follows from the choice, so that no link
// record is read.
void Router::cross_fabric(const Target& from, const Target& to, const Header& header, Path& path) const {
    const FabricShape& shape = cluster_->shape();
    const auto take = [&](Role role, std::uint32_t row, Group group) {
        const std::uint32_t choice = pick(role, row, group.count, header);
        path.push(LinkId{group.first + choice});
        return choice;
    };
    if (from.tor != to.tor) {
        const std::uint32_t up = take(Role::tor, from.tor, at_tor(from.tor, to)) / shape.links_per_tor;
        std::uint32_t aggregation = from.group * shape.aggregations_per_group + up;
        if (from.group != to.group) {
            const std::uint32_t row = tor_rows_ + aggregation;
            const std::uint32_t choice = take(Role::aggregation, row, at_aggregation(aggregation, to));
            const std::uint32_t core = up * shape.cores_per_plane + choice / shape.links_per_core;
            take(Role::core, core_rows_ + core, at_core(core, to));
            aggregation = to.group * shape.aggregations_per_group + up;
        }
        take(Role::aggregation, tor_rows_ + aggregation, at_aggregation(aggregation, to));
    }
    take(Role::tor, to.tor, at_tor(to.tor, to));
}

}  // namespace rehearse
