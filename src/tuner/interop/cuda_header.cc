// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/cuda_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "tuner/core/argument_layout.h"
#include "tuner/core/bindings.h"
#include "tuner/interop/embed_source.h"
#include "tuner/interop/header_support.h"
#include "tuner/interop/host_expression.h"

namespace hone {
namespace {

// Names that the generated struct uses itself.
const std::vector<std::string> kTaken = {
    "Int",   "Launch", "min",   "max",    "ceil_div",  "round_up",    "Log2",   "Holds",     "Checked", "Divides",
    "error", "launch", "args",  "stream", "workspace", "Winner",      "Seed",   "UseSeed",   "ok",      "sm_count",
    "cc",    "hone",   "Valid", "Call",   "launched",  "AlignmentOf", "Offset", "TensorMap", "bytes",   "memset"};

std::string Multiline(std::string_view text, std::string_view prefix) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += fmt::format("{}{}\n", prefix, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

std::string IntegerType(const std::string& type) {
  if (type == "i32") return "int32_t";
  if (type == "u32") return "uint32_t";
  if (type == "u64") return "uint64_t";
  if (type == "bool") return "bool";
  return "int64_t";
}

std::string DimsText(const Dims& dims) {
  std::string text;
  for (const auto& [name, value] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string AliasOf(const Task& task, const std::string& tensor) {
  const TensorSpec* spec = task.FindTensor(tensor);
  return spec == nullptr || spec->alias.empty() ? tensor : spec->alias;
}

// The text of one plan (the winner's or the seed's).
class PlanWriter {
 public:
  PlanWriter(const Task& task, const Candidate& candidate, const Binding& binding, std::string prefix,
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

  // The namespaces with the device code, one a binding.
  std::string Kernels(const EmbeddedSource& source) {
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

  bool HasWorkspaces() const { return !plan_.workspaces.empty(); }
  // Whether the plan asks for what only compute capability 9.0 has.
  bool NeedsHopper() const {
    bool needs = !plan_.tensor_maps.empty();
    for (const PlanEntry& e : plan_.entries) {
      needs = needs || !e.cluster.empty() || e.programmatic_dependent_launch;
    }
    return needs;
  }

  // Members of Call: bytes of workspace, and the run itself.
  Result<std::string> Methods() {
    const std::string title = prefix_ == "winner" ? "Winner" : "Seed";
    std::string out;
    if (HasWorkspaces()) {
      out += fmt::format("  // Bytes of workspace; -1: the shape's arithmetic overflows.\n  long long {}Bytes() {{\n",
                         title);
      HONE_ASSIGN_OR_RETURN(const std::string sizes, WorkspaceSizes());
      out += sizes + "    return ok ? workspace_end.value : -1;\n  }\n";
    }
    out += fmt::format("  cudaError_t {}({}) {{\n    cudaError_t error = cudaSuccess;\n", title,
                       HasWorkspaces() ? "void* workspace" : "");
    if (HasWorkspaces()) {
      HONE_ASSIGN_OR_RETURN(const std::string sizes, WorkspaceSizes());
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
        HONE_ASSIGN_OR_RETURN(const std::string body, entry.is_memset ? Memset(entry, binding, dependent)
                                                                      : LaunchText(entry, binding, dependent));
        out += head + "{\n" + body + "    }";
        first = false;
      }
      if (!closed) out += " else {\n      return cudaErrorInvalidValue;  // the plan serves no such shape\n    }";
      out += "\n    if (!ok) return cudaErrorInvalidValue;\n";
    }
    return out + "    return error;\n  }\n";
  }

  Result<std::string> Text(const Expression& expression, const Binding& binding, int line,
                           const std::string& occupancy = "") {
    HostNames names;
    names.names = names_;
    names.call = [&](std::string_view function, const std::vector<std::string>& arguments) -> Result<std::string> {
      if (function == "align" && arguments.size() == 1) {
        for (size_t i = 0; i < plan_.workspaces.size(); ++i) {
          if (plan_.workspaces[i].name == arguments[0]) return fmt::format("Int({})", plan_.workspaces[i].align);
        }
        if (names_.count(arguments[0]) != 0) return fmt::format("Int(AlignmentOf({}))", names_.at(arguments[0]));
      }
      if (function == "stride" && arguments.size() == 2) return Stride(arguments[0], arguments[1]);
      if (function == "occupancy" && !occupancy.empty()) return occupancy;
      return Status::InvalidArgument(fmt::format("{}() cannot be answered here", function));
    };
    Result<std::string> text = HostExpression(SubstituteTunables(expression.text(), binding), names);
    if (!text.ok()) return text.status().WithContext(fmt::format("{}:{}", candidate_.name, line));
    return text;
  }

 private:
  Result<std::string> Stride(const std::string& tensor, const std::string& axis_text) {
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

  Result<std::string> WorkspaceSizes() {
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

  Result<std::string> TensorMapText(size_t index) {
    const TensorMapSpec& map = plan_.tensor_maps[index];
    const Binding binding = EffectiveBinding(plan_, binding_, PlanEntry{});
    static const std::map<std::string, std::string> kTypes = {{"float64", "FLOAT64"},
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
                                                              {"uint8", "UINT8"}};
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
        index, map.name, kTypes.at(dtype), map.dims.size(), dims, strides, box, steps,
        map.interleave == "none" ? "NONE" : map.interleave, map.swizzle == "none" ? "NONE" : map.swizzle,
        map.l2_promotion == "none" ? "NONE" : "L2_" + map.l2_promotion,
        map.oob_fill == "nan" ? "NAN_REQUEST_ZERO_FMA" : "NONE", names_.at(map.tensor));
  }

  size_t WorkspaceIndex(const std::string& name) const {
    for (size_t i = 0; i < plan_.workspaces.size(); ++i) {
      if (plan_.workspaces[i].name == name) return i;
    }
    return plan_.workspaces.size();
  }

  Result<std::string> Memset(const PlanEntry& entry, const Binding& binding, bool dependent) {
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

  // One argument as a local `a<i>`; the text ends with a newline.
  Result<std::string> ArgumentText(const PlanEntry& entry, const Binding& binding, const Argument& argument, size_t i,
                                   const std::string& occupancy) {
    const auto pointer = [&]() -> Result<std::string> {
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
      return unit == 1 ? fmt::format("Offset({}, {})", base, offset)
                       : fmt::format("Offset({}, ({}) * {})", base, offset, unit);
    };
    switch (argument.kind) {
      case ArgumentKind::kTensor:
      case ArgumentKind::kWorkspace: {
        HONE_ASSIGN_OR_RETURN(const std::string text, pointer());
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
        ResolvedArgument sizes;
        sizes.kind = ArgumentKind::kStruct;
        for (const Argument& field : argument.fields) sizes.fields.push_back(SizesOf(field));
        const ArgumentLayout layout = LayoutOf(sizes);
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

  // The same for a field; a name such as "2_0" instead of an index.
  Result<std::string> FieldText(const PlanEntry& entry, const Binding& binding, const Argument& field,
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

  static ResolvedArgument SizesOf(const Argument& argument) {
    ResolvedArgument sizes;
    sizes.kind = argument.kind;
    const std::string& type = argument.type;
    if (argument.kind == ArgumentKind::kInteger || argument.kind == ArgumentKind::kScalar) {
      const size_t bytes = type == "bool" ? 1 : type == "f16" || type == "bf16" ? 2 : type.ends_with("64") ? 8 : 4;
      sizes.bytes.assign(bytes, 0);
    }
    for (const Argument& field : argument.fields) sizes.fields.push_back(SizesOf(field));
    return sizes;
  }

  Result<std::string> LaunchText(const PlanEntry& entry, const Binding& binding, bool dependent) {
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
    // Block and shared memory first: occupancy() in the grid depends on them.
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
    // An empty grid means that there is nothing to do; what else the plan computes need not make sense then.
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
    out += Multiline(arguments, "  ");
    out += fmt::format("        void* args[] = {{{}}};\n", list.empty() ? "nullptr" : list);
    out +=
        "        if (!ok) return cudaErrorInvalidValue;\n        error = launch.Run(args, stream);\n"
        "        if (error != cudaSuccess) return error;\n";
    if (dependent) out += "        launched = true;\n";
    return out + "      }\n";
  }

  const Task& task_;
  const LaunchPlan& plan_;
  const Candidate& candidate_;
  const Binding& binding_;
  const std::string prefix_;
  std::map<std::string, std::string> names_;                            // of the plan -> C++
  std::map<std::pair<std::string, std::string>, std::string> kernels_;  // binding key, name -> address
};

std::string Preamble(const KernelPackage& package, const HeaderSignature& signature) {
  const Task& task = package.task;
  std::string out = fmt::format(
      "// {}: {}\n//\n// Written by `hone apply` from node {} of run {}; the kernels below carry their authors' own "
      "licence "
      "lines.\n//\n",
      task.name, task.summary, package.node, package.run);
  out += fmt::format("// Device of the run: {}.{}\n", package.device,
                     package.modelled ? " Times are MODELLED by the simulator, not measured." : "");
  if (package.guarantee != "full") out += fmt::format("// Guarantee: {}\n", package.guarantee);
  out += package.paired ? "// Winner against the seed, paired, per shape:\n"
                        : "// Winner and seed were timed in different sittings, NOT paired:\n";
  for (const PackagedShape& s : package.shapes) {
    out += fmt::format("//   {:<36} {:>10.2f} us, seed {:>10.2f} us, {:.3f}x{}{}\n", DimsText(s.dims), s.winner_us,
                       s.seed_us, s.speedup.median,
                       package.modelled ? "" : fmt::format(" [{:.3f}, {:.3f}]", s.speedup.low, s.speedup.high),
                       s.wins ? "" : "  -> the seed runs");
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
  }
  return "void";
}

HeaderSignature SignatureOf(const Task& task) {
  HeaderSignature signature;
  signature.function = HostIdentifier(task.name);
  std::set<std::string> written;
  for (const TensorSpec& t : task.tensors) {
    if (t.role != TensorRole::kIn) written.insert(AliasOf(task, t.name));
  }
  for (const TensorSpec& t : task.tensors) {
    if (!t.alias.empty()) continue;
    signature.tensors.push_back(
        {HostIdentifier(t.name, kTaken), t.name,
         fmt::format("{}{}*", written.count(t.name) != 0 ? "" : "const ", HostElementType(t.dtype))});
  }
  for (const ScalarSpec& s : task.scalars) {
    signature.scalars.push_back(
        {HostIdentifier(s.name, kTaken), s.name, s.dtype == DType::kFloat64 ? "double" : "float"});
  }
  for (const auto& [name, text] : task.dims) signature.dims.push_back({HostIdentifier(name, kTaken), name, "int64_t"});
  return signature;
}

std::vector<std::string> PackageOptions(const KernelPackage& package) {
  std::vector<std::string> options = package.winner.plan.compiler_options;
  for (const std::string& option : package.seed.plan.compiler_options) {
    // Where both name one option, the winner's holds.
    const std::string key = option.substr(0, option.find('='));
    const bool known =
        std::any_of(options.begin(), options.end(), [&](const std::string& o) { return o.starts_with(key); });
    if (!known && key != "--use_fast_math") options.push_back(option);
  }
  return options;
}

std::string CudaHeaderName(const KernelPackage& package) { return fmt::format("hone_{}.cuh", package.task.name); }

Result<std::string> CudaHeader(const KernelPackage& package) {
  const Task& task = package.task;
  const HeaderSignature signature = SignatureOf(task);
  const Binding none;
  PlanWriter winner(task, package.winner, package.winner_binding, "winner", signature);
  PlanWriter seed(task, package.seed, none, "seed", signature);
  const EmbeddedSource winner_source = EmbedSource(package.winner.source);
  const EmbeddedSource seed_source = EmbedSource(package.seed.source);

  std::string out = Preamble(package, signature) + "#pragma once\n\n";
  std::vector<std::string> includes = {"<cuda.h>",   "<cuda_bf16.h>", "<cuda_fp16.h>", "<cuda_runtime.h>", "<float.h>",
                                       "<limits.h>", "<math.h>",      "<stdint.h>",    "<string.h>"};
  const auto include = [&](const std::string& name) {
    if (std::find(includes.begin(), includes.end(), name) == includes.end()) includes.push_back(name);
  };
  for (const Candidate* candidate : {&package.winner, &package.seed}) {
    if (candidate->plan.include_set == "full") {
      for (const char* name : {"<mma.h>", "<cooperative_groups.h>", "<cooperative_groups/reduce.h>",
                               "<cuda_pipeline.h>", "<cuda/pipeline>", "<cuda/barrier>"})
        include(name);
    } else if (candidate->plan.include_set == "cute") {
      for (const char* name : {"<cute/tensor.hpp>", "<cute/atom/mma_atom.hpp>", "<cute/atom/copy_atom.hpp>",
                               "<cute/algorithm/gemm.hpp>", "<cute/algorithm/copy.hpp>", "<cutlass/cutlass.h>",
                               "<cutlass/numeric_types.h>", "<cutlass/numeric_conversion.h>"})
        include(name);
    }
  }
  for (const std::string& name : winner_source.includes) include(name);
  for (const std::string& name : seed_source.includes) include(name);
  for (const std::string& name : includes) out += fmt::format("#include {}\n", name);

  // Unnamed: two files that include this header have kernels of their own, and nothing clashes.
  out += "\n#pragma nv_diagnostic push\n#pragma nv_diag_suppress 177\nnamespace {\n";
  out += fmt::format("namespace hone_kernels_{} {{\n", task.name);
  out += winner.Kernels(winner_source) + seed.Kernels(seed_source);
  out += fmt::format("\n}}  // namespace hone_kernels_{}\n}}  // namespace\n#pragma nv_diagnostic pop\n", task.name);

  out += fmt::format("\nnamespace hone {{\nnamespace {}_detail {{\nnamespace {{\n", task.name);
  out += HeaderSupport();
  if (!package.winner.plan.tensor_maps.empty() || !package.seed.plan.tensor_maps.empty()) out += TensorMapSupport();

  // The call as a struct, so that expressions find their names.
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
      "    if (static_cast<long long>(fitted) != value.value || (value.value < 0) != (fitted < T(0))) ok = false;\n"
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
  out += "  // Shapes where the run did not show the winner to be faster.\n  bool UseSeed() const {\n";
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
    // Bytes first: a caller may own the memory.
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
