# Each target does all the set-up a fresh Debian 12 or Ubuntu 24.04 machine needs, builds what it runs, and runs it.
#   make demo      a first optimisation run, no GPU, no key
#   make demo-gnn  the graph engine: generate a graph, train on it, infer; no GPU
#   make build     build both programs into build/bin/; without a GPU here, add CMAKE_FLAGS=-DHONE_CUDA=ON to build for one elsewhere
#   make test      build and run every test that needs no GPU (with a GPU, its tests too)
#   make site      the documentation as a site, build/site; its packages go to build/python
#   make package   a Debian package of both programs, build/hone_VERSION_ARCHITECTURE.deb, and hone-dev for find_package(hone)
#   make test-python  only the tests that are written in Python; their packages, PyTorch among them, go to build/python
#   make test-torch   every PyTorch problem of tests/torch, of which make test-python takes some
#   make test-browser  only the tests of pages in a real browser; installs Chromium
#   make test-whole   the tests of which make test takes a part (HONE_TEST_WHOLE), whole
#   make test-gpu  only the tests that need a GPU; fails where there is none
JOBS ?= $(shell nproc)
# Twice as many tests as there are cores: many wait for a child, a time limit or a lock.
TEST_JOBS ?= $(shell expr $(JOBS) \* 2)
BUILD ?= build
CMAKE_FLAGS ?=

# `make build` and the demos, in a new build folder, leave the CUDA device out where there is no GPU to run it: its device
# code is most of such a build. `make build CMAKE_FLAGS=-DHONE_CUDA=ON` builds it for GPUs elsewhere. The tests and the
# package add the device to such a folder. A folder that was configured otherwise stays as it is.
CACHE = $(BUILD)/CMakeCache.txt
# A package made where there is no GPU has code for an H100 or H200 too; a build for such a machine alone does without.
PACKAGE_FLAGS = $(if $(shell nvidia-smi -L 2>/dev/null | grep GPU),,-DHONE_CUDA_ARCHITECTURES='80;90a')
QUICK_FLAGS = $(if $(wildcard $(CACHE)),,-DHONE_CUDA=IF_GPU)
FULL_FLAGS = $(if $(shell grep -s '^HONE_CUDA:STRING=IF_GPU$$' $(CACHE)),-DHONE_CUDA=AUTO)

# $(call configure,FLAGS)
define configure
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release $(1) $(CMAKE_FLAGS) > $(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }
	@grep -E '^-- CUDA device' $(BUILD).configure.log; rm -f $(BUILD).configure.log
endef

.PHONY: build test demo demo-gnn test-python test-torch test-browser test-gpu test-whole package site setup format clean

setup:
	@tools/setup

build: setup
	$(call configure,$(QUICK_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target hone hone-gnn shell_files
	@cat $(BUILD)/left-out.txt 2>/dev/null || true

test: setup
	$(call configure,$(FULL_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) -j $(TEST_JOBS) --output-on-failure --no-tests=error

test-python: setup
	$(call configure,$(FULL_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target hone hone-gnn hone_loader hone_cuda_loader_emulated
	@HONE_INSTALL_TORCH=1 ctest --test-dir $(BUILD) -L python --output-on-failure --no-tests=error

test-torch: setup
	$(call configure,$(FULL_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target hone
	@HONE_INSTALL_TORCH=1 ctest --test-dir $(BUILD) -C torch -R '^torch_' -j $(TEST_JOBS) --output-on-failure --no-tests=error

test-browser:
	@tools/setup chromium
	$(call configure,$(FULL_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target hone
	@ctest --test-dir $(BUILD) -L browser --output-on-failure --no-tests=error

test-whole: setup
	$(call configure,$(FULL_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS)
	@HONE_TEST_WHOLE=1 ctest --test-dir $(BUILD) -C whole -L whole -j $(TEST_JOBS) --output-on-failure --no-tests=error

test-gpu: setup
	$(call configure,$(FULL_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) -L gpu --output-on-failure --no-tests=error

demo: setup
	$(call configure,$(QUICK_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target hone
	@HONE=$(BUILD)/bin/hone tools/demo

demo-gnn: setup
	$(call configure,$(QUICK_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target hone-gnn
	@HONE_GNN=$(BUILD)/bin/hone-gnn tools/demo-gnn

package: setup
	$(call configure,$(FULL_FLAGS) $(PACKAGE_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target package

site:
	@tools/setup python3-venv git
	$(call configure,$(QUICK_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target hone hone-gnn
	@tools/site/build $(BUILD)

format:
	@git ls-files '*.cc' '*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD)
