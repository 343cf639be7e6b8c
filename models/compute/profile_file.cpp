// Reading and writing profile files.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "models/compute/profile_keys.hpp"
#include "sim/config/load_config.hpp"
#include "sim/config/reader.hpp"
#include "sim/config/yaml_writer.hpp"

namespace rehearse {

namespace {

const std::initializer_list<std::pair<std::string_view, Provenance>> provenance_words{
    {"published", Provenance::published},
    {"measured", Provenance::measured},
    {"fitted", Provenance::fitted},
    {"assumed", Provenance::assumed}};

std::pair<std::string, std::string> split(const std::string& key) {
    const std::size_t dot = key.find('.');
    return {key.substr(0, dot), key.substr(dot + 1)};
}

std::string note_key(const TileShape& tile) { return fmt::format("gemm.tiles.{}x{}", tile.m, tile.n); }
std::string note_key(const LocalLink& link) { return fmt::format("nvlink.groups.{}", link.gpus); }

// "x: {value: 1 us, provenance: assumed, source: ...}"
class ProfileReader {
public:
    ProfileReader(Reader& root, DeviceProfile& profile) : root_(root), profile_(profile) {}

    void read() {
        root_.read("name", profile_.name);
        root_.require("name");
        std::map<std::string, Reader> sections;
        for (const ProfileEntry& entry : profile_entries(profile_)) {
            const auto [section, key] = split(entry.key);
            const auto at = sections.try_emplace(section, root_.child(section)).first;
            if (at->second.has(key)) read_entry(at->second, key, entry);
        }
        read_tiles(sections.at("gemm"));
        read_links(sections.at("nvlink"));
        for (auto& [name, section] : sections) {
            for (const ProfileEntry& entry : profile_entries(profile_)) {
                const auto [own, key] = split(entry.key);
                if (own == name) section.allow(key);
            }
            section.finish();
        }
    }

private:
    void note(Reader& from, const std::string& key, std::string value) {
        ProfileNote note{key, std::move(value), Provenance::assumed, ""};
        from.require("provenance", "every number says where it comes from");
        from.read_enum("provenance", note.provenance, provenance_words);
        from.read("source", note.source);
        if (note.provenance != Provenance::assumed)
            from.require("source", "a number that is not assumed names its source");
        profile_.notes.push_back(std::move(note));
    }

    void read_entry(Reader& section, const std::string& key, const ProfileEntry& entry) {
        Reader number = section.child(key);
        number.require("value");
        std::visit([&](auto* x) { number.read("value", *x); }, entry.number);
        note(number, entry.key, text_of(entry));
        number.finish();
    }

    void read_tiles(Reader& gemm) {
        std::vector<TileShape> tiles;
        for (Reader& tile : children(gemm, "tiles")) {
            TileShape shape;
            tile.read("m", shape.m, at_least(1));
            tile.read("n", shape.n, at_least(1));
            tile.read("efficiency", shape.efficiency);
            note(tile, note_key(shape), format(shape.efficiency));
            tile.finish();
            tiles.push_back(shape);
        }
        if (!tiles.empty()) profile_.tiles = std::move(tiles);
    }

    void read_links(Reader& nvlink) {
        std::vector<LocalLink> links;
        for (Reader& link : children(nvlink, "groups")) {
            LocalLink group;
            link.read("gpus", group.gpus, at_least(2));
            link.read("latency", group.latency);
            link.read("bus", group.bus);
            if (group.bus.value <= 0) link.fault("bus", "a bus that carries nothing", "a positive rate");
            note(link, note_key(group), format(group.latency) + ", " + format_byte_rate(group.bus));
            link.finish();
            links.push_back(group);
        }
        std::sort(links.begin(), links.end(), [](const LocalLink& a, const LocalLink& b) { return a.gpus < b.gpus; });
        if (!links.empty()) profile_.local_links = std::move(links);
    }

    static std::vector<Reader> children(Reader& from, std::string_view key) { return from.children(key); }

    Reader& root_;
    DeviceProfile& profile_;
};

void check_profile(const DeviceProfile& profile, const std::string& path, FaultList& faults) {
    DeviceProfile copy = profile;
    for (const ProfileEntry& entry : profile_entries(copy)) {
        const bool divides = entry.key == "device.peak" || entry.key == "device.memory" ||
                             entry.key == "device.multiprocessors" || entry.key == "nvlink.overlap_chunks" ||
                             (entry.key.find("efficiency") != std::string::npos) ||
                             entry.key == "kernel.attention_backward";
        if (divides && get_number(entry) <= 0)
            faults.add(
                {{path, 0, 0}, entry.key, "must be positive", "", "give the share or rate that the device reaches"});
    }
}

}  // namespace

DeviceProfile read_profile(const std::string& path) {
    const ConfigNode tree = load_config(path);
    FaultList faults;
    Reader root(tree, "", faults);
    DeviceProfile profile;
    ProfileReader(root, profile).read();
    root.finish();
    check_profile(profile, path, faults);
    faults.throw_if_any();
    return profile;
}

std::string write_profile(DeviceProfile profile) {
    std::map<std::string, const ProfileNote*> notes;
    for (const ProfileNote& note : profile.notes) notes[note.key] = &note;
    const auto provenance = [&](YamlWriter& yaml, const std::string& key) {
        const auto at = notes.find(key);
        const Provenance kind = at == notes.end() ? Provenance::assumed : at->second->provenance;
        for (const auto& [word, value] : provenance_words) {
            if (value == kind) yaml.value("provenance", word);
        }
        if (at != notes.end() && !at->second->source.empty()) yaml.value("source", at->second->source);
    };
    YamlWriter yaml;
    const auto list = [&](const char* key, const auto& items, const auto& write_item) {
        yaml.begin_list(key);
        for (const auto& item : items) {
            yaml.begin_item();
            provenance(yaml, write_item(item));
            yaml.end();
        }
        yaml.end();
    };
    const auto tile = [&](const TileShape& shape) {
        yaml.value("m", shape.m);
        yaml.value("n", shape.n);
        yaml.value("efficiency", shape.efficiency);
        return note_key(shape);
    };
    const auto group = [&](const LocalLink& link) {
        yaml.value("gpus", link.gpus);
        yaml.value("latency", link.latency);
        yaml.value("bus", format_byte_rate(link.bus));
        return note_key(link);
    };
    yaml.value("name", profile.name);
    std::string open;
    for (const ProfileEntry& entry : profile_entries(profile)) {
        const auto [section, key] = split(entry.key);
        if (section != open) {
            if (!open.empty()) yaml.end();
            yaml.begin_map(section);
            open = section;
            if (section == "gemm") list("tiles", profile.tiles, tile);
            if (section == "nvlink") list("groups", profile.local_links, group);
        }
        yaml.begin_map(key);
        yaml.value("value", text_of(entry));
        provenance(yaml, entry.key);
        yaml.end();
    }
    yaml.end();
    return yaml.text();
}

}  // namespace rehearse
