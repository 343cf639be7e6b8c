#include "topology/ecmp_hash.hpp"

#include <array>
#include <bit>

#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

constexpr std::array<std::uint32_t, 256> make_crc32_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0u);
        table[i] = value;
    }
    return table;
}

constexpr std::array<std::uint16_t, 256> make_crc16_table() {
    std::array<std::uint16_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i << 8;
        for (int bit = 0; bit < 8; ++bit) value = (value << 1) ^ ((value & 0x8000) != 0 ? 0x1021u : 0u);
        table[i] = static_cast<std::uint16_t>(value);
    }
    return table;
}

constexpr auto crc32_table = make_crc32_table();
constexpr auto crc16_table = make_crc16_table();

constexpr std::size_t header_size = 13;
using Header = std::array<std::uint8_t, header_size>;

// The 5-tuple in network order.
Header header_of(const HashKey& key) {
    const auto byte = [](std::uint32_t word, int shift) { return static_cast<std::uint8_t>(word >> shift); };
    return {byte(key.source_address, 24),     byte(key.source_address, 16),      byte(key.source_address, 8),
            byte(key.source_address, 0),      byte(key.destination_address, 24), byte(key.destination_address, 16),
            byte(key.destination_address, 8), byte(key.destination_address, 0),  key.protocol,
            byte(key.source_port, 8),         byte(key.source_port, 0),          byte(key.destination_port, 8),
            byte(key.destination_port, 0)};
}

std::uint32_t crc32(const Header& header, std::uint32_t crc) {
    for (std::uint8_t octet : header) crc = (crc >> 8) ^ crc32_table[(crc ^ octet) & 0xFF];
    return crc;
}

std::uint32_t crc16(const Header& header, std::uint32_t seed) {
    std::uint32_t crc = seed & 0xFFFF;
    for (std::uint8_t octet : header) crc = ((crc << 8) & 0xFFFF) ^ crc16_table[((crc >> 8) ^ octet) & 0xFF];
    return crc;
}

std::uint32_t xor_fold(const HashKey& key, std::uint32_t seed) {
    const std::uint32_t words = key.source_address ^ key.destination_address ^ seed;
    return ((words >> 16) ^ words ^ key.source_port ^ key.destination_port ^ key.protocol) & 0xFFFF;
}

// The mix() and final() of lookup3, around three words and then one.
std::uint32_t jenkins(const HashKey& key, std::uint32_t seed) {
    const std::uint32_t ports = (std::uint32_t{key.source_port} << 16) | key.destination_port;
    std::uint32_t a = 0xDEADBEEF + (4u << 2) + seed;
    std::uint32_t b = a, c = a;
    a += key.source_address, b += key.destination_address, c += ports;
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
    a += key.protocol;
    c ^= b, c -= std::rotl(b, 14);
    a ^= c, a -= std::rotl(c, 11);
    b ^= a, b -= std::rotl(a, 25);
    c ^= b, c -= std::rotl(b, 16);
    a ^= c, a -= std::rotl(c, 4);
    b ^= a, b -= std::rotl(a, 14);
    c ^= b, c -= std::rotl(b, 24);
    return c;
}

}  // namespace

std::string_view name(HashFunction function) {
    constexpr std::string_view names[] = {"crc16", "crc32", "xor_fold", "jenkins", "d_mod_k"};
    return names[static_cast<std::size_t>(function)];
}

std::string_view name(HashSeedScope scope) {
    constexpr std::string_view names[] = {"per_fabric", "per_role", "per_switch"};
    return names[static_cast<std::size_t>(scope)];
}

std::string_view name(HashWindow window) {
    constexpr std::string_view names[] = {"fixed", "per_tier"};
    return names[static_cast<std::size_t>(window)];
}

std::uint32_t ecmp_hash(HashFunction function, const HashKey& key, std::uint32_t seed) {
    switch (function) {
        case HashFunction::crc16:
            return crc16(header_of(key), seed);
        case HashFunction::crc32:
            return crc32(header_of(key), seed);
        case HashFunction::xor_fold:
            return xor_fold(key, seed);
        case HashFunction::jenkins:
            return jenkins(key, seed);
        case HashFunction::d_mod_k:
            break;
    }
    REHEARSE_CHECK(false, "d_mod_k is not a hash");
}

}  // namespace rehearse
