// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/doctor/tuner_diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files/file.h"

namespace hone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Returns the check of this name; null: there is none.
const Check* Find(const Diagnosis& diagnosis, const std::string& name) {
  for (const CheckGroup& group : diagnosis.groups) {
    for (const Check& check : group.checks) {
      if (check.name == name) return &check;
    }
  }
  return nullptr;
}

class TunerDiagnosis : public testing::Test {
 protected:
  TunerSurroundings Here() {
    TunerSurroundings surroundings;
    surroundings.tools.search_path = "/usr/bin";
    surroundings.cache_directory = scratch_ / "cache";
    surroundings.state_directory = scratch_ / "state";
    return surroundings;
  }
  TemporaryDirectory scratch_ = std::move(MakeTemporaryDirectory()).value();
};

TEST_F(TunerDiagnosis, WithACompilerTheSimulatedGpuJudges) {
  const Diagnosis diagnosis = DiagnoseTuner(Here());
  EXPECT_TRUE(diagnosis.able) << diagnosis.summary;
  EXPECT_THAT(Find(diagnosis, "host_compiler")->found, HasSubstr("rtx4090"));
  EXPECT_FALSE(FileExists(scratch_ / "cache")) << "looking makes nothing";
}

TEST_F(TunerDiagnosis, WithoutGpuAndCompilerNothingCanBeJudged) {
  TunerSurroundings surroundings = Here();
  surroundings.simulator_compiler = "/nowhere/g++";
  const Diagnosis diagnosis = DiagnoseTuner(surroundings);
  const Check* gpu = Find(diagnosis, "gpu");
  if (gpu != nullptr && gpu->standing == Standing::kHere) GTEST_SKIP() << "there is a GPU here, which judges";
  EXPECT_FALSE(diagnosis.able);
  EXPECT_EQ(Find(diagnosis, "host_compiler")->standing, Standing::kNeeded);
  EXPECT_THAT(Find(diagnosis, "host_compiler")->found, HasSubstr("apt install g++"));
  EXPECT_THAT(diagnosis.summary, HasSubstr("Nothing can be judged here"));
}

TEST_F(TunerDiagnosis, ACacheThatCannotBeWrittenIsNeededAndAStateFolderIsNot) {
  TunerSurroundings surroundings = Here();
  surroundings.state_directory = "/dev/null/state";
  EXPECT_TRUE(DiagnoseTuner(surroundings).able);
  surroundings.cache_directory = "/dev/null/cache";
  const Diagnosis diagnosis = DiagnoseTuner(surroundings);
  EXPECT_FALSE(diagnosis.able);
  EXPECT_THAT(diagnosis.summary, HasSubstr("cache"));
}

// Writes a program that answers as Python does, with `torch` as the version of PyTorch, and returns its path.
std::string FakePython(const TemporaryDirectory& folder, const std::string& torch) {
  const std::string path = folder / "python";
  EXPECT_TRUE(WriteFileAtomically(path, "#!/bin/sh\ncase \"$2\" in\n*importlib*) echo 'hone: " + torch +
                                           "';;\n*) echo 'hone: {\"executable\": \"" + path + "\", \"paths\": []}';;\nesac\n")
                 .ok());
  EXPECT_EQ(chmod(path.c_str(), 0755), 0);
  return path;
}

TEST_F(TunerDiagnosis, PythonIsToldWithItsPyTorchOrWithWhatToInstall) {
  TunerSurroundings surroundings = Here();
  surroundings.variables = {"HONE_PYTHON"};
  surroundings.environment = {"HONE_PYTHON=" + FakePython(scratch_, "9.8.7+cpu")};
  const Diagnosis with = DiagnoseTuner(surroundings);
  EXPECT_EQ(Find(with, "pytorch")->standing, Standing::kHere);
  EXPECT_EQ(Find(with, "pytorch")->found, "9.8.7+cpu in " + (scratch_ / "python") + " (from HONE_PYTHON)");
  FakePython(scratch_, "");
  const Diagnosis without = DiagnoseTuner(surroundings);
  EXPECT_EQ(Find(without, "pytorch")->standing, Standing::kMissing);
  EXPECT_THAT(Find(without, "pytorch")->found, HasSubstr("has no PyTorch"));
  EXPECT_THAT(Find(without, "pytorch")->remedy, HasSubstr("-m pip install torch"));
  surroundings.environment = {"HONE_PYTHON=/nowhere/python"};
  const Diagnosis none = DiagnoseTuner(surroundings);
  EXPECT_TRUE(none.able) << "kernels are judged without Python";
  EXPECT_THAT(Find(none, "pytorch")->found, HasSubstr("HONE_PYTHON=/nowhere/python: there is no such program"));
}

TEST_F(TunerDiagnosis, WhereTheToolkitIsABuildWithoutItNamesTheOptionAlone) {
  GpuToolPlaces places{.cuda_home = scratch_ / "cuda", .cutlass_home = "", .search_path = ""};
  EXPECT_THAT(CudaBuildRemedy(places), HasSubstr("install the CUDA toolkit"));
  ASSERT_TRUE(MakeDirectories(scratch_ / "cuda/bin").ok());
  ASSERT_TRUE(WriteFileAtomically(scratch_ / "cuda/bin/nvcc", "#!/bin/sh\n").ok());
  ASSERT_EQ(chmod((scratch_ / "cuda/bin/nvcc").c_str(), 0755), 0);
  EXPECT_THAT(CudaBuildRemedy(places), AllOf(HasSubstr("cuda/bin/nvcc"), HasSubstr("-DHONE_CUDA=ON"), Not(HasSubstr("install"))));
}

TEST_F(TunerDiagnosis, KeysAreNamedByTheirVariables) {
  TunerSurroundings surroundings = Here();
  surroundings.variables = {"HOME", "OPENAI_API_KEY", "MISTRAL_API_KEY"};
  const Diagnosis diagnosis = DiagnoseTuner(surroundings);
  EXPECT_EQ(Find(diagnosis, "openai_key")->standing, Standing::kHere);
  EXPECT_EQ(Find(diagnosis, "anthropic_key")->standing, Standing::kMissing);
  EXPECT_THAT(Find(diagnosis, "anthropic_key")->remedy, HasSubstr("--key-env"));
  EXPECT_THAT(Find(diagnosis, "other_keys")->found, HasSubstr("MISTRAL_API_KEY"));
  EXPECT_THAT(Find(diagnosis, "other_keys")->found, Not(HasSubstr("HOME")));
}

}  // namespace
}  // namespace hone
