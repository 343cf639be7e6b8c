// Physical quantities as distinct types: time in picoseconds, data in bytes, rates in bit/s and FLOP/s.
//
// Only meaningful operators exist, so that a wrong formula does not compile:
//     Bytes / Bandwidth -> SimDuration   (rounded up: a transfer never ends early)
//     Bandwidth * SimDuration -> Bytes   (rounded down)
//     FlopCount / FlopRate -> SimDuration (rounded up)
// Range: SimTime and SimDuration are int64 picoseconds, +-106 days. FlopCount is a double because one step of a large
// run exceeds 2^63 FLOPs. Overflow of the 128-bit intermediate back to int64 is an InvariantBroken error.
// Example: Bytes{4096} / gigabits_per_second(400) == SimDuration{81920}.
#pragma once

#include <compare>
#include <cstdint>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace detail {
__extension__ typedef __int128 Wide;
inline std::int64_t narrow(Wide value) {
    REHEARSE_CHECK(value <= INT64_MAX && value >= INT64_MIN, "quantity leaves the int64 range");
    return static_cast<std::int64_t>(value);
}
inline std::int64_t divide_up(Wide numerator, Wide denominator) {
    REHEARSE_CHECK(denominator > 0, "division by a rate that is not positive");
    return narrow((numerator + denominator - 1) / denominator);
}
std::int64_t round_to_int64(double value);  // nearest; InvariantBroken when not finite or out of range
std::int64_t round_up_to_int64(double value);
}  // namespace detail

// Shared shape of an additive integer quantity; Derived is the public type.
template <class Derived>
struct Quantity {
    std::int64_t value = 0;
    friend constexpr auto operator<=>(const Derived& a, const Derived& b) { return a.value <=> b.value; }
    friend constexpr bool operator==(const Derived& a, const Derived& b) { return a.value == b.value; }
    friend constexpr Derived operator+(Derived a, Derived b) { return Derived{a.value + b.value}; }
    friend constexpr Derived operator-(Derived a, Derived b) { return Derived{a.value - b.value}; }
    friend constexpr Derived operator-(Derived a) { return Derived{-a.value}; }
    friend constexpr Derived operator*(Derived a, std::int64_t n) { return Derived{a.value * n}; }
    friend constexpr Derived operator*(std::int64_t n, Derived a) { return a * n; }
    friend constexpr Derived& operator+=(Derived& a, Derived b) { a.value += b.value; return a; }
    friend constexpr Derived& operator-=(Derived& a, Derived b) { a.value -= b.value; return a; }
};

struct SimDuration : Quantity<SimDuration> {
    constexpr SimDuration() = default;
    constexpr explicit SimDuration(std::int64_t ps) : Quantity{ps} {}
    double seconds() const { return static_cast<double>(value) * 1e-12; }
};

struct Bytes : Quantity<Bytes> {
    constexpr Bytes() = default;
    constexpr explicit Bytes(std::int64_t bytes) : Quantity{bytes} {}
};

struct Bandwidth : Quantity<Bandwidth> {  // bit/s
    constexpr Bandwidth() = default;
    constexpr explicit Bandwidth(std::int64_t bits_per_second) : Quantity{bits_per_second} {}
    double bytes_per_second() const { return static_cast<double>(value) / 8.0; }
};

struct SimTime {  // picoseconds since the simulation began
    std::int64_t value = 0;
    constexpr SimTime() = default;
    constexpr explicit SimTime(std::int64_t ps) : value(ps) {}
    double seconds() const { return static_cast<double>(value) * 1e-12; }
    friend constexpr auto operator<=>(const SimTime&, const SimTime&) = default;
    friend constexpr SimTime operator+(SimTime t, SimDuration d) { return SimTime{t.value + d.value}; }
    friend constexpr SimTime operator-(SimTime t, SimDuration d) { return SimTime{t.value - d.value}; }
    friend constexpr SimDuration operator-(SimTime a, SimTime b) { return SimDuration{a.value - b.value}; }
};

struct FlopCount {
    double value = 0;
    friend constexpr auto operator<=>(const FlopCount&, const FlopCount&) = default;
    friend constexpr FlopCount operator+(FlopCount a, FlopCount b) { return {a.value + b.value}; }
    friend constexpr FlopCount operator*(FlopCount a, double n) { return {a.value * n}; }
};

struct FlopRate {  // FLOP/s
    double value = 0;
    friend constexpr auto operator<=>(const FlopRate&, const FlopRate&) = default;
};

// A dimensionless factor: an efficiency, a share, a spread.
struct Ratio {
    double value = 0;
    friend constexpr auto operator<=>(const Ratio&, const Ratio&) = default;
};

inline SimDuration operator/(Bytes size, Bandwidth rate) {
    return SimDuration{detail::divide_up(detail::Wide{size.value} * 8 * 1'000'000'000'000, rate.value)};
}
inline Bytes operator*(Bandwidth rate, SimDuration time) {
    return Bytes{detail::narrow(detail::Wide{rate.value} * time.value / 8 / 1'000'000'000'000)};
}
inline SimDuration operator/(FlopCount work, FlopRate rate) {
    REHEARSE_CHECK(rate.value > 0, "division by a FLOP rate that is not positive");
    return SimDuration{detail::round_up_to_int64(work.value / rate.value * 1e12)};
}
inline SimDuration operator*(SimDuration time, Ratio factor) {
    return SimDuration{detail::round_to_int64(static_cast<double>(time.value) * factor.value)};
}
inline Bandwidth operator*(Bandwidth rate, Ratio factor) {
    return Bandwidth{detail::round_to_int64(static_cast<double>(rate.value) * factor.value)};
}
inline FlopRate operator*(FlopRate rate, Ratio factor) { return {rate.value * factor.value}; }

constexpr SimDuration picoseconds(std::int64_t n) { return SimDuration{n}; }
constexpr SimDuration nanoseconds(std::int64_t n) { return SimDuration{n * 1'000}; }
constexpr SimDuration microseconds(std::int64_t n) { return SimDuration{n * 1'000'000}; }
constexpr SimDuration milliseconds(std::int64_t n) { return SimDuration{n * 1'000'000'000}; }
inline SimDuration seconds(double s) { return SimDuration{detail::round_to_int64(s * 1e12)}; }
constexpr Bandwidth gigabits_per_second(std::int64_t n) { return Bandwidth{n * 1'000'000'000}; }
constexpr Bandwidth gigabytes_per_second(std::int64_t n) { return Bandwidth{n * 8'000'000'000}; }

}  // namespace rehearse
