// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests tasks: a whole task.toml is read field by field, shapes and traffic are worked out by hand, and a broken task
// per rule must be refused with its line and a remedy.
#include "hone/tuner/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/files/file.h"
#include "tuner/core/plan/dims_text.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

constexpr const char* kSilu = R"(name = "silu_and_mul"
summary = "out = silu(x[:, :d]) * x[:, d:]"
class = "elementwise"
slice = "tokens"

[dims]
tokens = "rows of x"
d = "hidden width"

[[tensor]]
name = "x"
role = "in"
dtype = "float16"
shape = ["tokens", "2 * d"]
align = 32
values = { distribution = "normal", scale = 2.0, offset = 0.5 }

[[tensor]]
name = "out"
role = "out"
dtype = "float16"
shape = ["tokens", "d"]

[[scalar]]
name = "eps"
dtype = "float32"
value = 1e-6

[tolerance.out]
c_max = 2e-3
c_rms = 4e-4

[work]
flops = "5 * tokens * d"

[[case]]
role = "time"
dims = { tokens = 1024, d = 14336 }

[[case]]
role = "check"
dims = { tokens = 0, d = 8 }

[[hidden]]
count = 3
tokens = { low = 1, high = 600 }
d = { low = 8, high = 4096, multiple = 8 }

[[hand]]
dims = { tokens = 1, d = 2 }
inputs.x = [[0.0, 1.0, 2, 3.0]]
outputs.out = [0.0, 2.19317573589]
)";

// Returns `text` with the first `from` replaced: one deviation from a correct task.
std::string WithReplaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string RefusalOf(const std::string& text) {
  Result<Task> task = ParseTask(text, "task.toml");
  if (task.ok()) return "accepted";
  EXPECT_EQ(task.status().code(), StatusCode::kInvalidArgument);
  return task.status().message();
}

Task Silu() {
  Result<Task> task = ParseTask(kSilu, "task.toml");
  EXPECT_TRUE(task.ok()) << task.status().message();
  return std::move(task).value();
}

TEST(DType, NamesRoundTripAndSizesAreThoseOfC) {
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(DTypeFromName(DTypeName(dtype)), dtype);
    EXPECT_THAT(DTypeNames(), HasSubstr(DTypeName(dtype)));
  }
  EXPECT_EQ(DTypeFromName("half"), std::nullopt);
  EXPECT_EQ(DTypeBytes(DType::kFloat64), 8);
  EXPECT_EQ(DTypeBytes(DType::kBFloat16), 2);
  EXPECT_EQ(DTypeBytes(DType::kUInt8), 1);
  EXPECT_TRUE(IsFloating(DType::kBFloat16));
  EXPECT_FALSE(IsFloating(DType::kInt32));
  EXPECT_EQ(DTypeName(DType::kFloat8E4M3), "float8_e4m3fn");
  EXPECT_EQ(DTypeBytes(DType::kUInt64), 8);
  EXPECT_TRUE(IsFloat8(DType::kFloat8E8M0));
  EXPECT_FALSE(IsFloat8(DType::kUInt8));
}

// Returns the parsed `values` of the input of a task, which has this dtype and these further fields, or the parser's
// error.
Result<ValueSpec> ValuesOfInput(const std::string& dtype, const std::string& fields) {
  HONE_ASSIGN_OR_RETURN(
      const Task task,
      ParseTask("name = \"t\"\nsummary = \"s\"\nclass = \"other\"\n[dims]\nn = \"size\"\n[[tensor]]\nname = \"x\"\nrole = "
                "\"in\"\ndtype = \"" + dtype + "\"\nshape = [\"n\"]\n" + fields +
                "\n[[tensor]]\nname = \"y\"\nrole = \"out\"\ndtype = \"float32\"\nshape = [\"n\"]\n"
                "[tolerance.y]\nc_max = 0\nc_rms = 0\n[[case]]\nrole = \"check\"\ndims = { n = 3 }\n", "t"));
  return task.FindTensor("x")->values;
}

TEST(DType, TruthValuesAndScalesAreDrawnAsWhatTheyAre) {
  const Result<ValueSpec> truth = ValuesOfInput("bool", "");
  ASSERT_TRUE(truth.ok()) << truth.status().message();
  EXPECT_EQ(truth->distribution, Distribution::kIndex);
  EXPECT_EQ(truth->index_bound->text(), "2");
  EXPECT_THAT(ValuesOfInput("bool", "values = { distribution = \"normal\" }").status().message(),
              HasSubstr("a bool is 0 or 1"));
  EXPECT_THAT(ValuesOfInput("bool", "values = { distribution = \"index\", bound = 2, padding = 0.1 }").status().message(),
              HasSubstr("padding entries are -1, which bool cannot hold"));
  const Result<ValueSpec> scale = ValuesOfInput("float8_e8m0fnu", "");
  ASSERT_TRUE(scale.ok()) << scale.status().message();
  EXPECT_EQ(scale->distribution, Distribution::kLogUniform);
  EXPECT_TRUE(scale->any_power);
  EXPECT_EQ(scale->special, 0u);
  const Result<ValueSpec> ranged =
      ValuesOfInput("float8_e8m0fnu", "special = [\"nan\", \"inf\"]\nvalues = { distribution = \"log_uniform\", low = 0.5, high = 4 }");
  ASSERT_TRUE(ranged.ok()) << ranged.status().message();
  EXPECT_FALSE(ranged->any_power);
  EXPECT_EQ(ranged->special, kSpecialNan);
  EXPECT_THAT(ValuesOfInput("float8_e8m0fnu", "values = { distribution = \"uniform\" }").status().message(),
              HasSubstr("positive powers of two"));
  EXPECT_TRUE(ValuesOfInput("float8_e4m3fn", "values = { distribution = \"uniform\", low = -448, high = 448 }").ok());
}

TEST(Values, AMaskSaysItsShareAndWhatEachLineHolds) {
  const Result<ValueSpec> mask =
      ValuesOfInput("uint8", "values = { distribution = \"index\", bound = 2, ones = 0.8, some = 1, along = 0 }");
  ASSERT_TRUE(mask.ok()) << mask.status().message();
  EXPECT_EQ(mask->index_order, IndexOrder::kMask);
  EXPECT_EQ(mask->share_of_ones, 0.8);
  EXPECT_EQ(mask->guaranteed_value, 1);
  EXPECT_EQ(mask->line_axis, 0);
  const std::pair<const char*, const char*> bad[] = {
      {"bound = 3, ones = 0.8", "say bound = 2, and leave out low"},
      {"bound = 2, ones = 0.8, sorted = true", "say bound = 2, and leave out low"},
      {"bound = 2, ones = 1.0", "1 is not a share of ones"},
      {"bound = 2, some = 1", "in `along` the axis of the lines, 0 to 0"},
      {"bound = 2, some = 2, along = 0", "say which value, 0 or 1"},
      {"bound = 2, some = 1, along = 1", "in `along` the axis of the lines, 0 to 0"}};
  for (const auto& [fields, why] : bad) {
    EXPECT_THAT(
        ValuesOfInput("uint8", std::string("values = { distribution = \"index\", ") + fields + " }").status().message(),
        HasSubstr(why));
  }
}

TEST(DType, APackedOneIsAByteOfTwoNumbers) {
  for (const DType dtype : {DType::kFloat4Pair, DType::kInt4Pair}) {
    EXPECT_TRUE(IsPacked(dtype));
    EXPECT_FALSE(IsFloat8(dtype));
    EXPECT_EQ(DTypeBytes(dtype), 1);
    EXPECT_TRUE(ValuesOfInput(std::string(DTypeName(dtype)), "values = { distribution = \"normal\", scale = 3.0 }").ok());
  }
  EXPECT_FALSE(IsPacked(DType::kUInt8));
  const Result<Task> task = ParseTask(
      "name = \"t\"\nsummary = \"s\"\nclass = \"other\"\n[dims]\nn = \"size\"\n[[tensor]]\nname = \"y\"\nrole = "
      "\"out\"\ndtype = \"int4_x2\"\nshape = [\"n\"]\n[tolerance.y]\nc_max = 0\nc_rms = 0\n"
      "[[case]]\nrole = \"check\"\ndims = { n = 3 }\n[[hand]]\ndims = { n = 1 }\noutputs.y = [-8, 7]\n"
      "[[hand]]\ndims = { n = 1 }\noutputs.y = [0x78]\n", "t");
  EXPECT_THAT(task.status().message(), HasSubstr("has 1 numbers where the shape holds 2, two in each byte"));
}

TEST(Names, RoundTrip) {
  for (int i = 0; i <= static_cast<int>(Distribution::kOffsets); ++i) {
    EXPECT_EQ(DistributionFromName(DistributionName(static_cast<Distribution>(i))), static_cast<Distribution>(i));
  }
  for (int i = 0; i <= static_cast<int>(WorkloadClass::kOther); ++i) {
    EXPECT_EQ(WorkloadClassFromName(WorkloadClassName(static_cast<WorkloadClass>(i))), static_cast<WorkloadClass>(i));
  }
  EXPECT_EQ(WorkloadClassFromName("magic"), std::nullopt);
}

TEST(ParseTask, ReadsEveryField) {
  const Task task = Silu();
  EXPECT_EQ(task.name, "silu_and_mul");
  EXPECT_EQ(task.summary, "out = silu(x[:, :d]) * x[:, d:]");
  EXPECT_EQ(task.workload, WorkloadClass::kElementwise);
  EXPECT_EQ(task.slice, "tokens");
  EXPECT_THAT(task.dims, ElementsAre(Pair("tokens", "rows of x"), Pair("d", "hidden width")));  // file order
  ASSERT_EQ(task.tensors.size(), 2u);
  const TensorSpec& x = task.tensors[0];
  EXPECT_EQ(x.role, TensorRole::kIn);
  EXPECT_EQ(x.dtype, DType::kFloat16);
  EXPECT_EQ(x.align, 32);
  EXPECT_EQ(x.slice_axis, 0);
  EXPECT_TRUE(x.stress);
  EXPECT_EQ(x.values.distribution, Distribution::kNormal);
  EXPECT_EQ(x.values.scale, 2.0);
  EXPECT_EQ(x.values.offset, 0.5);
  EXPECT_EQ(task.tensors[1].align, 16);
  ASSERT_EQ(task.scalars.size(), 1u);
  EXPECT_EQ(task.scalars[0].value, 1e-6);
  EXPECT_EQ(task.tolerance.at("out").c_max, 2e-3);
  EXPECT_EQ(task.tolerance.at("out").c_rms, 4e-4);
  ASSERT_EQ(task.cases.size(), 2u);
  EXPECT_EQ(task.cases[0].role, CaseRole::kTime);
  EXPECT_EQ(task.cases[0].dims.at("d"), 14336);
  ASSERT_EQ(task.hidden.size(), 1u);
  EXPECT_EQ(task.hidden[0].count, 3);
  EXPECT_EQ(task.hidden[0].ranges[1].multiple, 8);
  ASSERT_EQ(task.hand_worked_cases.size(), 1u);
  EXPECT_THAT(task.hand_worked_cases[0].inputs.at("x"), ElementsAre(0.0, 1.0, 2.0, 3.0));
  EXPECT_THAT(task.hand_worked_cases[0].outputs.at("out"), ElementsAre(0.0, 2.19317573589));
  EXPECT_EQ(task.toml, kSilu);
  EXPECT_EQ(task.FindTensor("out"), &task.tensors[1]);
  EXPECT_EQ(task.FindTensor("eps"), nullptr);
  EXPECT_EQ(task.FindScalar("eps"), &task.scalars[0]);
}

TEST(ParseTask, RefusalsNameFileLineFieldAndRemedy) {
  EXPECT_THAT(RefusalOf(WithReplaced(kSilu, "align = 32", "algin = 32")),
              testing::AllOf(HasSubstr("task.toml:15: "), HasSubstr("[[tensor]] #1 'x'"), HasSubstr("field 'algin'"),
                             HasSubstr("did you mean 'align'?")));
  EXPECT_THAT(RefusalOf(WithReplaced(kSilu, "\"tokens\", \"d\"", "\"tokens\", \"dd\"")),
              testing::AllOf(HasSubstr("task.toml:22: "), HasSubstr("'shape'"), HasSubstr("did you mean 'd'?")));
  EXPECT_THAT(RefusalOf("name = \"a\nb\""), HasSubstr("task.toml:1: not valid TOML"));
}

// Each field in turn is misspelt: the error must name this field, and not the consequences of its absence. Then each
// field in turn gets an impossible value: no field may be reported as unknown only because reading ended early.
TEST(ParseTask, AMisspeltFieldIsToldAndNotWhatItsAbsenceBreaks) {
  std::istringstream lines(kSilu);
  int fields = 0;
  std::string below;  // the last [header] so far; keys below some headers are names that the task chooses
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("[")) below = line;
    const size_t equals = line.find(" = ");
    if (equals == std::string::npos || below == "[dims]") continue;
    const std::string key = line.substr(0, equals);
    if (key.find('.') != std::string::npos) continue;
    ++fields;
    EXPECT_THAT(RefusalOf(WithReplaced(kSilu, line, key + "_" + line.substr(equals))),
                HasSubstr("field '" + key + "_': is not a known field"))
        << line;
    EXPECT_THAT(RefusalOf(WithReplaced(kSilu, line, key + " = 1979-05-27")), Not(HasSubstr("is not a known field")))
        << line;
  }
  EXPECT_EQ(fields, 28);
}

struct BrokenTask {
  const char* from;
  const char* to;
  const char* expected;
};

TEST(ParseTask, EveryRuleRefusesTheTaskThatBreaksIt) {
  const BrokenTask broken[] = {
      {"name = \"silu_and_mul\"", "name = \"silu-and-mul\"", "not an identifier"},
      {"name = \"silu_and_mul\"", "nam = \"silu_and_mul\"", "field 'nam': is not a known field (did you mean 'name'?)"},
      {"name = \"silu_and_mul\"", "", "field 'name': is missing"},
      {"name = \"silu_and_mul\"", "name = 7", "expected a string, found an integer"},
      {"\"elementwise\"", "\"elementise\"", "not one of gemm, elementwise"},
      {"slice = \"tokens\"", "slice = \"token\"", "did you mean 'tokens'"},
      {"shape = [\"tokens\", \"d\"]\n", "shape = [\"tokens * d\"]\n",
       "no output has an axis that is 'tokens' alone (out is [tokens * d])"},
      {"tokens = \"rows of x\"", "sm_count = \"rows of x\"", "meaning of its own"},
      {"name = \"out\"\nrole", "name = \"d\"\nrole", "already the name"},
      {"role = \"out\"", "role = \"output\"", "'output' is not one of in, out, inout"},
      {"role = \"out\"", "role = \"in\"", "at least one tensor"},
      {"dtype = \"float16\"", "dtype = \"half\"", "'half' is not one of float64"},
      {"align = 32", "align = 24", "power of two"},
      {"align = 32", "align = 1", "power of two"},
      {"align = 32", "strides = [\"2 * d\"]", "strides"},
      {"align = 32", "strides = [\"d\", \"1\"]", "elements share places"},
      {"align = 32", "alias = \"out\"", "only a tensor with role"},
      {"\"normal\"", "\"norml\"", "not one of normal, uniform"},
      {"scale = 2.0", "low = 2.0", "field 'low': is not a known field"},
      {"\"normal\", scale = 2.0, offset = 0.5", "\"index\", bound = \"d\"", "needs an integer dtype"},
      {"\"normal\", scale = 2.0, offset = 0.5", "\"uniform\", low = 1.0, high = 1.0", "low < high"},
      {"\"normal\", scale = 2.0, offset = 0.5", "\"log_uniform\", low = 0.0, high = 1.0", "0 < low < high"},
      {"\"normal\", scale = 2.0", "\"normal\", scale = nan", "finite"},
      {"shape = [\"tokens\", \"d\"]\n", "shape = [\"tokens\", \"d\"]\nvalues = { distribution = \"zero\" }\n",
       "not drawn"},
      {"[tolerance.out]", "[tolerance.y]", "output 'out' needs [tolerance.out]"},
      {"c_rms = 4e-4", "c_rms = -1", "zero or more"},
      {"c_rms = 4e-4", "", "field 'c_rms': is missing"},
      {"5 * tokens * d", "5 * tokens * h", "'h' in '5 * tokens * h'"},
      {"5 * tokens * d", "tokens - 2000", "negative"},
      {"{ tokens = 1024, d = 14336 }", "{ tokens = 1024 }", "field 'd': is missing"},
      {"{ tokens = 1024, d = 14336 }", "{ tokens = 1024, d = 1, e = 2 }", "field 'e': is not a known field"},
      {"{ tokens = 1024, d = 14336 }", "{ tokens = -1, d = 1 }", "negative"},
      {"{ tokens = 1024, d = 14336 }", "{ tokens = 4000000000000, d = 4000000000000 }", "more elements"},
      {"role = \"check\"", "role = \"time\"", "at least one [[case]]"},
      {"role = \"check\"", "role = \"hidden\"", "not one of time, check"},
      {"role = \"check\"", "role = \"check\"\nvalues.y = { distribution = \"zero\" }", "no tensor of this name"},
      {"role = \"check\"", "role = \"check\"\nvalues.out = { distribution = \"zero\" }", "only floating-point inputs"},
      {"role = \"check\"", "role = \"check\"\nvalues.x = { distribution = \"uniform\", low = 2.0 }", "low < high"},
      {"role = \"time\"", "role = \"time\"\nvalues.x = { distribution = \"zero\" }", "only check cases"},
      {"d = { low = 8, high = 4096, multiple = 8 }", "", "gives every dimension a range"},
      {"low = 8, high = 4096, multiple = 8", "low = 9, high = 15, multiple = 8", "no size is left"},
      {"low = 8, high = 4096, multiple = 8", "low = 0, high = 15", "no size is left"},
      {"count = 3", "count = 0", "between 1 and 64"},
      {"outputs.out = [0.0, 2.19317573589]", "outputs.out = [0.0]", "has 1 numbers where the shape holds 2"},
      {"outputs.out = [0.0, 2.19317573589]", "outputs.y = [0.0]", "'outputs.out' is missing"},
      {"outputs.out = [0.0, 2.19317573589]", "outputs.out = [0.0, \"one\"]", "array of numbers"},
      {"value = 1e-6", "", "field 'value': is missing"},
      {"dtype = \"float32\"", "dtype = \"int32\"", "an integer is a dimension"},
  };
  for (const BrokenTask& one : broken) {
    EXPECT_THAT(RefusalOf(WithReplaced(kSilu, one.from, one.to)), HasSubstr(one.expected))
        << one.from << " -> " << one.to;
  }
}

TEST(ParseTask, ReadsGatherStridesAliasesAndFixedHiddenSizes) {
  const Task task = [] {
    Result<Task> parsed = ParseTask(R"(
name = "gather"
summary = "s"
class = "gather"
slice = "num_dst"
dims.num_src = "rows"
dims.num_dst = "rows out"
dims.ld = "leading dimension"
tensor = [
  { name = "x", role = "in", dtype = "bfloat16", shape = ["num_src", 4], strides = ["ld", 1], values = { distribution = "uniform", low = -1, high = 1 } },
  { name = "index", role = "in", dtype = "int32", shape = ["num_dst"], values = { distribution = "index", bound = "num_src" } },
  { name = "w", role = "in", dtype = "float32", shape = ["num_dst"], stress = false },
  { name = "y", role = "out", dtype = "float32", shape = ["num_dst"], alias = "w" },
  { name = "state", role = "inout", dtype = "int8", shape = [4], align = 1, values = { distribution = "zero" } },
]
tolerance.y = { c_max = 0, c_rms = 0 }
tolerance.state = { c_max = 0, c_rms = 0 }
work.bytes = "num_dst * 20"
[[case]]
role = "check"
dims = { num_src = 5, num_dst = 3, ld = 6 }
[[hidden]]
num_src = 7
num_dst = { low = 1, high = 9 }
ld = 4
)",
                                    "t");
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    return std::move(parsed).value();
  }();
  EXPECT_TRUE(task.FindTensor("index")->stress);  // stress makes its values repeat, within the bound
  EXPECT_FALSE(task.FindTensor("w")->stress);
  EXPECT_EQ(task.FindTensor("index")->slice_axis, 0);
  EXPECT_EQ(task.FindTensor("x")->slice_axis, -1);
  EXPECT_EQ(task.FindTensor("y")->alias, "w");
  EXPECT_EQ(task.hidden[0].ranges[0].low, 7);
  EXPECT_EQ(task.hidden[0].ranges[0].high, 7);

  Result<TensorShape> x = ResolveShape(*task.FindTensor("x"), task.cases[0].dims);
  ASSERT_TRUE(x.ok());
  EXPECT_THAT(x->shape, ElementsAre(5, 4));
  EXPECT_THAT(x->strides, ElementsAre(6, 1));
  EXPECT_EQ(x->elements, 20);
  EXPECT_EQ(x->span_bytes, (4 * 6 + 3 + 1) * 2);

  // Traffic is unknown for y and state, which are in place, and for x, into which index points: at most 3 * 4 + 4 bytes
  // of the 60 are written, and the rest is read.
  Result<Traffic> traffic = CompulsoryTraffic(task, task.cases[0].dims);
  ASSERT_TRUE(traffic.ok());
  EXPECT_EQ(traffic->written_bytes, 16);
  EXPECT_EQ(traffic->read_bytes, 44);
}

TEST(ParseTask, AUniformTensorMaySetTheScaleOfItsOtherInputSets) {
  Result<Task> task =
      ParseTask(WithReplaced(kSilu, "\"normal\", scale = 2.0", "\"uniform\", low = -6, high = 6, scale = 0.25"), "t");
  ASSERT_TRUE(task.ok()) << task.status().message();
  EXPECT_EQ(task->tensors[0].values.low, -6);
  EXPECT_EQ(task->tensors[0].values.scale, 0.25);
  EXPECT_EQ(task->tensors[0].values.offset, 0.5);
}

TEST(ParseTask, RefusesAnIndexWithNothingToPointTo) {
  const std::string text =
      WithReplaced(WithReplaced(kSilu, "\"normal\", scale = 2.0, offset = 0.5", "\"index\", bound = \"d - 8\""),
                   "dtype = \"float16\"", "dtype = \"int32\"");
  EXPECT_THAT(RefusalOf(WithReplaced(text, "{ tokens = 0, d = 8 }", "{ tokens = 1, d = 8 }")),
              HasSubstr("nothing to point to"));
}

TEST(ParseTask, ReadsOffsetsAndRefusesOnesThatEndBelowZero) {
  const std::string text =
      WithReplaced(WithReplaced(kSilu, "\"normal\", scale = 2.0, offset = 0.5", "\"offsets\", bound = \"d - 2\""),
                   "dtype = \"float16\"", "dtype = \"int64\"");
  Result<Task> task = ParseTask(text, "t");
  ASSERT_TRUE(task.ok()) << task.status().message();  // offsets may end at 0: no rows, or no elements
  EXPECT_EQ(task->tensors[0].values.distribution, Distribution::kOffsets);
  EXPECT_TRUE(task->tensors[0].stress);  // stress gives one row most elements
  EXPECT_THAT(RefusalOf(WithReplaced(text, "\"d - 2\"", "\"d - 3\"")), HasSubstr("would end at -1"));
  EXPECT_THAT(RefusalOf(WithReplaced(text, ", bound = \"d - 2\"", "")), HasSubstr("where the last row ends"));
}

TEST(ResolveShape, DenseStridesAreRowMajor) {
  const Task task = Silu();
  Result<TensorShape> shape = ResolveShape(task.tensors[0], {{"tokens", 3}, {"d", 5}});
  ASSERT_TRUE(shape.ok());
  EXPECT_THAT(shape->shape, ElementsAre(3, 10));
  EXPECT_THAT(shape->strides, ElementsAre(10, 1));
  EXPECT_EQ(shape->elements, 30);
  EXPECT_EQ(shape->span_bytes, 60);
}

TEST(ResolveShape, AnEmptyTensorSpansNothing) {
  const Task task = Silu();
  Result<TensorShape> shape = ResolveShape(task.tensors[0], {{"tokens", 4}, {"d", 0}});
  ASSERT_TRUE(shape.ok());
  EXPECT_EQ(shape->elements, 0);
  EXPECT_EQ(shape->span_bytes, 0);
  EXPECT_THAT(shape->strides, ElementsAre(1, 1));
}

TEST(ResolveShape, AScalarTensorHasOneElement) {
  TensorSpec tensor;
  tensor.name = "s";
  Result<TensorShape> shape = ResolveShape(tensor, {});
  ASSERT_TRUE(shape.ok());
  EXPECT_EQ(shape->elements, 1);
  EXPECT_EQ(shape->span_bytes, 4);
}

TEST(ResolveShape, ErrorsNameTheTensor) {
  TensorSpec tensor;
  tensor.name = "weights";
  tensor.shape = {*Expression::Parse("d - 9")};
  EXPECT_THAT(ResolveShape(tensor, {{"d", 2}}).status().message(), HasSubstr("'weights'"));
  EXPECT_THAT(ResolveShape(tensor, {{"e", 2}}).status().message(), HasSubstr("'weights'"));
  tensor.shape = {*Expression::Parse("d * d")};
  EXPECT_THAT(ResolveShape(tensor, {{"d", int64_t{1} << 40}}).status().message(), HasSubstr("64 bits"));
}

TEST(Traffic, CountsInputsAndOutputsOnceAndNothingInPlaceUnlessWorkSaysSo) {
  Task task = Silu();
  const Dims dims = {{"tokens", 2}, {"d", 4}};  // x: 16 halves, out: 8 halves
  Result<Traffic> traffic = CompulsoryTraffic(task, dims);
  ASSERT_TRUE(traffic.ok());
  EXPECT_EQ(traffic->read_bytes, 32);
  EXPECT_EQ(traffic->written_bytes, 16);
  task.tensors[1].role = TensorRole::kInOut;
  EXPECT_EQ(*CompulsoryBytes(task, dims), 32) << "what is in place may stay as it is";
  task.bytes = *Expression::Parse("8 * tokens * d");
  traffic = CompulsoryTraffic(task, dims);
  EXPECT_EQ(traffic->read_bytes, 32 + 16) << "[work] says that all of it moves";
  EXPECT_EQ(traffic->written_bytes, 16);
  task.bytes.reset();
  EXPECT_EQ(*Flops(task, dims), 40);
  task.flops.reset();
  EXPECT_EQ(*Flops(task, dims), 0);
}

// A cache write: rows of k [tokens, d] are written to the rows of cache [slots, d] named by slot.
constexpr const char* kCacheWrite = R"(name = "cache_write"
summary = "cache[slot[t]] = k[t]"
class = "other"
[dims]
tokens = "rows of k"
slots = "rows of cache"
d = "width"
[[tensor]]
name = "k"
role = "in"
dtype = "float16"
shape = ["tokens", "d"]
[[tensor]]
name = "slot"
role = "in"
dtype = "int64"
shape = ["tokens"]
values = { distribution = "index", bound = "slots", distinct = "tensor", padding = 0.25 }
[[tensor]]
name = "cache"
role = "inout"
dtype = "float16"
shape = ["slots", "d"]
[tolerance.cache]
c_max = 0
c_rms = 0
[[case]]
role = "check"
dims = { tokens = 4, slots = 4, d = 8 }
[[hidden]]
count = 3
tokens = { low = 1, high = 60 }
slots = { low = 8, high = 64, multiple = 8 }
d = 8
)";

TEST(Traffic, CountsNoTensorThatIndicesPointInto) {
  Result<Task> task = ParseTask(kCacheWrite, "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message();
  const Dims dims = {{"tokens", 4}, {"slots", 1000}, {"d", 8}};
  EXPECT_EQ(*CompulsoryBytes(*task, dims), 4 * 8 * 2 + 4 * 8) << "k and slot; a launch touches 4 rows of cache";
  const std::vector<UnknownTraffic> unknown = FindUnknownTraffic(*task);
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].tensor, "cache");
  EXPECT_EQ(unknown[0].reason, "is written in place");
  EXPECT_EQ(WholeTrafficText(*task), "2 * tokens * d + 8 * tokens + 4 * slots * d");
  // k is read, and the rows of cache to which it goes are written. [work] states these bytes, so the rest of cache does
  // not count as read.
  task->bytes = *Expression::Parse("4 * tokens * d + 8 * tokens");
  Result<Traffic> traffic = CompulsoryTraffic(*task, dims);
  ASSERT_TRUE(traffic.ok());
  EXPECT_EQ(traffic->read_bytes, 64 + 32);
  EXPECT_EQ(traffic->written_bytes, 64);
  task->tensors[2].role = TensorRole::kIn;  // now rows of cache are read by slot, and not written
  EXPECT_EQ(FindUnknownTraffic(*task)[0].reason, "is pointed into by slot");
}

TEST(Indices, DistinctOnesNeedEnoughToPointTo) {
  EXPECT_EQ(RefusalOf(kCacheWrite), "accepted");
  EXPECT_THAT(
      RefusalOf(WithReplaced(kCacheWrite, "{ tokens = 4, slots = 4, d = 8 }", "{ tokens = 5, slots = 4, d = 8 }")),
      AllOf(HasSubstr("task.toml:"), HasSubstr("tensor 'slot' needs 5 distinct indices, and its bound is 4")));
  EXPECT_THAT(RefusalOf(WithReplaced(kCacheWrite, "high = 60", "high = 90")),
              HasSubstr("needs 90 distinct indices, and its bound is 64"));
  EXPECT_THAT(RefusalOf(WithReplaced(kCacheWrite, "\"tensor\"", "\"rows\"")), HasSubstr("not one of tensor, row"));
  EXPECT_THAT(RefusalOf(WithReplaced(kCacheWrite, "padding = 0.25", "sorted = true")),
              HasSubstr("sorted indices repeat"));
  EXPECT_THAT(RefusalOf(WithReplaced(kCacheWrite, "0.25", "1.0")), HasSubstr("not a share"));
  EXPECT_THAT(RefusalOf(WithReplaced(kCacheWrite, "dtype = \"int64\"", "dtype = \"uint32\"")),
              HasSubstr("uint32 cannot hold"));
}

TEST(Indices, HiddenShapesThatLackPlacesAreDrawnAgain) {
  Result<Task> task = ParseTask(kCacheWrite, "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message();
  bool tight = false;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const std::vector<Case> cases = DrawHiddenCases(*task, seed);
    ASSERT_EQ(cases.size(), 3u) << seed;
    for (const Case& one : cases) {
      EXPECT_LE(one.dims.at("tokens"), one.dims.at("slots")) << seed;
      tight = tight || one.dims.at("slots") - one.dims.at("tokens") < 3;
    }
  }
  EXPECT_TRUE(tight) << "only loose shapes were drawn";
}

TEST(HiddenRelations, HoldInEveryDraw) {
  const std::string related = WithReplaced(
      WithReplaced(kCacheWrite, "tokens = { low = 1, high = 60 }", "tokens = { low = 1, high = \"slots\" }"), "d = 8\n",
      "d = { low = 1, high = 600, multiple = \"2 * tokens\" }\n");
  Result<Task> task = ParseTask(related, "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message();
  std::set<int64_t> multiples;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    for (const Case& one : DrawHiddenCases(*task, seed)) {
      EXPECT_LE(one.dims.at("tokens"), one.dims.at("slots"));
      EXPECT_EQ(one.dims.at("d") % (2 * one.dims.at("tokens")), 0);
      multiples.insert(one.dims.at("d") / (2 * one.dims.at("tokens")));
      EXPECT_TRUE(KeepsRelations(task->hidden, one.dims));
    }
  }
  EXPECT_GT(multiples.size(), 5u);
  EXPECT_FALSE(KeepsRelations(task->hidden, {{"tokens", 9}, {"slots", 8}, {"d", 18}}));
  EXPECT_FALSE(KeepsRelations(task->hidden, {{"tokens", 4}, {"slots", 8}, {"d", 12}}));
  EXPECT_THAT(RefusalOf(WithReplaced(related, "slots = { low = 8, high = 64, multiple = 8 }",
                                     "slots = { low = 8, high = \"tokens\" }")),
              HasSubstr("depends on itself"));
  EXPECT_THAT(RefusalOf(WithReplaced(related, "high = \"slots\"", "high = \"slot_count\"")),
              HasSubstr("'slot_count' in 'slot_count' is not a dimension"));
  EXPECT_THAT(RefusalOf(WithReplaced(related, "high = 600", "high = 1")), HasSubstr("hardly any shape"));
}

TEST(Values, MayDependOnTheDimensions) {
  const std::string text = WithReplaced(kSilu, "\"normal\", scale = 2.0, offset = 0.5",
                                "\"uniform\", low = \"-1 / sqrt(d)\", high = \"1 / sqrt(d)\"");
  Result<Task> task = ParseTask(text, "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message();
  Result<ValueSpec> values = ResolveValues(task->tensors[0].values, {{"tokens", 1}, {"d", 16}});
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->low, -0.25);
  EXPECT_EQ(values->high, 0.25);
  EXPECT_THAT(RefusalOf(WithReplaced(text, "\"1 / sqrt(d)\"", "\"8 - d\"")), HasSubstr("needs low < high"));
  EXPECT_THAT(RefusalOf(WithReplaced(text, "\"1 / sqrt(d)\"", "\"1 / sqrt(width)\"")),
              HasSubstr("the name 'width' is not known here"));
}

TEST(Tolerances, ReadAnAbsolutePart) {
  Result<Task> task = ParseTask(WithReplaced(kSilu, "c_rms = 4e-4", "c_rms = 4e-4\nabs = 1"), "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message();
  EXPECT_EQ(task->tolerance.at("out").absolute, 1);
  EXPECT_THAT(RefusalOf(WithReplaced(kSilu, "c_rms = 4e-4", "c_rms = 4e-4\nabs = -1")),
              HasSubstr("field 'abs': must be a finite number"));
}

TEST(Tolerances, ReadABoundForSmallElements) {
  Result<Task> task = ParseTask(WithReplaced(kSilu, "c_rms = 4e-4", "c_rms = 4e-4\nc_small = 0.1"), "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message();
  EXPECT_EQ(task->tolerance.at("out").c_small, 0.1);
  EXPECT_THAT(RefusalOf(WithReplaced(kSilu, "c_rms = 4e-4", "c_rms = 4e-4\nc_small = -1")),
              HasSubstr("field 'c_small': must be a finite number"));
}

TEST(SpecialValues, AreThoseOfTheTaskUnlessATensorSaysOtherwise) {
  const auto special = [](const std::string& of_task, const std::string& of_tensor) {
    const std::string text =
        WithReplaced(WithReplaced(kSilu, "class = \"elementwise\"", "class = \"elementwise\"\n" + of_task),
                     "name = \"x\"", "name = \"x\"\n" + of_tensor);
    Result<Task> task = ParseTask(text, "task.toml");
    EXPECT_TRUE(task.ok()) << task.status().message();
    return task.ok() ? task->FindTensor("x")->values.special : ~0u;
  };
  EXPECT_EQ(special("", ""), kSpecialInf | kSpecialMinusInf | kSpecialSubnormal);
  EXPECT_EQ(special("special = []", ""), 0u);
  EXPECT_EQ(special("special = [\"nan\"]", ""), kSpecialNan);
  EXPECT_EQ(special("special = [\"nan\"]", "special = [\"-inf\", \"subnormal\"]"), kSpecialMinusInf | kSpecialSubnormal);
  EXPECT_EQ(special("", "stress = false"), 0u);
  EXPECT_THAT(
      RefusalOf(WithReplaced(kSilu, "class = \"elementwise\"", "class = \"elementwise\"\nspecial = [\"infinity\"]")),
      HasSubstr("'infinity' is not one of inf, -inf, nan, subnormal"));
  EXPECT_THAT(RefusalOf(WithReplaced(kSilu, "name = \"out\"", "name = \"out\"\nspecial = []")),
              HasSubstr("field 'special'"));
  EXPECT_THAT(RefusalOf(WithReplaced(kSilu, "distribution = \"normal\"", "distribution = \"special\"")),
              HasSubstr("'special' is not one of"));
}

TEST(ParseTask, NamesEveryErrorWithItsLine) {
  const std::string text = WithReplaced(
      WithReplaced(WithReplaced(kSilu, "class = \"elementwise\"", "class = \"FILL_IN\""), "\"2 * d\"", "\"FILL_IN\""),
      "c_rms = 4e-4", "c_rms = \"FILL_IN\"");
  EXPECT_THAT(RefusalOf(text),
              AllOf(HasSubstr("task.toml:3: field 'class': 'FILL_IN' is not one of"),
                    HasSubstr("\ntask.toml:14: [[tensor]] #1 'x' field 'shape': 'FILL_IN' in 'FILL_IN'"),
                    HasSubstr("\ntask.toml:31: [tolerance.out] field 'c_rms': expected a number, found a string")));
  EXPECT_THAT(RefusalOf(text), Not(HasSubstr("[[case]]"))) << "what follows from an error is not one";
}

TEST(HiddenCases, AreDeterministicLegalAndCoverTheirRange) {
  const Task task = Silu();
  const std::vector<Case> first = DrawHiddenCases(task, 1), again = DrawHiddenCases(task, 1);
  ASSERT_EQ(first.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(first[i].dims, again[i].dims);

  std::set<int64_t> tokens, widths;
  int below_geometric_mean = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    for (const Case& one : DrawHiddenCases(task, seed)) {
      EXPECT_EQ(one.role, CaseRole::kHidden);
      const int64_t t = one.dims.at("tokens"), d = one.dims.at("d");
      ASSERT_TRUE(t >= 1 && t <= 600) << t;
      ASSERT_TRUE(d >= 8 && d <= 4096 && d % 8 == 0) << d;
      tokens.insert(t);
      widths.insert(d);
      if (static_cast<double>(t) < std::sqrt(601.0)) ++below_geometric_mean;
    }
  }
  EXPECT_TRUE(tokens.contains(1) && tokens.contains(600));
  EXPECT_TRUE(widths.contains(8) && widths.contains(4096));
  // Sizes are uniform on a log scale: half of 9000 draws lie below the geometric mean, +-4 sigma (190).
  EXPECT_NEAR(below_geometric_mean, 4500, 190);
}

TEST(LoadTask, ReadsTheFolderAndSaysWhatIsMissing) {
  const TemporaryDirectory folder = MakeTemporaryDirectory().value();
  const std::filesystem::path base = folder.path();
  const auto write = [&](const char* name, const std::string& text) { std::ofstream(base / name) << text; };

  EXPECT_EQ(LoadTask((base / "none").string()).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(LoadTask(base.string()).status().message(), HasSubstr("task.toml"));
  std::filesystem::create_directory(base / "task.toml");
  EXPECT_EQ(LoadTask(base.string()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(LoadTask(base.string()).status().message(), AllOf(HasSubstr("task.toml"), HasSubstr("directory")));
  std::filesystem::remove(base / "task.toml");
  write("task.toml", kSilu);
  EXPECT_THAT(LoadTask(base.string()).status().message(), HasSubstr("oracle.cu"));
  write("oracle.cu", "// oracle");
  Result<Task> task = LoadTask(base.string());
  ASSERT_TRUE(task.ok()) << task.status().message();
  EXPECT_EQ(task->oracle_source, "// oracle");
  EXPECT_EQ(task->seed_source, "");
  EXPECT_EQ(task->directory, base.string());
  write("seed.cu", "// seed");
  EXPECT_EQ(LoadTask(base.string())->seed_source, "// seed");
  write("task.toml", WithReplaced(kSilu, "align = 32", "align = 3"));
  EXPECT_THAT(LoadTask(base.string()).status().message(), HasSubstr((base / "task.toml:15").string()));
}

TEST(Dims, AreReadAsOptionsGiveThem) {
  EXPECT_EQ(ParseDims("--case", "rows=0, d = 4096", 0).value(), (Dims{{"rows", 0}, {"d", 4096}}));
  for (const char* text :
       {"", "rows", "rows=", "=3", "rows=3,", "rows=-1", "rows=3x", "rows=99999999999999999999", "2d=3", "rows=0"}) {
    EXPECT_THAT(ParseDims("--case", text, 1).status().message(),
                AllOf(HasSubstr("--case"), HasSubstr("as in rows=128,d=4096")))
        << text;
  }
  EXPECT_THAT(ParseDims("--check", "d=3,d=4", 1).status().message(), HasSubstr("d is given twice"));
}

}  // namespace
}  // namespace hone
