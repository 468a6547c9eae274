// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How a .cu file becomes a task: the steps behind DraftTask, over five files. Internal to `hone new`.
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
  std::string type;                // as the first kernel that takes it declares its elements
  std::vector<std::string> shape;  // empty: a question
  bool role_inferred = false, shape_inferred = false, workspace = false;
  std::string shape_from;              // where a stated shape stands
  std::vector<std::string> chosen_by;  // per axis as the kernels index it; "@ids" where `ids` chooses
  int first_step = 0;
  bool read_first = false, written = false;
  bool scattered = false;  // written only where another tensor's elements say
  bool updated = false;    // and what was there goes into it
  bool first = false, elsewhere = false;  // kernels touch its first element by name; and others
  // Of a tensor of integers that others are indexed by.
  bool index = false, offsets = false;
  std::string bound;  // its elements are below this; empty: not known
  bool distinct = false;  // it says where to write: no place twice
  bool padded = false;    // kernels ask whether its elements are negative
  bool constant = false;  // every kernel takes it as a pointer to const
};
// A launch, or bytes that are set.
struct DraftEntry {
  int step = 0;
  int token = 0;  // of the file, for the order
  std::vector<std::string> conditions;
  bool memset = false;
  std::string target, bytes;  // a memset's; no bytes: the whole tensor
  int value = 0;
  const CuKernel* kernel = nullptr;  // null: a memset
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

// One use: construct, Run. Borrows the source.
class TaskDrafter {
 public:
  TaskDrafter(const CuSource& source, const NewTaskOptions& options) : s_(source), o_(options) {
    for (const std::string& d : o_.dims) AddDim(d);
    for (const auto& [name, text] : o_.lets) Let(name, text);
  }

  Result<TaskDraft> Run();

 private:
  Status Bad(const std::string& message) const { return Status::InvalidArgument(o_.file + ": " + message); }
  void Inferred(std::string text) { draft_.inferred.push_back(std::move(text)); }
  void Guessed(const std::string& text) {
    draft_.guessed.push_back(text);
    Inferred(text);
  }
  void Ask(std::string what, std::string answer);
  // `name` as the host code has it; a plan may have to call it otherwise.
  void AddDim(const std::string& name);
  // A size of the host code that is an expression over dimensions: num_heads = group * num_kv_heads.
  void Let(const std::string& name, const std::string& text);
  // A name that plans give no meaning of their own.
  std::string PlanName(const std::string& name, const char* what);
  // Options may call things as the host code does: what plans call otherwise is renamed in them.
  void RenameInOptions();
  // Names of dimensions in an option's expression; `device`: names of the device (sm_count) mean that.
  std::string RenamedSizes(const std::string& text, bool device);
  std::string At(int line) const { return o_.file + ":" + std::to_string(line); }
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
  // num_heads / num_kv_heads in the code: one is a multiple of the other, and drawn sizes must be so too.
  void RelateDims();
  // What host code clears, and calls that no plan can make.
  Status HostMemory();
  std::vector<std::string> TemplateArgs(const CuKernel& kernel, const CuLaunch& launch) const;
  // What a launcher's template parameter stands for: --template, or the file's only explicit instantiation.
  std::string Instantiated(const std::string& parameter) const;
  // The template arguments that the launcher `name` or the kernel is instantiated with in the file, for a question.
  std::string OfferedTemplates(const CuKernel& kernel) const;
  bool IsTemplateParameter(const CuKernel& kernel, const std::string& type) const;
  // Numbers of the host code that are passed as sizes and that the user, or a test program, means to vary.
  bool MeantAsSize(const CuParameter& parameter) const;
  std::optional<int64_t> Constant(const std::string& text) const;
  // The number that an integer parameter is always given: --scalar's, or one for a parameter that is called a seed, whose value
  // is no size. nullopt: it is a dimension or follows from some.
  std::optional<int64_t> FixedNumber(const CuParameter& parameter, const std::string& actual) const;
  // Dimensions that the user has not named although --dims names some are said.
  void NameAddedDims();
  // Whether the kernels take a byte for a yes or a no.
  bool IsYesOrNo(const DraftTensor& t) const;
  // A template parameter's type, where it is known.
  std::string TypeOf(const CuKernel& kernel, const CuLaunch& launch, const std::string& type) const;
  Result<std::string> Plan(const std::string& text) const;
  Status MakeEntry(const CuLaunch& launch);
  void AddScalar(const std::string& name, const std::string& actual, DType dtype);
  // Launches that stand in branches of one if are alternatives; the others run in turn.
  void Steps();

  // Tensors, their roles and shapes: new_task_tensors.cc.
  Status Tensors();
  Status ReadUses(DraftTensor& t, std::optional<std::vector<std::string>>& shape);
  Status GivenRole(DraftTensor& t);
  // From --shape, from what host code and comments say, from the kernels' indices.
  Status ShapeOf(DraftTensor& t, const std::optional<std::vector<std::string>>& indexed);
  std::optional<std::vector<std::string>> Stated(const DraftTensor& t,
                                                 const std::optional<std::vector<std::string>>& indexed,
                                                 std::string* where);
  // Axes that another tensor's elements choose from get a size of their own where none is known.
  void ResolveChosenAxes();
  DraftTensor* FindTensor(const std::string& name);
  Status KnownTensor(const char* option, const std::string& name) const;
  Status CheckNames();
  void DropUnusedDims();

  // Inputs that a kernel takes by a pointer to non-const are written as pointers to const.
  void AddConsts();

  // The files: new_task_text.cc.
  static std::string KernelName(const DraftEntry& e);
  std::string EntryText(const DraftEntry& e, const std::vector<std::string>& args, int step, const std::string& shared,
                        bool with_when) const;
  // `element_bytes` 0: as the tensor's dtype has it.
  std::string Workspaces(int64_t element_bytes) const;
  static std::string Elements(const DraftTensor& t);
  std::string SeedText();
  std::string Summary() const;
  std::string Class();
  std::string Toml();
  std::string TensorText(const DraftTensor& t);
  static std::string Number(double value);

  // The oracle: draft_oracle.cc.
  Status Oracle();
  Status GivenOracle();
  std::string MemsetForOracle(const DraftEntry& e, int step, std::string* kernels);

  // Work, cases and hidden ranges: draft_cases.cc.
  std::string WorkText();
  std::string CasesText();
  std::optional<std::string> EmptyDim(const std::vector<Dims>& checked) const;
  std::string CaseText(const char* role, const Dims& dims) const;
  std::string HiddenText() const;
  int64_t Multiple(const std::string& dim) const;
  // The sizes of `dim` that the user gave, in cases to be timed and to be checked.
  std::vector<int64_t> GivenSizes(const std::string& dim, bool timed, bool checked) const;
  // Sizes of all dimensions: `first` for the first one, `rest` for the others, rounded up to multiples.
  Dims Sizes(int64_t first, int64_t rest) const;
  // Smaller sizes where a block would need more shared memory than every device gives.
  void FitSharedMemory(Dims& dims) const;
  // Elements of the largest tensor; nullopt where a shape is not known.
  std::optional<int64_t> LargestTensor(const Dims& dims) const;
  Status ReadCases();
  // Sizes that must hold as many places as are written: slots >= tokens.
  std::map<std::string, std::string> LeastSizes() const;
  bool OneNumber() const;

  const CuSource& s_;
  NewTaskOptions o_;
  TaskDraft draft_;
  int function_ = -1;
  std::vector<CuLaunch> launches_;
  bool own_names_ = true;
  std::map<std::string, std::string> dims_;          // name in the host code -> what a plan writes
  std::vector<std::string> dim_order_;               // names in the plan
  std::map<std::string, std::string> host_tensors_;  // name in the host code -> tensor
  std::map<std::string, std::string> lets_;          // size in the host code -> expression over dimensions
  std::set<std::string> ratios_;                     // dimensions that are one size divided by another
  std::vector<Dims> timed_, checked_;                // as given, over dim_order_
  std::map<std::string, int64_t> default_sizes_;
  std::set<std::string> fixed_;  // integer parameters that are given a number by --scalar
  std::map<std::pair<const CuKernel*, std::string>, std::string> literal_sizes_;  // parameter -> the dimension it is
  bool template_asked_ = false;
  std::set<std::pair<std::string, std::string>> consts_;  // kernel, parameter: written with a const of its own
  std::vector<DraftEntry> entries_;
  std::vector<DraftTensor> tensors_;
  std::vector<DraftScalar> scalars_;
  std::map<std::pair<const CuKernel*, std::string>, std::string> integers_;
  std::string device_code_;
  int plan_lines_ = 0;  // of seed.cu, before the device code
};

}  // namespace hone
