// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests every rewrite alone on small kernels, what it must leave unchanged, and all of them on every shipped seed.
// strategies/rewrites_on_sim_test.cc checks on the simulated device that the products are right.
#include "tuner/model/builtin/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "base/files/file.h"
#include "tuner/model/builtin/builtin_provider.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kTask[] = R"(
name = "t"
summary = "out from x and w; y in place"
class = "other"
slice = "rows"
[dims]
rows = "rows"
d = "width"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "d"]
[[tensor]]
name = "y"
role = "inout"
dtype = "float32"
shape = ["rows", "d"]
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["rows", "d"]
[tolerance.y]
c_max = 1e-3
c_rms = 1e-3
[tolerance.out]
c_max = 1e-3
c_rms = 1e-3
[[case]]
role = "time"
dims = { rows = 16, d = 1024 }
[[case]]
role = "check"
dims = { rows = 3, d = 5 }
)";

std::string Source(const std::string& body, const std::string& plan = "", const std::string& block = "256") {
  return "/*hone\n" + plan + "[[launch]]\nkernel = \"f\"\ngrid = [\"ceil_div(rows * d, " + block + ")\"]\nblock = [\"" +
         block + "\"]\nargs = [\"x\", \"y\", \"out\", \"rows * d:i64\"]\n*/\n" + body;
}

RewriteOutcome Apply(RewriteOutcome (*rewrite)(const SourceView&), const std::string& source) {
  const Task task = ParseTask(kTask, "task.toml").value();
  const Candidate candidate = ParseCandidate(source, "c.cu", task).value();
  const SourceView view = SourceView::Make(candidate, task).value();
  RewriteOutcome outcome = rewrite(view);
  EXPECT_FALSE(outcome.note.empty());
  if (outcome.applied()) {
    EXPECT_NE(outcome.source, source);
    const Result<Candidate> product = ParseCandidate(outcome.source, "p.cu", task);
    EXPECT_TRUE(product.ok()) << product.status().message() << outcome.source;
  }
  return outcome;
}

const std::string kSignature = "__global__ void f(const float* x, float* y, float* out, long long n) {\n";

TEST(ReadOnlyLoads, ChangeInputsOnly) {
  const RewriteOutcome o =
      Apply(UseReadOnlyLoads, Source(kSignature + "  const float4* v = reinterpret_cast<const float4*>(x);\n"
                                                  "  float4 a = v[threadIdx.x]; // v[0] stays in comments\n"
                                                  "  const float* p = &x[2];\n"
                                                  "  y[1] = y[0] + x[3] + reinterpret_cast<const float2*>(x + 2)[n].x "
                                                  "+ *reinterpret_cast<const float2*>(x).y;\n}\n"));
  EXPECT_THAT(o.source, HasSubstr("float4 a = __ldg(&v[threadIdx.x]); // v[0] stays"));
  EXPECT_THAT(o.source, HasSubstr("p = &x[2]"));
  EXPECT_THAT(o.source, HasSubstr("y[1] = y[0] + __ldg(&x[3]) + __ldg(&reinterpret_cast<const float2*>(x + 2)[n]).x + "
                                  "__ldg(reinterpret_cast<const float2*>(x)).y"));
}

TEST(ReadOnlyLoads, LeaveTypesAloneThatHaveNoSuchLoad) {
  const RewriteOutcome o =
      Apply(UseReadOnlyLoads, Source("struct Pair { float a, b; };\n" + kSignature +
                                     "  const Pair* v = reinterpret_cast<const Pair*>(x);\n  Pair a = v[0];\n}\n"));
  EXPECT_FALSE(o.applied());
}

TEST(StreamingStores, SkipWhatTheKernelReadsAgain) {
  const RewriteOutcome o =
      Apply(UseStreamingStores, Source(kSignature + "  y[0] = x[0];\n  out[1] = y[0] + 1.0f;\n  if (n) "
                                                    "reinterpret_cast<float2*>(out)[2] = make_float2(1.0f, 2.0f);\n"
                                                    "  out[3] += 1.0f;\n}\n"));
  EXPECT_THAT(o.source, HasSubstr("  y[0] = x[0];"));
  EXPECT_THAT(o.source, HasSubstr("if (n) __stcs(&reinterpret_cast<float2*>(out)[2], make_float2(1.0f, 2.0f));"));
  EXPECT_THAT(o.source, HasSubstr("out[3] += 1.0f"));
}

TEST(FastIntrinsics, ReplaceCallsAndNothingElse) {
  const RewriteOutcome o =
      Apply(UseFastIntrinsics, Source("// expf(x)\nstruct S { float expf(float); };\n__device__ float g(float v, S s) "
                                      "{ return expf(v) + s.expf(v) + tanhf(v * 2.0f); }\n" +
                                      kSignature + "}\n"));
  EXPECT_THAT(o.source, HasSubstr("// expf(x)"));
  EXPECT_THAT(o.source,
              HasSubstr("return __expf(v) + s.expf(v) + (1.0f - __fdividef(2.0f, 1.0f + __expf(2.0f * (v * 2.0f))))"));
}

TEST(FastDivision, TouchesFloatsNotIntegersNotDoubles) {
  const RewriteOutcome o = Apply(
      UseFastDivision, Source(kSignature + "  const float s = x[0];\n  const double e = 2.0;\n  int i = threadIdx.x / "
                                           "32;\n  float a = s / (1.0f + s);\n  float b = 1.0f / sqrtf(s);\n"
                                           "  float c = s / e;\n  long long k = n / 2;\n  float t = s * a / b;\n  "
                                           "out[0] = a + b + c + t + i + k;\n}\n"));
  EXPECT_THAT(o.source, HasSubstr("threadIdx.x / 32"));
  EXPECT_THAT(o.source, HasSubstr("a = __fdividef(s, (1.0f + s));"));
  EXPECT_THAT(o.source, HasSubstr("b = rsqrtf(s);"));
  EXPECT_THAT(o.source, HasSubstr("c = s / e;"));
  EXPECT_THAT(o.source, HasSubstr("k = n / 2;"));
  EXPECT_THAT(o.source, HasSubstr("t = s * a / b;"));
}

TEST(FastMathOption, IsAddedOnce) {
  const std::string body = kSignature + "}\n";
  EXPECT_THAT(Apply(UseFastMathOption, Source(body)).source, HasSubstr("options = [\"--use_fast_math\"]"));
  EXPECT_THAT(Apply(UseFastMathOption, Source(body, "options = [\"-lineinfo\"]\n")).source,
              HasSubstr("[\"-lineinfo\", \"--use_fast_math\"]"));
  EXPECT_FALSE(Apply(UseFastMathOption, Source(body, "options = [\"--use_fast_math\"]\n")).applied());
}

TEST(Unroll, ConstantAndStridedLoopsEachByTheirOwnRewrite) {
  const std::string source =
      Source(kSignature +
             "  float s = 0.0f;\n  for (int j = 0; j < 8; ++j) s += x[j];\n#pragma unroll\n  for (int j = 0; j < 4; "
             "++j) s += x[j];\n"
             "  for (long long i = threadIdx.x; i < n; i += blockDim.x) s += x[i];\n  out[0] = s;\n}\n");
  const std::string constant = Apply(UnrollConstantLoops, source).source;
  EXPECT_THAT(constant, HasSubstr("#pragma unroll\n  for (int j = 0; j < 8"));
  EXPECT_THAT(constant, Not(HasSubstr("#pragma unroll\n#pragma unroll")));
  EXPECT_THAT(constant, Not(HasSubstr("#pragma unroll\n  for (long long")));
  const std::string strided = Apply(UnrollStridedLoops, source).source;
  EXPECT_THAT(strided, HasSubstr("#pragma unroll 4\n  for (long long i"));
  EXPECT_THAT(strided, Not(HasSubstr("#pragma unroll 4\n  for (int")));
}

TEST(Unroll, LoopsWithBarriersStayRolled) {
  EXPECT_FALSE(
      Apply(UnrollStridedLoops, Source(kSignature + "  for (long long i = 0; i < n; ++i) { __syncthreads(); }\n}\n"))
          .applied());
}

TEST(GridStride, TurnsAGuardIntoALoop) {
  const std::string body = "  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n";
  for (const std::string& rest : {std::string("  if (i < n) {\n    out[i] = x[i];\n  }\n}\n"),
                                  std::string("  if (i >= n) return;\n  out[i] = x[i];\n}\n")}) {
    const RewriteOutcome o = Apply(UseGridStride, Source(kSignature + body + rest));
    ASSERT_TRUE(o.applied()) << o.note;
    EXPECT_THAT(o.source, HasSubstr("i < n; i += static_cast<long long>(gridDim.x) * blockDim.x)"));
    EXPECT_THAT(o.source, HasSubstr("min(ceil_div(rows * d, 256), sm_count * BLOCKS_PER_SM)"));
    EXPECT_THAT(o.source, Not(HasSubstr("return")));
  }
  EXPECT_FALSE(Apply(UseGridStride,
                     Source(kSignature + body + "  if (i >= n) return;\n  __syncthreads();\n  out[i] = 1.0f;\n}\n"))
                   .applied());
  EXPECT_FALSE(Apply(UseGridStride, Source(kSignature + body +
                                           "  if (i >= n) return;\n  if (x[i] > 0) return;\n  out[i] = 1.0f;\n}\n"))
                   .applied());
}

TEST(OneResidentWave, NeedsAStridedOutermostLoop) {
  const std::string loop = "  for (long long r = blockIdx.x; r < n; r += gridDim.x) out[r] = x[r];\n}\n";
  EXPECT_THAT(Apply(LaunchOneResidentWave, Source(kSignature + loop)).source,
              HasSubstr("sm_count * max(1, occupancy(f))"));
  EXPECT_FALSE(
      Apply(LaunchOneResidentWave, Source(kSignature + "  if (blockIdx.x == 0) out[0] = 1.0f;\n" + loop)).applied());
}

constexpr char kTwoPasses[] =
    "  float s = 0.0f;\n"
    "  for (long long i = threadIdx.x; i < n; i += blockDim.x) {\n    const float v = x[i];\n    s += v;\n  }\n"
    "  for (long long i = threadIdx.x; i < n; i += blockDim.x) {\n    out[i] = x[i] * s;\n  }\n}\n";

TEST(KeepValues, SplitsBothLoopsAndReadsOnce) {
  const RewriteOutcome o = Apply(KeepValuesBetweenPasses, Source(kSignature + kTwoPasses));
  ASSERT_TRUE(o.applied()) << o.note;
  EXPECT_THAT(o.source, HasSubstr("float hone_kept_x[HONE_TUNE_KEEP];"));
  EXPECT_THAT(o.source, HasSubstr("hone_kept_x[hone_pass] = v;"));
  EXPECT_THAT(o.source, HasSubstr("out[i] = hone_kept_x[hone_pass] * s;"));
  EXPECT_THAT(o.source, HasSubstr("out[i] = x[i] * s;")) << "the rest of a long row";
  EXPECT_THAT(o.source, HasSubstr("KEEP = [4, 2, 8]"));
}

TEST(KeepValues, RefusesWhatItCannotProve) {
  const auto refused = [](const std::string& body) {
    const RewriteOutcome o = Apply(KeepValuesBetweenPasses, Source(kSignature + body));
    EXPECT_FALSE(o.applied()) << o.source;
    return o.note;
  };
  const std::string head = "  for (long long i = threadIdx.x; i < n; i += blockDim.x) {";
  // The tensor is written between the passes, by index or through a function that takes the pointer.
  EXPECT_THAT(
      refused(head + " const float v = y[i]; out[i] = v; }\n  y[0] = 1.0f;\n" + head + " out[i] = y[i]; }\n}\n"),
      HasSubstr("written"));
  EXPECT_THAT(refused(head + " const float v = y[i]; out[i] = v; }\n  change(y);\n" + head + " out[i] = y[i]; }\n}\n"),
              HasSubstr("written"));
  // The bound changes between the passes.
  refused(head + " const float v = x[i]; out[i] = v; }\n  n = n - 1;\n" + head + " out[i] = x[i]; }\n}\n");
  // The value is not read in every turn, or the loop leaves early.
  refused(head + " if (i > 3) { const float v = x[i]; out[i] = v; } }\n" + head + " out[i] = x[i]; }\n}\n");
  EXPECT_THAT(refused(head + " const float v = x[i]; if (v > 0) break; }\n" + head + " out[i] = x[i]; }\n}\n"),
              HasSubstr("leave early"));
  // Different strides, or the loops in different places.
  refused(head +
          " const float v = x[i]; out[i] = v; }\n  for (long long i = threadIdx.x; i < n; i += 32) { out[i] = x[i]; "
          "}\n}\n");
  refused(head + " const float v = x[i]; out[i] = v; }\n  if (n > 3) {\n" + head + " out[i] = x[i]; }\n  }\n}\n");
  // Another element than the one at hand.
  refused(head + " const float v = x[i]; out[i] = v; }\n" + head + " out[i] = x[i + 1]; }\n}\n");
}

TEST(KeepValues, SaysWhatItDidNotFollow) {
  const auto reason = [](const std::string& body) {
    return Apply(KeepValuesBetweenPasses, Source(kSignature + body + "}\n")).note;
  };
  const std::string head = "  for (long long i = threadIdx.x; i < n; i += blockDim.x) {";
  EXPECT_THAT(reason(head + " out[i] = x[i]; }\n"),
              HasSubstr("no kernel has two loops, one after the other, with the same header"));
  // A row is read by a longer index: the values are the same, and only p[i] is followed.
  EXPECT_THAT(
      reason(head + " s += x[n * blockIdx.x + i]; }\n" + head + " out[i] = x[n * blockIdx.x + i]; }\n"),
      HasSubstr(
          "the loops of f read x[n * blockIdx.x + i] again, and only a pointer with the index [i] alone is followed"));
  EXPECT_THAT(reason(head + " s += x[i]; }\n" + head + " out[i] = x[i]; }\n"),
              HasSubstr("the first loop of f does not read x[i] into a variable of its own, in every turn"));
  EXPECT_THAT(reason(head + " const float v = x[i]; s += v; }\n" + head + " out[i] = y[i]; }\n"),
              HasSubstr("the later loops of f read nothing that the first has read"));
  const std::string bare = "  for (long long i = threadIdx.x; i < n; i += blockDim.x) out[i] = x[i];\n";
  EXPECT_THAT(reason(bare + bare), HasSubstr("loops of f have a body without braces"));
  const std::string up = "  for (int i = 0; i < n; ++i) { const float v = x[i]; out[i] = v; }\n";
  EXPECT_THAT(reason(up + up), HasSubstr("the loops of f have no header for (TYPE i = …; i < …; i += …)"));
  EXPECT_THAT(reason(head + " const float v = x[i]; s += v; }\n  n = n - 1;\n" + head + " out[i] = x[i]; }\n"),
              HasSubstr("what the headers of the loops of f read changes between them"));
}

TEST(KeepValues, RefusesParametersThatShareATensor) {
  // y is passed twice, once as `also`.
  std::string source =
      Source("__global__ void f(const float* x, float* y, float* out, const float* also, long long n) {\n" +
             std::string(kTwoPasses));
  source.replace(source.find("\"out\", "), 7, "\"out\", \"y\", ");
  EXPECT_FALSE(Apply(KeepValuesBetweenPasses, source).applied());
  EXPECT_FALSE(Apply(AddRestrict, source).applied());
}

TEST(Restrict, MarksEveryPointerOnce) {
  const RewriteOutcome o = Apply(
      AddRestrict, Source("__global__ void f(const float* x, float *y, float* __restrict__ out, long long n) {}\n"));
  EXPECT_THAT(o.source,
              HasSubstr("const float* __restrict__ x, float * __restrict__ y, float* __restrict__ out, long long n"));
  EXPECT_FALSE(Apply(AddRestrict, o.source).applied());
}

TEST(LaunchBounds, FollowTheBlockSize) {
  EXPECT_THAT(Apply(AddLaunchBounds, Source(kSignature + "}\n")).source, HasSubstr("void __launch_bounds__(256) f("));
  const std::string tunable = Source(kSignature + "}\n", "[tune]\nBLOCK = [128, 256]\n", "BLOCK");
  EXPECT_THAT(Apply(AddLaunchBounds, tunable).source, HasSubstr("__launch_bounds__(HONE_TUNE_BLOCK)"));
  const std::string full = Apply(BoundRegistersForFullOccupancy, tunable).source;
  EXPECT_THAT(full, HasSubstr("__launch_bounds__(HONE_TUNE_BLOCK, 2048 / (HONE_TUNE_BLOCK)"));
  EXPECT_FALSE(Apply(BoundRegistersForFullOccupancy, full).applied());
  EXPECT_FALSE(Apply(AddLaunchBounds, Source(kSignature + "}\n", "", "min(256, d)")).applied()) << "no constant";
}

TEST(BlockTunable, ReplacesTheLiteralEverywhereOrNotAtAll) {
  const RewriteOutcome o = Apply(MakeBlockTunable, Source("constexpr int kBlock = 256;\n" + kSignature + "}\n"));
  EXPECT_THAT(o.source, HasSubstr("BLOCK = [256, 128, 512, 1024]"));
  EXPECT_THAT(o.source, HasSubstr("block = [\"BLOCK\"]"));
  EXPECT_THAT(o.source, HasSubstr("ceil_div(rows * d, BLOCK)"));
  EXPECT_THAT(o.source, HasSubstr("constexpr int kBlock = HONE_TUNE_BLOCK;"));
  EXPECT_FALSE(Apply(MakeBlockTunable, Source(kSignature + "  out[256] = 1.0f;\n}\n")).applied())
      << "256 could mean anything";
  EXPECT_FALSE(Apply(MakeBlockTunable, Source("#define N 256\n" + kSignature + "}\n")).applied());
}

TEST(Rewrites, ANumberThatMerelyEqualsTheBlockSizeIsLeftAlone) {
  // 256 bins are not 256 threads, whatever the launch is.
  const RewriteOutcome bins =
      Apply(MakeBlockTunable, Source("static constexpr int kBins = 256;\n" + kSignature + "}\n"));
  EXPECT_FALSE(bins.applied());
  EXPECT_THAT(bins.note, HasSubstr("kBins = 256"));
  // What a loop over threads takes as its step is the block's size, whatever it is called.
  const RewriteOutcome step =
      Apply(MakeBlockTunable, Source("constexpr int kWide = 256;\n" + kSignature +
                                     "  for (int i = threadIdx.x; i < d; i += kWide) out[i] = x[i];\n}\n"));
  EXPECT_THAT(step.source, HasSubstr("constexpr int kWide = HONE_TUNE_BLOCK;"));
}

TEST(Rewrites, ATemplateArgumentOfTheBlockSizeFollowsTheLaunch) {
  const auto source = [](const std::string& parameter, const std::string& body) {
    std::string text = Source("template <typename T, int " + parameter + ">\n" + kSignature + body + "}\n");
    const size_t name = text.find("kernel = \"");
    const size_t end = text.find('"', name + 10);
    return text.insert(end, "<float, 256>");
  };
  const RewriteOutcome outcome = Apply(MakeBlockTunable, source("BLOCK_SIZE", ""));
  EXPECT_THAT(outcome.source, HasSubstr("<float, BLOCK>\"")) << outcome.note;
  const RewriteOutcome used =
      Apply(MakeBlockTunable, source("W", "  for (int i = threadIdx.x; i < d; i += W) out[i] = x[i];\n"));
  EXPECT_THAT(used.source, HasSubstr("<float, BLOCK>\"")) << used.note;
  const RewriteOutcome unclear = Apply(MakeBlockTunable, source("W", "  out[0] = x[W];\n"));
  EXPECT_FALSE(unclear.applied());
  EXPECT_THAT(unclear.note, HasSubstr("template argument 256"));
}

TEST(Rewrites, NamesAreUniqueAndTheListIsComplete) {
  std::set<std::string_view> names;
  for (const Rewrite& r : AllRewrites()) EXPECT_TRUE(names.insert(r.name).second) << r.name;
  EXPECT_GE(names.size(), 15u);
}

TEST(Rewrites, TheDocumentListsThemInTheirOrder) {
  const std::string document = ReadFile(HONE_SOURCE_DIR "/docs/optimizing.md").value();
  size_t at = 0;
  for (const Rewrite& r : AllRewrites()) {
    const size_t found = document.find("| `" + std::string(r.name) + "` |");
    ASSERT_NE(found, std::string::npos) << r.name;
    EXPECT_GT(found, at) << r.name;
    at = found;
  }
}

// Every rewrite on every shipped seed: it gives a candidate that parses or a reason, whatever it met before.
TEST(Rewrites, ApplyToEverySeedOrSayWhyNot) {
  std::map<std::string_view, int> applied;
  int seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/tasks")) {
    if (!std::filesystem::exists(entry.path() / "seed.cu")) continue;
    const Task task = LoadTask(entry.path().string()).value();
    ++seeds;
    std::string combined = task.seed_source;
    for (const Rewrite& rewrite : AllRewrites()) {
      for (const bool alone : {true, false}) {
        SCOPED_TRACE(task.name + " " + std::string(rewrite.name));
        const Candidate base = ParseCandidate(alone ? task.seed_source : combined, "seed.cu", task).value();
        const SourceView view = SourceView::Make(base, task).value();
        const RewriteOutcome outcome = rewrite.apply(view);
        EXPECT_FALSE(outcome.note.empty());
        if (!outcome.applied()) continue;
        Result<Candidate> product = ParseCandidate(outcome.source, "p.cu", task);
        ASSERT_TRUE(product.ok()) << product.status().message();
        // The plan still launches the same kernels with the same arguments.
        ASSERT_EQ(product->plan.entries.size(), base.plan.entries.size());
        for (size_t i = 0; i < base.plan.entries.size(); ++i)
          EXPECT_EQ(product->plan.entries[i].args.size(), base.plan.entries[i].args.size());
        // Brackets still pair.
        for (const Token& t : LexCuda(outcome.source)) {
          EXPECT_TRUE((t.text != "(" && t.text != "{" && t.text != "[") || t.match >= 0);
        }
        if (alone)
          ++applied[rewrite.name];
        else
          combined = outcome.source;
      }
    }
  }
  EXPECT_GE(seeds, 12);
  EXPECT_GE(applied["keep-values-between-passes"], 4);
  EXPECT_GE(applied["streaming-stores"], 10);
  EXPECT_GE(applied["read-only-loads"], 8);
  EXPECT_GE(applied["launch-bounds"], 8);
  EXPECT_EQ(applied["use-fast-math"], seeds);
}

TEST(BuiltinProvider, GoesThroughItsRewritesAndThenSaysWhyNoneIsLeft) {
  std::unique_ptr<ModelProvider> provider = MakeBuiltinProvider().value();
  ModelRequest request;
  request.attachments = {{"task", kTask}, {"parent", Source(kSignature + kTwoPasses)}, {"tried", ""}};
  std::set<std::string> ideas;
  while (true) {
    const ModelReply reply = provider->Complete(request, {}, {}).value();
    if (reply.finish == FinishReason::kExhausted) {
      EXPECT_THAT(reply.text, HasSubstr("grid-stride: "));
      break;
    }
    const std::string idea = reply.text.substr(6, reply.text.find('\n') - 6);
    ASSERT_TRUE(ideas.insert(idea).second) << idea;
    request.attachments["tried"] += idea + "\n";
  }
  EXPECT_TRUE(ideas.contains("keep-values-between-passes"));
  EXPECT_GE(ideas.size(), 7u);
}

TEST(BuiltinProvider, AttemptsAtOneTimeGetDifferentRewrites) {
  std::unique_ptr<ModelProvider> provider = MakeBuiltinProvider().value();
  std::vector<std::string> ideas;
  for (const char* siblings : {"0", "1", "2"}) {
    ModelRequest request;
    request.attachments = {
        {"task", kTask}, {"parent", Source(kSignature + kTwoPasses)}, {"tried", ""}, {"siblings", siblings}};
    const std::string text = provider->Complete(request, {}, {}).value().text;
    ideas.push_back(text.substr(6, text.find('\n') - 6));
  }
  EXPECT_EQ(ideas, (std::vector<std::string>{"keep-values-between-passes", "streaming-stores", "make-block-tunable"}));
}

}  // namespace
}  // namespace hone
