// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/plan_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tuner/core/plan/argument_layout.h"
#include "tuner/core/plan/bindings.h"
#include "tuner/interop/read/host_expression.h"
#include "tuner/interop/write/header_support.h"
#include "tuner/interop/write/served_shapes.h"

namespace hone {
namespace {

// Returns the text with `prefix` before each line.
std::string PrefixLines(std::string_view text, std::string_view prefix) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += fmt::format("{}{}\n", prefix, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

// Returns the C++ type for the suffix of a plan's integer argument.
std::string IntegerType(const std::string& type) {
  if (type == "i32") return "int32_t";
  if (type == "u32") return "uint32_t";
  if (type == "u64") return "uint64_t";
  if (type == "bool") return "bool";
  return "int64_t";
}

}  // namespace

PlanWriter::PlanWriter(const Task& task, const Candidate& candidate, const Binding& binding, std::string prefix,
           const HeaderSignature& signature)
    : task_(task), plan_(candidate.plan), candidate_(candidate), binding_(binding), prefix_(std::move(prefix)) {
  for (const auto* list : {&signature.tensors, &signature.scalars, &signature.dims}) {
    for (const HeaderParameter& p : *list) names_[p.plan] = p.name;
  }
  for (const TensorSpec& t : task.tensors) {
    if (!t.alias.empty()) names_[t.name] = names_.at(t.alias);
  }
  names_["sm_count"] = "Int(DeviceAttribute(cudaDevAttrMultiProcessorCount))";
  names_["cc"] =
      "Int(DeviceAttribute(cudaDevAttrComputeCapabilityMajor) * 10 + "
      "DeviceAttribute(cudaDevAttrComputeCapabilityMinor))";
  names_["l2_bytes"] = "Int(DeviceAttribute(cudaDevAttrL2CacheSize))";
  names_["smem_optin"] = "Int(DeviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))";
}

std::string PlanWriter::Kernels(const EmbeddedSource& source) {
  std::string out;
  int number = 0;
  for (const CompileUnit& unit : CompileUnits(candidate_, binding_)) {
    const std::string space = fmt::format("{}_{}", prefix_, number++);
    out +=
        fmt::format("\n// {}{}{}\n", candidate_.name, unit.binding.empty() ? "" : " with ", BindingKey(unit.binding));
    for (const auto& [name, value] : unit.binding) {
      out += value < 0 ? fmt::format("#define HONE_TUNE_{} ({})\n", name, value)
                       : fmt::format("#define HONE_TUNE_{} {}\n", name, value);
    }
    out += fmt::format("namespace {} {{\n{}\n", space, source.text);
    for (size_t i = 0; i < unit.kernels.size(); ++i) {
      out += fmt::format("inline const void* HoneKernel{}() {{ return reinterpret_cast<const void*>(&{}); }}\n", i,
                         unit.kernels[i]);
      kernels_[{BindingKey(unit.binding), unit.kernels[i]}] = fmt::format("{}::HoneKernel{}()", space, i);
    }
    out += fmt::format("}}  // namespace {}\n", space);
    for (const auto& [name, value] : unit.binding) out += fmt::format("#undef HONE_TUNE_{}\n", name);
    for (const std::string& macro : source.macros) out += fmt::format("#undef {}\n", macro);
  }
  return out;
}

bool PlanWriter::NeedsHopper() const {
  bool needs = !plan_.tensor_maps.empty();
  for (const PlanEntry& e : plan_.entries) {
    needs = needs || !e.cluster.empty() || e.programmatic_dependent_launch;
  }
  return needs;
}

Result<std::string> PlanWriter::Methods() {
  const std::string title = prefix_ == "winner" ? "Winner" : "Seed";
  std::string out;
  if (HasWorkspaces()) {
    out += fmt::format("  // Bytes of workspace; -1: the shape's arithmetic overflows.\n  long long {}Bytes() {{\n",
                       title);
    HONE_ASSIGN_OR_RETURN(const std::string sizes, WorkspaceSizesText());
    out += sizes + "    return ok ? workspace_end.value : -1;\n  }\n";
  }
  out += fmt::format("  cudaError_t {}({}) {{\n    cudaError_t error = cudaSuccess;\n", title,
                     HasWorkspaces() ? "void* workspace" : "");
  if (HasWorkspaces()) {
    HONE_ASSIGN_OR_RETURN(const std::string sizes, WorkspaceSizesText());
    out += sizes + "    if (!ok) return cudaErrorInvalidValue;\n";
    for (size_t i = 0; i < plan_.workspaces.size(); ++i) {
      const WorkspaceSpec& w = plan_.workspaces[i];
      out += fmt::format("    void* const w{0} = static_cast<char*>(workspace) + workspace_{0}.value;  // {1}\n", i,
                         w.name);
      if (w.zero_on_entry) {
        out += fmt::format(
            "    // Must be zero on entry; nothing is known of the memory between two calls.\n"
            "    error = cudaMemsetAsync(w{0}, 0, static_cast<size_t>(workspace_bytes_{0}.value), stream);\n"
            "    if (error != cudaSuccess) return error;\n",
            i);
      }
    }
  }
  for (size_t i = 0; i < plan_.tensor_maps.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const std::string map, TensorMapText(i));
    out += map;
  }
  bool dependent = false;
  for (const PlanEntry& e : plan_.entries) dependent = dependent || e.programmatic_dependent_launch;
  if (dependent) out += "    bool launched = false;  // the step before was a launch\n";
  std::vector<size_t> order(plan_.entries.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return plan_.entries[a].step < plan_.entries[b].step; });
  for (size_t i = 0; i < order.size();) {
    const int step = plan_.entries[order[i]].step;
    out += fmt::format("    // step {}\n", step);
    bool first = true, closed = false;
    for (; i < order.size() && plan_.entries[order[i]].step == step; ++i) {
      const PlanEntry& entry = plan_.entries[order[i]];
      const Binding binding = EffectiveBinding(plan_, binding_, entry);
      std::string head = first ? "    " : " else ";
      if (entry.when) {
        HONE_ASSIGN_OR_RETURN(const std::string when, Text(*entry.when, binding, entry.line));
        head += fmt::format("if (Holds({})) ", when);
      } else {
        closed = true;
      }
      HONE_ASSIGN_OR_RETURN(const std::string body, entry.call        ? CallText(entry, binding, dependent)
                                                    : entry.is_memset ? MemsetText(entry, binding, dependent)
                                                                      : LaunchText(entry, binding, dependent));
      out += head + "{\n" + body + "    }";
      first = false;
    }
    if (!closed) out += " else {\n      return cudaErrorInvalidValue;  // the plan serves no such shape\n    }";
    out += "\n    if (!ok) return cudaErrorInvalidValue;\n";
  }
  return out + "    return error;\n  }\n";
}

bool PlanWriter::LeavesShapesOut() const { return !ServedWhen(plan_).empty(); }

Result<std::string> PlanWriter::Serves() {
  std::map<int, std::string> steps;  // step -> its entries' conditions joined by ||; "true": some entry has none
  for (const PlanEntry& entry : plan_.entries) {
    std::string& step = steps[entry.step];
    if (!entry.when) {
      step = "true";
    } else if (step != "true") {
      HONE_ASSIGN_OR_RETURN(const std::string when,
                            Text(*entry.when, EffectiveBinding(plan_, binding_, entry), entry.line));
      step += fmt::format("{}Holds({})", step.empty() ? "" : " || ", when);
    }
  }
  std::string conditions;
  for (const auto& [step, text] : steps) {
    if (text != "true") conditions += fmt::format("{}({})", conditions.empty() ? "" : " && ", text);
  }
  return conditions.empty() ? std::string("true") : conditions;
}

Result<std::string> PlanWriter::Text(const Expression& expression, const Binding& binding, int line,
                         const std::string& occupancy) {
  HostNames names;
  names.names = names_;
  names.call = [&](std::string_view function, const std::vector<std::string>& arguments) -> Result<std::string> {
    if (function == "align" && arguments.size() == 1) {
      for (size_t i = 0; i < plan_.workspaces.size(); ++i) {
        if (plan_.workspaces[i].name == arguments[0]) return fmt::format("Int({})", plan_.workspaces[i].align);
      }
      if (names_.count(arguments[0]) != 0) return fmt::format("Int(AlignmentOf({}))", names_.at(arguments[0]));
    }
    if (function == "stride" && arguments.size() == 2) return StrideText(arguments[0], arguments[1]);
    if (function == "occupancy" && !occupancy.empty()) return occupancy;
    return Status::InvalidArgument(fmt::format("{}() cannot be answered here", function));
  };
  Result<std::string> text = HostExpression(SubstituteTunables(expression.text(), binding), names);
  if (!text.ok()) return text.status().WithContext(fmt::format("{}:{}", candidate_.name, line));
  return text;
}

// Returns the stride of a tensor's axis as C++, from its `strides` or from its shape.
Result<std::string> PlanWriter::StrideText(const std::string& tensor, const std::string& axis_text) {
  const TensorSpec* spec = task_.FindTensor(tensor);
  const auto axis = static_cast<size_t>(axis_text.empty() ? 99 : axis_text[0] - '0');
  if (spec == nullptr || axis >= spec->shape.size()) {
    return Status::InvalidArgument(fmt::format("stride({}, {}): no such axis", tensor, axis_text));
  }
  HostNames names;
  names.names = names_;
  if (!spec->strides.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string text, HostExpression(spec->strides[axis].text(), names));
    return "(" + text + ")";
  }
  std::string product = "Int(1)";
  for (size_t i = axis + 1; i < spec->shape.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const std::string text, HostExpression(spec->shape[i].text(), names));
    product += " * (" + text + ")";
  }
  return "(" + product + ")";
}

// Returns the C++ that computes the workspaces' offsets and their total size.
Result<std::string> PlanWriter::WorkspaceSizesText() {
  const Binding binding = EffectiveBinding(plan_, binding_, PlanEntry{});
  std::string out = "    Int workspace_end = 0;\n";
  for (size_t i = 0; i < plan_.workspaces.size(); ++i) {
    const WorkspaceSpec& w = plan_.workspaces[i];
    HONE_ASSIGN_OR_RETURN(const std::string bytes, Text(w.bytes, binding, 0));
    out += fmt::format(
        "    const Int workspace_bytes_{0} = {1};\n"
        "    if (workspace_bytes_{0}.value < 0) ok = false;\n"
        "    const Int workspace_{0} = round_up(workspace_end, {2});\n"
        "    workspace_end = workspace_{0} + workspace_bytes_{0};\n",
        i, bytes, std::max<int64_t>(w.align, 256));
    if (!w.zero_on_entry) out += fmt::format("    (void)workspace_bytes_{};\n", i);
  }
  return out;
}

// Returns the C++ that encodes a tensor map.
Result<std::string> PlanWriter::TensorMapText(size_t index) {
  const TensorMapSpec& map = plan_.tensor_maps[index];
  const Binding binding = EffectiveBinding(plan_, binding_, PlanEntry{});
  static const std::map<std::string, std::string> kTensorMapTypes = {{"float64", "FLOAT64"},
                                                                     {"float32", "FLOAT32"},
                                                                     {"float32_ftz", "FLOAT32_FTZ"},
                                                                     {"tfloat32", "TFLOAT32"},
                                                                     {"tfloat32_ftz", "TFLOAT32_FTZ"},
                                                                     {"float16", "FLOAT16"},
                                                                     {"bfloat16", "BFLOAT16"},
                                                                     {"int64", "INT64"},
                                                                     {"uint64", "UINT64"},
                                                                     {"int32", "INT32"},
                                                                     {"uint32", "UINT32"},
                                                                     {"int16", "UINT16"},
                                                                     {"uint16", "UINT16"},
                                                                     {"int8", "UINT8"},
                                                                     {"uint8", "UINT8"},
                                                                     {"bool", "UINT8"},
                                                                     {"float8_e4m3fn", "UINT8"},
                                                                     {"float8_e5m2", "UINT8"},
                                                                     {"float8_e8m0fnu", "UINT8"}};
  const std::string dtype =
      map.dtype.empty() ? std::string(DTypeName(task_.FindTensor(map.tensor)->dtype)) : map.dtype;
  const auto fields = [&](const std::vector<Expression>& list, size_t missing) -> Result<std::string> {
    std::string text;
    for (const Expression& e : list) {
      HONE_ASSIGN_OR_RETURN(const std::string one, Text(e, binding, 0));
      text += fmt::format("{}Int({})", text.empty() ? "" : ", ", one);
    }
    for (size_t i = 0; list.empty() && i < missing; ++i) text += i == 0 ? "Int(1)" : ", Int(1)";
    return text.empty() ? std::string("Int(0)") : text;
  };
  HONE_ASSIGN_OR_RETURN(const std::string dims, fields(map.dims, 0));
  HONE_ASSIGN_OR_RETURN(const std::string strides, fields(map.strides, 0));
  HONE_ASSIGN_OR_RETURN(const std::string box, fields(map.box, 0));
  HONE_ASSIGN_OR_RETURN(const std::string steps, fields(map.element_strides, map.dims.size()));
  return fmt::format(
      "    CUtensorMap m{0};  // {1}\n"
      "    error = TensorMap{{CU_TENSOR_MAP_DATA_TYPE_{2}, {3}, {{{4}}}, {{{5}}}, {{{6}}}, {{{7}}},\n"
      "                      CU_TENSOR_MAP_INTERLEAVE_{8}, CU_TENSOR_MAP_SWIZZLE_{9}, "
      "CU_TENSOR_MAP_L2_PROMOTION_{10},\n"
      "                      CU_TENSOR_MAP_FLOAT_OOB_FILL_{11}}}.Encode({12}, &m{0});\n"
      "    if (error != cudaSuccess) return error;\n",
      index, map.name, kTensorMapTypes.at(dtype), map.dims.size(), dims, strides, box, steps,
      map.interleave == "none" ? "NONE" : map.interleave, map.swizzle == "none" ? "NONE" : map.swizzle,
      map.l2_promotion == "none" ? "NONE" : "L2_" + map.l2_promotion,
      map.oob_fill == "nan" ? "NAN_REQUEST_ZERO_FMA" : "NONE", names_.at(map.tensor));
}

size_t PlanWriter::WorkspaceIndex(const std::string& name) const {
  for (size_t i = 0; i < plan_.workspaces.size(); ++i) {
    if (plan_.workspaces[i].name == name) return i;
  }
  return plan_.workspaces.size();
}

Result<std::string> PlanWriter::MemsetText(const PlanEntry& entry, const Binding& binding, bool dependent) {
  const size_t w = WorkspaceIndex(entry.target);
  std::string target, all;
  if (w < plan_.workspaces.size()) {
    target = fmt::format("w{}", w);
    all = fmt::format("workspace_bytes_{}", w);
  } else {
    const TensorSpec* tensor = task_.FindTensor(entry.target);
    target = names_.at(entry.target);
    all = fmt::format("Int({})", DTypeBytes(tensor->dtype));
    HostNames names;
    names.names = names_;
    for (const Expression& e : tensor->shape) {
      HONE_ASSIGN_OR_RETURN(const std::string extent, HostExpression(e.text(), names));
      all += " * (" + extent + ")";
    }
  }
  std::string bytes = all;
  if (entry.memset_bytes) {
    HONE_ASSIGN_OR_RETURN(bytes, Text(*entry.memset_bytes, binding, entry.line));
  }
  return fmt::format(
      "      const Int bytes = {};\n"
      "      if (!ok || bytes.value < 0) return cudaErrorInvalidValue;\n"
      "      if (bytes.value > 0) {{\n"
      "        error = cudaMemsetAsync({}, {}, static_cast<size_t>(bytes.value), stream);\n"
      "        if (error != cudaSuccess) return error;\n{}"
      "      }}\n",
      bytes, target, entry.memset_value, dependent ? "        launched = false;\n" : "");
}

Result<std::string> PlanWriter::PointerText(const PlanEntry& entry, const Binding& binding, const Argument& argument,
                                            const std::string& occupancy) {
  std::string base;
  int64_t unit = 1;
  if (argument.kind == ArgumentKind::kTensor) {
    base = names_.at(argument.name);
    unit = DTypeBytes(task_.FindTensor(argument.name)->dtype);
  } else {
    base = fmt::format("w{}", WorkspaceIndex(argument.name));
  }
  if (!argument.offset) return base;
  HONE_ASSIGN_OR_RETURN(const std::string offset, Text(*argument.offset, binding, entry.line, occupancy));
  return unit == 1 ? fmt::format("Offset({}, {})", base, offset) : fmt::format("Offset({}, ({}) * {})", base, offset, unit);
}

Result<std::string> PlanWriter::CallText(const PlanEntry& entry, const Binding& binding, bool dependent) {
  const LibraryCall& call = *entry.call;
  std::string out = fmt::format("      {} library;\n", call.convolution ? "ConvolutionCall" : "MatmulCall");
  const auto pointer = [&](const char* field, const Argument& argument) -> Status {
    HONE_ASSIGN_OR_RETURN(const std::string text, PointerText(entry, binding, argument, ""));
    const bool written = std::string_view(field) == "out";
    out += fmt::format("      library.{} = {};  // {}\n", field, written ? fmt::format("const_cast<void*>(static_cast<const void*>({}))", text) : text,
                       argument.name);
    return Status::Ok();
  };
  const auto number = [&](const std::string& field, const Expression& value) -> Status {
    HONE_ASSIGN_OR_RETURN(const std::string text, Text(value, binding, entry.line));
    out += fmt::format("      library.{} = Fit<long long>({});\n", field, text);
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(pointer(call.convolution ? "input" : "a", call.a));
  HONE_RETURN_IF_ERROR(pointer(call.convolution ? "weight" : "b", call.b));
  HONE_RETURN_IF_ERROR(pointer("out", call.out));
  if (call.bias) HONE_RETURN_IF_ERROR(pointer("bias", *call.bias));
  if (call.convolution) {
    const ConvolutionSizes& sizes = *call.convolution;
    HONE_RETURN_IF_ERROR(number("batch", sizes.batch));
    HONE_RETURN_IF_ERROR(number("in_channels", sizes.in_channels));
    HONE_RETURN_IF_ERROR(number("out_channels", sizes.out_channels));
    if (sizes.groups) HONE_RETURN_IF_ERROR(number("groups", *sizes.groups));
    out += fmt::format("      library.axes = {};\n", sizes.size.size());
    if (sizes.transposed) out += "      library.transposed = true;\n";
    const std::pair<const char*, const std::vector<Expression>*> lists[] = {
        {"size", &sizes.size},         {"kernel", &sizes.kernel},     {"stride", &sizes.stride},
        {"padding", &sizes.padding},   {"dilation", &sizes.dilation}, {"output_padding", &sizes.output_padding}};
    for (const auto& [field, list] : lists) {
      for (size_t axis = 0; axis < list->size(); ++axis) HONE_RETURN_IF_ERROR(number(fmt::format("{}[{}]", field, axis), (*list)[axis]));
    }
  } else {
    HONE_RETURN_IF_ERROR(number("m", call.m));
    HONE_RETURN_IF_ERROR(number("n", call.n));
    HONE_RETURN_IF_ERROR(number("k", call.k));
    if (call.batch) HONE_RETURN_IF_ERROR(number("batch", *call.batch));
    if (call.transpose_a) out += "      library.transpose_a = true;\n";
    if (call.transpose_b) out += "      library.transpose_b = true;\n";
    if (call.epilogue != "none") out += fmt::format("      library.epilogue = {};\n", call.epilogue == "relu" ? "CallEpilogue::kRelu" : "CallEpilogue::kGeluTanh");
  }
  const char* type = call.dtype == DType::kFloat16 ? "kFloat16" : call.dtype == DType::kBFloat16 ? "kBFloat16" : "kFloat32";
  out += fmt::format("      library.type = CallType::{};\n", type);
  out += fmt::format("      if (!ok) return cudaErrorInvalidValue;\n      error = {}(library, stream);\n      if (error != cudaSuccess) return error;\n",
                     call.convolution ? "LibraryConvolution" : "LibraryMatmul");
  if (dependent) out += "      launched = false;\n";
  return out;
}

Result<std::string> PlanWriter::ArgumentText(const PlanEntry& entry, const Binding& binding, const Argument& argument, size_t i,
                                 const std::string& occupancy) {
  switch (argument.kind) {
    case ArgumentKind::kTensor:
    case ArgumentKind::kWorkspace: {
      HONE_ASSIGN_OR_RETURN(const std::string text, PointerText(entry, binding, argument, occupancy));
      return fmt::format("      const void* a{} = {};  // {}\n", i, text, argument.name);
    }
    case ArgumentKind::kInteger: {
      HONE_ASSIGN_OR_RETURN(const std::string value, Text(*argument.value, binding, entry.line, occupancy));
      const std::string type = IntegerType(argument.type);
      return fmt::format("      {0} a{1} = Fit<{0}>({2});\n", type, i, value);
    }
    case ArgumentKind::kScalar: {
      const std::string& name = names_.at(argument.name);
      if (argument.type == "f64") return fmt::format("      double a{} = static_cast<double>({});\n", i, name);
      if (argument.type == "f16")
        return fmt::format("      __half a{} = __float2half_rn(static_cast<float>({}));\n", i, name);
      if (argument.type == "bf16")
        return fmt::format("      __nv_bfloat16 a{} = __float2bfloat16_rn(static_cast<float>({}));\n", i, name);
      return fmt::format("      float a{} = static_cast<float>({});\n", i, name);
    }
    case ArgumentKind::kTensorMap: {
      for (size_t m = 0; m < plan_.tensor_maps.size(); ++m) {
        if (plan_.tensor_maps[m].name == argument.name) return fmt::format("      CUtensorMap& a{} = m{};\n", i, m);
      }
      return Status::InvalidArgument(
          fmt::format("{}:{}: no tensor map '{}'", candidate_.name, entry.line, argument.name));
    }
    case ArgumentKind::kStruct: {
      const ArgumentLayout layout = LayoutOf(SizesOf(argument));
      std::string out = fmt::format("      alignas({}) unsigned char a{}[{}] = {{}};  // {}\n",
                                    std::max<int64_t>(layout.align, 8), i, layout.size, argument.type);
      for (size_t f = 0; f < argument.fields.size(); ++f) {
        const std::string field = fmt::format("{}_{}", i, f);
        HONE_ASSIGN_OR_RETURN(std::string text, FieldText(entry, binding, argument.fields[f], field, occupancy));
        out +=
            text + fmt::format("      memcpy(a{0} + {1}, &a{2}, sizeof a{2});\n", i, layout.field_offsets[f], field);
      }
      return out;
    }
    case ArgumentKind::kReference:
      break;
  }
  return Status::InvalidArgument(
      fmt::format("{}:{}: argument {} is for oracles only", candidate_.name, entry.line, i + 1));
}

Result<std::string> PlanWriter::FieldText(const PlanEntry& entry, const Binding& binding, const Argument& field,
                              const std::string& name, const std::string& occupancy) {
  if (field.kind == ArgumentKind::kStruct || field.kind == ArgumentKind::kTensorMap) {
    return Status::InvalidArgument(
        fmt::format("{}:{}: a struct within a struct cannot be written out", candidate_.name, entry.line));
  }
  HONE_ASSIGN_OR_RETURN(std::string text, ArgumentText(entry, binding, field, 0, occupancy));
  const size_t at = text.find(" a0 =");
  text.replace(at, 3, " a" + name);
  return text;
}

// Returns the C++ of one launch. `dependent`: it may begin before the kernel in front of it has ended.
Result<std::string> PlanWriter::LaunchText(const PlanEntry& entry, const Binding& binding, bool dependent) {
  const std::string kernel = kernels_.at({BindingKey(binding), SubstituteTunables(entry.kernel, binding)});
  std::string out =
      fmt::format("      Launch launch;\n      launch.kernel = hone_kernels_{}::{};\n", task_.name, kernel);
  const auto extents = [&](const char* field, const std::vector<Expression>& list,
                           const std::string& occupancy) -> Result<std::string> {
    std::string text;
    for (size_t axis = 0; axis < list.size(); ++axis) {
      HONE_ASSIGN_OR_RETURN(const std::string one, Text(list[axis], binding, entry.line, occupancy));
      text += fmt::format("{}launch.{}[{}] = {};\n", "      ", field, axis, one);
    }
    return text;
  };
  // Block and shared memory are written before the grid, since occupancy() in the grid depends on them.
  HONE_ASSIGN_OR_RETURN(const std::string block, extents("block", entry.block, ""));
  HONE_ASSIGN_OR_RETURN(const std::string grid, extents("grid", entry.grid, "launch.Occupancy()"));
  HONE_ASSIGN_OR_RETURN(const std::string cluster, extents("cluster", entry.cluster, ""));
  out += block;
  if (entry.shared) {
    HONE_ASSIGN_OR_RETURN(const std::string shared, Text(*entry.shared, binding, entry.line));
    out += fmt::format("      launch.shared = {};\n", shared);
  }
  if (!entry.cluster.empty())
    out += "      launch.cluster[0] = launch.cluster[1] = launch.cluster[2] = 1;\n" + cluster;
  if (entry.cooperative) out += "      launch.cooperative = true;\n";
  if (entry.programmatic_dependent_launch) out += "      launch.dependent = launched;\n";
  // If the grid is empty, there is nothing to do, and the plan's other values may be invalid.
  out += "      const bool shape_is_sound = ok;\n" + grid;
  out +=
      "      if (launch.Empty()) ok = shape_is_sound;\n      if (!ok) return cudaErrorInvalidValue;\n"
      "      if (!launch.Empty()) {\n";
  std::string arguments, list;
  for (size_t i = 0; i < entry.args.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const std::string one,
                          ArgumentText(entry, binding, entry.args[i], i, "launch.Occupancy()"));
    arguments += one;
    list += fmt::format("{}const_cast<void*>(static_cast<const void*>(&a{}))",
                        list.empty() ? "" : ",\n                      ", i);
  }
  out += PrefixLines(arguments, "  ");
  out += fmt::format("        void* args[] = {{{}}};\n", list.empty() ? "nullptr" : list);
  out +=
      "        if (!ok) return cudaErrorInvalidValue;\n        error = launch.Run(args, stream);\n"
      "        if (error != cudaSuccess) return error;\n";
  if (dependent) out += "        launched = true;\n";
  return out + "      }\n";
}

}  // namespace hone
