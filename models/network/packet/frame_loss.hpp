// From bit errors before forward error correction to lost frames, for independent errors.
//
// A Reed-Solomon codeword of n symbols of 10 bits survives up to t wrong symbols:
//
//     p = 1 - (1 - BER)^10                                     a symbol is wrong
//     codeword failure = sum_{i > t} C(n, i) p^i (1 - p)^(n - i)
//     frame loss = 1 - (1 - codeword failure)^m                m codewords that the frame touches on average
//
// Real errors come in bursts and are far worse at the same BER, so a frame-loss ratio is an input of its own
// (LossSpec, LinkFault); this helper says where the optimistic end lies. IEEE 802.3 clause 91, 119, 134.
#pragma once

#include <cstdint>

#include "sim/base/units.hpp"

namespace rehearse {

struct ReedSolomon {
    std::int64_t symbols = 544, payload = 514;  // n, k; t = (n - k) / 2
};
inline constexpr ReedSolomon kp4{544, 514}, kr4{528, 514}, low_latency{272, 258};
enum class FecCode : std::uint8_t { rs_544_514, rs_528_514, rs_272_258 };  // the same, in this order

// Both need 0 <= bit_error_ratio <= 1.
Ratio codeword_failure(const ReedSolomon& code, double bit_error_ratio);
// `frame`: bytes on the wire. It touches 1 + frame / (payload bytes of a codeword) codewords on average.
Ratio frame_loss(const ReedSolomon& code, double bit_error_ratio, Bytes frame);

struct LossSpec {                   // of frames on a link, as the user writes it
    Ratio data{0.0};                // of data frames
    Ratio control{0.0};             // of ACK, NACK and CNP frames
    std::int64_t burst = 1;         // frames lost in a row
    Ratio bit_error_ratio{0.0};     // before error correction: its losses come on top of both
    FecCode fec = FecCode::rs_544_514;
};
// With the bit errors in `data` and `control`, for frames of so many bytes: 1 - (1 - ratio)(1 - frame loss).
LossSpec with_bit_errors(LossSpec loss, Bytes data_frame, Bytes control_frame);

}  // namespace rehearse
