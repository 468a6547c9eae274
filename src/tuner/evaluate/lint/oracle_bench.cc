// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/lint/oracle_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tuner/core/plan/dims_text.h"
#include "tuner/core/task/packed_numbers.h"
#include "tuner/core/task/property.h"
#include "tuner/device/host_tensor_ops.h"

namespace hone {
namespace {

uint64_t HostAddress(const void* pointer) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer));  // NOLINT: host views carry pointers
}

}  // namespace

Comparison CompareOnHost(const TensorSpec& output, const TensorShape& shape, const std::vector<double>& values,
                         const std::vector<double>& reference, const Tolerance& tolerance) {
  HONE_CHECK(values.size() == reference.size(), "values and reference of different length");
  const auto width = static_cast<size_t>(DTypeBytes(output.dtype));
  // The memory is of eight-byte cells, so that values of every dtype are aligned.
  std::vector<uint64_t> memory(values.size() * width / 8 + 1);
  char* rounded = reinterpret_cast<char*>(memory.data());
  const auto numbers = static_cast<size_t>(NumbersPerElement(output.dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    host::WriteNumber(output.dtype, rounded + i / numbers * width, static_cast<int64_t>(i % numbers), values[i]);
  }
  const TensorView view = MakeView(output, DenseShape(output, shape.shape), HostAddress(rounded));
  return host::Compare(view, reference.data(), tolerance);
}

Result<std::unique_ptr<OracleBench>> OracleBench::Make(DeviceSession& session, const Task& task, const Dims& dims,
                                                       uint64_t key) {
  std::unique_ptr<OracleBench> bench(new OracleBench(session, task, dims));
  // Workspaces of the programs that run here are allocated at each run.
  HONE_ASSIGN_OR_RETURN(bench->buffers_,
                        CaseBuffers::Make(session, task, dims, {}, /*sets=*/1, /*exact_align=*/true, key));
  return bench;
}

Status OracleBench::Draw(const InputSet& inputs) { return buffers_->DrawInputs(0, inputs); }

Status OracleBench::Set(const TensorSpec& tensor, const std::vector<double>& values) {
  return CaseBuffers::WriteTensor(session_, View(tensor.name), values);
}

Result<std::vector<double>> OracleBench::Get(const TensorSpec& tensor) const {
  const TensorView& view = View(tensor.name);
  const int64_t numbers = NumbersPerElement(view.dtype);
  std::vector<double> values(static_cast<size_t>(view.elements * numbers));
  if (view.elements == 0) return values;
  std::vector<char> memory(static_cast<size_t>(view.span_bytes));
  HONE_RETURN_IF_ERROR(session_.CopyToHost(memory.data(), view.address, view.span_bytes));
  for (int64_t i = 0; i < view.elements * numbers; ++i) {
    values[static_cast<size_t>(i)] = host::ReadNumber(view.dtype, memory.data() + ByteOffset(view, i / numbers), i % numbers);
  }
  return values;
}

// Runs an oracle that is a host program on the current inputs, and returns its outputs.
Result<HostValues> OracleBench::RunHost(const BenchProgram& oracle) {
  HostValues values;
  const HostReference::Fill fill = [&](const std::string& tensor, void* elements) {
    const TensorView& view = View(tensor);
    return view.elements == 0 ? Status::Ok() : session_.CopyToHost(elements, view.address, view.span_bytes);
  };
  const HostReference::Take take = [&](const std::string& tensor, const double* numbers) {
    values[tensor].assign(numbers, numbers + AnswerNumbers(*task_.FindTensor(tensor), shape(tensor)));
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(oracle.host->Compute(dims_, fill, take, oracle.host_precision)
                           .WithContext(fmt::format("failed for {}", DimsText(dims_))));
  return values;
}

Result<HostValues> OracleBench::RunOracle(const BenchProgram& oracle, const Task& task, double limit_seconds,
                                          HostValues* residuals) {
  if (oracle.host != nullptr) return RunHost(oracle);
  Result<ResolvedPlan> resolved = ResolvePlan(oracle.compiled->candidate, task, dims_, oracle.compiled->binding, session_.facts());
  if (!resolved.ok()) return resolved.status();
  const ResolvedPlan& plan = *resolved;

  std::vector<BlockRequest> blocks;
  std::vector<std::string> outputs;
  for (const TensorSpec& tensor : task_.tensors) {
    if (tensor.role == TensorRole::kIn || !task_.tolerance.contains(tensor.name)) continue;
    outputs.push_back(tensor.name);
    blocks.push_back({AnswerNumbers(tensor, shape(tensor.name)) * 8, 256, false});
  }
  const size_t answers = outputs.size();
  for (const Property& property : PropertiesOf(task_)) {
    HONE_ASSIGN_OR_RETURN(const TensorShape residual, ResolveShape(ResidualsOf(property), dims_));
    outputs.push_back(property.name);
    blocks.push_back({residual.elements * 8, 256, false});
  }
  for (const ResolvedWorkspace& workspace : plan.workspaces) blocks.push_back({workspace.bytes, workspace.align, false});
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> arena, session_.Allocate(blocks, 0x11e7));

  Bindings bindings = buffers_->set(0);
  for (size_t i = 0; i < outputs.size(); ++i) {
    bindings.references["ref:" + outputs[i]] = arena->address(i);
    // Bytes of 0xff are a NaN, so an element that the oracle does not write shows.
    if (blocks[i].bytes > 0) HONE_RETURN_IF_ERROR(session_.Fill(arena->address(i), blocks[i].bytes, 0xff));
  }
  for (size_t i = 0; i < plan.workspaces.size(); ++i) {
    const uint64_t address = arena->address(outputs.size() + i);
    bindings.workspaces[plan.workspaces[i].name] = address;
    if (plan.workspaces[i].bytes > 0) {
      HONE_RETURN_IF_ERROR(session_.Fill(address, plan.workspaces[i].bytes, plan.workspaces[i].zero_on_entry ? 0x00 : 0xa5));
    }
  }

  LaunchRequest request{.plan = &plan, .bindings = &bindings, .limit_seconds = limit_seconds, .trusted = true};
  HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome, session_.Launch(*oracle.loaded, request));
  if (outcome.status != LaunchStatus::kOk) {
    return Status::InvalidArgument(fmt::format("failed for {}: {}", DimsText(dims_), outcome.detail));
  }
  HONE_ASSIGN_OR_RETURN(std::optional<std::string> damage, session_.CheckGaps(*arena));
  if (damage) return Status::InvalidArgument(fmt::format("wrote outside its buffers for {}: {}", DimsText(dims_), *damage));

  HostValues values;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i >= answers && residuals == nullptr) break;
    std::vector<double>& result = (i < answers ? values : *residuals)[outputs[i]];
    result.resize(static_cast<size_t>(blocks[i].bytes / 8));
    if (!result.empty()) HONE_RETURN_IF_ERROR(session_.CopyToHost(result.data(), arena->address(i), blocks[i].bytes));
  }
  return values;
}

Result<HostValues> OracleBench::RunCandidate(const BenchProgram& candidate, const Binding& binding, double limit_seconds) {
  std::map<std::string, int64_t> base_align;
  for (const TensorSpec& tensor : task_.tensors) base_align[tensor.name] = tensor.align;
  const LoadedProgram& loaded = *candidate.loaded;
  const OccupancyQuery occupancy = [&loaded](const std::string& kernel, const std::string& key, int64_t threads,
                                             int64_t shared) { return loaded.Occupancy(kernel, key, threads, shared); };
  Result<ResolvedPlan> resolved = ResolvePlan(candidate.compiled->candidate, task_, dims_, binding, session_.facts(), occupancy, base_align);
  if (!resolved.ok()) return resolved.status();
  const ResolvedPlan& plan = *resolved;

  std::vector<BlockRequest> blocks;
  for (const ResolvedWorkspace& workspace : plan.workspaces) blocks.push_back({workspace.bytes, workspace.align, false});
  std::unique_ptr<Arena> arena;
  Bindings bindings = buffers_->set(0);
  if (!blocks.empty()) {
    HONE_ASSIGN_OR_RETURN(arena, session_.Allocate(blocks, 0x11e8));
    for (size_t i = 0; i < blocks.size(); ++i) {
      bindings.workspaces[plan.workspaces[i].name] = arena->address(i);
      if (blocks[i].bytes > 0) {
        HONE_RETURN_IF_ERROR(session_.Fill(arena->address(i), blocks[i].bytes, plan.workspaces[i].zero_on_entry ? 0x00 : 0xa5));
      }
    }
  }
  for (const TensorSpec& tensor : task_.tensors) {
    if (tensor.role == TensorRole::kOut && tensor.alias.empty()) HONE_RETURN_IF_ERROR(session_.Poison(View(tensor.name)));
  }
  LaunchRequest request{.plan = &plan, .bindings = &bindings, .limit_seconds = limit_seconds};
  HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome, session_.Launch(*candidate.loaded, request));
  if (outcome.status != LaunchStatus::kOk) {
    return Status::InvalidArgument(fmt::format("failed for {}: {}", DimsText(dims_), outcome.detail));
  }
  HONE_ASSIGN_OR_RETURN(std::optional<std::string> damage, buffers_->CheckGaps());
  if (damage) return Status::InvalidArgument(fmt::format("wrote outside its buffers for {}: {}", DimsText(dims_), *damage));
  HostValues values;
  for (const TensorSpec& tensor : task_.tensors) {
    if (tensor.role == TensorRole::kIn) continue;
    HONE_ASSIGN_OR_RETURN(values[tensor.name], Get(tensor));
  }
  return values;
}

}  // namespace hone
