// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/baseline/candidate_launches.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hone {
namespace {

using nlohmann::json;

template <typename Bytes>
std::string Hexadecimal(const Bytes& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const auto byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

// Returns an argument in the form that the PyTorch child reads; kUnavailable for one that the child cannot pass.
Result<json> ArgumentJson(const ResolvedArgument& argument) {
  switch (argument.kind) {
    case ArgumentKind::kTensor:
      return json{{"tensor", argument.name}, {"offset", argument.byte_offset}};
    case ArgumentKind::kWorkspace:
      return json{{"workspace", argument.name}, {"offset", argument.byte_offset}};
    case ArgumentKind::kInteger:
    case ArgumentKind::kScalar:
      return json{{"bytes", Hexadecimal(argument.bytes)}};
    default:
      return Status::Unavailable("its kernels take structs or tensor maps");
  }
}

// Returns a step of the plan in the form that the PyTorch child reads; kUnavailable for one that the child cannot run.
Result<json> StepJson(const CompiledProgram& program, const ResolvedStep& step) {
  if (step.call) return Status::Unavailable("it calls a library itself");
  if (step.is_memset) {
    return json{{"target", step.target}, {"value", step.memset_value}, {"memset_bytes", step.memset_bytes}};
  }
  if (step.programmatic_dependent_launch) return Status::Unavailable("its launches depend on each other's progress");
  const auto module = program.modules.find(step.binding_key);
  if (module == program.modules.end()) return Status::Unavailable("a module of it is missing");
  const auto symbol = module->second.lowered.find(step.kernel);
  if (symbol == module->second.lowered.end())
    return Status::Unavailable(fmt::format("its module lacks {}", step.kernel));
  json one = {{"module", step.binding_key},
              {"symbol", symbol->second},
              {"grid", step.grid},
              {"block", step.block},
              {"cluster", step.cluster},
              {"shared", step.shared_bytes},
              {"cooperative", step.cooperative},
              {"args", json::array()}};
  for (const ResolvedArgument& argument : step.args) {
    HONE_ASSIGN_OR_RETURN(json value, ArgumentJson(argument));
    one["args"].push_back(std::move(value));
  }
  return one;
}

}  // namespace

json ModulesJson(const CompiledProgram& program) {
  json modules = json::object();
  for (const auto& [key, module] : program.modules) modules[key] = Hexadecimal(module.image);
  return modules;
}

Result<json> LaunchesJson(const CompiledProgram& program, const Task& task, const Dims& dims,
                          const DeviceFacts& facts) {
  if (program.candidate.plan.host_mode) return Status::Unavailable("it is in host mode");
  if (!program.candidate.plan.machine_code.empty())
    return Status::Unavailable("it is machine code, which is loaded in a confined process alone");
  json launches = {{"outputs", json::array()}, {"workspaces", json::object()}, {"steps", json::array()}};
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role == TensorRole::kInOut || !tensor.strides.empty()) {
      return Status::Unavailable("the task has tensors in place or with strides");
    }
    if (tensor.role != TensorRole::kOut) continue;
    HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(tensor, dims));
    launches["outputs"].push_back({{"name", tensor.name}, {"shape", shape.shape}, {"dtype", DTypeName(tensor.dtype)}});
  }
  const OccupancyQuery occupancy = [](const std::string&, const std::string&, int64_t, int64_t) -> Result<int64_t> {
    return Status::Unavailable("its plan asks for occupancy");
  };
  HONE_ASSIGN_OR_RETURN(const ResolvedPlan plan,
                        ResolvePlan(program.candidate, task, dims, program.binding, facts, occupancy));
  if (!plan.tensor_maps.empty()) return Status::Unavailable("its kernels take tensor maps");
  for (const ResolvedWorkspace& workspace : plan.workspaces) launches["workspaces"][workspace.name] = workspace.bytes;
  for (const ResolvedStep& step : plan.steps) {
    HONE_ASSIGN_OR_RETURN(json one, StepJson(program, step));
    launches["steps"].push_back(std::move(one));
  }
  return launches;
}

}  // namespace hone
