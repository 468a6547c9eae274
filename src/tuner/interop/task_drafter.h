// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a task from a .cu file: the steps of DraftTask, in five files. Internal to `hone new`.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/interop/cu_source.h"
#include "tuner/interop/given_plan.h"
#include "tuner/interop/new_task.h"

namespace hone {

struct DraftTensor {
  std::string name;
  TensorRole role = TensorRole::kIn;
  std::optional<DType> dtype;
  std::string type;                // element type declared by the first kernel that uses it
  std::vector<std::string> shape;  // empty: not known, so the user is asked
  bool role_inferred = false, shape_inferred = false, workspace = false;
  std::string shape_from;              // source of a stated shape
  std::vector<std::string> chosen_by;  // per axis as the kernels index it; "@ids" if elements of `ids` select it
  int first_step = 0;
  bool read_first = false, written = false;
  bool scattered = false;  // written only at places that another tensor's elements select
  bool updated = false;    // its new values depend on the old
  bool first = false, elsewhere = false;  // kernels access its first element by name; and others
  // Facts about a tensor of integers that index others:
  bool index = false, offsets = false;
  std::string bound;  // exclusive bound of its elements; empty: not known
  bool distinct = false;  // selects places to write, none of them twice
  bool padded = false;    // kernels test whether its elements are negative
  bool constant = false;  // every kernel has it as a pointer to const
};
// A launch, or a memset.
struct DraftEntry {
  int step = 0;
  int token = 0;  // token of the file, for the order
  std::vector<std::string> conditions;
  bool memset = false;
  std::string target, bytes;  // for a memset; no bytes: the whole tensor
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

// Drafts one task: construct, then Run. Borrows the source, and the plan that the file holds already (null: none).
class TaskDrafter {
 public:
  TaskDrafter(const CuSource& source, const NewTaskOptions& options, const GivenPlan* given = nullptr, std::string given_text = {})
      : s_(source), o_(options), given_(given), given_text_(std::move(given_text)) {
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
  // Adds a dimension, `name` in the host code; the plan may need another name.
  void AddDim(const std::string& name);
  // Defines a size of the host code as an expression over dimensions: num_heads = group * num_kv_heads.
  void Let(const std::string& name, const std::string& text);
  // Returns a name that has no other meaning in plans.
  std::string PlanName(const std::string& name, const char* what);
  // Renames in options, which use the host code's names, those that have other names in plans.
  void RenameInOptions();
  // Renames dimensions in an option's expression; `device`: names of device facts (sm_count) keep that meaning.
  std::string RenamedSizes(const std::string& text, bool device);
  std::string At(int line) const { return o_.file + ":" + std::to_string(line); }
  const CuFunction* Host() const { return function_ < 0 ? nullptr : &s_.functions[static_cast<size_t>(function_)]; }
  std::optional<std::string> LocalText(const std::string& name) const;

  // Launches and their context in host code: new_task.cc.
  Status ChooseLaunches();
  // Names tensors: with one kernel, or several with the same pointers, by the kernel's names; with several kernels in a
  // row, by those of the host code.
  void NameTensors();
  // Maps "x.data_ptr<float>()" and "reinterpret_cast<const float4*>(x)" to x.
  std::string BaseOf(const std::string& text) const;
  // Finds the dimensions among the host code's names: integer parameters of the launcher, and locals whose value cannot
  // be resolved (x.size(0)) or is a plain number that is passed on (int n = 1 << 20 in a test program).
  void FindDims();
  std::optional<double> LocalNumber(const std::string& name) const;
  void Follow(const std::string& text, int depth);
  // Relates dimensions divided in the code (num_heads / num_kv_heads): one is a multiple of the other, also in drawn
  // sizes.
  void RelateDims();
  // Reads memory that host code clears, and calls that no plan can make.
  Status HostMemory();
  std::vector<std::string> TemplateArgs(const CuKernel& kernel, const CuLaunch& launch) const;
  // Returns the value of a launcher's template parameter: from --template, or from the file's only explicit
  // instantiation.
  std::string Instantiated(const std::string& parameter) const;
  // Returns the template arguments with which the file instantiates the launcher or the kernel, for a question.
  std::string OfferedTemplates(const CuKernel& kernel) const;
  bool IsTemplateParameter(const CuKernel& kernel, const std::string& type) const;
  // Returns whether a number passed by host code is a size that the user, or a test program, means to vary.
  bool MeantAsSize(const CuParameter& parameter) const;
  std::optional<int64_t> Constant(const std::string& text) const;
  // The number that an integer parameter is always given: --scalar's, or one for a parameter that is called a seed, whose value
  // is no size. nullopt: it is a dimension or follows from some.
  std::optional<int64_t> FixedNumber(const CuParameter& parameter, const std::string& actual) const;
  // Dimensions that the user has not named although --dims names some are said.
  void NameAddedDims();
  // Returns whether the kernels take a byte for a yes or a no.
  bool IsYesOrNo(const DraftTensor& t) const;
  // A template parameter's type, where it is known.
  std::string TypeOf(const CuKernel& kernel, const CuLaunch& launch, const std::string& type) const;
  Result<std::string> Plan(const std::string& text) const;
  Status MakeEntry(const CuLaunch& launch);
  // Make launches and entries of the plan that the file holds.
  Status TakeGivenLaunches();
  Status MakeGivenEntry(const GivenEntry& given);
  // Notes that a kernel's pointer is given a tensor, which is new or known.
  void AddTensor(DraftEntry& entry, const std::string& parameter, const std::string& name, const std::string& type);
  void AddScalar(const std::string& name, const std::string& actual, DType dtype);
  // Makes steps: launches in branches of one `if` are alternatives; the others run in turn.
  void Steps();

  // Determines the tensors, their roles and shapes (new_task_tensors.cc).
  Status Tensors();
  Status ReadUses(DraftTensor& t, std::optional<std::vector<std::string>>& shape);
  Status GivenRole(DraftTensor& t);
  // Determines the shape: from --shape, from host code and comments, from the kernels' indices.
  Status ShapeOf(DraftTensor& t, const std::optional<std::vector<std::string>>& indexed);
  std::optional<std::vector<std::string>> Stated(const DraftTensor& t,
                                                 const std::optional<std::vector<std::string>>& indexed,
                                                 std::string* where);
  // Names axes of unknown size from which another tensor's elements select.
  std::string SizeThatNothingNames() const;
  bool IsCountOfBest(const std::string& dim) const;
  void ResolveChosenAxes();
  DraftTensor* FindTensor(const std::string& name);
  Status KnownTensor(const char* option, const std::string& name) const;
  Status CheckNames();
  void DropUnusedDims();

  // Adds `const` to pointer parameters that are inputs of the task and not const in the kernel.
  void AddConsts();

  // These functions write the files' text (new_task_text.cc).
  static std::string KernelName(const DraftEntry& e);
  std::string EntryText(const DraftEntry& e, const std::vector<std::string>& args, int step, const std::string& shared,
                        bool with_when) const;
  // Writes the workspaces. `element_bytes` 0 means the size of the tensor's dtype.
  std::string Workspaces(int64_t element_bytes) const;
  static std::string Elements(const DraftTensor& t);
  std::string SeedText();
  std::string Summary() const;
  std::string Class();
  std::string Toml();
  std::string TensorText(const DraftTensor& t);
  static std::string Number(double value);

  // Writes the oracle (draft_oracle.cc).
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
  // Returns the sizes of `dim` that the user gave, in timed cases and in check cases.
  std::vector<int64_t> GivenSizes(const std::string& dim, bool timed, bool checked) const;
  // Returns sizes of all dimensions: `first` for the first one, `rest` for the others, rounded up to multiples.
  Dims Sizes(int64_t first, int64_t rest) const;
  // Reduces sizes until a block's shared memory fits every device.
  void FitSharedMemory(Dims& dims) const;
  // Returns the number of elements of the largest tensor; nullopt if a shape is not known.
  std::optional<int64_t> LargestTensor(const Dims& dims) const;
  Status ReadCases();
  // Reads one case, in the host code's names of sizes, as sizes of the task's dimensions.
  Result<Dims> ReadCase(const Dims& one) const;
  // Takes the sizes with which the file's own main() runs the kernels as the timed case: main_sizes.cc.
  void ReadMain();
  // Returns lower bounds for sizes with as many places as are written: slots >= tokens.
  std::map<std::string, std::string> LeastSizes() const;
  bool OneNumber() const;

  const CuSource& s_;
  NewTaskOptions o_;
  const GivenPlan* given_;
  std::string given_text_;  // its comment, as written
  TaskDraft draft_;
  int function_ = -1;
  std::vector<CuLaunch> launches_;
  bool own_names_ = true;
  std::map<std::string, std::string> dims_;          // name in the host code -> name in the plan
  std::vector<std::string> dim_order_;               // names in the plan
  std::map<std::string, std::string> host_tensors_;  // name in the host code -> tensor
  std::map<std::string, std::string> lets_;          // size in the host code -> expression over dimensions
  std::set<std::string> ratios_;                     // dimensions that are a quotient of two sizes
  std::vector<Dims> timed_, checked_;                // as given, over dim_order_
  std::map<std::string, int64_t> default_sizes_;     // sizes that the file itself runs
  std::string main_unread_;                          // why main()'s sizes are not among them; empty: nothing to say
  std::set<std::string> fixed_;  // integer parameters that are given a number by --scalar
  std::map<std::pair<const CuKernel*, std::string>, std::string> literal_sizes_;  // parameter -> the dimension it is
  bool template_asked_ = false;
  std::set<std::pair<std::string, std::string>> consts_;  // kernel, parameter: gets a const
  std::vector<DraftEntry> entries_;
  std::vector<DraftTensor> tensors_;
  std::vector<DraftScalar> scalars_;
  std::map<std::pair<const CuKernel*, std::string>, std::string> integers_;
  std::string device_code_;
  int plan_lines_ = 0;  // lines of seed.cu before the device code
};

}  // namespace hone
