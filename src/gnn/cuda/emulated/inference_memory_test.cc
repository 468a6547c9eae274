// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs inference on devices of every size. A request that does not fit is refused and leaves nothing behind, and exact
// inference gets the memory that it has planned.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>

#include "gnn/cuda/emulated/runtime.h"
#include "gnn/cuda/infer/exact_inference.h"
#include "gnn/cuda/infer/latency_mode.h"

namespace hone::gnn::cuda {
namespace {

class InferenceMemory : public testing::Test {
 protected:
  void SetUp() override {
    graph_ = OpenGraph("synthetic:arxiv?scale=0.003&seed=3").value();
    ModelOptions shape;
    shape.kind = "sage-ri";
    shape.in_width = graph_->features().width;
    shape.hidden = 8;
    shape.num_classes = graph_->num_classes();
    shape.layers = 2;
    model_ = MakeModel(shape).value();
  }
  void TearDown() override { emulated::SetDeviceMemory(size_t{16} << 30); }
  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<Model<float>> model_;
};

TEST_F(InferenceMemory, ExactInferenceIsRefusedBeforeItAllocatesOrFindsRoom) {
  ExactOptions options;
  options.product_rows = 64;
  options.block_rows = 128;
  int refused = 0, streamed = 0, whole = 0;
  std::vector<float> logits;
  for (size_t memory = 32768; whole == 0; memory += memory / 4) {
    emulated::SetDeviceMemory(memory);
    const Result<ExactOnDevice> result = InferExactly(*graph_, *model_, {}, options);
    EXPECT_EQ(emulated::AllocatedBytes(), 0u);
    if (!result.ok()) {
      // The plan refuses: no allocation has failed.
      EXPECT_NE(result.status().message().find("exact inference needs"), std::string::npos) << result.status().message();
      EXPECT_EQ(streamed, 0) << "refused with " << memory << " bytes, after less was enough";
      ++refused;
      continue;
    }
    ++(result->host_bytes > 0 ? streamed : whole);
    if (logits.empty()) logits = result->predictions.logits;
    EXPECT_EQ(result->predictions.logits, logits) << memory;
    ASSERT_LT(memory, size_t{1} << 30);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(streamed, 0);
}

TEST_F(InferenceMemory, LatencyModeThatDoesNotFitIsRefusedAndLeavesNothingBehind) {
  LatencyOptions options;
  options.fanouts = {2, 2};
  int refused = 0;
  for (size_t memory = 32768;; memory += memory / 8) {
    emulated::SetDeviceMemory(memory);
    const auto predictor = LatencyPredictor::Make(*graph_, *model_, options);
    if (predictor.ok()) break;
    ++refused;
    EXPECT_EQ(predictor.status().code(), StatusCode::kResourceExhausted) << predictor.status().message();
    EXPECT_EQ(emulated::AllocatedBytes(), 0u) << "with " << memory << " bytes of device memory";
    cudaGetLastError();
    ASSERT_LT(memory, size_t{1} << 30);
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace hone::gnn::cuda
