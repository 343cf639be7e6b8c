// Quantities as text: value(text) = number x unit, exactly; parse(format(x)) = x for every x >= 0.
#include "sim/base/units_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

template <class T>
T value_of(const Parsed<T>& parsed) {
    if (const auto* fault = std::get_if<TextFault>(&parsed)) {
        ADD_FAILURE() << fault->wrong << " (" << fault->expected << "); " << fault->todo;
        return T{};
    }
    return std::get<T>(parsed);
}

template <class T>
TextFault fault_of(const Parsed<T>& parsed) {
    if (const auto* fault = std::get_if<TextFault>(&parsed)) return *fault;
    ADD_FAILURE() << "was accepted";
    return {};
}

TEST(UnitsText, DurationsAreExact) {
    EXPECT_EQ(value_of(parse_duration("1.5 us")).value, 1'500'000);
    EXPECT_EQ(value_of(parse_duration("1.5us")).value, 1'500'000);
    EXPECT_EQ(value_of(parse_duration(" 81.92 ns\t")).value, 81'920);
    EXPECT_EQ(value_of(parse_duration("0.000000000001 s")).value, 1);
    EXPECT_EQ(value_of(parse_duration("7 ps")).value, 7);
    EXPECT_EQ(value_of(parse_duration("3 ms")).value, 3'000'000'000);
    EXPECT_EQ(value_of(parse_duration("2 min")).value, 120'000'000'000'000);
    EXPECT_EQ(value_of(parse_duration("1 h")).value, 3'600'000'000'000'000);
    EXPECT_EQ(value_of(parse_duration("106 d")).value, 106LL * 86'400 * 1'000'000'000'000);
    EXPECT_EQ(value_of(parse_duration("0 us")).value, 0);
    // 0.1 + 0.2 in doubles is not 0.3; in decimal it is.
    EXPECT_EQ(value_of(parse_duration("0.1 us")) + value_of(parse_duration("0.2 us")),
              value_of(parse_duration("0.3 us")));
    // The largest int64 is exact although no double holds it.
    EXPECT_EQ(value_of(parse_duration("9223372036854775807 ps")).value, INT64_MAX);
    EXPECT_EQ(value_of(parse_duration("9223372.036854775807 s")).value, INT64_MAX);
}

TEST(UnitsText, ValuesBetweenStepsAreRoundedToTheNearest) {
    EXPECT_EQ(value_of(parse_duration("1.0006 ns")).value, 1'001);
    EXPECT_EQ(value_of(parse_bytes("79.6 GiB")).value, 85'469'849'190);  // 79.6 x 2^30 = 85469849190.4
    EXPECT_THAT(fault_of(parse_duration("0.4 ps")).wrong, testing::HasSubstr("less than half of 1 ps"));
}

TEST(UnitsText, BytesKnowBothFamiliesOfPrefixes) {
    EXPECT_EQ(value_of(parse_bytes("64 KiB")).value, 65'536);
    EXPECT_EQ(value_of(parse_bytes("64 kB")).value, 64'000);
    EXPECT_EQ(value_of(parse_bytes("64 KB")).value, 64'000);
    EXPECT_EQ(value_of(parse_bytes("80 GB")).value, 80'000'000'000);
    EXPECT_EQ(value_of(parse_bytes("1.5 GiB")).value, 1'610'612'736);
    EXPECT_EQ(value_of(parse_bytes("2 TiB")).value, 2'199'023'255'552);
    EXPECT_EQ(value_of(parse_bytes("9 B")).value, 9);
}

TEST(UnitsText, BandwidthTellsBitsFromBytes) {
    EXPECT_EQ(value_of(parse_bandwidth("200 Gbps")).value, 200'000'000'000);
    EXPECT_EQ(value_of(parse_bandwidth("200 Gb/s")).value, 200'000'000'000);
    EXPECT_EQ(value_of(parse_bandwidth("300 GB/s")).value, 2'400'000'000'000);
    EXPECT_EQ(value_of(parse_bandwidth("12.8 Tbps")).value, 12'800'000'000'000);
    EXPECT_EQ(value_of(parse_bandwidth("3.35 TB/s")).value, 26'800'000'000'000);
    EXPECT_EQ(value_of(parse_bandwidth("1 B/s")).value, 8);
}

TEST(UnitsText, FlopRatesAndRatiosAreCorrectlyRounded) {
    EXPECT_EQ(value_of(parse_flop_rate("312 TFLOP/s")).value, 312e12);
    EXPECT_EQ(value_of(parse_flop_rate("989.4 TFLOP/s")).value, 989.4e12);
    EXPECT_EQ(value_of(parse_flop_rate("1.979 PFLOP/s")).value, 1.979e15);
    EXPECT_EQ(value_of(parse_flop_rate("19.5 TFLOPS")).value, 19.5e12);
    EXPECT_EQ(value_of(parse_ratio("73.4 %")).value, 0.734);
    EXPECT_EQ(value_of(parse_ratio("73.4%")).value, 0.734);
    EXPECT_EQ(value_of(parse_ratio("0.734")).value, 0.734);
    EXPECT_EQ(value_of(parse_ratio("1e-9")).value, 1e-9);
    EXPECT_EQ(value_of(parse_ratio("1.88")).value, 1.88);
}

TEST(UnitsText, AMissingUnitComesWithASuggestion) {
    const TextFault fault = fault_of(parse_bandwidth("200"));
    EXPECT_EQ(fault.wrong, "\"200\" has no unit");
    EXPECT_EQ(fault.expected, "expected a bandwidth such as \"200 Gbps\"");
    EXPECT_EQ(fault.todo, "write \"200 Gbps\"");
    EXPECT_EQ(fault_of(parse_duration("1.5")).todo, "write \"1.5 us\"");
    EXPECT_EQ(fault_of(parse_bytes("4096")).todo, "write \"4096 B\"");
    EXPECT_EQ(fault_of(parse_flop_rate("312")).todo, "write \"312 TFLOP/s\"");
}

TEST(UnitsText, AnUnknownUnitComesWithTheNearestOne) {
    EXPECT_EQ(fault_of(parse_bandwidth("200 gbps")).todo, "write \"200 Gbps\"");
    EXPECT_EQ(fault_of(parse_bandwidth("200 Gpbs")).todo, "write \"200 Gbps\"");
    EXPECT_EQ(fault_of(parse_bytes("64 Kib")).todo, "write \"64 KiB\"");
    EXPECT_EQ(fault_of(parse_bytes("64 Kib")).wrong, "unknown unit \"Kib\"");
    EXPECT_THAT(fault_of(parse_duration("3 fortnights")).todo, testing::HasSubstr("use one of d, h, min, s"));
}

TEST(UnitsText, WhatIsNoQuantityIsRefused) {
    for (const char* text : {"", " ", "nan", "nan us", "inf us", "-inf us", "us", ".5 us", "5. us", "0x10 us", "1,5 us",
                             "1 000 us", "+1 us", "1e3 us", "1..2 us", "1 us us", "\xc2\xb5s"}) {
        EXPECT_TRUE(std::holds_alternative<TextFault>(parse_duration(text))) << text;
        EXPECT_TRUE(std::holds_alternative<TextFault>(parse_bytes(text))) << text;
        EXPECT_TRUE(std::holds_alternative<TextFault>(parse_bandwidth(text))) << text;
    }
    for (const char* text : {"", "nan", "inf", "-0.5", "nan %", "0.5 x", "1e", "1e400", "-3 %"})
        EXPECT_TRUE(std::holds_alternative<TextFault>(parse_ratio(text))) << text;
    for (const char* text : {"", "nan TFLOP/s", "inf TFLOP/s", "-1 TFLOP/s", "1e308 TFLOP/s"})
        EXPECT_TRUE(std::holds_alternative<TextFault>(parse_flop_rate(text))) << text;
    EXPECT_EQ(fault_of(parse_duration("-5 us")).wrong, "\"-5 us\" is negative");
    EXPECT_EQ(fault_of(parse_bytes("")).wrong, "the value is empty");
}

TEST(UnitsText, OverflowIsRefusedAtTheFirstValueThatDoesNotFit) {
    EXPECT_THAT(fault_of(parse_duration("9223372036854775808 ps")).wrong, testing::HasSubstr("too large"));
    EXPECT_THAT(fault_of(parse_duration("107 d")).wrong, testing::HasSubstr("too large"));
    EXPECT_THAT(fault_of(parse_bytes("9000000 TiB")).wrong, testing::HasSubstr("too large"));
    EXPECT_THAT(fault_of(parse_bandwidth(std::string(5'000, '9') + " Gbps")).wrong, testing::HasSubstr("too large"));
    EXPECT_LT(fault_of(parse_bandwidth(std::string(5'000, '9') + " Gbps")).wrong.size(), 120u);  // fit for a terminal
    EXPECT_THAT(fault_of(parse_duration("1.12345678901234567890 s")).wrong, testing::HasSubstr("too many digits"));
}

TEST(UnitsText, FormatUsesTheLargestUnitThatStaysShort) {
    EXPECT_EQ(format(SimDuration{1'500'000}), "1.5 us");
    EXPECT_EQ(format(SimDuration{81'920}), "81.92 ns");
    EXPECT_EQ(format(SimDuration{0}), "0 ps");
    EXPECT_EQ(format(SimDuration{1'234'567}), "1234567 ps");
    EXPECT_EQ(format(SimDuration{-1'500}), "-1.5 ns");
    EXPECT_EQ(format(SimDuration{INT64_MIN}), "-9223372036854775808 ps");
    EXPECT_EQ(format(Bytes{65'536}), "64 KiB");
    EXPECT_EQ(format(Bytes{80'000'000'000}), "80 GB");
    EXPECT_EQ(format(gigabits_per_second(200)), "200 Gbps");
    EXPECT_EQ(format(gigabytes_per_second(300)), "2.4 Tbps");
    EXPECT_EQ(format_byte_rate(gigabytes_per_second(300)), "300 GB/s");
    EXPECT_EQ(format_byte_rate(gigabytes_per_second(2039)), "2.039 TB/s");
    EXPECT_EQ(format_byte_rate(Bandwidth{8'000'000'001}), "8000000001 bps");  // no whole number of bytes
    EXPECT_EQ(format(FlopRate{989.4e12}), "989.4 TFLOP/s");
    EXPECT_EQ(format(FlopRate{0}), "0 TFLOP/s");
    EXPECT_EQ(format(FlopRate{1.5}), "1.5 FLOP/s");
    EXPECT_EQ(format(Ratio{0.734}), "0.734");
}

// Draws of all magnitudes: 63 random bits shifted right by 0..62, and round multiples of powers of ten and two.
template <class T>
void expect_round_trips(Parsed<T> (*parse)(std::string_view)) {
    const Stream stream(7, "units_text_test");
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        const auto bits = stream.bits(0, i);
        auto value = static_cast<std::int64_t>(((std::uint64_t{bits[0]} << 32 | bits[1]) >> 1) >> (bits[2] % 63));
        if (i % 3 == 1) value = (value % 100'000) * static_cast<std::int64_t>(std::pow(10.0, bits[3] % 14));
        if (i % 3 == 2) value = (value % 1'000) << (bits[3] % 50);
        const std::string text = format(T{value});
        ASSERT_EQ(value_of(parse(text)).value, value) << text;
    }
}

TEST(UnitsText, IntegerQuantitiesRoundTrip) {
    expect_round_trips<SimDuration>(parse_duration);
    expect_round_trips<Bytes>(parse_bytes);
    expect_round_trips<Bandwidth>(parse_bandwidth);
}

TEST(UnitsText, RealQuantitiesRoundTripBitForBit) {
    const Stream stream(8, "units_text_test");
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        const auto bits = stream.bits(1, i);
        const std::uint64_t pattern = (std::uint64_t{bits[0]} << 32 | bits[1]) & 0x7fffffffffffffff;
        double value = 0;
        std::memcpy(&value, &pattern, sizeof value);
        if (i % 2 == 0) value = stream.uniform(2, i) * 1e16;
        if (!std::isfinite(value)) continue;
        ASSERT_EQ(value_of(parse_flop_rate(format(FlopRate{value}))).value, value) << format(FlopRate{value});
        ASSERT_EQ(value_of(parse_ratio(format(Ratio{value}))).value, value) << format(Ratio{value});
    }
}

}  // namespace
}  // namespace rehearse
