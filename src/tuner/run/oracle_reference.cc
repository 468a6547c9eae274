// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/oracle_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "hone/tuner/candidate.h"
#include "tuner/core/task/packed_numbers.h"
#include "tuner/core/task/torch_module.h"

namespace hone {
namespace {

// An element's C++ type, and the expression that rounds a double to it.
struct ElementType {
  std::string_view name, convert;  // `convert` takes a double named `value`
};

ElementType TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return {"double", "value"};
    case DType::kFloat32: return {"float", "static_cast<float>(value)"};
    case DType::kFloat16: return {"__half", "__float2half(static_cast<float>(value))"};
    case DType::kBFloat16: return {"__nv_bfloat16", "__float2bfloat16(static_cast<float>(value))"};
    case DType::kInt64: return {"long long", "static_cast<long long>(value)"};
    case DType::kInt32: return {"int", "static_cast<int>(value)"};
    case DType::kUInt32: return {"unsigned", "static_cast<unsigned>(value)"};
    case DType::kInt16: return {"short", "static_cast<short>(value)"};
    case DType::kInt8: return {"signed char", "static_cast<signed char>(value)"};
    case DType::kUInt8: return {"unsigned char", "static_cast<unsigned char>(value)"};
    case DType::kUInt64: return {"unsigned long long", "static_cast<unsigned long long>(value)"};
    case DType::kBool: return {"bool", "value != 0"};
    case DType::kFloat8E4M3: return {"__nv_fp8_e4m3", "__nv_fp8_e4m3(value)"};
    case DType::kFloat8E5M2: return {"__nv_fp8_e5m2", "__nv_fp8_e5m2(value)"};
    case DType::kFloat8E8M0: return {"__nv_fp8_e8m0", "__nv_fp8_e8m0(value)"};
    // Two doubles, `value` and `second`, make a byte.
    case DType::kFloat4Pair:
      return {"__nv_fp4x2_e2m1", "__nv_fp4x2_e2m1(make_float2(static_cast<float>(value), static_cast<float>(second)))"};
    case DType::kInt4Pair:
      return {"unsigned char", "static_cast<unsigned char>((static_cast<int>(value) & 15) | (static_cast<int>(second) & 15) << 4)"};
  }
  return {"float", "static_cast<float>(value)"};
}

// Returns an expression for the number of elements: "(rows) * (d)".
std::string ElementCount(const TensorSpec& tensor) {
  std::string text;
  for (const Expression& extent : tensor.shape) text += fmt::format("{}({})", text.empty() ? "" : " * ", extent.text());
  return text.empty() ? "1" : text;
}

// Adds to `plan` the step that rounds one result into its tensor, and to `code` the step's kernel. The workspace is
// dense and row-major; the tensor may have strides.
void AddStore(const TensorSpec& tensor, int step, std::string& plan, std::string& code) {
  const std::string count = ElementCount(tensor);
  const ElementType type = TypeOf(tensor.dtype);
  std::string args = fmt::format("\"hone_ref_{0}\", \"{0}\", \"{1}:i64\"", tensor.name, count);
  std::string parameters, place = "i";
  if (!tensor.strides.empty()) {
    place = "at";
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      args += fmt::format(", \"{}:i64\", \"{}:i64\"", tensor.shape[axis].text(), tensor.strides[axis].text());
      parameters += fmt::format(", long long extent{0}, long long stride{0}", axis);
    }
  }
  plan += fmt::format(
      "\n[[workspace]]\nname = \"hone_ref_{0}\"\nbytes = \"{1} * {4}\"\n\n[[launch]]\nstep   = {2}\nkernel = "
      "\"store_result_{0}\"\ngrid   = [\"ceil_div({1}, 256)\"]\nblock  = [\"256\"]\nargs   = [{3}]\n",
      tensor.name, count, step, args, 8 * NumbersPerElement(tensor.dtype));
  code += fmt::format(
      "\n// The result, rounded once.\n__global__ void store_result_{0}(const double* result, {1}* {0}, long long elements{2}) "
      "{{\n  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n  if (i >= elements) "
      "return;\n",
      tensor.name, type.name, parameters);
  if (!tensor.strides.empty()) {
    code += "  long long rest = i, at = 0;\n";
    for (size_t axis = tensor.shape.size(); axis-- > 0;) {
      code += fmt::format("  at += rest % extent{0} * stride{0};\n  rest /= extent{0};\n", axis);
    }
  }
  code += IsPacked(tensor.dtype) ? "  const double value = result[2 * i], second = result[2 * i + 1];\n"
                                 : "  const double value = result[i];\n";
  code += fmt::format("  {}[{}] = {};\n}}\n", tensor.name, place, type.convert);
}

// Returns the error for an oracle from which no starting kernel can be made.
Status UnfitOracle(const Task& task, const std::string& why) {
  return Status::InvalidArgument(fmt::format(
      "task {} has no seed.cu, and its oracle cannot be made into a kernel to start from: {}; add a seed.cu, or give one "
      "with --seed-kernel",
      task.name, why));
}

}  // namespace

Result<std::string> ReferenceFromOracle(const Task& task) {
  if (HasTorchModule(task)) return UnfitOracle(task, "it is a PyTorch module");
  const Result<Candidate> oracle =
      ParseCandidate(task.oracle_source, task.name + "/oracle.cu", task, /*is_oracle=*/true);
  if (!oracle.ok()) return UnfitOracle(task, oracle.status().message());
  if (oracle->plan.host_mode) return UnfitOracle(task, "it is in host mode");
  std::string source = task.oracle_source;
  const size_t begin = source.find("/*hone"), end = begin == std::string::npos ? begin : source.find("*/", begin);
  if (end == std::string::npos) return UnfitOracle(task, "its plan comment cannot be found");

  std::string plan = source.substr(begin, end - begin);
  // Each `ref:NAME` becomes a workspace, which AddStore declares.
  for (size_t at = 0; (at = plan.find("ref:", at)) != std::string::npos;) plan.replace(at, 4, "hone_ref_");
  int step = 0;
  for (const PlanEntry& entry : oracle->plan.entries) step = std::max(step, entry.step);
  if (!plan.ends_with('\n')) plan += '\n';
  std::string code, headers;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role == TensorRole::kIn) continue;
    AddStore(tensor, ++step, plan, code);
    const char* header = tensor.dtype == DType::kFloat16    ? "#include <cuda_fp16.h>\n"
                         : tensor.dtype == DType::kBFloat16 ? "#include <cuda_bf16.h>\n"
                         : IsFloat8(tensor.dtype)           ? "#include <cuda_fp8.h>\n"
                         : tensor.dtype == DType::kFloat4Pair ? "#include <cuda_fp4.h>\n"
                                                            : "";
    if (headers.find(header) == std::string::npos) headers += header;
  }
  std::string source_without_comment = source.substr(end + 2);
  if (!source_without_comment.ends_with('\n')) source_without_comment += '\n';
  source = source.substr(0, begin) + plan + "*/\n" + headers + source_without_comment + code;
  if (const Status status = ParseCandidate(source, "reference.cu", task).status(); !status.ok()) {
    return UnfitOracle(task, status.message());
  }
  return source;
}

}  // namespace hone
