#!/usr/bin/env bash
# Builds the CUDA back-end, checks every kernel on the first GPU against fp64 references, times them with events, prints
# one table and writes a calibration file (default: device-calibration.yaml here). Less than 4 minutes on one GPU. Without
# a GPU or a toolkit it says why and ends with 77.
#     kernels/device_check.sh [CALIBRATION.yaml]
set -euo pipefail
calibration=$(realpath -m "${1:-device-calibration.yaml}")
cd "$(dirname "$0")/.."
build=build/device
mkdir -p build

skip() { echo "skipped: $1" >&2; exit 77; }

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || skip "no nvcc: the CUDA toolkit is not installed"
ls /dev/nvidia[0-9]* >/dev/null 2>&1 || [ -e /dev/dxg ] || skip "no GPU: the driver shows no device"
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ' || true)

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DENABLE_CUDA=ON -DBUILD_BENCHMARKS=OFF \
    -DCMAKE_CUDA_ARCHITECTURES="${capability:-90}" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" --target kernels_device_timing kernels_cuda_tests >>"$build.log" 2>&1 ||
    { tail -n 40 "$build.log"; exit 1; }

rc=0
"$build/kernels/kernels_device_timing" --probe || rc=$?
[ "$rc" = 0 ] || exit "$rc"
"$build/tests/kernels_cuda_tests" --gtest_brief=1
"$build/kernels/kernels_device_timing" "$(date +%F)" "$calibration"
echo "calibration: $calibration"
