// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes engines on devices that are too small. Every allocation fails once, and each time the engine reports the
// failure and frees what it had allocated.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>

#include "gnn/cuda/emulated/runtime.h"
#include "gnn/cuda/engine/gpu_engine.h"

namespace hone::gnn::cuda {
namespace {

TEST(EngineMemory, EveryAllocationThatFailsIsToldAndLeavesNothingBehind) {
  const auto graph = OpenGraph("synthetic:arxiv?scale=0.003&seed=3").value();
  ModelOptions shape;
  shape.kind = "sage";
  shape.in_width = graph->features().width;
  shape.hidden = 8;
  shape.num_classes = graph->num_classes();
  shape.layers = 2;
  shape.seed = 5;
  auto model = MakeModel(shape).value();
  GpuEngineOptions options;
  options.fanouts = options.eval_fanouts = {2, 2};
  options.batch = options.eval_batch = 16;
  options.seed = 1;
  int failures = 0;
  for (size_t memory = 0;;) {
    emulated::SetDeviceMemory(memory);
    auto engine = MakeGpuEngine(*graph, *model, options);
    const size_t used = emulated::AllocatedBytes();
    if (engine.ok()) {
      EXPECT_TRUE(engine.value()->TrainEpoch(0).ok());
      break;
    }
    ++failures;
    EXPECT_EQ(engine.status().code(), StatusCode::kResourceExhausted) << engine.status().message();
    EXPECT_EQ(used, 0u) << "with " << memory << " bytes of device memory";
    cudaGetLastError();
    // A step of 512 bytes would let one more of the smallest allocations through. Steps are coarser where allocations
    // are large.
    memory += memory < 65536 ? 4096 : memory / 16;
    ASSERT_LT(memory, size_t{1} << 30);
  }
  EXPECT_GT(failures, 20);
  emulated::SetDeviceMemory(size_t{16} << 30);
}

}  // namespace
}  // namespace hone::gnn::cuda
