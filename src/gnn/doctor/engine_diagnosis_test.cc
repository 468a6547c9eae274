// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/doctor/engine_diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::gnn {
namespace {

using testing::HasSubstr;

const Check* Find(const Diagnosis& diagnosis, const std::string& name) {
  for (const CheckGroup& group : diagnosis.groups) {
    for (const Check& check : group.checks) {
      if (check.name == name) return &check;
    }
  }
  return nullptr;
}

EngineSurroundings WithoutGpu() {
  EngineSurroundings surroundings;
  surroundings.gpus = Status::Unavailable("there is no driver");
  surroundings.folder = "/tmp";
  return surroundings;
}

TEST(EngineDiagnosis, WithoutAGpuTheCpuServes) {
  const Diagnosis diagnosis = DiagnoseEngine(WithoutGpu());
  EXPECT_TRUE(diagnosis.able);
  EXPECT_EQ(diagnosis.summary, "Training and inference run on the CPU.");
  ASSERT_NE(Find(diagnosis, "gpu"), nullptr);
  EXPECT_EQ(Find(diagnosis, "gpu")->found, "there is no driver");
  EXPECT_EQ(Find(diagnosis, "nccl"), nullptr) << "NCCL is of no use without a GPU";
  EXPECT_THAT(Find(diagnosis, "blas")->found, HasSubstr("OpenBLAS"));
}

TEST(EngineDiagnosis, OnAGpuItsLibrariesAreLookedFor) {
  EngineSurroundings surroundings = WithoutGpu();
  surroundings.gpus = std::vector<std::string>{"cuda:0: NVIDIA H200"};
  surroundings.products = Status::Unavailable("libcublasLt.so.13 was not found");
  surroundings.nccl_library = "/nowhere/libnccl.so";
  const Diagnosis diagnosis = DiagnoseEngine(surroundings);
  EXPECT_TRUE(diagnosis.able);
  EXPECT_EQ(Find(diagnosis, "gpu")->standing, Standing::kHere);
  EXPECT_EQ(Find(diagnosis, "cublaslt")->standing, Standing::kMissing);
  EXPECT_THAT(Find(diagnosis, "nccl")->found, HasSubstr("/nowhere/libnccl.so"));
  EXPECT_EQ(diagnosis.summary, "Training and inference run on the CPU.") << "a GPU without its library does not serve";
}

}  // namespace
}  // namespace hone::gnn
