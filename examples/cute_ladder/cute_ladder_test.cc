// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that every step of the ladder is a candidate for matmul_bf16 that compiles as a user's would: the plan is
// parsed, and NVRTC compiles it with the include set's precompiled header. Also tests to which parameters a plan's
// tensor map may be passed, and that Hone's faster forms of CuTe's algebra (hone/cute_fast_strides.cuh) give CuTe's own
// types and machine code. Compiling needs NVRTC, and for the steps with CuTe CUTLASS's headers, but no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files/file.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"
#include "kernel_code.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/compile/cutlass_headers.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kLadder = std::string(HONE_SOURCE_DIR) + "/examples/cute_ladder";

Task Matmul() {
  auto task = LoadTask(std::string(HONE_SOURCE_DIR) + "/tasks/matmul_bf16");
  EXPECT_TRUE(task.ok()) << task.status().message();
  return *task;
}

// Returns the names of the .cu files of the ladder, or of a folder of it ("plain/"), sorted.
std::vector<std::string> Steps(const std::string& folder) {
  std::vector<std::string> steps;
  for (const auto& entry : std::filesystem::directory_iterator(kLadder + "/" + folder)) {
    if (entry.path().extension() == ".cu") steps.push_back(folder + entry.path().filename().string());
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Candidate Step(const Task& task, const std::string& name) {
  const auto source = ReadFile(kLadder + "/" + name);
  EXPECT_TRUE(source.ok()) << source.status().message();
  auto candidate = ParseCandidate(*source, name, task);
  EXPECT_TRUE(candidate.ok()) << candidate.status().message();
  return *candidate;
}

TEST(CuteLadder, IsALadderOfCandidatesThatServeEveryShape) {
  const Task task = Matmul();
  const std::vector<std::string> steps = Steps("");
  ASSERT_EQ(steps.size(), 8u);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].substr(0, 3), "0" + std::to_string(i + 1) + "_");
    const Candidate candidate = Step(task, steps[i]);
    EXPECT_EQ(candidate.plan.include_set, i == 0 ? "" : "cute") << steps[i];
    EXPECT_FALSE(candidate.plan.entries.back().when.has_value())
        << steps[i] << ": the last alternative serves the rest";
  }
  for (const std::string& plain : Steps("plain/")) EXPECT_EQ(Step(task, plain).plan.include_set, "") << plain;
  for (const std::string& other : Steps("algebra/")) EXPECT_EQ(Step(task, other).plan.include_set, "cute") << other;
}

class CuteLadderCompile : public ::testing::Test {
 protected:
  // Makes the compiler. If something is missing, skips the test and returns false.
  bool Make(const std::string& architecture, bool plain_cute = false) {
    const auto cutlass = FindCutlassHeaders(HONE_CUTLASS_INCLUDE);
    NvrtcCompilerOptions options;
    options.architecture = architecture;
    options.plain_cute = plain_cute;
    if (cutlass.ok()) options.cutlass_include = cutlass->include;
    auto made = MakeNvrtcCompiler(options);
    const std::string missing = !made.ok() ? made.status().message() : !cutlass.ok() ? cutlass.status().message() : "";
    if (missing.empty()) {
      compiler_ = std::move(*made);
      return true;
    }
    [&] { GTEST_SKIP() << missing; }();
    return false;
  }
  // Compiles a candidate's only module, that of its default tunables.
  CompiledModule Compile(const Candidate& candidate) {
    const auto program = CompileCandidate(*compiler_, candidate, task_, {}, 1);
    EXPECT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(program->modules.size(), 1u);
    return program->modules.begin()->second;
  }
  CompiledModule Compile(const std::string& plan, const std::string& code) {
    auto candidate = ParseCandidate("/*hone\n" + plan + "*/\n#include <cute/tensor.hpp>\n" + code, "maps.cu", task_);
    EXPECT_TRUE(candidate.ok()) << candidate.status().message();
    return Compile(*candidate);
  }
  const Task task_ = Matmul();
  std::unique_ptr<NvrtcCompiler> compiler_;
};

TEST_F(CuteLadderCompile, EveryStepCompilesForHopperWithoutSpills) {
  if (!Make("sm_90a")) return;
  for (const std::string& step : Steps("")) {
    const CompiledModule module = Compile(Step(task_, step));
    ASSERT_EQ(module.verdict, Verdict::kOk) << step << "\n" << module.digest;
    EXPECT_TRUE(module.pch_used) << step;
    for (const KernelResources& kernel : module.resources)
      EXPECT_EQ(kernel.spill_bytes, 0) << step << " " << kernel.kernel;
    if (step >= "03") {
      EXPECT_THAT(module.labels, Contains("tensor_bf16")) << step;
    }
    // The compiler reports "serialized" if it had to make each wgmma wait for the one before.
    EXPECT_THAT(module.log, Not(HasSubstr("serialized"))) << step;
  }
  EXPECT_EQ(compiler_->counters().pch_misses, 0);
}

// Tests the kernel that prompts show to a model that writes rows in CuTe for the first time.
TEST_F(CuteLadderCompile, RowsKeepInRegistersAndAreReadInWideAccesses) {
  if (!Make("sm_90a")) return;
  const auto task = LoadTask(std::string(HONE_SOURCE_DIR) + "/tasks/rmsnorm");
  ASSERT_TRUE(task.ok()) << task.status().message();
  const auto program = CompileCandidate(*compiler_, Step(*task, "rows/rmsnorm.cu"), *task, {}, 1);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const CompiledModule& module = program->modules.begin()->second;
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.digest;
  for (const KernelResources& kernel : module.resources) EXPECT_EQ(kernel.spill_bytes, 0) << kernel.kernel;
}

TEST_F(CuteLadderCompile, TheStepsWithoutHopperCompileForAmpere) {
  if (!Make("sm_80")) return;
  for (const std::string& step : Steps("")) {
    if (step >= "06" || step < "03") continue;  // steps without tensor cores are the same on both architectures
    const CompiledModule module = Compile(Step(task_, step));
    ASSERT_EQ(module.verdict, Verdict::kOk) << step << "\n" << module.digest;
    if (step >= "03") {
      EXPECT_THAT(module.labels, Contains("tensor_bf16")) << step;
    }
  }
}

// Returns the text of a plan that passes one map.
std::string MapPlan() {
  return R"([[tensor_map]]
name = "a_map"
tensor = "a"
dims = ["k", "m"]
strides = ["k * 2"]
box = ["64", "64"]
swizzle = "128B"
[[launch]]
kernel = "k"
grid = ["1"]
block = ["128"]
args = ["tensormap:a_map", "c"]
)";
}
std::string MapKernel(const std::string& parameter) {
  return R"(
struct Small { char bytes[64]; };
__global__ void k()" +
         parameter + R"( map, cute::bfloat16_t* c) {
  __shared__ alignas(1024) cute::bfloat16_t tile[64 * 64];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    cutlass::arch::ClusterTransactionBarrier::init(&barrier, 1);
    cutlass::arch::ClusterTransactionBarrier::arrive_and_expect_tx(&barrier, sizeof(tile));
    cute::SM90_TMA_LOAD_2D::copy((const void*)&map, &barrier, uint64_t(cute::TMA::CacheHintSm90::EVICT_NORMAL), tile, 0, 0);
  }
  __syncthreads();
  cutlass::arch::ClusterTransactionBarrier::wait(&barrier, 0);
  c[threadIdx.x] = tile[threadIdx.x];
}
)";
}

TEST_F(CuteLadderCompile, APlansTensorMapReachesACuteKernelAsItsDescriptor) {
  if (!Make("sm_90a")) return;
  for (const char* accepted : {"const __grid_constant__ CUtensorMap", "const __grid_constant__ cute::TmaDescriptor",
                               "CUTE_GRID_CONSTANT cute::TmaDescriptor const"}) {
    const CompiledModule module = Compile(MapPlan(), MapKernel(accepted));
    EXPECT_EQ(module.verdict, Verdict::kOk) << accepted << "\n" << module.digest;
  }
  for (const char* refused : {"const CUtensorMap*", "const __grid_constant__ Small", "const void*"}) {
    const CompiledModule module = Compile(MapPlan(), MapKernel(refused));
    EXPECT_EQ(module.verdict, Verdict::kCompileError) << refused;
    EXPECT_THAT(module.digest, AllOf(HasSubstr("a_map"), HasSubstr("const __grid_constant__ CUtensorMap"))) << refused;
  }
}

constexpr const char* kNoMapPlan = R"([[launch]]
kernel = "k"
grid = ["1"]
block = ["32"]
args = ["c"]
)";

// A kernel that writes what the algebra gives for layouts of many kinds, number by number, with the structure of the
// tuples. Its machine code is the same exactly when the types are.
constexpr const char* kTypes = R"(
using namespace cute;
struct Writer {
  int* to;
  CUTE_HOST_DEVICE void operator()(int v) { *to++ = v; }
  template <auto v> CUTE_HOST_DEVICE void Show(C<v>) { (*this)(sizeof(v)); (*this)(v); }
  CUTE_HOST_DEVICE void Show(int v) { (*this)(-4); (*this)(v); }  // not a constant
  CUTE_HOST_DEVICE void Show(int64_t v) { (*this)(-6); (*this)(int(v)); }
  CUTE_HOST_DEVICE void Show(Underscore) { (*this)(-5); }
  template <class... T> CUTE_HOST_DEVICE void Show(tuple<T...> const& t) {
    (*this)(-1);
    for_each(t, [&](auto const& element) { Show(element); });
    (*this)(-2);
  }
  template <class S, class D> CUTE_HOST_DEVICE void Show(Layout<S, D> const& layout) {
    (*this)(-3);
    Show(layout.shape());
    Show(layout.stride());
  }
};
template <class L, class T> __device__ void ShowOne(Writer& w, L layout, T tiler) {
  w.Show(coalesce(layout));
  w.Show(coalesce(layout, tiler));
  w.Show(right_inverse(layout));
  w.Show(logical_divide(layout, tiler));
  w.Show(zipped_divide(layout, tiler));
  w.Show(composition(layout, tiler));
}
template <class L, class R> __device__ void ShowTwo(Writer& w, L left, R right) {
  w.Show(composition(left, right));
  w.Show(logical_divide(left, right));
}
__global__ void k(bfloat16_t* c) {
  Writer w{reinterpret_cast<int*>(c)};
  // Padded, column-major, with extents of one, nested, with a tiler for some modes, with broadcast modes.
  const Layout<Shape<_128, _32, _2>, Stride<Int<40>, _1, Int<5120>>> padded;
  const Layout<Shape<Shape<_4, _8>, Shape<_2, _2>>, Stride<Stride<_32, _1>, Stride<_16, _8>>> nested;
  ShowOne(w, padded, Shape<_64, _16>{});
  ShowOne(w, Layout<Shape<_128, _32>>{}, Tile<Layout<_64>, Layout<Shape<_4, _2>, Stride<_1, _8>>>{});
  ShowOne(w, Layout<Shape<_4, _1, _8>, Stride<_8, _0, _1>>{}, Shape<_2>{});
  ShowOne(w, nested, Shape<_8, _2>{});
  ShowOne(w, nested, Tile<Shape<_2, _4>, Underscore>{});
  ShowOne(w, Layout<Shape<_8, Shape<_1, _2>>, Stride<_1, Stride<_0, _8>>>{}, Tile<_1, Underscore>{});
  ShowOne(w, Layout<Shape<Shape<_8>, _4>, Stride<Stride<_4>, _1>>{}, Tile<_4, _2>{});
  ShowOne(w, Layout<Shape<_32, _4>, Stride<_1, _0>>{}, Shape<_8, _2>{});
  ShowTwo(w, padded, Layout<Shape<_4, Shape<_8, _2>>, Stride<_16, Stride<_1, _64>>>{});
  ShowTwo(w, Layout<Shape<_6, _4>, Stride<_4, _1>>{}, Layout<Shape<_3, _4>, Stride<_2, _6>>{});
  ShowTwo(w, Layout<Shape<_16, _2>, Stride<_1, _64>>{}, Layout<_8, _1>{});
  ShowTwo(w, Layout<Shape<_16, _1>, Stride<_1, _0>>{}, Layout<Shape<_8, _2>, Stride<_2, _1>>{});
  ShowTwo(w, Layout<_64, _2>{}, Layout<Shape<_8, _2>, Stride<_2, _1>>{});
  ShowTwo(w, Layout<Shape<_8, _8>, Stride<_8, _1>>{}, Layout<Shape<_4, _2>, Stride<_1, _16>>{});
  w.Show(composition(padded, Layout<Shape<_4, _2>, Stride<_0, _16>>{}));
  w.Show(complement(Layout<Shape<_8, _2>, Stride<_2, _1>>{}, _64{}));
  w.Show(complement(Layout<Shape<_4, _2>, Stride<_8, _1>>{}, Shape<_8, _16>{}));
  w.Show(complement(Layout<Shape<_4, _2>, Stride<_0, _0>>{}, Int<24>{}));
  w.Show(complement(Layout<_16, _4>{}, Shape<_32, _8>{}));
  w.Show(complement(Layout<_1, _0>{}, _1{}));
  // Tiles of a matrix in memory: strides known at run time, of either size.
  const int pitch = gridDim.x, other = gridDim.y;
  const auto rows = make_layout(Shape<_128, _64>{}, make_stride(int64_t(pitch), _1{}));
  const auto deep = make_layout(Shape<Shape<_16, _8>, _1, _4>{}, make_stride(make_stride(_1{}, pitch), other, _16{}));
  for_each(make_tuple(rows, deep), [&](auto const& tile) {
    w.Show(coalesce(tile));
    w.Show(composition(tile, Layout<Shape<_4, Shape<_8, _2>>, Stride<_16, Stride<_1, _64>>>{}));
    w.Show(composition(tile, Layout<_16, _1>{}));
    w.Show(logical_divide(tile, Layout<_8, _2>{}));
    w.Show(zipped_divide(tile, Tile<_8>{}));
  });
  w.Show(transform(make_tuple(pitch, _2{}, other), [](auto v) { return v + _1{}; }));
  w.Show(filter_tuple(make_tuple(pitch, _2{}), Shape<_3, _4>{}, [](auto a, auto b) { return make_tuple(b, a); }));
  const auto coordinate = make_coord(_, int(threadIdx.x), make_coord(_1{}, _));
  w.Show(slice(coordinate, Shape<_4, _8, Shape<_2, _3>>{}));
  w.Show(slice(coordinate, make_layout(Shape<_4, _8, Shape<_2, _3>>{})));
  w.Show(zip(Shape<Shape<_4, _8>, Shape<_2, _3>>{}));
  w.Show(get<3>(make_tuple(_1{}, _2{}, _3{}, _4{}, _5{})));
  w.Show(get<4>(make_tuple(1, _2{}, 3, _4{}, Shape<_5>{})));
  w(get<2>(make_tuple(1, _2{}, 3, _4{})));
  w(sizeof(make_tuple(1, _2{}, 3, Shape<_4, _5>{})));
  w(sizeof(nested));
}
)";

// A kernel in which CuTe is used as it usually is: what each thread loads, holds and multiplies, by partition and
// retile.
constexpr const char* kAlgebra = R"(
using namespace cute;
using Mma = decltype(make_tiled_mma(MMA_Atom<SM80_16x8x16_F32BF16BF16F32_TN>{}, Layout<Shape<_1, _1, _1>>{}, Tile<_16, _16, _16>{}));
__global__ void k(bfloat16_t* c) {
  __shared__ __align__(128) bfloat16_t memory[16 * 32];
  const Tensor shared = make_tensor(make_smem_ptr(memory), composition(Swizzle<2, 3, 3>{}, Layout<Shape<_16, _32>, Stride<_32, _1>>{}));
  const Mma mma;
  const auto load = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, bfloat16_t>{}, mma);
  const auto thread = mma.get_slice(threadIdx.x);
  Tensor fragment = thread.partition_fragment_A(shared);
  copy(load, load.get_slice(threadIdx.x).partition_S(shared), load.get_slice(threadIdx.x).retile_D(fragment));
  for (int i = 0; i < size(fragment); ++i) c[threadIdx.x * size(fragment) + i] = fragment(i);
}
)";

TEST_F(CuteLadderCompile, TheFasterAlgebraGivesCutesOwnTypesAndMachineCode) {
  std::vector<std::map<std::string, std::string>> code[2];
  for (const bool plain : {false, true}) {
    if (!Make("sm_90a", plain)) return;
    for (const auto& module : {Compile(kNoMapPlan, kTypes), Compile(kNoMapPlan, kAlgebra), Compile(Step(task_, "06_wgmma_tma.cu"))}) {
      ASSERT_EQ(module.verdict, Verdict::kOk) << module.log.substr(0, 4000);
      code[plain].push_back(KernelCode(module.image));
      ASSERT_FALSE(code[plain].back().empty());
    }
  }
  EXPECT_TRUE(code[0][0] == code[1][0]) << "a function of the algebra gives another type";
  EXPECT_TRUE(code[0][1] == code[1][1]) << "a partition by TiledMMA and TiledCopy is another";
  EXPECT_TRUE(code[0][2] == code[1][2]) << "06_wgmma_tma.cu: cute_compile_time --compare";
}

TEST_F(CuteLadderCompile, WhatTheFasterAlgebraCannotDivideIsSaidInCutesWords) {
  if (!Make("sm_80")) return;
  const CompiledModule module = Compile(kNoMapPlan, R"(
using namespace cute;
__global__ void k(bfloat16_t* c) {
  c[0] = bfloat16_t(float(size(composition(Layout<Shape<_6, _4>, Stride<_4, _1>>{}, Layout<Shape<_4>, Stride<Int<9>>>{}))));
})");
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_THAT(module.digest, HasSubstr("Divisibility Condition"));
}

}  // namespace
}  // namespace hone
