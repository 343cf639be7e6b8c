// The work on one tile of an expert's rows.
#pragma once

#include "kernels/cpu/expert_ffn.hpp"

namespace rehearse::kernels {

// One tile through up, SwiGLU and down: the only code that computes a row of the experts' output.
template <class T>
void expert_ffn_tile(CpuContext& context, const RowTile& tile, Input<T> x, const ExpertWeights<T>& weights,
                     ExpertActivations<T> kept, Matrix<T> y);

}  // namespace rehearse::kernels
