#include "models/collectives/nccl_costs_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <utility>

#include "sim/config/load_config.hpp"
#include "sim/config/reader.hpp"
#include "sim/config/yaml_writer.hpp"

namespace rehearse {

namespace {

template <class T>
void read_number(Reader& from, const char* key, T& value) {
    from.require(key, "a set gives every number");
    from.read(key, value);
}

void read_tier(Reader& set, const char* key, NcclTier& tier) {
    Reader reader = set.child(key);
    read_number(reader, "hop", tier.hop);
    read_number(reader, "rate", tier.rate);
    reader.finish();
}

NcclSet read_set(Reader& reader) {
    NcclSet set;
    NcclCosts& costs = set.costs;
    reader.require("algorithm");
    reader.read_enum("algorithm", costs.algorithm,
                     {{"ring", NcclAlgorithm::ring}, {"tree", NcclAlgorithm::tree}, {"nvls", NcclAlgorithm::nvls},
                      {"direct", NcclAlgorithm::direct}});
    reader.require("protocol");
    reader.read_enum("protocol", costs.protocol, {{"ll", NcclProtocol::ll}, {"simple", NcclProtocol::simple}});
    read_number(reader, "launch", costs.launch);
    read_tier(reader, "nvlink", costs.nvlink);
    read_tier(reader, "network", costs.network);
    read_number(reader, "pass", costs.pass);
    read_number(reader, "chunk_max", costs.chunk_max);
    read_number(reader, "chunk_cost", costs.chunk_cost);
    reader.require("source", "what the numbers were fitted on");
    reader.read("source", set.source);
    return set;
}

SimDuration rounded(SimDuration time) { return nanoseconds(10 * std::llround(time.seconds() * 1e8)); }
std::string rounded(Bandwidth rate) { return fmt::format("{:.1f} GB/s", rate.bytes_per_second() / 1e9); }
Bytes rounded(Bytes bytes) { return Bytes{(bytes.value + 512) / 1024 * 1024}; }

void write_tier(YamlWriter& yaml, const char* key, const NcclTier& tier) {
    yaml.begin_map(key);
    yaml.value("hop", rounded(tier.hop));
    yaml.value("rate", rounded(tier.rate));
    yaml.end();
}

}  // namespace

NcclCostsFile read_nccl_costs(const std::string& path) {
    const ConfigNode tree = load_config(path);
    FaultList faults;
    Reader root(tree, "", faults);
    NcclCostsFile file;
    root.require("name");
    root.read("name", file.name);
    root.require("sets");
    std::set<std::pair<NcclAlgorithm, NcclProtocol>> seen;
    for (Reader& reader : root.children("sets")) {
        file.sets.push_back(read_set(reader));
        const NcclCosts& costs = file.sets.back().costs;
        if (!seen.emplace(costs.algorithm, costs.protocol).second)
            reader.fault("algorithm", "a second set of this algorithm and protocol", "each one once");
        reader.finish();
    }
    root.finish();
    faults.throw_if_any();
    return file;
}

std::string to_yaml(const NcclCostsFile& file) {
    YamlWriter yaml;
    yaml.value("name", file.name);
    yaml.begin_list("sets");
    for (const NcclSet& set : file.sets) {
        yaml.begin_item();
        yaml.value("algorithm", name(set.costs.algorithm));
        yaml.value("protocol", name(set.costs.protocol));
        yaml.value("launch", rounded(set.costs.launch));
        write_tier(yaml, "nvlink", set.costs.nvlink);
        write_tier(yaml, "network", set.costs.network);
        yaml.value("pass", rounded(set.costs.pass));
        yaml.value("chunk_max", rounded(set.costs.chunk_max));
        yaml.value("chunk_cost", rounded(set.costs.chunk_cost));
        yaml.value("source", set.source);
        yaml.end();
    }
    yaml.end();
    return yaml.text();
}

}  // namespace rehearse
