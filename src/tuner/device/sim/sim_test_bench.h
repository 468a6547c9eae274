// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Helps tests and benchmarks of the simulated GPU to run one CUDA source with a few buffers in a few lines.
//
//   SimBench bench;
//   bench.Source("__global__ void k(const float* x, float* y, int n) { … }");
//   bench.Input("x", values);  bench.Output("y", values.size());
//   LaunchOutcome outcome = bench.Run("k", {4}, {64}, {T("x"), T("y"), I(n)});
//
// Every step but the tested one is checked with HONE_CHECK. The program that uses it must answer `--fd N` after
// "__sim-child" by SimChildMain (sim_test_main.cc).
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tuner/core/program/compiled_program.h"
#include "tuner/device/device_session.h"
#include "tuner/device/sim/image/sim_compiler.h"
#include "tuner/device/sim/sim_session.h"

namespace hone {

class SimBench {
 public:
  explicit SimBench(const std::string& gpu = "", int workers = 2) {
    SimSessionOptions options;
    options.gpu = gpu;
    options.workers = workers;
    session_ = Value(MakeSimSession(options));
  }

  // Returns one compiler for the whole test program. Its precompiled headers are shared by all test programs.
  static Compiler& SharedCompiler() {
    static const std::unique_ptr<Compiler> compiler = Value(MakeSimCompiler({.cache_directory = HONE_BINARY_DIR "/tests/cache"}));
    return *compiler;
  }

  // Compiles without loading.
  static CompiledModule Compile(const std::string& source, const std::vector<std::string>& kernels,
                                const std::vector<std::string>& options = {}) {
    TranslationUnit unit;
    unit.file = "candidate.cu";
    unit.body = "#line 1 \"candidate.cu\"\n" + source;
    unit.kernels = kernels;
    unit.options = options;
    return Value(SharedCompiler().Compile(unit));
  }

  DeviceSession& session() { return *session_; }
  LoadedProgram& program() { return *program_; }
  const CompiledModule& module() const { return module_; }

  // Compiles and loads kernels, given by name expression.
  void Load(const std::string& source, const std::vector<std::string>& kernels) {
    program_.reset();
    module_ = Compile(source, kernels);
    HONE_CHECK(module_.verdict == Verdict::kOk, module_.digest);
    CompiledProgram program;
    program.modules[""] = module_;
    DeviceSession::LoadOutcome loaded = Value(session_->Load(program));
    HONE_CHECK(loaded.program != nullptr, loaded.launch.detail);
    program_ = std::move(loaded.program);
  }

  template <typename T>
  void Input(const std::string& name, const std::vector<T>& values, bool read_only = true) {
    const uint64_t address = New(name, static_cast<int64_t>(values.size() * sizeof(T)));
    Check(session_->CopyFromHost(address, values.data(), static_cast<int64_t>(values.size() * sizeof(T))));
    if (read_only) bindings_.read_only.insert(name);
  }
  void Output(const std::string& name, int64_t bytes) {
    New(name, bytes);
    Check(session_->Poison(bindings_.tensors.at(name)));
  }
  void Workspace(const std::string& name, int64_t bytes, uint8_t fill) {
    std::vector<BlockRequest> blocks{{bytes, 256, false}};
    arenas_.push_back(Value(session_->Allocate(blocks, 7)));
    bindings_.workspaces[name] = arenas_.back()->address(0);
    Check(session_->Fill(bindings_.workspaces[name], bytes, fill));
  }
  template <typename T>
  std::vector<T> Read(const std::string& name) {
    const TensorView& view = bindings_.tensors.at(name);
    std::vector<T> values(static_cast<size_t>(view.span_bytes) / sizeof(T));
    Check(session_->CopyToHost(values.data(), view.address, view.span_bytes));
    return values;
  }
  // Poisons a tensor as before a launch: reading it before writing is a finding.
  Status PoisonTensor(const std::string& name) { return session_->Poison(bindings_.tensors.at(name)); }
  const TensorView& View(const std::string& name) const { return bindings_.tensors.at(name); }
  const Bindings& bindings() const { return bindings_; }

  static ResolvedArgument T(const std::string& name, int64_t byte_offset = 0) {
    ResolvedArgument a;
    a.kind = ArgumentKind::kTensor;
    a.name = name;
    a.byte_offset = byte_offset;
    return a;
  }
  static ResolvedArgument W(const std::string& name) {
    ResolvedArgument a;
    a.kind = ArgumentKind::kWorkspace;
    a.name = name;
    return a;
  }
  template <typename V>
  static ResolvedArgument I(V value) {
    ResolvedArgument a;
    a.kind = ArgumentKind::kInteger;
    a.bytes.resize(sizeof value);
    std::memcpy(a.bytes.data(), &value, sizeof value);
    return a;
  }

  static ResolvedStep Step(const std::string& kernel, std::vector<int64_t> grid, std::vector<int64_t> block,
                           std::vector<ResolvedArgument> args, int64_t shared_bytes = 0, bool cooperative = false) {
    ResolvedStep step;
    step.kernel = kernel;
    for (size_t i = 0; i < grid.size(); ++i) step.grid[i] = grid[i];
    for (size_t i = 0; i < block.size(); ++i) step.block[i] = block[i];
    step.args = std::move(args);
    step.shared_bytes = shared_bytes;
    step.cooperative = cooperative;
    return step;
  }

  LaunchOutcome RunSteps(std::vector<ResolvedStep> steps, bool sample = false, double limit_seconds = 60) {
    ResolvedPlan plan;
    plan.steps = std::move(steps);
    LaunchRequest request;
    request.plan = &plan;
    request.bindings = &bindings_;
    request.limit_seconds = limit_seconds;
    request.sample_blocks = sample;
    return Value(session_->Launch(*program_, request));
  }
  LaunchOutcome Run(const std::string& kernel, std::vector<int64_t> grid, std::vector<int64_t> block,
                    std::vector<ResolvedArgument> args, int64_t shared_bytes = 0) {
    return RunSteps({Step(kernel, std::move(grid), std::move(block), std::move(args), shared_bytes)});
  }

  // Returns the modelled time of one step, in microseconds.
  double ModelledMicroseconds(const ResolvedStep& step, CacheState cache = CacheState::kCold) {
    ResolvedPlan plan;
    plan.steps = {step};
    SampleRequest request;
    request.program = program_.get();
    request.plan = &plan;
    request.sets = {&bindings_};
    request.cache = cache;
    request.limit_seconds = 120;
    const SampleOutcome sample = Value(session_->TimeSample(request));
    HONE_CHECK(sample.launch.status == LaunchStatus::kOk, sample.launch.detail);
    return sample.us_per_plan;
  }

  uint64_t New(const std::string& name, int64_t bytes, bool sampled = false, bool exact_align = false) {
    std::vector<BlockRequest> blocks{{bytes, exact_align ? 16 : 256, exact_align, sampled}};
    arenas_.push_back(Value(session_->Allocate(blocks, 7)));
    return Bind(name, arenas_.back()->address(0), bytes);
  }
  // Makes tensors side by side in one arena, as the judge allocates them; for sampled launches only.
  void NewSampled(const std::vector<std::pair<std::string, int64_t>>& tensors) {
    std::vector<BlockRequest> blocks;
    for (const auto& [name, bytes] : tensors) blocks.push_back({bytes, 256, false, true});
    arenas_.push_back(Value(session_->Allocate(blocks, 7)));
    for (size_t i = 0; i < tensors.size(); ++i) Bind(tensors[i].first, arenas_.back()->address(i), tensors[i].second);
  }
  // Forbids launches to write a tensor.
  void ReadOnly(const std::string& name) { bindings_.read_only.insert(name); }
  // Makes a tensor that sampled launches write: each byte has memory of its own.
  void NewWritten(const std::string& name, int64_t bytes) {
    std::vector<BlockRequest> blocks{{bytes, 256, false, true, true}};
    arenas_.push_back(Value(session_->Allocate(blocks, 7)));
    Bind(name, arenas_.back()->address(0), bytes);
  }
  // Draws row numbers below `bound`, int32.
  void DrawIndices(const std::string& name, int64_t bound) {
    DrawRequest draw;
    draw.view = bindings_.tensors.at(name);
    draw.view.dtype = DType::kInt32;
    draw.view.elements = draw.view.span_bytes / 4;
    draw.view.shape = {draw.view.elements};
    draw.values.distribution = Distribution::kIndex;
    draw.index_bound = bound;
    draw.key = 5;
    Check(session_->Draw(draw));
  }
  Arena& arena(size_t i) { return *arenas_.at(i); }

 private:
  uint64_t Bind(const std::string& name, uint64_t address, int64_t bytes) {
    TensorView view;
    view.address = address;
    view.dtype = DType::kUInt8;
    view.shape = {bytes};
    view.strides = {1};
    view.elements = view.span_bytes = bytes;
    bindings_.tensors[name] = view;
    return address;
  }
  template <typename V>
  static V Value(Result<V> result) {
    HONE_CHECK(result.ok(), result.status().message());
    return std::move(result).value();
  }
  static void Check(const Status& status) { HONE_CHECK(status.ok(), status.message()); }

  std::unique_ptr<DeviceSession> session_;
  CompiledModule module_;
  std::unique_ptr<LoadedProgram> program_;
  std::vector<std::unique_ptr<Arena>> arenas_;
  Bindings bindings_;
};

}  // namespace hone
