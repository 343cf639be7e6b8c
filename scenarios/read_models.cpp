#include <fmt/format.h>

#include <filesystem>

#include "scenarios/installation.hpp"
#include "scenarios/read_parts.hpp"
#include "scenarios/words.hpp"

namespace rehearse {

namespace {

namespace fs = std::filesystem;

void read_ecmp(Reader ecmp, EcmpSpec& spec) {
    ecmp.read_enum("hash", spec.hash, hash_words);
    ecmp.read_enum("seed_scope", spec.seed_scope, hash_seed_scope_words);
    ecmp.read_enum("window", spec.window, hash_window_words);
    ecmp.read("qps", spec.queue_pairs, {1, 1024});
    ecmp.finish();
}

void read_network(Reader network, NetworkSpec& spec) {
    network.read_enum("fidelity", spec.fidelity, fidelity_words);
    network.read_enum("framing", spec.framing, framing_words);
    network.read_enum("flow_control", spec.flow_control, flow_control_words);
    network.read("mtu", spec.mtu);
    network.read("coalesce", spec.coalesce);
    read_ecmp(network.child("ecmp"), spec.ecmp);
    if (spec.mtu < Bytes{256} || spec.mtu > Bytes{65536})
        network.fault("mtu", "a payload of this size is no packet", "256 B to 64 KiB", "");
    network.finish();
}

void read_variation(Reader variation, VariationSpec& spec) {
    const auto ratio = [&](std::string_view key, Ratio& value, double most) {
        variation.read(key, value);
        if (!(value.value >= 0 && value.value <= most))
            variation.fault(key, fmt::format("{} is out of range", value.value), fmt::format("0 to {}", most), "");
    };
    ratio("jitter", spec.jitter, 10);
    ratio("host_tail_share", spec.host_tail_share, 1);
    ratio("host_tail_slowdown", spec.host_tail_slowdown, 100);
    ratio("slow_host_share", spec.slow_host_share, 1);
    ratio("slow_host_slowdown", spec.slow_host_slowdown, 100);
    variation.finish();
}

// "" when there is no such file anywhere.
std::string find_profile(const std::string& name, const std::string& folder) {
    std::error_code ignored;
    const bool is_path = name.find('/') != name.npos || name.find(".yaml") != name.npos;
    const fs::path beside = fs::path(folder) / (is_path ? name : name + ".yaml");
    if (fs::is_regular_file(beside, ignored)) return beside.string();
    if (is_path) return "";
    try {
        return data_path("models/compute/profiles/" + name + ".yaml").string();
    } catch (const InputError&) {
        return "";
    }
}

}  // namespace

void read_models(Reader models, const std::string& folder, ModelsSpec& spec, FaultList& faults) {
    models.read("profile", spec.profile_name);
    spec.profile_path = find_profile(spec.profile_name, folder);
    if (spec.profile_path.empty()) {
        models.fault("profile", fmt::format("no profile {}", in_quotes(spec.profile_name)),
                     "a file beside the scenario or a name in models/compute/profiles", "");
    } else {
        try {
            spec.profile = read_profile(spec.profile_path);
        } catch (const InputError& error) {
            for (const Fault& fault : error.faults()) faults.add(fault);
        }
    }
    read_network(models.child("network"), spec.network);
    read_variation(models.child("variation"), spec.profile.variation);
    models.finish();
}

}  // namespace rehearse
