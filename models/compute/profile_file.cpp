// Reading and writing profile files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

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

constexpr const char* surface_key = "surface";
constexpr const char* surface_note = "gemm.surface";

std::vector<ProfileEntry> surface_entries(GemmRates& surface) {
    constexpr ProfileRange traffic{0, 8e16};  // bit/s; 0 = hidden
    return {{"launch", &surface.launch, {0, 1}},
            {"flops", &surface.flops, {1e9, 1e18}},
            {"result", &surface.result, traffic},
            {"left", &surface.left, traffic},
            {"right", &surface.right, traffic}};
}

std::string surface_text(GemmRates surface) {
    std::string text;
    for (const ProfileEntry& entry : surface_entries(surface))
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", entry.key, text_of(entry));
    return text;
}

// "x: {value: 1 us, provenance: assumed, source: ...}"
class ProfileReader {
public:
    ProfileReader(Reader& root, DeviceProfile& profile, FaultList& faults)
        : root_(root), profile_(profile), faults_(faults) {}

    void read() {
        root_.read("name", profile_.name);
        root_.require("name");
        root_.read("calibration", profile_.calibration_path);
        std::map<std::string, Reader> sections;
        for (const ProfileEntry& entry : profile_entries(profile_)) {
            const auto [section, key] = split(entry.key);
            auto at = sections.find(section);
            if (at == sections.end()) at = sections.emplace(section, root_.child(section)).first;
            at->second.allow(key);
            if (is_given(section, key, range_text(entry))) read_entry(at->second, key, entry);
        }
        read_tiles(sections.at("gemm"));
        read_surface(sections.at("gemm"));
        read_links(sections.at("nvlink"));
        for (auto& [name, section] : sections) section.finish();
        if (profile_.memory_reserve >= profile_.memory_size)
            sections.at("device").fault("memory_reserve", "the reserve leaves no memory", "less than memory_size");
    }

private:
    // A number that is not in the file would come from nowhere: it is a fault. One for a section that is no map.
    bool is_given(const std::string& section, const std::string& key, const std::string& expected) {
        const ConfigNode* node = root_.node().find(section);
        if (node != nullptr && node->kind != ConfigNode::Kind::map && node->kind != ConfigNode::Kind::null)
            return false;
        if (node != nullptr && node->find(key) != nullptr) return true;
        faults_.add({node == nullptr ? root_.node().place : node->place, fmt::format("{}.{}", section, key), "missing",
                     "a profile gives every number with its provenance: " + expected, ""});
        return false;
    }

    void note(Reader& from, const std::string& key, std::string value) {
        ProfileNote note{key, std::move(value), Provenance::assumed, ""};
        from.require("provenance", "every number says where it comes from");
        from.read_enum("provenance", note.provenance, provenance_words);
        from.read("source", note.source);
        if (note.provenance != Provenance::assumed) {
            from.require("source", "a number that is not assumed names its source");
            if (from.has("source") && note.source.empty()) from.fault("source", "an empty source", "where it stands");
        }
        profile_.notes.push_back(std::move(note));
    }

    void read_number(Reader& from, const char* key, const ProfileEntry& entry) {
        from.require(key, range_text(entry));
        std::visit([&](auto* x) { from.read(key, *x); }, entry.number);
        if (in_range(entry)) return;
        from.fault(key, fmt::format("{} is out of range", in_quotes(from.node().find(key)->text)), range_text(entry));
    }

    void read_entry(Reader& section, const std::string& key, const ProfileEntry& entry) {
        Reader number = section.child(key);
        read_number(number, "value", entry);
        note(number, entry.key, text_of(entry));
        number.finish();
    }

    // The items of a list that has at least one; read_item() adds one to `into`. No two have the same note key.
    template <class Item, class ReadItem>
    void read_list(Reader& section, const std::string& key, const char* what, std::vector<Item>& into,
                   const ReadItem& read_item) {
        std::vector<Reader> items = section.children(key);
        if (!is_given(section.path(), key, fmt::format("a list of {}", what))) return;
        const ConfigNode& list = *section.node().find(key);
        if (list.kind == ConfigNode::Kind::list && items.empty())
            section.fault(key, "the list is empty", fmt::format("at least one of the {}", what));
        into.clear();
        std::set<std::string> seen;
        for (Reader& reader : items) {
            const std::size_t before = faults_.size();
            const Item item = read_item(reader);
            if (faults_.size() == before && !seen.insert(note_key(item)).second)
                faults_.add({reader.node().place, reader.path(), fmt::format("{} is given twice", note_key(item)), "",
                             "remove one of the two"});
            reader.finish();
            into.push_back(item);
        }
    }

    void read_tiles(Reader& gemm) {
        read_list(gemm, "tiles", "tiles", profile_.tiles, [&](Reader& reader) {
            TileShape tile;
            read_number(reader, "m", {"m", &tile.m, tile_size});
            read_number(reader, "n", {"n", &tile.n, tile_size});
            read_number(reader, "efficiency", {"efficiency", &tile.efficiency, {0.01, 1}});
            note(reader, note_key(tile), format(tile.efficiency));
            return tile;
        });
    }

    void read_surface(Reader& gemm) {
        if (!gemm.has(surface_key)) return;
        GemmRates& surface = profile_.gemm_surface.emplace();
        Reader reader = gemm.child(surface_key);
        for (const ProfileEntry& entry : surface_entries(surface)) read_number(reader, entry.key.c_str(), entry);
        note(reader, surface_note, surface_text(surface));
        reader.finish();
    }

    void read_links(Reader& nvlink) {
        std::vector<LocalLink>& links = profile_.local_links;
        read_list(nvlink, "groups", "groups", links, [&](Reader& reader) {
            LocalLink link;
            read_number(reader, "gpus", {"gpus", &link.gpus, {2, 1024}});
            read_number(reader, "latency", {"latency", &link.latency, {0, 1}});
            read_number(reader, "bus", {"bus", &link.bus, bus_rate});
            note(reader, note_key(link), format(link.latency) + ", " + format_byte_rate(link.bus));
            return link;
        });
        std::sort(links.begin(), links.end(), [](const LocalLink& a, const LocalLink& b) { return a.gpus < b.gpus; });
    }

    static constexpr ProfileRange tile_size{1, 65536};
    static constexpr ProfileRange bus_rate{8e8, 8e14};  // bit/s: 100 MB/s to 100 TB/s

    Reader& root_;
    DeviceProfile& profile_;
    FaultList& faults_;
};

}  // namespace

DeviceProfile read_profile(const std::string& path) {
    const ConfigNode tree = load_config(path);
    FaultList faults;
    Reader root(tree, "", faults);
    DeviceProfile profile;
    ProfileReader(root, profile, faults).read();
    root.finish();
    faults.throw_if_any();
    if (profile.calibration_path.empty()) return profile;
    profile.calibration_path = (std::filesystem::path(path).parent_path() / profile.calibration_path).string();
    profile.measured = measured_costs(read_calibration_file(profile.calibration_path));
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
    if (!profile.calibration_path.empty()) yaml.value("calibration", profile.calibration_path);
    std::string open;
    for (const ProfileEntry& entry : profile_entries(profile)) {
        const auto [section, key] = split(entry.key);
        if (section != open) {
            if (!open.empty()) yaml.end();
            yaml.begin_map(section);
            open = section;
            if (section == "gemm") list("tiles", profile.tiles, tile);
            if (section == "gemm" && profile.gemm_surface) {
                yaml.begin_map(surface_key);
                for (const ProfileEntry& number : surface_entries(*profile.gemm_surface))
                    yaml.value(number.key, text_of(number));
                provenance(yaml, surface_note);
                yaml.end();
            }
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
