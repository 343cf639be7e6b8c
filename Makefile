# Rehearse on a bare Debian 12 with nothing but git and make:
#     make demo     replays one training step of 12,288 GPUs
#     make test     builds and runs every test
#     make bench    builds and runs the benchmark programs
#     make accuracy predicts the published and measured steps again and renews the tables of README.md (minutes);
#                   a band that is exceeded is shown there, and reported as an ignored error
#     make format | make wrap | make tidy     clang-format: whole files, or lines over 120 columns only; clang-tidy
# The Debian packages come first in each; where they are all present already, apt is not touched.

PACKAGES := g++ cmake ninja-build ccache mold pkg-config \
            libcli11-dev libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libboost-dev libboost-graph-dev \
            librandom123-dev libeigen3-dev libsqlite3-dev zlib1g-dev \
            libgtest-dev libgmock-dev libbenchmark-dev \
            libopenmpi-dev openmpi-bin libdnnl-dev \
            python3 python3-matplotlib python3-numpy
PACKAGES_BENCH := libsimgrid-dev
PACKAGES_LINT := clang clang-format clang-tidy

BUILD ?= build/release
JOBS ?= $(shell nproc)
TEST_JOBS ?= 2
CMAKE_FLAGS ?=
DEMO ?= scenarios/library/megascale_175b_12288.yaml
SOURCE_FOLDERS := sim topology kernels models runtime scenarios tests

.DEFAULT_GOAL := build
.PHONY: build configure demo test bench accuracy format format-check wrap tidy install clean deps deps-bench deps-lint

# $(call install_packages,names): installs those that dpkg does not know as installed.
define install_packages
	@set -e; \
	if ! command -v dpkg-query >/dev/null; then \
	    echo "not a Debian system: please provide these yourself: $(1)" >&2; exit 0; \
	fi; \
	missing=""; \
	for package in $(1); do \
	    status=$$(dpkg-query -W -f='$${db:Status-Status}' "$$package" 2>/dev/null || true); \
	    [ "$$status" = installed ] || missing="$$missing $$package"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	echo "installing:$$missing"; \
	sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	$$sudo apt-get update -q; \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing
endef

deps:
	$(call install_packages,$(PACKAGES))

deps-bench: deps
	$(call install_packages,$(PACKAGES_BENCH))

deps-lint: deps
	$(call install_packages,$(PACKAGES_LINT))

configure: deps
	cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython3_EXECUTABLE=/usr/bin/python3 $(CMAKE_FLAGS)

build: configure
	cmake --build $(BUILD) -j $(JOBS)

demo: configure
	cmake --build $(BUILD) -j $(JOBS) --target rehearse
	$(BUILD)/rehearse run $(DEMO)

test: build
	ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(TEST_JOBS)

bench: build
	@found=0; for program in $(BUILD)/tests/bench/*_bench; do \
	    [ -x "$$program" ] || continue; found=1; echo "== $$program"; "$$program" || exit 1; \
	done; [ $$found = 1 ] || echo "no benchmark programs in $(BUILD)/tests/bench"

# Exit code 1, after README.md is written, says that a row exceeds its band.
accuracy: configure
	cmake --build $(BUILD) -j $(JOBS) --target rehearse
	-$(BUILD)/rehearse validate megascale megascale-moe deepseek-v3 a100-steps deepep megatron-exchange moe-memory \
	    qwen3-imbalance nccl gemm-h100 nvlink-a100 --published held --leave-one-out on --folds 5 --markdown README.md

install: build
	cmake --install $(BUILD)

FIND_SOURCES = find $(SOURCE_FOLDERS) \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' \)

format: deps-lint
	$(FIND_SOURCES) -exec clang-format -i {} +

format-check: deps-lint
	$(FIND_SOURCES) -exec clang-format --dry-run {} +

wrap: deps-lint
	@for file in $$($(FIND_SOURCES) -exec grep -lE '^.{121,}' {} +); do \
	    clang-format -i $$(awk 'length > 120 {printf "--lines=%d:%d ", FNR, FNR}' $$file) $$file && echo "$$file"; \
	done

tidy: deps-lint configure
	cmake --build $(BUILD) -j $(JOBS) --target rehearse_commit
	run-clang-tidy -quiet -p $(BUILD) -j $(JOBS) -extra-arg=-Wno-unknown-warning-option \
	    '$(CURDIR)/(sim|topology|kernels|models|runtime|scenarios)/.*\.cpp'

clean:
	cmake -E rm -rf build
