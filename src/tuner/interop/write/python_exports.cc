// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/python_exports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tuner/core/task/torch_module.h"
#include "tuner/interop/write/cuda_header.h"
#include "tuner/interop/write/python_launcher.h"

namespace hone {
namespace {

// Returns the text as a Python string literal on one line.
std::string QuotedInPython(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

// Python definitions of the plan's functions.
constexpr std::string_view kExportHelpers =
    "def ceil_div(a, b):\n    return (a + b - 1) // b\n\n\n"
    "def round_up(a, b):\n    return (a + b - 1) // b * b\n";

// Returns a Python expression for a parameter or buffer of the module `self` by its dotted name.
std::string StateText(const std::string& name) {
  const size_t dot = name.rfind('.');
  std::string path;
  for (size_t begin = 0; dot != std::string::npos && begin < dot;) {
    const size_t end = std::min(name.find('.', begin), dot);
    path += QuotedInPython(name.substr(begin, end - begin)) + ", ";
    begin = end + 1;
  }
  return fmt::format("_state(self, ({}), {})", path, QuotedInPython(dot == std::string::npos ? name : name.substr(dot + 1)));
}

std::string Joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

// Returns a tensor's shape as a Python tuple of expressions over the dimensions.
Result<std::string> ShapeText(const TensorSpec& tensor) {
  std::string shape;
  for (const Expression& extent : tensor.shape) {
    HONE_ASSIGN_OR_RETURN(const std::string text, PythonSizeExpression(extent.text()));
    shape += text + ", ";
  }
  return "(" + shape + ")";
}

// The arguments of the extension's function, in its order: tensors of role in and inout, scalars, sizes that no tensor
// has.
struct ExportedCall {
  std::vector<std::string> tensors, scalars, sizes;
};
// Returns what a Python function for the task takes and returns.
ExportedCall CallOf(const Task& task) {
  ExportedCall call;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role != TensorRole::kOut) call.tensors.push_back(tensor.name);
  }
  for (const ScalarSpec& scalar : task.scalars) call.scalars.push_back(scalar.name);
  for (const DimSource& source : FindDimensions(task)) {
    if (source.tensor.empty()) call.sizes.push_back(source.dim);
  }
  return call;
}

}  // namespace

Result<std::string> StandAloneBinding(const KernelPackage& package) {
  HONE_ASSIGN_OR_RETURN(const std::string header, CudaHeader(package));
  HONE_ASSIGN_OR_RETURN(const std::vector<GeneratedFile> files, TorchExtension(package));
  std::string source = files.front().text;
  const std::string include = fmt::format("#include \"{}\"", CudaHeaderName(package));
  const size_t at = source.find(include);
  HONE_CHECK(at != std::string::npos, "the generated binding includes the generated header");
  std::string body = header;
  for (size_t once = 0; (once = body.find("#pragma once", once)) != std::string::npos;) body.replace(once, 12, "            ");
  return source.replace(at, include.size(), body);
}

Result<GeneratedFile> KernelBenchFile(const KernelPackage& package) {
  const Task& task = package.task;
  if (!HasTorchModule(task)) {
    return Status::InvalidArgument(fmt::format(
        "task {} was not made of a PyTorch module, so there is no Model to derive ModelNew from: use --as torch, or bring the module in "
        "with hone new --from problem.py",
        task.name));
  }
  const TorchModule module = TorchModuleOf(task);
  HONE_ASSIGN_OR_RETURN(const std::string launcher, PythonLauncher(package, fmt::format("hone_{}_model_new", task.name)));
  std::map<std::string, std::string> state(module.state.begin(), module.state.end());
  std::vector<std::string> parameters, numbers, arguments;
  for (size_t i = 0; i < module.inputs.size(); ++i) {
    const TorchModule::Input& input = module.inputs[i];
    parameters.push_back(input.tensor.empty() ? fmt::format("number{}", i) : input.tensor);
    if (!input.tensor.empty()) continue;
    const std::string number = input.number == "true" ? "True" : input.number == "false" ? "False" : input.number;
    numbers.push_back(fmt::format("        if number{0} != {1}:\n            raise ValueError(f\"this kernel was judged with {1} for argument {0}, and "
                                  "got {{number{0}}}\")\n", i, number));
  }
  std::string prepared;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role == TensorRole::kOut) continue;
    arguments.push_back(tensor.name);
    const auto name = state.find(tensor.name);
    const char* as_bytes = IsBoolean(module, tensor.name) ? ".view(_torch.uint8)" : "";
    if (name == state.end()) {
      prepared += fmt::format("        {0} = {0}.contiguous(){1}\n", tensor.name, as_bytes);
    } else if (tensor.role == TensorRole::kInOut) {
      prepared += fmt::format("        {} = {}{}\n", tensor.name, StateText(name->second), as_bytes);
    } else {
      prepared += fmt::format("        {} = {}.contiguous(){}\n", tensor.name, StateText(name->second), as_bytes);
    }
  }
  Dims sizes;
  for (const Case& task_case : task.cases) {
    if (task_case.role == CaseRole::kTime) sizes = task_case.dims;
  }
  for (const std::string& dim : CallOf(task).sizes) {
    const auto size = sizes.find(dim);
    arguments.push_back(size == sizes.end() ? "1" : std::to_string(size->second));
  }
  std::string text = fmt::format(
      "# ModelNew of task {0}: its kernel on the module's own parameters and buffers, in one file.\n"
      "# Written by `hone apply` from {1}. The kernel is compiled when a ModelNew is first called. It has no backward.\n"
      "# What follows up to the mark is the problem, word for word.\n\n{2}\n\n"
      "# ---- the kernel ----\n\n{3}\n\n",
      task.name, PackageOrigin(package), task.oracle_source, launcher);
  if (!state.empty()) {
    text +=
        "def _state(module, path, name):\n    \"\"\"A parameter or buffer of a module below `module`. Module.__getattr__ would take longer.\"\"\"\n"
        "    for one in path:\n        module = module._modules[one]\n    found = module._parameters.get(name)\n"
        "    return module._buffers[name] if found is None else found\n\n\n";
  }
  text += fmt::format("class ModelNew({}):\n    def forward(self, {}):\n", module.class_name, Joined(parameters));
  for (const std::string& number : numbers) text += number;
  text += prepared;
  text += fmt::format("        with _torch.no_grad():\n            made = _kernel({})\n", Joined(arguments));
  std::vector<std::string> output_names;
  bool booleans = false;
  for (size_t i = 0; i < module.outputs.size(); ++i) {
    const bool boolean = IsBoolean(module, module.outputs[i]);
    booleans |= boolean;
    output_names.push_back((module.outputs.size() == 1 ? "made" : fmt::format("made[{}]", i)) +
                           std::string(boolean ? ".view(_torch.bool)" : ""));
  }
  text += fmt::format("        return {}\n", booleans ? Joined(output_names) : "made");
  return GeneratedFile{fmt::format("{}_model_new.py", task.name), std::move(text), "ModelNew, as KernelBench takes it"};
}

Result<GeneratedFile> GpuModeSubmission(const KernelPackage& package) {
  const Task& task = package.task;
  const TorchModule module = HasTorchModule(task) ? TorchModuleOf(task) : TorchModule();
  const TorchModule::Board& board = module.board;
  if (board.problem.empty()) {
    return Status::InvalidArgument(fmt::format(
        "task {} was not made of a problem in GPU MODE's format, so its inputs have no place in one: bring the problem in with hone new "
        "--from FOLDER, or use --as torch",
        task.name));
  }
  if (package.winner.plan.include_set == "cute" || package.seed.plan.include_set == "cute")
    return Status::InvalidArgument("the kernel includes CUTLASS, whose folder a submission cannot name: use --as extension");
  HONE_ASSIGN_OR_RETURN(const std::string launcher, PythonLauncher(package, fmt::format("hone_{}_submission", task.name)));
  std::string prepared;
  std::vector<std::string> arguments, made;
  for (size_t i = 0; i < module.inputs.size(); ++i) {
    const std::string& tensor = module.inputs[i].tensor;
    const char* as_bytes = IsBoolean(module, tensor) ? ".view(torch.uint8)" : "";
    prepared += fmt::format("    {} = parts[{}].contiguous(){}\n", tensor, board.leaves[i], as_bytes);
  }
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role != TensorRole::kOut) arguments.push_back(tensor.name);
  }
  for (const std::string& dim : CallOf(task).sizes) {
    std::optional<int64_t> only;
    for (const Case& task_case : task.cases) {
      if (only && *only != task_case.dims.at(dim))
        return Status::InvalidArgument(fmt::format("no tensor tells the size {}, and a submission is given tensors alone: use --as extension", dim));
      only = task_case.dims.at(dim);
    }
    arguments.push_back(std::to_string(only.value_or(1)));
  }
  for (size_t i = 0; i < module.outputs.size(); ++i) {
    const std::string one = module.outputs.size() == 1 ? "made" : fmt::format("made[{}]", i);
    made.push_back(one + (IsBoolean(module, module.outputs[i]) ? ".view(torch.bool)" : ""));
  }
  // If the reference fills tensors that the caller passes, it also returns them, in the same order. The results are
  // copied into them and they are returned, since a caller may use either.
  std::string filled;
  if (board.filled.size() == module.outputs.size()) {
    for (size_t i = 0; i < board.filled.size(); ++i) {
      filled += fmt::format("    parts[{}].copy_({})\n", board.filled[i], made[i]);
      made[i] = fmt::format("parts[{}]", board.filled[i]);
    }
  }
  std::string text = fmt::format(
      "#!POPCORN leaderboard {0}\n"
      "# The kernel of task {1} as a submission to the problem {0}, in one file. Written by `hone apply` from {2}.\n"
      "# Kernels run on the current stream; the file is compiled where it is imported.\n\n"
      "import torch\n\nfrom task import input_t, output_t\n\n{3}\n_load()\n\n\n"
      "def _parts(data):\n    \"\"\"Tensors and numbers of the inputs, in order.\"\"\"\n"
      "    if isinstance(data, dict):\n        data = list(data.values())\n"
      "    if isinstance(data, (tuple, list)):\n        return [part for one in data for part in _parts(one)]\n    return [data]\n\n\n"
      "def custom_kernel(data: input_t) -> output_t:\n    parts = _parts(data)\n{4}"
      "    with torch.no_grad():\n        made = _kernel({5})\n{6}    return {7}\n",
      board.problem, task.name, PackageOrigin(package), launcher, prepared, Joined(arguments), filled, Joined(made));
  return GeneratedFile{"submission.py", std::move(text), "the submission, as GPU MODE's leaderboards take it"};
}

Result<GeneratedFile> TorchOperator(const KernelPackage& package) {
  const Task& task = package.task;
  const ExportedCall call = CallOf(task);
  std::vector<std::string> parameters, arguments, in_place, outputs;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role == TensorRole::kOut) {
      outputs.push_back(tensor.name);
      continue;
    }
    parameters.push_back(tensor.name + ": torch.Tensor");
    arguments.push_back(tensor.name);
    if (tensor.role == TensorRole::kInOut) in_place.push_back(QuotedInPython(tensor.name));
    for (const TensorSpec& other : task.tensors) {
      if (other.alias == tensor.name) {
        return Status::InvalidArgument(fmt::format("{} shares the storage of {}, which an operator of torch.library may not return: use the extension "
                                                   "without --as",
                                                   other.name, tensor.name));
      }
    }
  }
  if (arguments.empty()) return Status::InvalidArgument("a task without inputs is no operator: use the extension without --as");
  for (const std::string& name : call.scalars) {
    parameters.push_back(fmt::format("{}: float{}", name, call.sizes.empty() ? fmt::format(" = {}", task.FindScalar(name)->value) : ""));
    arguments.push_back(name);
  }
  for (const std::string& name : call.sizes) {
    parameters.push_back(name + ": int");
    arguments.push_back(name);
  }
  std::string allocation_lines, results;
  for (const std::string& name : outputs) {
    const TensorSpec& tensor = *task.FindTensor(name);
    HONE_ASSIGN_OR_RETURN(const std::string shape, ShapeText(tensor));
    allocation_lines += fmt::format("    {} = {}.new_empty({}, dtype=torch.{})\n", name, arguments.front(), shape,
                                    DTypeName(tensor.dtype));
  }
  const std::string returned = outputs.empty() ? "None" : outputs.size() == 1 ? outputs.front() : "(" + Joined(outputs) + ")";
  std::vector<std::string> types(outputs.size(), "torch.Tensor");
  const std::string type = outputs.empty() ? "None" : outputs.size() == 1 ? "torch.Tensor" : "tuple[" + Joined(types) + "]";
  std::string text = fmt::format(
      "# torch.ops.hone.{0}: {0} as an operator that torch.compile and torch.export take. It runs on the current "
      "stream and device,\n"
      "# may be captured in a CUDA graph, and is built on first use by load.py beside it. Written by `hone apply` from "
      "{1}.\n#\n"
      "#   from hone_{0}_op import {0}\n#   {2} = {0}({3})\n\n"
      "import importlib.util\nimport os\n\nimport torch\n\n_loaded = None\n\n\n"
      "def _kernel():\n    global _loaded\n    if _loaded is None:\n"
      "        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), \"load.py\")\n"
      "        spec = importlib.util.spec_from_file_location(\"hone_{0}_load\", path)\n"
      "        module = importlib.util.module_from_spec(spec)\n        spec.loader.exec_module(module)\n"
      "        _loaded = module.{0}\n    return _loaded\n\n\n{4}\n\n"
      "@torch.library.custom_op(\"hone::{0}\", mutates_args=({5}), device_types=\"cuda\")\n"
      "def {0}({6}) -> {7}:\n    {8}_kernel()({3})\n\n\n"
      "@{0}.register_fake\ndef _fake({6}) -> {7}:\n{9}{10}    return {2}\n\n\n"
      "def _no_backward(*_):\n    raise NotImplementedError(\n"
      "        \"hone::{0} has no backward: call it under torch.no_grad(), or wrap it in an autograd.Function of "
      "yours\")\n\n\n"
      "{0}.register_autograd(_no_backward)\n",
      task.name, PackageOrigin(package), returned, Joined(arguments), kExportHelpers,
      in_place.empty() ? "" : Joined(in_place) + ",", Joined(parameters), type, outputs.empty() ? "" : "return ",
      outputs.empty() ? "" : PythonDimensions(task, "    ", {}), allocation_lines);
  if (!in_place.empty()) {
    // An operator that changes its arguments gets no backward function: autograd itself refuses arguments that require
    // a gradient.
    const size_t at = text.find("\n\ndef _no_backward");
    text.resize(at);
    text += "\n";
  }
  return GeneratedFile{fmt::format("hone_{}_op.py", task.name), std::move(text), "the operator torch.ops.hone." + task.name};
}

}  // namespace hone
