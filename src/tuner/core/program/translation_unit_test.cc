// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the generated static assertions with compilers: each kernel that matches its plan compiles, and each other
// kernel is refused with a message that names the argument and its right type.
//
// g++ represents the simulator's compiler, with half types of its own; nvcc represents NVRTC if the toolkit is
// installed.
#include "tuner/core/program/translation_unit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/files/file.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const Task& TestTask() {
  static const Task task = [] {
    Result<Task> parsed = ParseTask(R"(
name = "t"
summary = "s"
class = "other"
dims = { n = "elements" }
[[tensor]]
name = "x"
role = "in"
dtype = "float16"
shape = ["n"]
[[tensor]]
name = "w"
role = "in"
dtype = "float32"
shape = ["n"]
[[tensor]]
name = "i"
role = "in"
dtype = "int32"
shape = ["n"]
values = { distribution = "index", bound = 8 }
[[tensor]]
name = "b"
role = "inout"
dtype = "bfloat16"
shape = ["n"]
[[tensor]]
name = "out"
role = "out"
dtype = "float16"
shape = ["n"]
[[scalar]]
name = "eps"
dtype = "float32"
value = 1e-6
[tolerance]
b = { c_max = 1e-3, c_rms = 1e-3 }
out = { c_max = 1e-3, c_rms = 1e-3 }
[[case]]
role = "check"
dims = { n = 8 }
)",
                                    "task.toml");
    HONE_CHECK(parsed.ok(), parsed.status().message());
    return std::move(parsed).value();
  }();
  return task;
}

// Returns a candidate whose one launch passes `args` (and, to be legal, both outputs at the end) to a kernel `k` with
// `parameters`, of which the last two are these outputs.
std::string Source(const std::string& args, const std::string& parameters, const std::string& prelude = "",
                   const std::string& plan = "") {
  return fmt::format(R"(/*hone
{}
[[launch]]
kernel = "k"
grid = "n"
block = "32"
args = [{}"b", "out"]
*/
{}
__global__ void k({}__nv_bfloat16* b, __half* out) {{}}
)",
                     plan, args.empty() ? "" : args + ", ", prelude, parameters.empty() ? "" : parameters + ", ");
}

TranslationUnit MakeUnit(const std::string& source, bool is_oracle = false, const Binding& binding = {}) {
  Result<Candidate> candidate = ParseCandidate(source, "candidate.cu", TestTask(), is_oracle);
  HONE_CHECK(candidate.ok(), candidate.status().message());
  const std::vector<CompileUnit> units = CompileUnits(*candidate, binding);
  HONE_CHECK(!units.empty(), "no unit");
  return MakeTranslationUnit(*candidate, TestTask(), units[0]);
}

class Workshop {
 public:
  Workshop() {
    std::filesystem::create_directories(directory_ / "fake");
    // These headers take the place of the simulator's, which define their own classes under NVIDIA's names.
    Write("fake/cuda_fp16.h", "#pragma once\nstruct __half { unsigned short x; };\nstruct __half2 { __half x, y; };\n");
    Write("fake/cuda_bf16.h",
          "#pragma once\nstruct __nv_bfloat16 { unsigned short x; };\n"
          "struct __nv_bfloat162 { __nv_bfloat16 x, y; };\n");
    Write("fake/prelude.h",
          "#define __global__\n#define __grid_constant__\n#define __restrict__ __restrict\n"
          "#define __launch_bounds__(...)\nstruct uint4 { unsigned x, y, z, w; };\n"
          "struct float4 { float x, y, z, w; };\n"
          "struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };\n");
  }

  // Returns the compiler's messages, or empty when there are none.
  std::string HostCompile(const TranslationUnit& unit) { return HostCompileText(WholeText(unit)); }
  std::string HostCompileText(const std::string& text) {
    Write("unit.cc", kPreludes + text);
    return Run(fmt::format("{} -std=c++20 -w -fsyntax-only -I{}/fake {}/unit.cc", HONE_HOST_COMPILER,
                           directory_.path(), directory_.path()));
  }
#ifdef HONE_NVCC_PATH
  std::string DeviceCompile(const TranslationUnit& unit) {
    Write("unit.cu", "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda.h>\n" + WholeText(unit));
    return Run(fmt::format("{} -std=c++17 -w -cubin -arch=sm_90 -o {}/unit.cubin {}/unit.cu", HONE_NVCC_PATH,
                           directory_.path(), directory_.path()));
  }
#endif

 private:
  static constexpr const char* kPreludes = "#include \"prelude.h\"\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";
  void Write(const std::string& name, const std::string& text) { std::ofstream(directory_ / name) << text; }
  std::string Run(const std::string& command) {
    const std::string log = directory_ / "log";
    const int status = std::system((command + " >" + log + " 2>&1").c_str());
    std::ifstream stream(log);
    std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    if (status == 0) return "";
    return text.empty() ? "failed without a message" : text;
  }
  const TemporaryDirectory directory_ = MakeTemporaryDirectory().value();
};

struct Accepted {
  const char* args;
  const char* parameters;
  const char* prelude = "";
};
constexpr Accepted kAccepted[] = {
    {"", ""},
    {"\"x\"", "const __half* x"},
    {"\"x\"", "const __half* __restrict__ x"},
    {"\"x + 4\"", "const void* x"},
    {"\"x\"", "const uint4* x"},
    {"\"x\"", "const float4* x"},
    {"\"x\"", "const __half2* x"},
    {"\"x\"", "const unsigned short* x"},
    {"\"x\"", "const unsigned char* x"},
    {"\"x\"", "const volatile __half* x"},
    {"\"w\"", "const float* w"},
    {"\"i\"", "const int* i"},
    {"\"i\"", "const unsigned* i"},
    {"\"n:i32\"", "int n"},
    {"\"n:i32\"", "const int n"},
    {"\"n:u32\"", "unsigned n"},
    {"\"n:u32\"", "int n"},
    {"\"n:i64\"", "long n"},
    {"\"n:i64\"", "long long n"},
    {"\"n:u64\"", "unsigned long n"},
    {"\"n > 4:bool\"", "bool flag"},
    {"\"eps:f32\"", "float eps"},
    {"\"eps:f64\"", "double eps"},
    {"\"eps:f16\"", "__half eps"},
    {"\"eps:bf16\"", "__nv_bfloat16 eps"},
    {"\"scratch\"", "float* scratch"},
    {"\"scratch + 64\"", "void* scratch"},
    {"\"scratch\"", "float** scratch"},
    {"\"scratch\"", "const __half* const* scratch"},
    {"\"scratch\"", "Slot* scratch", "struct Slot { const __half* row; int key; };"},
    {"\"tensormap:tm\"", "const __grid_constant__ CUtensorMap tm"},
    {"\"struct:P{n:i32, x, eps:f32}\"", "P p", "struct P { int n; const __half* x; float eps; };"},
    {"\"struct:ns::P{n:i64}\"", "const ns::P p", "namespace ns { struct P { long long n; }; }"},
};

struct Refused {
  const char* args;
  const char* parameters;
  const char* expected;
  const char* prelude = "";
};
constexpr Refused kRefused[] = {
    {"", "int n", "does not take the 2 arguments"},
    {"\"x\", \"n:i32\"", "const __half* x", "does not take the 4 arguments"},
    {"\"x\"", "__half* x", "argument 1: tensor 'x' is an input: the parameter must point to const"},
    {"\"x\"", "void* x", "must point to const"},
    {"\"x\"", "const float* x", "argument 1: tensor 'x' is float16: the parameter must be const __half*"},
    {"\"x\"", "const double* x", "float16"},
    {"\"x\"", "const __nv_bfloat16* x", "float16"},
    {"\"x\"", "const __nv_bfloat162* x", "float16"},
    {"\"x\"", "const bool* x", "float16"},
    {"\"x\"", "const __half x", "float16"},
    {"\"x\"", "const __half* const* x", "float16"},
    {"\"x\"", "unsigned long long x", "float16"},
    {"\"w\"", "const __half* w", "tensor 'w' is float32"},
    {"\"i\"", "const float* i", "tensor 'i' is int32"},
    {"\"n:i32\"", "long long n", "'n:i32': the parameter must be an integer of 4 bytes"},
    {"\"n:i64\"", "int n", "integer of 8 bytes"},
    {"\"n:i32\"", "float n", "integer of 4 bytes"},
    {"\"n:i32\"", "const int* n", "integer of 4 bytes"},
    {"\"n > 4:bool\"", "int flag", "must be bool"},
    {"\"n:i32\"", "bool n", "integer of 4 bytes"},
    {"\"eps:f32\"", "double eps", "'eps:f32': the parameter must be float"},
    {"\"eps:f64\"", "float eps", "must be double"},
    {"\"eps:f16\"", "__nv_bfloat16 eps", "must be __half"},
    {"\"scratch\"", "long scratch", "workspace 'scratch'"},
    {"\"scratch\"", "void (*scratch)(int)", "workspace 'scratch'"},
    {"\"tensormap:tm\"", "const CUtensorMap* tm", "tensor map 'tm' is passed by value"},
    {"\"tensormap:tm\"", "Lower tm", "tensor map 'tm'", "struct alignas(32) Lower { char opaque[128]; };"},
    {"\"tensormap:tm\"", "Smaller tm", "tensor map 'tm'", "struct alignas(64) Smaller { char opaque[64]; };"},
    {"\"struct:P{n:i32, x, eps:f32}\"", "P p", "struct 'P' is passed by value with 24 bytes aligned to 8",
     "struct P { int n; float eps; const __half* x; };"},
    {"\"struct:P{n:i32}\"", "Q p", "struct 'P'", "struct P { int n; }; struct Q { int n; };"},
};

const char* const kStorage = R"([[workspace]]
name = "scratch"
bytes = "4 * n"
[[tensor_map]]
name = "tm"
tensor = "x"
dims = ["n"]
box = [8])";

TEST(ParameterCheck, AcceptsKernelsThatTakeWhatThePlanPasses) {
  Workshop workshop;
  for (const Accepted& one : kAccepted) {
    const TranslationUnit unit = MakeUnit(Source(one.args, one.parameters, one.prelude, kStorage));
    EXPECT_EQ(workshop.HostCompile(unit), "") << one.args << " to " << one.parameters;
  }
}

TEST(ParameterCheck, RefusesTheOthersAndSaysWhichArgumentMustBeWhat) {
  Workshop workshop;
  for (const Refused& one : kRefused) {
    const TranslationUnit unit = MakeUnit(Source(one.args, one.parameters, one.prelude, kStorage));
    const std::string messages = workshop.HostCompile(unit);
    EXPECT_THAT(messages, HasSubstr(one.expected)) << one.args << " to " << one.parameters;
    EXPECT_THAT(messages, HasSubstr("candidate.cu:10")) << "the line of [[launch]]";
  }
}

TEST(ParameterCheck, AWrongCountIsReportedAloneSoThatTheFirstMessageIsTheRightOne) {
  Workshop workshop;
  const std::string messages = workshop.HostCompile(MakeUnit(Source("\"n:i32\", \"n:i32\"", "int n")));
  EXPECT_THAT(messages, HasSubstr("does not take the 4 arguments"));
  EXPECT_THAT(messages, Not(HasSubstr(", argument ")));
}

TEST(ParameterCheck, OraclesWriteDoublesThroughReferences) {
  Workshop workshop;
  const auto oracle = [](const std::string& parameter) {
    return MakeUnit(
        fmt::format("/*hone\n[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\nargs = [\"x\", \"b\", \"ref:b\", "
                    "\"ref:out\"]\n*/\n"
                    "__global__ void k(const __half* x, const __nv_bfloat16* b, {}* rb, double* ro) {{}}\n",
                    parameter),
        /*is_oracle=*/true);
  };
  EXPECT_EQ(workshop.HostCompile(oracle("double")), "");
  EXPECT_THAT(workshop.HostCompile(oracle("float")), HasSubstr("'ref:b' is the double-precision result"));
  EXPECT_THAT(workshop.HostCompile(oracle("const double")), HasSubstr("'ref:b'"));
}

constexpr const char* kTemplated = R"(/*hone
[tune]
VEC = [4, -2]
[[launch]]
kernel = "ns::k<VEC, (VEC > 2)>"
grid = "n"
block = 32
args = ["x", "b", "out", "n:i32"]
*/
namespace ns {
template <int kVec, bool kWide>
__global__ void __launch_bounds__(32) k(const __half* __restrict__ x, __nv_bfloat16* b, __half* out, int n) {
  static_assert(kVec == HONE_TUNE_VEC, "the tunable in the plan and in the code are the same");
}
}
template __global__ void ns::k<HONE_TUNE_VEC, (HONE_TUNE_VEC > 2)>(const __half*, __nv_bfloat16*, __half*, int);)";

TEST(TranslationUnit, BindsTunablesInPlanAndCode) {
  Workshop workshop;
  const TranslationUnit unit = MakeUnit(kTemplated);
  EXPECT_THAT(unit.kernels, ElementsAre("ns::k<4, (4 > 2)>"));
  EXPECT_THAT(unit.body, HasSubstr("#define HONE_TUNE_VEC 4\n"));
  EXPECT_EQ(workshop.HostCompile(unit), "");
  const TranslationUnit other = MakeUnit(kTemplated, /*is_oracle=*/false, {{"VEC", -2}});
  EXPECT_THAT(other.body, HasSubstr("#define HONE_TUNE_VEC (-2)\n"));
  EXPECT_EQ(workshop.HostCompile(other), "");
}

TEST(TranslationUnit, KeepsTheCandidatesOwnLineNumbers) {
  Workshop workshop;
  std::string source = Source("", "");
  source += "int broken = ;";  // last line of the file, without a line break
  const auto line = 1 + std::count(source.begin(), source.end(), '\n');
  EXPECT_THAT(workshop.HostCompile(MakeUnit(source)), HasSubstr(fmt::format("candidate.cu:{}", line)));
}

TEST(TranslationUnit, LineTablesNameACandidateByARelativePath) {
  for (const auto& [name, wanted] : {std::pair{"/home/a/kernels/k.cu", "k.cu"}, {"../k.cu", "k.cu"}, {"kernels/k.cu", "kernels/k.cu"}}) {
    const Candidate candidate = ParseCandidate(Source("", ""), name, TestTask()).value();
    const TranslationUnit unit = MakeTranslationUnit(candidate, TestTask(), CompileUnits(candidate, {})[0]);
    EXPECT_EQ(unit.file, wanted);
    EXPECT_THAT(unit.body, HasSubstr(fmt::format("#line 1 \"{}\"", wanted)));
  }
}

TEST(TranslationUnit, CarriesOptionsAndIncludeSet) {
  const TranslationUnit unit = MakeUnit(Source("", "", "#include <mma.h>\n", "options = [\"--use_fast_math\"]"));
  EXPECT_THAT(unit.options, ElementsAre("--use_fast_math"));
  EXPECT_EQ(unit.include_set, "full");
  EXPECT_EQ(unit.file, "candidate.cu");
}

TEST(TranslationUnit, ChecksOnlyTheEntriesOfItsOwnBinding) {
  const std::string source = R"(/*hone
[tune]
VEC = [4, 8]
[[launch]]
kernel = "k<VEC>"
grid = "n"
block = 32
when = "n % 8 == 0"
with = { VEC = 8 }
args = ["b", "out"]
[[launch]]
kernel = "k<VEC>"
grid = "n"
block = 32
args = ["b", "out"]
*/
template <int v> __global__ void k(__nv_bfloat16* b, __half* out) {}
)";
  Result<Candidate> candidate = ParseCandidate(source, "candidate.cu", TestTask());
  ASSERT_TRUE(candidate.ok()) << candidate.status().message();
  const std::vector<CompileUnit> units = CompileUnits(*candidate, {});
  ASSERT_EQ(units.size(), 2u);
  const TranslationUnit eight = MakeTranslationUnit(*candidate, TestTask(), units[0]);
  const TranslationUnit four = MakeTranslationUnit(*candidate, TestTask(), units[1]);
  EXPECT_THAT(eight.kernels, ElementsAre("k<8>"));
  EXPECT_THAT(four.kernels, ElementsAre("k<4>"));
  EXPECT_THAT(WholeText(four), HasSubstr("decltype(&k<4>)"));
  EXPECT_THAT(WholeText(four), Not(HasSubstr("decltype(&k<8>)")));
}

// A Cheat is a kernel that does not match its plan, with text before or after it that tries to make the assertions
// pass. It compiles only if the text can affect the assertions.
struct Cheat {
  const char* what;
  const char* before;      // text before the kernel
  const char* parameters;  // parameters of the kernel; the plan passes "x" (an input, float16) and "n:i64"
  const char* behind = "";
};
constexpr Cheat kCheats[] = {
    {"the assertion is made nothing", "#define static_assert(...)\n", "__half* x, long long n"},
    {"the size of everything is 8", "#define sizeof(...) 8\n", "const __half* x, int n"},
    {"a type goes by another's name", "", "const float* x, long long n", "#define __half float\n"},
    {"the type is another's", "__global__ void honest(const __half*, long long, __nv_bfloat16*, __half*) {}\n", "__half* x, int n",
     "#define decltype(...) void (*)(const __half*, long long, __nv_bfloat16*, __half*)\n"},
    {"a macro is saved and brought back",
     "#define static_assert(...)\n#pragma push_macro(\"static_assert\")\n#undef static_assert\n", "float* x, long long n",
     "#pragma pop_macro(\"static_assert\")\n"},
    {"the same by way of an operator", "#define static_assert(...)\n_Pragma(\"push_macro(\\\"static_assert\\\")\")\n#undef static_assert\n",
     "__half* x, int n", "_Pragma(\"pop_macro(\\\"static_assert\\\")\")\n"},
    {"a line goes on", "#define static_assert(...)\n", "__half* x, long long n", "// \\"},
    {"a trigraph's line goes on", "#define static_assert(...)\n", "__half* x, long long n", "// the end \\\\\\"},
    {"words of other languages", "%:define static_assert(...)\n", "const __nv_bfloat16* x, long long n"},
    {"a type is none of the others any more", "", "const float* x, long long n", "#define float short\n"},
};

TranslationUnit CheatUnit(const Cheat& cheat) {
  return MakeUnit(fmt::format(
      "/*hone\n[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\nargs = [\"x\", \"n:i64\", \"b\", \"out\"]\n*/\n{}"
      "__global__ void k({}, __nv_bfloat16* b, __half* out) {{}}\n{}",
      cheat.before, cheat.parameters, cheat.behind));
}

// Returns the text with the weaknesses of an older version: foreseeable names, and macros that stay defined.
std::string WithinReach(const TranslationUnit& unit) {
  const std::string checks = PlanCheckText(unit, unit.kernels, /*preprocessed=*/true);
  return unit.body + checks.substr(checks.find('#'));
}

TEST(PlanChecks, NoTextBeforeThemTalksThemOutOfIt) {
  Workshop workshop;
  for (const Cheat& cheat : kCheats) {
    const TranslationUnit unit = CheatUnit(cheat);
    EXPECT_THAT(workshop.HostCompile(unit), HasSubstr("launch plan: kernel 'k', argument")) << cheat.what;
    EXPECT_EQ(workshop.HostCompileText(WithinReach(unit)), "") << cheat.what;
  }
}

TEST(PlanChecks, NobodyAddsASpecialisationToTemplatesWhoseNamesFollowFromTheText) {
  Workshop workshop;
  const Cheat honest{"", "", "__half* x, long long n"};
  const TranslationUnit first = CheatUnit(honest);
  const std::string text = WholeText(first);
  const size_t begin = text.find("hone_plan_");
  const std::string prefix = text.substr(begin, text.find('_', begin + 10) + 1 - begin);
  ASSERT_EQ(prefix.size(), 10 + 24 + 1u);
  // The candidate declares the templates beforehand, under their foreseeable names, with answers of its own.
  const std::string declared = fmt::format("template <typename P> inline constexpr bool {0}kReadOnly = true;\n", prefix);
  const Cheat second{"", declared.c_str(), "__half* x, long long n"};
  EXPECT_THAT(workshop.HostCompile(CheatUnit(second)), HasSubstr("must point to const"));
  EXPECT_EQ(WholeText(CheatUnit(second)).find(prefix + "kCount"), std::string::npos) << "another text, another name";
}

TEST(PlanChecks, ATextThatDoesNotEndIsAnErrorAndNoWayRoundThem) {
  Workshop workshop;
  for (const char* behind : {"#if 0\n", "/* \n", "auto s = R\"(\n", "namespace a {\n", "extern \"C\" {\n", "void f() {\n", "#define F(...)\nF(\n",
                             "struct S {\n", "template <class T>\n", "\"abc", "#ifdef X\n#else\n#if 0\n", "#define F(a) \\\n", "enum E {"}) {
    const Cheat cheat{behind, "", "__half* x, long long n", behind};
    EXPECT_NE(workshop.HostCompile(CheatUnit(cheat)), "") << behind;
  }
}

TEST(PlanChecks, KernelsFullOfMacrosAreRightAsTheyAre) {
  Workshop workshop;
  const auto unit = [](const std::string& kernel, const std::string& source) {
    return MakeUnit(fmt::format(
        "/*hone\n[[launch]]\nkernel = \"{}\"\ngrid = 1\nblock = 1\nargs = [\"x\", \"n:i64\", \"b\", \"out\"]\n*/\n{}",
        kernel, source));
  };
  const std::string parameters = "(const __half* x, long long n, __nv_bfloat16* b, __half* out)";
  const std::pair<std::string, std::string> honest[] = {
      {"k<T>", "#define T float\ntemplate <typename P> __global__ void k" + parameters + " {}\n"},
      {"k<BM, (BM > 4)>", "#define BM 64\ntemplate <int m, bool w> __global__ void k" + parameters + " {}\n"},
      {"NAME", "#define NAME my_kernel\n__global__ void my_kernel" + parameters + " {}\n"},
      {"Types", "#define value 3\n#define type 4\n#define count 5\n#define index 6\n__global__ void Types" + parameters + " {}\n"},
      {"k", "#define KERNEL(name) __global__ void name" + parameters + "\n#define CAT(a, b) a##b\nKERNEL(CAT(k,)) {}\n"},
      {"k", "#define RESTRICT __restrict__\n#define IN(T) const T* RESTRICT\n#define OUT(T) T* RESTRICT\n__global__ void k(IN(__half) x, "
            "long long n, OUT(__nv_bfloat16) b, OUT(__half) out) {}\n"},
      {"k", "#define static_assert_size(T, n) static_assert(sizeof(T) == n, #T)\nstatic_assert_size(float4, 16);\n__global__ void k" +
                parameters + " {}\n"},
      {"k", "#define FOR_EACH(X) X(0) X(1) X(2)\n#define STEP(i) n += i;\n__global__ void k" + parameters + " { FOR_EACH(STEP) }\n#undef STEP"},
      {"k", "#define K 1\nnamespace hone_plan { struct Types {}; }\n__global__ void k" + parameters + " {}\n// ends in a comment"},
      {"k", "template <class T> concept Small = sizeof(T) < 8;\ntemplate <Small T> struct S {};\n__global__ void k" + parameters +
                " { auto f = []<int i>() { return i; }; (void)f; }\n"},
  };
  for (const auto& [kernel, source] : honest) EXPECT_EQ(workshop.HostCompile(unit(kernel, source)), "") << source;
}

#ifdef HONE_NVCC_PATH
TEST(ParameterCheck, NvccAgreesWithTheHostCompiler) {
  Workshop workshop;
  // The unit has the accepted pairs of argument and parameter, except those with tensor maps, which follow below.
  std::string args, parameters, prelude;
  int number = 0;
  for (const Accepted& one : kAccepted) {
    if (std::string_view(one.args).empty() || std::string_view(one.parameters).find("tm") != std::string_view::npos)
      continue;
    std::string parameter = one.parameters;
    while (parameter.back() != ' ') parameter.pop_back();
    args += fmt::format("{}{}", args.empty() ? "" : ", ", one.args);
    parameters += fmt::format("{}{} p{}", parameters.empty() ? "" : ", ", parameter, number++);
    if (prelude.find(one.prelude) == std::string::npos) prelude += one.prelude;
  }
  EXPECT_EQ(workshop.DeviceCompile(MakeUnit(Source(args, parameters, prelude, kStorage))), "");
  EXPECT_EQ(workshop.DeviceCompile(
                MakeUnit(Source("\"tensormap:tm\"", "const __grid_constant__ CUtensorMap tm", "", kStorage))),
            "");
  EXPECT_EQ(workshop.DeviceCompile(MakeUnit(kTemplated)), "");
  for (const Refused& one : {kRefused[0], kRefused[2], kRefused[4], kRefused[14], kRefused[25]}) {
    const std::string messages =
        workshop.DeviceCompile(MakeUnit(Source(one.args, one.parameters, one.prelude, kStorage)));
    EXPECT_THAT(messages, HasSubstr(one.expected)) << one.args << " to " << one.parameters;
  }
}
#endif

}  // namespace
}  // namespace hone
