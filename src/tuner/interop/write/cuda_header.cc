// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/cuda_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/numbers/hash.h"
#include "tuner/core/plan/bindings.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/core/program/include_sets.h"
#include "tuner/interop/read/host_expression.h"
#include "tuner/interop/write/embed_source.h"
#include "tuner/interop/write/header_support.h"
#include "tuner/interop/write/plan_writer.h"
#include "tuner/interop/write/served_shapes.h"

namespace hone {
namespace {

// Names used by the generated struct itself.
const std::vector<std::string> kTaken = {
    "Int",   "Launch", "min",   "max",    "ceil_div",  "round_up",    "Log2",   "Holds",     "Checked", "Divides",
    "error", "launch", "args",  "stream", "workspace", "Winner",      "Seed",   "UseSeed",   "ok",      "sm_count",
    "cc",    "hone",   "Valid", "Call",   "launched",  "AlignmentOf", "Offset", "TensorMap", "bytes",   "memset",
    "library", "MatmulCall", "ConvolutionCall", "LibraryMatmul", "LibraryConvolution", "CallType", "CallEpilogue"};

// Returns the name of the tensor whose storage `tensor` shares, or its own name.
std::string AliasOf(const Task& task, const std::string& tensor) {
  const TensorSpec* spec = task.FindTensor(tensor);
  return spec == nullptr || spec->alias.empty() ? tensor : spec->alias;
}

// Returns the comment at the beginning of the header: where the kernels come from, times, parameters, errors.
std::string OpeningComment(const KernelPackage& package, const HeaderSignature& signature) {
  const Task& task = package.task;
  std::string out = fmt::format(
      "// {}: {}\n//\n// Written by `hone apply` from {}; the kernels below carry their authors' own licence "
      "lines.\n//\n",
      task.name, task.summary, PackageOrigin(package));
  if (package.run.empty()) {
    out += fmt::format(
        "// No run stands behind it: `hone eval {} {}` says whether it is right and how fast. The task's seed runs "
        "only\n"
        "// where the plan has no alternative, or the device lacks what it asks for.\n",
        task.name, package.file);
  } else {
    out += fmt::format("// Device of the run: {}.{}\n", package.device,
                       package.modelled ? " Times are MODELLED by the simulator, not measured." : "");
    if (package.guarantee != "full") out += fmt::format("// Guarantee: {}\n", package.guarantee);
    if (package.other_seed) {
      out +=
          "// \"Seed\" is here the kernel with which the run began (--seed-kernel), and not the task's seed.cu: the times are\n"
          "// against it, and it runs where the winner does not.\n";
    }
    out += package.paired ? "// Winner against the seed, paired, per shape:\n"
                          : "// Winner and seed were timed in different sittings, NOT paired:\n";
    for (const PackagedShape& s : package.shapes) {
      out += fmt::format("//   {:<36} {:>10.2f} us, seed {:>10.2f} us, {:.3f}x{}{}\n", DimsText(s.dims), s.winner_us,
                         s.seed_us, s.speedup.median,
                         package.modelled ? "" : fmt::format(" [{:.3f}, {:.3f}]", s.speedup.low, s.speedup.high),
                         s.wins ? "" : "  -> the seed runs");
    }
  }
  if (std::string served = DescribeServedShapes(package); !served.empty()) {
    served[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(served[0])));
    out += fmt::format("// {}.\n", served);
  }
  const std::vector<std::string> options = PackageOptions(package);
  if (!options.empty()) {
    out += "// Compile with the options the winner was judged with:";
    for (const std::string& option : options) out += " " + option;
    out += "\n";
    if (package.winner.plan.compiler_options != package.seed.plan.compiler_options) {
      out += "// The seed was judged with other options; where it runs instead, it was not checked with these.\n";
    }
  }
  out += "//\n// Tensors are device pointers";
  bool strided = false;
  for (const TensorSpec& t : task.tensors) strided = strided || !t.strides.empty();
  out += strided ? ", row-major where no strides are given:\n" : ", dense and row-major:\n";
  for (const HeaderParameter& p : signature.tensors) {
    const TensorSpec* t = task.FindTensor(p.plan);
    std::string shape, strides;
    for (const Expression& e : t->shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", e.text());
    for (const Expression& e : t->strides) strides += fmt::format("{}{}", strides.empty() ? "" : ", ", e.text());
    out += fmt::format("//   {:<12} {} [{}] {}{}, aligned to {} bytes\n", p.name, TensorRoleName(t->role), shape,
                       DTypeName(t->dtype), strides.empty() ? "" : ", strides [" + strides + "]", t->align);
  }
  for (const HeaderParameter& p : signature.scalars) {
    out += fmt::format("//   {:<12} {}; the run used {}\n", p.name, p.type, task.FindScalar(p.plan)->value);
  }
  for (const auto& [name, text] : task.dims) out += fmt::format("//   {:<12} {}\n", name, text);
  out +=
      "// Enqueues on `stream` and returns at once. cudaErrorInvalidValue for a negative size or a null tensor,\n"
      "// cudaErrorMisalignedAddress for a pointer that is not aligned as above, else what the launch says.\n";
  return out;
}

}  // namespace

std::string_view HostElementType(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return "double";
    case DType::kFloat32:
      return "float";
    case DType::kFloat16:
      return "__half";
    case DType::kBFloat16:
      return "__nv_bfloat16";
    case DType::kInt64:
      return "int64_t";
    case DType::kInt32:
      return "int32_t";
    case DType::kUInt32:
      return "uint32_t";
    case DType::kInt16:
      return "int16_t";
    case DType::kInt8:
      return "int8_t";
    case DType::kUInt8:
      return "uint8_t";
    case DType::kUInt64:
      return "uint64_t";
    case DType::kBool:
      return "bool";
    case DType::kFloat8E4M3:
      return "__nv_fp8_e4m3";
    case DType::kFloat8E5M2:
      return "__nv_fp8_e5m2";
    case DType::kFloat8E8M0:
      return "__nv_fp8_e8m0";
    case DType::kFloat4Pair:
      return "__nv_fp4x2_e2m1";
    case DType::kInt4Pair:
      return "unsigned char";
  }
  return "void";
}

HeaderSignature SignatureOf(const Task& task) {
  HeaderSignature signature;
  signature.function = HostIdentifier(task.name);
  std::set<std::string> written_tensors;
  for (const TensorSpec& t : task.tensors) {
    if (t.role != TensorRole::kIn) written_tensors.insert(AliasOf(task, t.name));
  }
  for (const TensorSpec& t : task.tensors) {
    if (!t.alias.empty()) continue;
    signature.tensors.push_back(
        {HostIdentifier(t.name, kTaken), t.name,
         fmt::format("{}{}*", written_tensors.count(t.name) != 0 ? "" : "const ", HostElementType(t.dtype))});
  }
  for (const ScalarSpec& s : task.scalars) {
    signature.scalars.push_back(
        {HostIdentifier(s.name, kTaken), s.name, s.dtype == DType::kFloat64 ? "double" : "float"});
  }
  for (const auto& [name, text] : task.dims) signature.dims.push_back({HostIdentifier(name, kTaken), name, "int64_t"});
  return signature;
}

std::string PackageOrigin(const KernelPackage& package) {
  return package.run.empty() ? package.file : fmt::format("node {} of run {}", package.node, package.run);
}

std::vector<std::string> PackageOptions(const KernelPackage& package) {
  std::vector<std::string> options = package.winner.plan.compiler_options;
  for (const std::string& option : package.seed.plan.compiler_options) {
    // If both name one option, the winner's value counts.
    const std::string key = option.substr(0, option.find('='));
    const bool dim_is_known =
        std::any_of(options.begin(), options.end(), [&](const std::string& o) { return o.starts_with(key); });
    if (!dim_is_known && key != "--use_fast_math") options.push_back(option);
  }
  return options;
}

std::string CudaHeaderName(const KernelPackage& package) { return fmt::format("hone_{}.cuh", package.task.name); }

std::string FunctionDeclaration(const KernelPackage& package) {
  const HeaderSignature signature = SignatureOf(package.task);
  std::string parameters;
  for (const auto* list : {&signature.tensors, &signature.scalars, &signature.dims}) {
    for (const HeaderParameter& p : *list) parameters += fmt::format("{} {}, ", p.type, p.name);
  }
  return fmt::format("cudaError_t hone::{}({}cudaStream_t stream)", signature.function, parameters);
}

Result<std::string> CudaHeader(const KernelPackage& package) {
  const Task& task = package.task;
  const HeaderSignature signature = SignatureOf(task);
  const Binding none;
  PlanWriter winner(task, package.winner, package.winner_binding, "winner", signature);
  PlanWriter seed(task, package.seed, none, "seed", signature);
  const EmbeddedSource winner_source = EmbedSource(package.winner.source);
  const EmbeddedSource seed_source = EmbedSource(package.seed.source);

  std::string out = OpeningComment(package, signature) + "#pragma once\n\n";
  std::vector<std::string> includes = {"<cuda.h>",   "<cuda_bf16.h>", "<cuda_fp16.h>", "<cuda_runtime.h>", "<float.h>",
                                       "<limits.h>", "<math.h>",      "<stdint.h>",    "<string.h>"};
  const auto include = [&](const std::string& name) {
    if (std::find(includes.begin(), includes.end(), name) == includes.end()) includes.push_back(name);
  };
  if (std::any_of(task.tensors.begin(), task.tensors.end(), [](const TensorSpec& t) { return IsFloat8(t.dtype); })) {
    include("<cuda_fp8.h>");
  }
  if (std::any_of(task.tensors.begin(), task.tensors.end(), [](const TensorSpec& t) { return t.dtype == DType::kFloat4Pair; })) {
    include("<cuda_fp4.h>");
  }
  for (const Candidate* candidate : {&package.winner, &package.seed}) {
    for (const std::string_view name : IncludeSetHeaders(candidate->plan.include_set)) include(std::string(name));
  }
  for (const std::string& name : winner_source.includes) include(name);
  for (const std::string& name : seed_source.includes) include(name);
  for (const std::string& name : includes) out += fmt::format("#include {}\n", name);

  // The namespace is unnamed: two files that include this header have kernels of their own, without conflicts.
  out += "\n#pragma nv_diagnostic push\n#pragma nv_diag_suppress 177\nnamespace {\n";
  out += fmt::format("namespace hone_kernels_{} {{\n", task.name);
  out += winner.Kernels(winner_source) + seed.Kernels(seed_source);
  out += fmt::format("\n}}  // namespace hone_kernels_{}\n}}  // namespace\n#pragma nv_diagnostic pop\n", task.name);

  out += fmt::format("\nnamespace hone {{\nnamespace {}_detail {{\n", task.name);
  if (LineOfCall(package.winner.plan) > 0 || LineOfCall(package.seed.plan) > 0) out += LibraryCallSupport();
  out += "namespace {\n";
  out += HeaderSupport();
  if (!package.winner.plan.tensor_maps.empty() || !package.seed.plan.tensor_maps.empty()) out += TensorMapSupport();

  // The call is a struct, so that expressions find their names.
  std::string parameters, members, initial, actual;
  for (const HeaderParameter& p : signature.tensors) {
    members += fmt::format("  {} {};\n", p.type, p.name);
    parameters += fmt::format("{} {}, ", p.type, p.name);
  }
  for (const HeaderParameter& p : signature.scalars) {
    members += fmt::format("  {} {};\n", p.type, p.name);
    parameters += fmt::format("{} {}, ", p.type, p.name);
  }
  for (const HeaderParameter& p : signature.dims) {
    members += fmt::format("  Int {};\n", p.name);
    parameters += fmt::format("int64_t {}, ", p.name);
  }
  out += "\nstruct Call {\n" + members +
         "  cudaStream_t stream;\n  bool ok = true;  // false once a shape's arithmetic overflows\n\n";
  out +=
      "  template <typename T>\n  T Fit(Int value) {\n    const T fitted = static_cast<T>(value.value);\n"
      "    constexpr bool negative = static_cast<T>(-1) < static_cast<T>(1);  // whether T has negative values\n"
      "    if (static_cast<long long>(fitted) != value.value || (value.value < 0 && !negative)) ok = false;\n"
      "    return fitted;\n  }\n\n";
  // Validation.
  out += "  cudaError_t Valid() {\n";
  std::string negative;
  for (const HeaderParameter& p : signature.dims) {
    negative += fmt::format("{}{}.value < 0", negative.empty() ? "" : " || ", p.name);
  }
  if (!negative.empty()) out += fmt::format("    if ({}) return cudaErrorInvalidValue;\n", negative);
  std::map<std::string, std::string> dim_names;
  for (const HeaderParameter& p : signature.dims) dim_names[p.plan] = p.name;
  for (const HeaderParameter& p : signature.tensors) {
    const TensorSpec* t = task.FindTensor(p.plan);
    std::string elements = "Int(1)";
    for (const Expression& e : t->shape) {
      HONE_ASSIGN_OR_RETURN(const std::string extent, HostExpression(e.text(), {dim_names, {}}));
      elements += " * (" + extent + ")";
    }
    out += fmt::format(
        "    const Int elements_of_{0} = {1};\n"
        "    if (!ok || (elements_of_{0}.value > 0 && {0} == nullptr)) return cudaErrorInvalidValue;\n"
        "    if (AlignmentOf({0}) < {2}) return cudaErrorMisalignedAddress;\n",
        p.name, elements, std::min<int64_t>(t->align, 4096));
  }
  out += "    return cudaSuccess;\n  }\n\n";
  out +=
      "  // Shapes that the winner's plan leaves out, or where the run did not show it to be faster.\n"
      "  bool UseSeed() const {\n";
  if (winner.LeavesShapesOut()) {
    HONE_ASSIGN_OR_RETURN(const std::string serves, winner.Serves());
    out += fmt::format("    if (!({})) return true;\n", serves);
  }
  if (winner.NeedsHopper()) {
    out += "    if (DeviceAttribute(cudaDevAttrComputeCapabilityMajor) < 9) return true;  // the winner needs 9.0\n";
  }
  std::string rule;
  for (const std::string& when : package.seed_shapes) {
    HONE_ASSIGN_OR_RETURN(const std::string text, HostExpression(when, {dim_names, {}}));
    rule += fmt::format("{}Holds({})", rule.empty() ? "" : " || ", text);
  }
  out += fmt::format("    return {};\n  }}\n\n", rule.empty() ? "false" : rule);
  HONE_ASSIGN_OR_RETURN(const std::string winner_methods, winner.Methods());
  HONE_ASSIGN_OR_RETURN(const std::string seed_methods, seed.Methods());
  out += winner_methods + "\n" + seed_methods + "};\n\n";

  std::string fill = "  Call call{};\n";
  for (const auto* list : {&signature.tensors, &signature.scalars}) {
    for (const HeaderParameter& p : *list) fill += fmt::format("  call.{0} = {0};\n", p.name);
  }
  for (const HeaderParameter& p : signature.dims) {
    fill += fmt::format("  call.{0} = {1}_detail::Int(static_cast<long long>({0}), &call.ok);\n", p.name, task.name);
  }
  fill += "  call.stream = stream;\n";
  out += "}  // namespace\n" + fmt::format("}}  // namespace {}_detail\n\n", task.name);

  const bool workspaces = winner.HasWorkspaces() || seed.HasWorkspaces();
  const std::string call_type = fmt::format("{}_detail::Call", task.name);
  std::string body = fill;
  body.replace(body.find("Call call"), 4, call_type);
  body += "  cudaError_t error = call.Valid();\n  if (error != cudaSuccess) return error;\n";
  if (!workspaces) {
    out += fmt::format(
        "[[maybe_unused]] static cudaError_t {}({}cudaStream_t stream) {{\n{}  return call.UseSeed() ? "
        "call.Seed() : call.Winner();\n}}\n",
        signature.function, parameters, body);
  } else {
    const std::string winner_bytes = winner.HasWorkspaces() ? "call.WinnerBytes()" : "0LL";
    const std::string seed_bytes = seed.HasWorkspaces() ? "call.SeedBytes()" : "0LL";
    const std::string run =
        fmt::format("call.UseSeed() ? call.Seed({}) : call.Winner({})", seed.HasWorkspaces() ? "workspace" : "",
                    winner.HasWorkspaces() ? "workspace" : "");
    // The sizes come first: a caller may own the memory.
    out += fmt::format(
        "// Bytes of device memory, aligned to 256, that one call needs beside its tensors. Calls that may overlap "
        "need\n"
        "// memory of their own. cudaErrorInvalidValue when there are no such tensors.\n"
        "[[maybe_unused]] static cudaError_t {0}_workspace({1}cudaStream_t stream, size_t* bytes) {{\n{2}"
        "  const long long needed = call.UseSeed() ? {3} : {4};\n"
        "  if (needed < 0) return cudaErrorInvalidValue;\n  *bytes = static_cast<size_t>(needed);\n  return "
        "cudaSuccess;\n}}\n\n",
        signature.function, parameters, body, seed_bytes, winner_bytes);
    out += fmt::format(
        "// With memory of the caller's, at least as much as {0}_workspace says; its content does not matter.\n"
        "[[maybe_unused]] static cudaError_t {0}({1}void* workspace, cudaStream_t stream) {{\n{2}  return {3};\n}}\n\n",
        signature.function, parameters, body, run);
    out += fmt::format(
        "// Takes the memory from the stream's own pool and gives it back in the stream's order.\n"
        "[[maybe_unused]] static cudaError_t {0}({1}cudaStream_t stream) {{\n{2}"
        "  const long long needed = call.UseSeed() ? {3} : {4};\n"
        "  if (needed < 0) return cudaErrorInvalidValue;\n"
        "  void* workspace = nullptr;\n"
        "  if (needed > 0) {{\n    error = cudaMallocAsync(&workspace, static_cast<size_t>(needed), stream);\n"
        "    if (error != cudaSuccess) return error;\n  }}\n"
        "  error = {5};\n"
        "  const cudaError_t freed = workspace == nullptr ? cudaSuccess : cudaFreeAsync(workspace, stream);\n"
        "  return error != cudaSuccess ? error : freed;\n}}\n",
        signature.function, parameters, body, seed_bytes, winner_bytes, run);
  }
  out += "\n}  // namespace hone\n";
  return out;
}

}  // namespace hone
