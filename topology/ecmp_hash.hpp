// The hash that a switch takes over the header of a packet to choose among equally short links.
//
// Which function an ASIC uses, and how it applies its seed, is a vendor's choice; the SAI names CRC (the default),
// CRC-CCITT, XOR and Jenkins (opencomputeproject/SAI inc/saiswitch.h). Here the seed is the initial value of the CRC
// and of Jenkins, and a term of the XOR. CRC and XOR are linear: for headers of one length a new seed XORs every value
// with one constant. Two tiers with a power-of-two fan-out and the same function therefore stay polarised whatever
// their seeds: all flows that one switch sends to another leave that one through one link. A non-linear hash with its
// own seed, or another window of the hash bits per tier, cures it (tests/topology/ecmp_test.cpp shows all of this).
#pragma once

#include <cstdint>
#include <string_view>

namespace rehearse {

enum class HashFunction : std::uint8_t {
    crc16,     // CRC-16/CCITT, polynomial 0x1021, most significant bit first
    crc32,     // IEEE 802.3, polynomial 0x04C11DB7 reflected, without the final complement
    xor_fold,  // XOR of the 16-bit words of the header
    jenkins,   // hashword() of lookup3 (Bob Jenkins, May 2006, public domain) over the header as four 32-bit words
    d_mod_k,   // no hash: link = destination mod links (Gomez et al., IPDPS'07), what a fat tree uses
};
enum class HashSeedScope : std::uint8_t {
    per_fabric,  // one seed everywhere
    per_role,    // one for ToRs, one for aggregation switches, one for cores (as SONiC ships)
    per_switch,
};
// Which bits of the hash value choose the link. SONiC gives each role a hash offset (ToR 0, leaf 10).
enum class HashWindow : std::uint8_t {
    fixed,     // the low bits, at every tier
    per_tier,  // the value rotated right by 0 bits at a ToR, 10 at an aggregation switch, 5 at a core
};
std::string_view name(HashFunction function);
std::string_view name(HashSeedScope scope);
std::string_view name(HashWindow window);

// RoCEv2: addresses identify NICs, the source port carries the entropy of the queue pair.
struct HashKey {
    std::uint32_t source_address = 0;
    std::uint32_t destination_address = 0;
    std::uint16_t source_port = 0;
    std::uint16_t destination_port = 4791;  // IANA: RoCEv2
    std::uint8_t protocol = 17;             // UDP
};

// 16 significant bits for crc16 and xor_fold, 32 for the others. InvariantBroken for d_mod_k.
std::uint32_t ecmp_hash(HashFunction function, const HashKey& key, std::uint32_t seed);

}  // namespace rehearse
