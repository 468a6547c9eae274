// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/tune/task_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gnn/nn/kernel_choices.h"
#include "gnn/tune/task_templates.h"

namespace hone::gnn {
namespace {

using Kind = HotOperation::Kind;
using How = AggregateSpec::How;

struct Number {
  const char* dtype;  // name of the type in task.toml
  const char* type;   // name of the type in CUDA
  int bytes;
};
constexpr Number kFloat{"float32", "float", 4}, kHalf{"float16", "__half", 2}, kBFloat{"bfloat16", "__nv_bfloat16", 2};

Number NumberOf(FeatureDtype dtype) {
  return dtype == FeatureDtype::kFloat32 ? kFloat : dtype == FeatureDtype::kFloat16 ? kHalf : kBFloat;
}

constexpr std::string_view kTomlLicence =
    "# SPDX-FileCopyrightText: 2026 The Hone Authors\n# SPDX-License-Identifier: Apache-2.0\n#\n";

std::string DimsText(const TaskDims& dims) {
  std::string text;
  for (const auto& [name, size] : dims) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, size);
  return text;
}

std::string TimeCases(const std::vector<TimedShape>& shapes) {
  std::string text;
  for (const TimedShape& shape : shapes) {
    text += fmt::format("# {}\n[[case]]\nrole = \"time\"\ndims = {{ {} }}\n\n", shape.what, DimsText(shape.dims));
  }
  return text;
}

// Returns an expression for how many different rows of `rows` come up in `draws` draws. Of n draws from N rows
// N (1 - exp(-n / N)) differ on average; the expression bounds that from below by its chords between n / N = 0, 1/8,
// 1/4, 1/2, 1, 2 and 4.
std::string DifferentRows(const std::string& draws, const std::string& rows) {
  return Fill(
      "min(940 * {{n}}, 829 * {{n}} + 13 * {{N}}, 689 * {{n}} + 48 * {{N}}, 477 * {{n}} + 154 * {{N}}, "
      "232 * {{n}} + 399 * {{N}}, 58 * {{n}} + 747 * {{N}}, 981 * {{N}}) / 1000",
      {{"n", "(" + draws + ")"}, {"N", rows}});
}

// How many slots of a destination are filled, in thousandths: the mean of min(degree, fanout).
constexpr std::string_view kSlotsOfARow =
    "(degree_bound > fanout ? 1000 * fanout - 500 * fanout * (fanout + 1) / degree_bound : 500 * (degree_bound - 1))";

// Sets the limits for results that are rounded to `out`, and the sentence that says why.
void SetTolerance(const Number& out, bool exact, bool product, Pieces& pieces) {
  if (exact) {
    pieces["tolerance_why"] = "Elements are moved, and nothing is rounded.";
    pieces["c_max"] = pieces["c_rms"] = "0";
  } else if (out.bytes == 2) {
    pieces["tolerance_why"] =
        "Sums in float, rounded to bfloat16 once: at most 3.9e-3 of a value, 2.1e-3 in the mean square of the worst "
        "case.";
    pieces["c_max"] = "8e-3";
    pieces["c_rms"] = product ? "3.8e-3" : "5.7e-3";
  } else if (product) {
    pieces["tolerance_why"] =
        "Honest float32 sums stay under 4.5e-6 in the mean square in any order; TF32 makes 2.9e-4. c_max is wide "
        "because "
        "terms of one sign may meet in one accumulator, where sums cancel.";
    pieces["c_max"] = "4e-3";
    pieces["c_rms"] = "3e-5";
  } else {
    pieces["tolerance_why"] =
        "Sums in float32 are right to some 1e-7 of a value for tens of terms, and 1e-6 for thousands; bfloat16 or "
        "float16 "
        "anywhere costs 2e-4.";
    pieces["c_max"] = "4e-4";
    pieces["c_rms"] = "2e-5";
  }
}

std::string IndexTensor(std::string_view name, std::string_view shape, std::string_view bound) {
  return fmt::format(
      "[[tensor]]\nname = \"{}\"\nrole = \"in\"\ndtype = \"int32\"\nshape = [{}]\n"
      "values = {{ distribution = \"index\", bound = \"{}\" }}\n\n",
      name, shape, bound);
}

const char* HowText(const HotOperation& operation) {
  if (operation.symmetric) return "symmetrically normalised sum";
  return operation.how == How::kMean ? "mean" : operation.how == How::kSum ? "sum" : "largest";
}

void SetAggregate(const HotOperation& operation, const Number& x, const Number& out, Pieces& pieces) {
  const bool max = operation.how == How::kMax;
  pieces["what"] = HowText(operation);
  pieces["x_dtype"] = x.dtype;
  pieces["x_type"] = x.type;
  pieces["out_dtype"] = out.dtype;
  pieces["out_type"] = out.type;
  pieces["width"] = fmt::format("{}", 16 / std::max(x.bytes, out.bytes));
  for (const char* name :
       {"more_tensors", "more_args", "more_parameters", "seed_more_parameters", "seed_weight", "seed_own"}) {
    pieces[name] = "";
  }
  pieces["engine_weight"] = "1.0f";
  SetTolerance(out, max && x.bytes <= out.bytes && (x.bytes < out.bytes || x.dtype == out.dtype), false, pieces);
  const std::string slots = fmt::format("num_dst * {} / 1000", kSlotsOfARow);
  pieces["gather_work"] = fmt::format(
      "# Filled slots, as many as the mean of min(degree, fanout) says; neighbors repeat, so not every row must come "
      "from\n"
      "# memory.\n[work]\nflops = \"num_dst * fanout * dim\"\nbytes = \"\"\"\n{} * dim * {} + {} * 4 + num_dst * 4 + "
      "num_dst * dim * {}\"\"\"\n",
      DifferentRows(slots, "num_src"), x.bytes, slots, out.bytes);
  const std::string hand =
      "# Destination 0 has three neighbors, row 0 twice and row 2; destination 1 has row 1; destination 2 has none.\n"
      "[[hand]]\ndims = { num_src = 3, num_dst = 3, fanout = 3, degree_bound = 9, dim = 2 }\n"
      "inputs.x = [1.0, 2.0, 100.0, 50.0, 7.0, -4.0]\ninputs.index = [0, 2, 0, 1, 2, 0, 0, 0, 0]\n"
      "inputs.degree = [8, 1, 0]\n";
  pieces["oracle_begin"] = max ? "double most = 0;" : "HONE_ORACLE_ACC sum = 0;";
  if (operation.symmetric) {
    pieces["summary"] =
        "out[v] = d / (k sqrt(d + 1)) * sum over j < k of x[u] / sqrt(degree_src[u] + 1) + x[self[v]] / (d + 1), "
        "u = index[v, j], d = degree[v], k = min(d, fanout)";
    pieces["more_tensors"] = "# The destination's own row.\n" + IndexTensor("self", "\"num_dst\"", "num_src") +
                             "# Degrees of the sources in the whole graph.\n" +
                             IndexTensor("degree_src", "\"num_src\"", "degree_bound");
    pieces["more_args"] = R"(, "self", "degree_src")";
    pieces["more_parameters"] = ", const int* self, const int* degree_src";
    pieces["seed_more_parameters"] =
        ",\n                          const int* __restrict__ self, const int* __restrict__ degree_src";
    pieces["oracle_add"] = "sum += HONE_ORACLE_MID(value / sqrt(static_cast<double>(degree_src[u]) + 1.0));";
    pieces["oracle_end"] =
        "HONE_ORACLE_MID(static_cast<double>(sum)) * (count > 0 ? degree[v] / (count * sqrt(degree[v] + 1.0)) : 0.0) "
        "+\n"
        "           HONE_ORACLE_IN(static_cast<float>(x[self[v] * dim + i % dim])) / (degree[v] + 1.0)";
    pieces["seed_share"] =
        "  const float d = static_cast<float>(degree[v]);\n"
        "  const float share = count > 0 ? d / (static_cast<float>(count) * sqrtf(d + 1.0f)) : 0.0f;\n"
        "  const long long own = self[v];\n";
    pieces["seed_begin"] = "0.0f";
    pieces["seed_weight"] =
        "      const float weight = 1.0f / sqrtf(static_cast<float>(degree_src[neighbor]) + 1.0f);\n";
    pieces["engine_weight"] = "1.0f / sqrtf(static_cast<float>(degree_src[neighbor]) + 1.0f)";
    pieces["seed_add"] = "sum[k] += weight * static_cast<float>(pack.v[k])";
    pieces["seed_own"] = "    const In own_pack = reinterpret_cast<const In*>(x + own * dim)[column];\n";
    pieces["seed_end"] = "sum[k] * share + static_cast<float>(own_pack.v[k]) / (d + 1.0f)";
    pieces["hand"] = hand +
                     "inputs.self = [0, 1, 2]\ninputs.degree_src = [8, 1, 0]\n"
                     "outputs.out = [6.925925925926, -2.148148148148, 100.0, 50.0, 7.0, -4.0]";
    return;
  }
  const bool mean = operation.how == How::kMean;
  pieces["summary"] = fmt::format(
      "out[v] = {} over j < min(degree[v], fanout) of x[index[v, j]]; 0 where there is none", max    ? "max"
                                                                                              : mean ? "mean"
                                                                                                     : "sum");
  pieces["oracle_add"] = max ? "most = j == 0 || value > most ? value : most;" : "sum += value;";
  pieces["oracle_end"] =
      max    ? "HONE_ORACLE_MID(most)"
      : mean ? "count > 0 ? HONE_ORACLE_MID(static_cast<double>(sum)) / static_cast<double>(count) : 0.0"
             : "HONE_ORACLE_MID(static_cast<double>(sum))";
  pieces["seed_share"] = mean ? "  const float share = count > 0 ? 1.0f / static_cast<float>(count) : 0.0f;\n" : "";
  pieces["seed_begin"] = max ? "-INFINITY" : "0.0f";
  pieces["seed_add"] =
      max ? "sum[k] = fmaxf(sum[k], static_cast<float>(pack.v[k]))" : "sum[k] += static_cast<float>(pack.v[k])";
  pieces["seed_end"] = max ? "count > 0 ? sum[k] : 0.0f" : mean ? "sum[k] * share" : "sum[k]";
  pieces["hand"] = hand + "outputs.out = " +
                   (max    ? "[7.0, 2.0, 100.0, 50.0, 0.0, 0.0]"
                    : mean ? "[3.0, 0.0, 100.0, 50.0, 0.0, 0.0]"
                           : "[9.0, 0.0, 100.0, 50.0, 0.0, 0.0]");
}

void SetAggregateBackward(const HotOperation& operation, const Number& row, Pieces& pieces) {
  pieces["dtype"] = row.dtype;
  pieces["type"] = row.type;
  pieces["bytes"] = fmt::format("{}", row.bytes);
  pieces["width"] = fmt::format("{}", 16 / row.bytes);
  pieces["what"] = fmt::format("a {}", HowText(operation));
  pieces["special"] = R"(["inf", "-inf", "subnormal"])";
  for (const char* name :
       {"weight_tensor", "weight_arg", "weight_parameter", "seed_weight_parameter", "seed_weight", "seed_own"}) {
    pieces[name] = "";
  }
  SetTolerance(row, false, false, pieces);
  pieces["row_bytes"] = fmt::format("(dim * {} + 4)", row.bytes);
  pieces["oracle_end"] = "static_cast<double>(sum)";
  pieces["seed_end"] = "sum[k]";
  pieces["engine_weight_of"] = "    return 1.0f;\n";
  const std::string hand =
      "[[hand]]\ndims = { num_src = 3, num_dst = 2, fanout = 2, edges = 3, degree_bound = 8, dim = 2 }\n"
      "inputs.grad_out = [4.0, -2.0, 3.0, 0.5]\ninputs.row_offsets = [0, 2, 2, 3]\ninputs.slot = [0, 2, 1]\n";
  const std::string degree = "# In the graph, not the sample.\n" + IndexTensor("degree", "\"num_dst\"", "degree_bound");
  if (operation.symmetric) {
    pieces["summary"] =
        "grad_x[s] = sum over t in row s of grad_out[v] d / (k sqrt(d + 1)) / sqrt(degree_src[s] + 1), v = slot[t] / "
        "fanout, d = degree[v], k = max(1, min(d, fanout)); plus grad_out[s] / (degree[s] + 1) where s < num_dst";
    pieces["weight_tensor"] = degree + "# Degrees of the sources in the whole graph.\n" +
                              IndexTensor("degree_src", "\"num_src\"", "degree_bound");
    pieces["weight_arg"] = R"(, "degree", "degree_src", "num_dst:i64")";
    pieces["weight_parameter"] = ", const int* degree, const int* degree_src, long long num_dst";
    pieces["seed_weight_parameter"] =
        ", const int* __restrict__ degree,\n                                   const int* __restrict__ degree_src, "
        "long long num_dst";
    pieces["oracle_add"] =
        "const long long drawn = degree[v] < fanout ? degree[v] : fanout;\n"
        "    sum += HONE_ORACLE_MID(value * (degree[v] / (static_cast<double>(drawn > 1 ? drawn : 1) * sqrt(degree[v] "
        "+ 1.0))));";
    pieces["oracle_end"] =
        "static_cast<double>(sum) / sqrt(degree_src[source] + 1.0) +\n"
        "              (source < num_dst ? HONE_ORACLE_IN(static_cast<float>(grad_out[i])) / (degree[source] + 1.0) : "
        "0.0)";
    pieces["seed_weight"] =
        "      const float d = static_cast<float>(degree[v]);\n"
        "      const float weight = d / (static_cast<float>(max(1, min(degree[v], fanout))) * sqrtf(d + 1.0f));\n";
    pieces["engine_weight_of"] =
        "    const float d = static_cast<float>(degree[v]);\n"
        "    return d / (static_cast<float>(max(1, min(degree[v], fanout))) * sqrtf(d + 1.0f));\n";
    pieces["seed_add"] = "sum[k] += weight * static_cast<float>(pack.v[k])";
    pieces["seed_own"] =
        "    const float from = 1.0f / sqrtf(static_cast<float>(degree_src[source]) + 1.0f);\n"
        "    Row own = {};\n"
        "    float own_share = 0.0f;\n"
        "    if (source < num_dst) {\n"
        "      own = reinterpret_cast<const Row*>(grad_out + source * dim)[column];\n"
        "      own_share = 1.0f / (static_cast<float>(degree[source]) + 1.0f);\n"
        "    }\n";
    pieces["seed_end"] = "sum[k] * from + (source < num_dst ? static_cast<float>(own.v[k]) * own_share : 0.0f)";
    pieces["hand"] =
        "# Sources 0 and 1 are destinations too. Source 0 was drawn in slots 0 and 2, source 2 in slot 1.\n" + hand +
        "inputs.degree = [7, 1]\ninputs.degree_src = [7, 1, 0]\n"
        "outputs.grad_x = [3.0, -1.0, 1.5, 0.25, 4.949747468306, -2.474873734153]";
    return;
  }
  const std::string drawn = "# Source 0 was drawn in slots 0 and 2, source 1 never, source 2 in slot 1.\n";
  if (operation.how == How::kMax) {
    pieces["summary"] =
        "grad_x[s, c] = sum over t in row s of grad_out[v, c] where winner[v, c] is t's slot, slot[t] % fanout; v = "
        "slot[t] / fanout";
    pieces["weight_tensor"] = "# The slot whose row was the largest, for each column.\n" +
                              IndexTensor("winner", "\"num_dst\", \"dim\"", "fanout");
    pieces["weight_arg"] = R"(, "winner")";
    pieces["weight_parameter"] = ", const int* winner";
    pieces["seed_weight_parameter"] = ", const int* __restrict__ winner";
    pieces["row_bytes"] = fmt::format("dim * {}", row.bytes + 4);
    pieces["oracle_add"] = "if (winner[v * dim + i % dim] == slot[t] % fanout) sum += HONE_ORACLE_MID(value);";
    pieces["seed_weight"] =
        "      const int* won = winner + v * dim + column * kWidth;\n      const int j = slot[t] % fanout;\n";
    pieces["seed_add"] = "sum[k] += won[k] == j ? static_cast<float>(pack.v[k]) : 0.0f";
    pieces["hand"] = drawn + hand + "inputs.winner = [0, 1, 0, 0]\noutputs.grad_x = [7.0, 0.5, 0.0, 0.0, 0.0, -2.0]";
    return;
  }
  if (operation.how == How::kSum) {
    pieces["summary"] = "grad_x[s] = sum over t in row s of grad_out[slot[t] / fanout]";
    pieces["row_bytes"] = fmt::format("dim * {}", row.bytes);
    pieces["oracle_add"] = "sum += HONE_ORACLE_MID(value);";
    pieces["seed_add"] = "sum[k] += static_cast<float>(pack.v[k])";
    pieces["hand"] = drawn + hand + "outputs.grad_x = [7.0, -1.5, 0.0, 0.0, 4.0, -2.0]";
    return;
  }
  pieces["summary"] =
      "grad_x[s] = sum over t in row s of grad_out[v] / max(1, min(degree[v], fanout)), v = slot[t] / fanout";
  pieces["weight_tensor"] = degree;
  pieces["weight_arg"] = R"(, "degree")";
  pieces["weight_parameter"] = ", const int* degree";
  pieces["seed_weight_parameter"] = ", const int* __restrict__ degree";
  pieces["oracle_add"] =
      "const long long drawn = degree[v] < fanout ? degree[v] : fanout;\n"
      "    sum += HONE_ORACLE_MID(value / static_cast<double>(drawn > 1 ? drawn : 1));";
  pieces["seed_weight"] = "      const float share = 1.0f / static_cast<float>(max(1, min(degree[v], fanout)));\n";
  pieces["engine_weight_of"] = "    return 1.0f / static_cast<float>(max(1, min(degree[v], fanout)));\n";
  pieces["seed_add"] = "sum[k] += share * static_cast<float>(pack.v[k])";
  pieces["hand"] = "# Destination 0 drew two neighbors (shares of a half), destination 1 one.\n" + drawn + hand +
                   "inputs.degree = [7, 1]\noutputs.grad_x = [5.0, -0.5, 0.0, 0.0, 2.0, -1.0]";
}

// A product c [m, n] = a b in the task's names.
struct Product {
  const char *what, *summary, *a, *b, *c, *a_shape, *b_shape, *c_shape, *m, *n, *k, *slice, *long_sum;
  bool a_by_step, b_by_step;  // true: elements that follow one another in memory differ in the step
  const char* hand;
  const char* transposes;  // for cuBLASLt
};
Product ProductOf(Kind kind) {
  switch (kind) {
    case Kind::kLinear:
      return {"A linear map of rows",
              "y = x weight^T, row-major, accumulated in float32",
              "x",
              "weight",
              "y",
              R"(["rows", "in_width"])",
              R"(["out_width", "in_width"])",
              R"(["rows", "out_width"])",
              "rows",
              "out_width",
              "in_width",
              "rows",
              "{ rows = 16, in_width = 4096, out_width = 16 }",
              true,
              true,
              "[[hand]]\ndims = { rows = 2, in_width = 3, out_width = 2 }\ninputs.x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]\n"
              "inputs.weight = [7.0, 9.0, 11.0, 8.0, 10.0, 12.0]\noutputs.y = [58.0, 64.0, 139.0, 154.0]",
              "transpose_b = true\n"};
    case Kind::kLinearBackwardInput:
      return {
          "The gradient of a linear map's rows",
          "grad_x = grad_y weight, row-major, accumulated in float32",
          "grad_y",
          "weight",
          "grad_x",
          R"(["rows", "out_width"])",
          R"(["out_width", "in_width"])",
          R"(["rows", "in_width"])",
          "rows",
          "in_width",
          "out_width",
          "rows",
          "{ rows = 16, in_width = 16, out_width = 4096 }",
          true,
          false,
          "[[hand]]\ndims = { rows = 2, in_width = 2, out_width = 3 }\ninputs.grad_y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]\n"
          "inputs.weight = [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]\noutputs.grad_x = [58.0, 64.0, 139.0, 154.0]",
          ""};
    default:
      return {
          "The gradient of a linear map's weight",
          "grad_weight = grad_y^T x, row-major, accumulated in float32",
          "grad_y",
          "x",
          "grad_weight",
          R"(["rows", "out_width"])",
          R"(["rows", "in_width"])",
          R"(["out_width", "in_width"])",
          "out_width",
          "in_width",
          "rows",
          "out_width",
          "{ rows = 4096, in_width = 16, out_width = 16 }",
          false,
          false,
          "[[hand]]\ndims = { rows = 3, in_width = 2, out_width = 2 }\ninputs.grad_y = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]\n"
          "inputs.x = [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]\noutputs.grad_weight = [58.0, 64.0, 139.0, 154.0]",
          "transpose_a = true\n"};
  }
}

void SetProduct(Kind kind, const Number& row, Pieces& pieces) {
  const Product product = ProductOf(kind);
  const bool weight = kind == Kind::kLinearBackwardWeight;
  const Number out = weight ? kFloat : row;  // gradients of parameters are float32
  pieces["dtype"] = row.dtype;
  pieces["type"] = row.type;
  pieces["c_dtype"] = out.dtype;
  pieces["what"] = product.what;
  pieces["summary"] = product.summary;
  for (const auto& [name, text] : {std::pair("a", product.a),
                                   {"b", product.b},
                                   {"c", product.c},
                                   {"a_shape", product.a_shape},
                                   {"b_shape", product.b_shape},
                                   {"c_shape", product.c_shape},
                                   {"m", product.m},
                                   {"n", product.n},
                                   {"k", product.k},
                                   {"slice", product.slice},
                                   {"long_sum", product.long_sum},
                                   {"hand", product.hand}}) {
    pieces[name] = text;
  }
  pieces["a_at"] = product.a_by_step ? "row * k + step" : "step * m + row";
  pieces["b_at"] = product.b_by_step ? "column * k + step" : "step * n + column";
  pieces["a_row"] = product.a_by_step ? "i / kSlab" : "i % kTile";
  pieces["a_step"] = product.a_by_step ? "i % kSlab" : "i / kTile";
  pieces["b_step"] = product.b_by_step ? "i % kSlab" : "i / kTile";
  pieces["b_column"] = product.b_by_step ? "i / kSlab" : "i % kTile";
  SetTolerance(out, false, true, pieces);
  pieces["to_type"] = out.type;
  pieces["split_words"] =
      weight
          ? "\n// There are few tiles and many rows: parts of the rows are added up by themselves, and then the parts."
          : "";
  pieces["sum_parts"] = weight ? std::string(TaskTemplate("sum_parts.cuh")) : "";
  pieces["plan"] = weight ? R"plan(/*hone
[tune]
PART = [1024, 512, 2048]

[[workspace]]
name  = "partial"
bytes = "max(1, ceil_div({{k}}, PART) * {{m}} * {{n}} * 4, {{m}} * {{n}} * 4)"

[[launch]]
kernel = "product"
grid   = ["ceil_div({{m}}, 64) * ceil_div({{n}}, 64)", "max(1, ceil_div({{k}}, PART))"]
block  = ["256"]
args   = ["{{a}}", "{{b}}", "partial", "{{m}}:i64", "{{n}}:i64", "{{k}}:i64", "PART:i64"]

[[launch]]
step   = 1
kernel = "sum_parts"
grid   = ["ceil_div({{m}} * {{n}}, 256)"]
block  = ["256"]
args   = ["partial", "{{c}}", "{{m}} * {{n}}:i64", "max(1, ceil_div({{k}}, PART)):i64"]
*/)plan"
                          : R"plan(/*hone
[[launch]]
kernel = "product"
grid   = ["ceil_div({{m}}, 64) * ceil_div({{n}}, 64)"]
block  = ["256"]
args   = ["{{a}}", "{{b}}", "{{c}}", "{{m}}:i64", "{{n}}:i64", "{{k}}:i64", "{{k}}:i64"]
*/)plan";
}

void SetAttention(const HotOperation& operation, const Number& row, Pieces& pieces) {
  pieces["dtype"] = row.dtype;
  pieces["type"] = row.type;
  pieces["width"] = fmt::format("{}", 16 / row.bytes);
  const double slope = operation.negative_slope;
  pieces["negative_slope"] = fmt::format("{:#.9g}", slope);
  SetTolerance(row, false, false, pieces);
  // The slots and the destination itself.
  const std::string rows = fmt::format("num_dst * (1000 + {}) / 1000", kSlotsOfARow);
  pieces["attention_work"] = fmt::format(
      "[work]\nflops = \"num_dst * (fanout + 1) * heads * (2 * dim + 5)\"\nbytes = \"\"\"\n{} * (dim * {} + heads * 4) "
      "+ "
      "{} * 4 + num_dst * 8 + num_dst * heads * (4 + dim * {})\"\"\"\n",
      DifferentRows(rows, "num_src"), row.bytes, rows, row.bytes);
  const double own = std::exp(-slope - 1);  // weight of the destination itself beside two slots of 1
  pieces["hand"] = fmt::format(
      "# v 0 has degree 5, so both slots count: row 1 twice. Logits: row 1: 0.5 + 0.5 = 1; itself (row 0): -1.5 + 0.5 "
      "= -1,\n"
      "# leaky -negative_slope. v 1 has degree 1: its slot is itself and does not count, so out is row 1.\n"
      "[[hand]]\ndims = {{ num_src = 2, num_dst = 2, fanout = 2, degree_bound = 6, heads = 1, dim = 2 }}\n"
      "inputs.x = [2.0, 8.0, 10.0, -4.0]\ninputs.score_src = [-1.5, 0.5]\ninputs.score_dst = [0.5, 3.0]\n"
      "inputs.self = [0, 1]\ninputs.index = [1, 1, 1, 0]\ninputs.degree = [5, 1]\n"
      "outputs.out = [{:.12f}, {:.12f}, 10.0, -4.0]",
      (20 + 2 * own) / (2 + own), (-8 + 8 * own) / (2 + own));
}

void SetAttentionBackward(const HotOperation& operation, const Number& row, Pieces& pieces) {
  pieces["dtype"] = row.dtype;
  pieces["type"] = row.type;
  pieces["width"] = fmt::format("{}", 16 / row.bytes);
  const double slope = operation.negative_slope;
  pieces["negative_slope"] = fmt::format("{:#.9g}", slope);
  SetTolerance(kFloat, false, /*product=*/true, pieces);
  const std::string rows = fmt::format("num_dst * (1000 + {}) / 1000", kSlotsOfARow);
  pieces["attention_work"] = fmt::format(
      "[work]\nflops = \"num_dst * (fanout + 1) * heads * (2 * dim + 4)\"\nbytes = \"\"\"\n{} * dim * {} + {} * (4 + "
      "heads * 4) + num_dst * 8 + num_dst * heads * dim * {} + num_dst * (fanout + 1) * heads * 4\"\"\"\n",
      DifferentRows(rows, "num_src"), row.bytes, rows, row.bytes);
  // v 0: d = 2 for itself and 3 for both slots, so the mean by weight is 0.5 * 2 + 0.25 * 3 + 0.25 * 3 = 2.5.
  pieces["hand"] = fmt::format(
      "# v 0 has degree 5, so both slots count: row 1 twice. Its products are 2, 3 and 3, their sum by weight 2.5. The last\n"
      "# weight is negative. v 1 has degree 1: its slot is itself and does not count; its product is 8, and 8 - 8 = 0.\n"
      "[[hand]]\ndims = {{ num_src = 2, num_dst = 2, fanout = 2, degree_bound = 6, heads = 1, dim = 2 }}\n"
      "inputs.x = [2.0, 0.0, 1.0, 2.0]\ninputs.grad_out = [1.0, 1.0, 4.0, 2.0]\n"
      "inputs.weight = [0.5, 0.25, -0.25, 1.0, 0.5, 0.5]\n"
      "inputs.self = [0, 1]\ninputs.index = [1, 1, 1, 0]\ninputs.degree = [5, 1]\n"
      "outputs.grad_logit = [-0.25, 0.125, {:.12f}, 0.0, 0.0, 0.0]",
      0.125 * slope);
}

void SetAttentionRowsBackward(const Number& row, Pieces& pieces) {
  pieces["dtype"] = row.dtype;
  pieces["type"] = row.type;
  pieces["bytes"] = fmt::format("{}", row.bytes);
  pieces["width"] = fmt::format("{}", 16 / row.bytes);
  SetTolerance(row, false, false, pieces);
}

void SetGather(const Number& x, const Number& out, Pieces& pieces) {
  pieces["x_dtype"] = x.dtype;
  pieces["x_type"] = x.type;
  pieces["out_dtype"] = out.dtype;
  pieces["out_type"] = out.type;
  pieces["width"] = fmt::format("{}", 16 / std::max(x.bytes, out.bytes));
  pieces["different"] = DifferentRows("rows", "num_src");
  pieces["x_bytes"] = fmt::format("{}", x.bytes);
  pieces["out_bytes"] = fmt::format("{}", out.bytes);
  SetTolerance(out, x.bytes < out.bytes || x.dtype == out.dtype, false, pieces);
}

// Removes the dimension degree_bound from a task's text, for an operation that has none.
std::string WithoutDegreeBound(std::string text) {
  for (size_t at = text.find("degree_bound"); at != std::string::npos; at = text.find("degree_bound", at)) {
    if (at > 0 && text[at - 1] == '\n') {  // a line of its own
      text.erase(at, text.find('\n', at) + 1 - at);
    } else {  // ", degree_bound = 12"
      const size_t begin = text.rfind(',', at);
      text.erase(begin, text.find_first_of(",}", at) - begin);
      at = begin;
      if (text[at] == '}') text.insert(at, " ");
    }
  }
  return text;
}

// Returns "first, a, b" of the choices.
std::string FirstThenOthers(int first, std::initializer_list<int> choices) {
  std::string text = fmt::format("{}", first);
  for (const int choice : choices) {
    if (choice != first) text += fmt::format(", {}", choice);
  }
  return text;
}

}  // namespace

TaskTexts MakeTaskTexts(const HotOperation& operation, const std::string& model, const RowDtypes& dtypes,
                        const std::vector<TimedShape>& shapes) {
  const Number row = dtypes.fp32 ? kFloat : kBFloat;
  const Number read = operation.of_features ? NumberOf(dtypes.features) : row;
  Pieces pieces = {{"name", TaskName(operation)},
                   {"model", model},
                   {"place", "The timed shapes are those of batches that were drawn over the graph."},
                   {"time_cases", TimeCases(shapes)},
                   {"oracle_head", std::string(TaskTemplate("oracle_head.cuh"))},
                   {"seed_head", std::string(TaskTemplate("seed_head.cuh"))}};
  std::string stem = "product";
  TaskTexts texts;
  switch (operation.kind) {
    case Kind::kGather:
      stem = "gather";
      SetGather(read, row, pieces);
      texts.seed_is =
          "The seed is a plain kernel. The engine's own reads the batch's header and tiers of feature memory, and "
          "cannot "
          "stand alone.";
      break;
    case Kind::kAggregate:
      stem = "aggregate";
      SetAggregate(operation, read, row, pieces);
      texts.seed_is = operation.of_features
                          ? "The seed is a plain kernel. The engine's own draws the neighbors too, from the graph and "
                            "the batch's key, "
                            "and cannot stand alone; the shipped task sample_mean has a mean with its draw."
                          : "The seed is a plain kernel. The engine's own applies what stands before it as it reads, "
                            "takes the batch's "
                            "sizes from device memory, and cannot stand alone.";
      break;
    case Kind::kAggregateBackward:
      stem = "aggregate_backward";
      SetAggregateBackward(operation, row, pieces);
      texts.seed_is =
          "The seed is a plain kernel. The engine's own also masks what was dropped and takes the batch's sizes from "
          "device "
          "memory, and cannot stand alone.";
      break;
    case Kind::kAttention:
      stem = "attention";
      SetAttention(operation, row, pieces);
      texts.seed_is =
          "The seed is a plain kernel. The engine's own also writes the weights that backward reads, takes the batch's "
          "sizes "
          "from device memory, and cannot stand alone.";
      break;
    case Kind::kAttentionBackward:
      stem = "attention_backward";
      SetAttentionBackward(operation, row, pieces);
      texts.seed_is =
          "The seed is a plain kernel. The engine's own also makes the gradient of the folded attention vectors, takes the "
          "batch's sizes from device memory, and cannot stand alone.";
      break;
    case Kind::kAttentionRowsBackward:
      stem = "attention_rows_backward";
      SetAttentionRowsBackward(row, pieces);
      texts.seed_is =
          "The seed is a plain kernel. The engine's own also multiplies by the slope of the activation that it read "
          "through, takes the batch's sizes from device memory, and cannot stand alone.";
      break;
    default:
      SetProduct(operation.kind, row, pieces);
      texts.seed_is =
          "The seed is a plain kernel. The engine calls cuBLASLt for products on their own, and kernels of its own "
          "where a "
          "published model fuses a product with what stands beside it.";
      if (operation.kind != Kind::kLinearBackwardWeight || dtypes.fp32) {
        const Product product = ProductOf(operation.kind);
        texts.baseline = fmt::format(
            "{}# What the engine calls, timed by `hone eval --libraries`.\n\n[[library]]\nkind = \"cublaslt\"\na = "
            "\"{}\"\nb = \"{}\"\n"
            "c = \"{}\"\nm = \"{}\"\nn = \"{}\"\nk = \"{}\"\n{}algorithms = 16\n",
            kTomlLicence, product.a, product.b, product.c, product.m, product.n, product.k, product.transposes);
        texts.seed_is += " `hone eval --libraries` times cuBLASLt beside a candidate.";
      }
  }
  const std::string seed = stem != "product" ? stem + "_seed.cu"
                           : dtypes.fp32     ? "product_f32_seed.cu"
                                             : "product_bf16_seed.cu";
  texts.task = Fill(TaskTemplate(stem + ".toml"), pieces);
  texts.oracle = Fill(TaskTemplate(stem + "_oracle.cu"), pieces);
  if (stem == "aggregate" || stem == "aggregate_backward") {
    pieces["plain_kernel"] = std::string(TaskTemplate(stem + "_plain.cuh"));
    const bool backward = stem == "aggregate_backward";
    const SumChoice own = OwnSumChoice(operation.in_width, backward);
    pieces["own_lanes"] = FirstThenOthers(own.lanes, {32, 16, 8});
    pieces["own_block"] = FirstThenOthers(own.block, {256, 128, 64});
    const bool chosen = !operation.of_features && !dtypes.fp32 && operation.how != How::kMax;
    if (chosen) texts.engine = Fill(TaskTemplate(stem + "_engine.cu"), pieces);
  }
  texts.seed = Fill(TaskTemplate(seed), pieces);
  if (operation.kind == Kind::kAggregateBackward && !operation.symmetric && operation.how != How::kMean) {
    texts.task = WithoutDegreeBound(std::move(texts.task));
  }
  return texts;
}

}  // namespace hone::gnn
