#include "models/network/packet/frame_loss.hpp"

#include <cmath>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

constexpr double symbol_bits = 10;

}  // namespace

Ratio codeword_failure(const ReedSolomon& code, double bit_error_ratio) {
    REHEARSE_CHECK(bit_error_ratio >= 0 && bit_error_ratio <= 1, "a bit error ratio is from 0 to 1");
    if (bit_error_ratio == 0 || bit_error_ratio == 1) return Ratio{bit_error_ratio};
    const double right = symbol_bits * std::log1p(-bit_error_ratio);  // logarithms: the terms span 1e-300 to 1
    const double wrong = std::log(-std::expm1(right));
    const auto n = static_cast<double>(code.symbols);
    double sum = 0;
    for (std::int64_t i = code.symbols; i > (code.symbols - code.payload) / 2; --i) {
        const auto k = static_cast<double>(i);
        const double ways = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
        sum += std::exp(ways + k * wrong + (n - k) * right);
    }
    return Ratio{sum};
}

Ratio frame_loss(const ReedSolomon& code, double bit_error_ratio, Bytes frame) {
    const double failure = codeword_failure(code, bit_error_ratio).value;
    if (failure >= 1) return Ratio{1.0};
    const double touched = 1 + static_cast<double>(frame.value) * 8 / (static_cast<double>(code.payload) * symbol_bits);
    return Ratio{-std::expm1(touched * std::log1p(-failure))};
}

LossSpec with_bit_errors(LossSpec loss, Bytes data_frame, Bytes control_frame) {
    if (loss.bit_error_ratio.value == 0) return loss;
    constexpr ReedSolomon codes[] = {kp4, kr4, low_latency};
    const ReedSolomon& code = codes[static_cast<std::size_t>(loss.fec)];
    const auto more = [&](Ratio& ratio, Bytes frame) {
        const double errors = frame_loss(code, loss.bit_error_ratio.value, frame).value;
        ratio.value += (1 - ratio.value) * errors;
    };
    more(loss.data, data_frame);
    more(loss.control, control_frame);
    return loss;
}

}  // namespace rehearse
