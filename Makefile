# Each target does all the set-up a fresh Debian 12 or Ubuntu 24.04 machine needs, then its work.
#   make build     build into build/, programs in build/bin/
#   make test      build and run every test that needs no GPU (with a GPU, its tests too)
#   make demo      a first optimisation run, under two minutes on two cores, no GPU, no key
#   make demo-gnn  the graph engine: generate a graph, train on it, infer; under a minute on two cores, no GPU
#   make package   a Debian package of both programs, build/hone_VERSION_ARCHITECTURE.deb
#   make test-gpu  only the tests that need a GPU; fails where there is none
JOBS ?= $(shell nproc)
# One test more than there are cores: some wait for a child or a time limit.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
BUILD ?= build
CMAKE_FLAGS ?=

.PHONY: build test demo demo-gnn test-gpu package setup format clean

setup:
	@tools/setup

build: setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release $(CMAKE_FLAGS) > $(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }
	@grep -E '^-- CUDA device' $(BUILD).configure.log; rm -f $(BUILD).configure.log
	@cmake --build $(BUILD) -j $(JOBS)

test: build
	@ctest --test-dir $(BUILD) -j $(TEST_JOBS) --output-on-failure --no-tests=error

test-gpu: build
	@ctest --test-dir $(BUILD) -L gpu --output-on-failure --no-tests=error

demo: build
	@tools/demo

demo-gnn: build
	@tools/demo-gnn

package: setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release $(CMAKE_FLAGS) > $(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }
	@rm -f $(BUILD).configure.log
	@cmake --build $(BUILD) -j $(JOBS) --target package

format:
	@git ls-files '*.cc' '*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD)
