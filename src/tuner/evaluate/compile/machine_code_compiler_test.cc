// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests compare machine code with plans: one small module, compiled by the toolkit's nvcc and ptxas, and every
// way in which a plan, a device or damaged bytes may not fit. They are skipped, with the reason, where nvcc is not
// installed.
#include "tuner/evaluate/compile/machine_code_compiler.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "tuner/core/plan/plan_test_support.h"
#include "tuner/core/program/machine_code.h"
#include "tuner/core/program/translation_unit.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/compile/cubin_reader.h"

#ifndef HONE_NVCC_PATH
#define HONE_NVCC_PATH ""
#endif

namespace hone {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::PlanTask;

const char* const kKernels = R"(
struct Pair { float a; double b; };
extern "C" __global__ void copies(const float* x, float* out, int n, bool flip, Pair p) { out[threadIdx.x] = x[threadIdx.x] + n + flip + p.a; }
extern "C" __global__ void nothing() {}
__device__ int counter;
extern "C" __global__ void counts(float* out) { out[0] = ++counter; }
)";

// PTX of a kernel that requires one block size (.reqntid), as compilers write it.
const char* const kPtx = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry fixed(.param .u64 a, .param .u64 b, .param .u32 n)
.reqntid 128
{
  ret;
}
)";

std::string CompiledBy(const std::vector<std::string>& command, const std::string& source, const std::string& name) {
  auto directory = MakeTemporaryDirectory();
  EXPECT_TRUE(WriteFileAtomically(*directory / name, source).ok());
  SubprocessOptions options;
  options.argv = command;
  options.argv.insert(options.argv.end(), {"-o", *directory / "out", *directory / name});
  options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + directory->path()};
  const auto result = RunSubprocess(options);
  EXPECT_TRUE(result.ok() && result->exit.success()) << (result.ok() ? result->err : result.status().message());
  const auto bytes = ReadFile(*directory / "out");
  return bytes.ok() ? *bytes : "";
}

class MachineCodeCompilerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!FileExists(HONE_NVCC_PATH)) GTEST_SKIP() << "nvcc is not installed";
  }
  static const std::string& Cubin() {
    static const std::string bytes = CompiledBy({HONE_NVCC_PATH, "-cubin", "-arch=sm_90"}, kKernels, "a.cu");
    return bytes;
  }
  static CompiledModule Compile(const std::string& plan, const std::string& image,
                                const std::string& name = "kernel.cubin", int major = 9, int minor = 0) {
    MachineCodeOptions options;
    options.cc_major = major;
    options.cc_minor = minor;
    options.device_name = "NVIDIA H200";
    const auto compiler = MakeMachineCodeCompiler(options);
    const auto text = JoinMachineCode(plan, {{name, image}});
    EXPECT_TRUE(text.ok()) << text.status().message();
    const auto candidate = ParseCandidate(*text, "k.honek", PlanTask());
    EXPECT_TRUE(candidate.ok()) << candidate.status().message();
    auto program = CompileCandidate(*compiler, *candidate, PlanTask(), {}, 1);
    EXPECT_TRUE(program.ok()) << program.status().message();
    return program->modules.begin()->second;
  }
  static std::string Launch(const std::string& kernel, const std::string& args, const std::string& block = "[\"128\"]",
                            const std::string& mode = "cubin") {
    return "mode = \"" + mode + "\"\n[[launch]]\nkernel = \"" + kernel + "\"\ngrid = [\"tokens\"]\nblock = " + block +
           "\nargs = " + args + "\n";
  }
};

constexpr const char* kFits = R"(["x", "out", "d:i32", "1:bool", "struct:Pair{eps:f32, eps:f64}"])";

TEST_F(MachineCodeCompilerTest, WhatFitsIsAModuleWithItsResourcesAndGlobals) {
  const CompiledModule module = Compile(Launch("copies", kFits), Cubin());
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.digest;
  EXPECT_EQ(module.image, Cubin());
  EXPECT_EQ(module.lowered.at("copies"), "copies");
  ASSERT_EQ(module.globals.size(), 1u);
  EXPECT_EQ(module.globals.front().symbol, "counter");
  EXPECT_TRUE(module.globals.front().writable);
  EXPECT_EQ(module.resources.size(), 3u);
  // Compute capability 9.3, a later device of the same generation, can run code for 9.0.
  EXPECT_EQ(Compile(Launch("copies", kFits), Cubin(), "kernel.cubin", 9, 3).verdict, Verdict::kOk);
}

TEST_F(MachineCodeCompilerTest, ThePlanMustFitTheKernel) {
  const auto refusal = [](const std::string& plan) {
    const CompiledModule module = Compile(plan, Cubin());
    EXPECT_EQ(module.verdict, Verdict::kCompileError);
    EXPECT_TRUE(module.image.empty());
    EXPECT_THAT(module.digest, HasSubstr("k.honek:3: kernel.cubin: "));
    return module.digest;
  };
  EXPECT_THAT(refusal(Launch("copy", kFits)), HasSubstr("it has no kernel 'copy'; it has"));
  EXPECT_THAT(refusal(Launch("copies", R"(["x", "out", "d:i32"])")),
              HasSubstr("takes 5 parameters, and the launch plan passes 3"));
  EXPECT_THAT(refusal(Launch("copies", R"(["x", "out", "d:i64", "1:bool", "struct:Pair{eps:f32, eps:f64}"])")),
              HasSubstr("argument 3: the parameter has 4 bytes and the launch plan passes 8"));
  EXPECT_THAT(refusal(Launch("nothing", R"(["x", "out"])")), HasSubstr("takes 0 parameters"));
}

TEST_F(MachineCodeCompilerTest, AnotherArchitectureIsUnsupportedAndSaysWhatToDo) {
  for (const auto& [major, minor] : {std::pair(8, 0), std::pair(8, 9), std::pair(10, 0), std::pair(12, 0)}) {
    const CompiledModule module = Compile(Launch("copies", kFits), Cubin(), "kernel.cubin", major, minor);
    EXPECT_EQ(module.verdict, Verdict::kUnsupported);
    EXPECT_THAT(module.digest, HasSubstr("it was compiled for sm_90, and NVIDIA H200 is sm_"));
    EXPECT_THAT(module.digest, HasSubstr("export the kernel for"));
  }
}

TEST_F(MachineCodeCompilerTest, DamagedMachineCodeIsRefusedAndReadsNothingElse) {
  const std::string& cubin = Cubin();
  for (const std::string& bytes :
       {std::string(), std::string("no ELF"), cubin.substr(0, 64), cubin.substr(0, cubin.size() / 2)}) {
    const CompiledModule module = Compile(Launch("copies", kFits), bytes);
    EXPECT_EQ(module.verdict, Verdict::kCompileError);
    EXPECT_THAT(module.digest, HasSubstr("k.honek: kernel.cubin: the compiled module is no valid cubin"));
  }
  // Any one changed byte of headers and tables gives a verdict or a module, and never a read outside (the sanitizers'
  // builds check that).
  for (size_t at = 0; at < cubin.size(); at += 7) {
    std::string changed = cubin;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    (void)ReadCubin(changed);
  }
}

TEST_F(MachineCodeCompilerTest, WritableMemoryWithoutANameIsARuleViolation) {
  // The variable's symbol gets size 0, so that no variable covers its bytes in the section.
  std::string bytes = Cubin();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  bool grown = false;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    const size_t at = header.e_shoff + i * sizeof(section);
    std::memcpy(&section, bytes.data() + at, sizeof(section));
    if (section.sh_type != SHT_NOBITS || (section.sh_flags & SHF_WRITE) == 0 || section.sh_size != 4) continue;
    section.sh_size = 4096;
    std::memcpy(bytes.data() + at, &section, sizeof(section));
    grown = true;
  }
  ASSERT_TRUE(grown);
  const CompiledModule module = Compile(Launch("copies", kFits), bytes);
  EXPECT_EQ(module.verdict, Verdict::kRuleViolation);
  EXPECT_THAT(module.digest, HasSubstr("4092 bytes of '.nv.global' between variables"));
}

TEST_F(MachineCodeCompilerTest, PtxIsAssembledAndItsBlockIsKept) {
  const std::string args = R"(["x", "out", "d:i32"])";
  const CompiledModule module = Compile(Launch("fixed", args, "[\"128\"]", "ptx"), kPtx, "kernel.ptx");
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.digest;
  const auto cubin = ReadCubin(module.image);
  ASSERT_TRUE(cubin.ok());
  EXPECT_THAT(cubin->signatures.at("fixed").parameter_bytes, ElementsAre(8, 8, 4));
  const CompiledModule other = Compile(Launch("fixed", args, "[\"256\"]", "ptx"), kPtx, "kernel.ptx");
  EXPECT_EQ(other.verdict, Verdict::kCompileError);
  EXPECT_THAT(other.digest, HasSubstr("compiled for blocks of 128x1x1 threads"));
  const CompiledModule wrong =
      Compile(Launch("fixed", args, "[\"128\"]", "ptx"), std::string(kPtx) + "nonsense", "kernel.ptx");
  EXPECT_EQ(wrong.verdict, Verdict::kCompileError);
  EXPECT_THAT(wrong.digest, HasSubstr("kernel.ptx"));
}

}  // namespace
}  // namespace hone
