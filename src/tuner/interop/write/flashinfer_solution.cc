// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/flashinfer_solution.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text/json_text.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/interop/write/cuda_header.h"
#include "tuner/interop/write/python_exports.h"
#include "tuner/model/builtin/cuda_lexer.h"

namespace hone {
namespace {

constexpr const char* kFile = "kernel.cu";
constexpr const char* kEntry = "run";

// The arguments that a caller of the definition passes, in the definition's order.
struct Interface {
  std::string definition;  // its name
  // Tensors and scalars of the task, and numbers that the kernel was judged with.
  std::vector<TorchModule::Input> inputs;
  std::vector<std::string> outputs;
};

// Returns the arguments in the order of the task's definition. A task without a definition passes its inputs, then its
// scalars.
Interface InterfaceOf(const Task& task) {
  Interface interface {
    .definition = task.name, .inputs = {}, .outputs = {}
  };
  if (HasTorchModule(task)) {
    const TorchModule module = TorchModuleOf(task);
    if (!module.definition.empty()) interface.definition = module.definition;
    if (module.state.empty()) {
      interface.inputs = module.named_inputs;
      interface.outputs = module.outputs;
      return interface;
    }
  }
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role == TensorRole::kOut) {
      interface.outputs.push_back(tensor.name);
    } else {
      interface.inputs.push_back({tensor.name, ""});
    }
  }
  for (const ScalarSpec& scalar : task.scalars) interface.inputs.push_back({scalar.name, ""});
  return interface;
}

using CppNames = std::map<std::string, std::string>;

// Returns C++ text that computes a dimension's size from an extent `d`, `d + 1` or `d - 1` of a tensor, or the number
// if all cases have the same size. Empty: neither is possible.
std::string SizeOf(const Task& task, const CppNames& cpp, const std::string& dim) {
  for (const TensorSpec& tensor : task.tensors) {
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      const std::vector<Token> tokens = LexCuda(tensor.shape[axis].text());
      if (tokens.empty() || tokens[0].text != dim) continue;
      if (tokens.size() == 1) return fmt::format("{}.size({})", cpp.at(tensor.name), axis);
      if (tokens.size() != 3 || tokens[2].kind != TokenKind::kNumber) continue;
      if (tokens[1].text == "+") return fmt::format("{}.size({}) - {}", cpp.at(tensor.name), axis, tokens[2].text);
      if (tokens[1].text == "-") return fmt::format("{}.size({}) + {}", cpp.at(tensor.name), axis, tokens[2].text);
    }
  }
  // A dimension with the same size in every case is taken for a constant.
  std::optional<int64_t> only;
  for (const Case& task_case : task.cases) {
    const int64_t size = task_case.dims.at(dim);
    if (only && *only != size) return "";
    only = size;
  }
  return only ? std::to_string(*only) : "";
}

// Returns the function that callers of the definition call. It checks the numbers, reorders the arguments, and calls
// the binding's own function, which takes outputs first and no numbers.
Result<std::string> EntryText(const Task& task, const Interface& interface) {
  const HeaderSignature signature = SignatureOf(task);
  CppNames cpp;
  for (const HeaderParameter& p : signature.tensors) cpp[p.plan] = p.name;
  for (const HeaderParameter& p : signature.scalars) cpp[p.plan] = p.name;
  std::vector<std::string> parameters, arguments;
  std::string body;
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const TorchModule::Input& input = interface.inputs[i];
    if (input.tensor.empty()) {
      parameters.push_back(fmt::format("double number{}", i));
      const std::string number = input.number == "true" ? "1" : input.number == "false" ? "0" : input.number;
      body += fmt::format(
          "  TORCH_CHECK(number{0} == {1}, \"this kernel was judged with {1} for argument {0}, and got \", "
          "number{0});\n",
          i, number);
    } else {
      parameters.push_back((task.FindScalar(input.tensor) != nullptr ? "double " : "torch::Tensor ") +
                           cpp.at(input.tensor));
    }
  }
  for (const std::string& output : interface.outputs) parameters.push_back("torch::Tensor " + cpp.at(output));
  for (const bool outputs : {true, false}) {
    for (const HeaderParameter& p : signature.tensors) {
      const TensorSpec& tensor = *task.FindTensor(p.plan);
      if ((tensor.role == TensorRole::kOut) != outputs) continue;
      if (tensor.role == TensorRole::kInOut || !tensor.alias.empty()) {
        return Status::InvalidArgument(fmt::format(
            "{} is updated in place, and a definition's outputs are tensors of their own: use --as extension",
            tensor.name));
      }
      // Tasks hold booleans, and pairs of 4-bit floats, as bytes.
      if (tensor.dtype == DType::kUInt8)
        body += fmt::format("  if ({0}.element_size() == 1) {0} = {0}.view(torch::kUInt8);\n", p.name);
      if (!outputs) body += fmt::format("  {0} = {0}.contiguous();\n", p.name);
      arguments.push_back(p.name);
    }
  }
  for (const HeaderParameter& p : signature.scalars) arguments.push_back(p.name);
  for (const DimSource& source : FindDimensions(task)) {
    if (!source.tensor.empty()) continue;
    const std::string size = SizeOf(task, cpp, source.dim);
    if (size.empty()) {
      return Status::InvalidArgument(
          fmt::format("no tensor tells the size {}, and a Solution's entry point takes tensors and numbers alone: use "
                      "--as extension",
                      source.dim));
    }
    arguments.push_back(size);
  }
  return fmt::format(
      "// The definition's inputs in its order, then its outputs, which are filled.\nvoid hone_entry({}) {{\n{}  "
      "{}_out({});\n}}\n\n",
      fmt::join(parameters, ", "), body, task.name, fmt::join(arguments, ", "));
}

// Returns the Solution's source: one CUDA file, with a binding for PyTorch whose function is kEntry.
Result<std::string> SourceText(const KernelPackage& package, const Interface& interface) {
  HONE_ASSIGN_OR_RETURN(const std::string entry, EntryText(package.task, interface));
  HONE_ASSIGN_OR_RETURN(std::string source, StandAloneBinding(package));
  const size_t end = source.rfind("}  // namespace\n\nPYBIND11_MODULE");
  HONE_CHECK(end != std::string::npos, "the generated binding ends with its module");
  source.resize(end);
  // PyTorch's build disables the conversions of half types by macros on the command line; this file undefines them.
  std::string text;
  for (const char* macro : {"HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS"})
    text += fmt::format("#undef __CUDA_NO_{}__\n", macro);
  return text + source + entry +
         fmt::format("}}  // namespace\n\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def(\"{}\", &hone_entry); }}\n",
                     kEntry);
}

// Returns the file with a Solution of this spec.
Result<GeneratedFile> SolutionFile(const KernelPackage& package, nlohmann::json spec, const char* board) {
  const Task& task = package.task;
  const Interface interface = InterfaceOf(task);
  HONE_ASSIGN_OR_RETURN(const std::string text, SourceText(package, interface));
  const std::string name = package.run.empty() ? SolutionName(task, package.file)
                                               : fmt::format("hone_{}_{}_{}", task.name, package.run, package.node);
  spec["entry_point"] = fmt::format("{}::{}", kFile, kEntry);
  spec["dependencies"] = nlohmann::json::array();
  spec["destination_passing_style"] = true;
  spec["binding"] = "torch";
  const nlohmann::json solution = {
      {"name", name},     {"definition", interface.definition},
      {"author", "hone"}, {"description", fmt::format("Written by hone apply from {}.", PackageOrigin(package))},
      {"spec", spec},     {"sources", {{{"path", kFile}, {"content", text}}}}};
  return GeneratedFile{fmt::format("{}_solution.json", task.name), DumpJson(solution, 2) + "\n",
                       fmt::format("the Solution, as {} takes it", board)};
}

bool UsesCutlass(const KernelPackage& package) {
  return package.winner.plan.include_set == "cute" || package.seed.plan.include_set == "cute";
}

}  // namespace

std::string SolutionName(const Task& task, const std::string& file) {
  std::string name = "hone_" + task.name + "_";
  for (const char c : std::filesystem::path(file).stem().string())
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

Result<GeneratedFile> FlashInferSolution(const KernelPackage& package) {
  if (const std::vector<std::string> options = PackageOptions(package); !options.empty()) {
    return Status::InvalidArgument(
        fmt::format("the kernel was judged with {}, and a Solution names no compiler options: judge it without them, "
                    "or use --as extension",
                    fmt::join(options, " ")));
  }
  if (UsesCutlass(package)) {
    return Status::InvalidArgument(
        "the kernel includes CUTLASS, whose folder a Solution cannot name: use --as extension");
  }
  return SolutionFile(package,
                      {{"language", "cuda"},
                       {"target_hardware", {package.device.empty() || package.modelled ? "cuda" : package.device}}},
                      "FlashInfer-Bench");
}

Result<GeneratedFile> SolExecBenchSolution(const KernelPackage& package) {
  // Without options of its own a Solution is compiled with --use_fast_math, with which the kernel was not judged.
  std::vector<std::string> options = {"-O3"};
  for (const std::string& option : PackageOptions(package)) options.push_back(option);
  return SolutionFile(
      package,
      {{"languages", {UsesCutlass(package) ? "cutlass" : "cuda_cpp"}},
       {"target_hardware", {package.device.find("B200") != std::string::npos ? "B200" : "LOCAL"}},
       {"compile_options", {{"cflags", nlohmann::json::array()}, {"cuda_cflags", options}, {"ld_flags", {"-lcuda"}}}}},
      "SOL-ExecBench");
}

}  // namespace hone
