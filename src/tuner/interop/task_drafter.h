// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How a .cu file becomes a task: the steps behind DraftTask, over three files. Internal to `hone new`.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/interop/cu_source.h"
#include "tuner/interop/new_task.h"

namespace hone {

struct DraftTensor {
  std::string name;
  TensorRole role = TensorRole::kIn;
  std::optional<DType> dtype;
  std::vector<std::string> shape;  // empty: a question
  bool role_inferred = false, shape_inferred = false, workspace = false;
  int first_step = 0;
};
struct DraftEntry {
  int step = 0;
  const CuKernel* kernel = nullptr;
  std::vector<std::string> template_args;
  std::vector<std::string> grid, block, args;
  std::string shared, when;
  std::map<std::string, std::string> tensors;  // parameter -> tensor
};
struct DraftScalar {
  std::string name;
  DType dtype = DType::kFloat32;
  double value = 0;
  bool known = false;
};

// One use: construct, Run. Borrows both arguments.
class TaskDrafter {
 public:
  TaskDrafter(const CuSource& source, const NewTaskOptions& options) : s_(source), o_(options) {
    for (const std::string& d : o_.dims) AddDim(d);
  }

  Result<TaskDraft> Run();

 private:
  Status Bad(const std::string& message) const { return Status::InvalidArgument(o_.file + ": " + message); }
  void Inferred(std::string text) { draft_.inferred.push_back(std::move(text)); }
  void Ask(std::string what, std::string answer);
  void AddDim(const std::string& name);
  const CuFunction* Host() const { return function_ < 0 ? nullptr : &s_.functions[static_cast<size_t>(function_)]; }
  std::optional<std::string> LocalText(const std::string& name) const;

  // Launches and what host code says about them: new_task.cc.
  Status ChooseLaunches();
  // One kernel, or several with the same pointers: its own names. Several kernels in a row: those of the host code.
  void NameTensors();
  // "x.data_ptr<float>()" -> x, "reinterpret_cast<const float4*>(x)" -> x.
  std::string BaseOf(const std::string& text) const;
  // Which names of the host code are dimensions: integer parameters of the launcher, and locals whose value cannot be
  // followed (x.size(0)) or is a bare number that is passed on (int n = 1 << 20 in a test program).
  void FindDims();
  std::optional<double> LocalNumber(const std::string& name) const;
  void Follow(const std::string& text, int depth);
  std::vector<std::string> TemplateArgs(const CuKernel& kernel, const CuLaunch& launch) const;
  // A template parameter's type, where it is known.
  std::string TypeOf(const CuKernel& kernel, const CuLaunch& launch, const std::string& type) const;
  Result<std::string> Plan(const std::string& text) const;
  Status MakeEntry(const CuLaunch& launch);
  void AddScalar(const std::string& name, const std::string& actual, DType dtype);
  // Launches that stand in branches of one if are alternatives; the others run in turn.
  void Steps();
  size_t NegatedCount(size_t i) const;

  // Tensors, their roles and shapes: new_task_tensors.cc.
  Status Tensors();
  Status KnownTensor(const char* option, const std::string& name) const;
  Status CheckNames();
  void DropUnusedDims();

  // The files: new_task_text.cc.
  static std::string KernelName(const DraftEntry& e);
  std::string EntryText(const DraftEntry& e, const std::vector<std::string>& args, int step, const std::string& shared,
                        bool with_when) const;
  // `element_bytes` 0: as the tensor's dtype has it.
  std::string Workspaces(int64_t element_bytes) const;
  std::string SeedText();
  Status Oracle();
  std::string Summary() const;
  std::string Class();
  int64_t Multiple(const std::string& dim) const;
  std::string CaseText(const char* role, const Dims& dims) const;
  // Sizes of all dimensions: `first` for the first one, `rest` for the others, rounded up to multiples.
  Dims Sizes(int64_t first, int64_t rest) const;
  std::string Toml();
  std::string Example() const;
  static std::string Number(double value);

  const CuSource& s_;
  const NewTaskOptions& o_;
  TaskDraft draft_;
  int function_ = -1;
  std::vector<CuLaunch> launches_;
  bool own_names_ = true;
  std::set<std::string> dims_;
  std::vector<std::string> dim_order_;
  std::map<std::string, int64_t> default_sizes_;
  std::vector<DraftEntry> entries_;
  std::set<size_t> conditional_;
  std::vector<DraftTensor> tensors_;
  std::vector<DraftScalar> scalars_;
  std::map<std::pair<const CuKernel*, std::string>, std::string> integers_;
  std::string device_code_;
  int plan_lines_ = 0;  // of seed.cu, before the device code
};

}  // namespace hone
