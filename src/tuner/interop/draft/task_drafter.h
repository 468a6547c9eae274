// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a task from a .cu file: the class behind DraftTask, implemented in new_task*.cc, draft_*.cc, given_plan.cc and
// main_sizes.cc. Only these files include this header.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/interop/draft/new_task.h"
#include "tuner/interop/read/cu_source.h"
#include "tuner/interop/read/given_plan.h"

namespace hone {

// A tensor of the task in the making, with what the kernels and host code say about it.
struct DraftTensor {
  std::string name;
  TensorRole role = TensorRole::kIn;
  std::optional<DType> dtype;
  std::string type;                // element type declared by the first kernel that uses it
  std::vector<std::string> shape;  // empty: not known, so the user is asked
  bool role_inferred = false, shape_inferred = false, workspace = false;
  std::string shape_from;              // where the file states the shape, for messages
  std::vector<std::string> chosen_by;  // per axis: its bound in the kernels; "@ids": elements of `ids` are its indices
  int first_step = 0;                  // the first step that uses it
  // Whether the first kernel that uses it may read it or leave parts of it as they were; whether a kernel writes it.
  bool read_first = false, written = false;
  bool scattered = false;                 // written where another tensor's elements select
  bool updated = false;                   // kernels read it, so that new values may depend on old ones
  bool first = false, elsewhere = false;  // kernels access its first element as *p or p[0]; other elements
  // Facts about a tensor of integers that are indices:
  bool index = false, offsets = false;  // its elements are indices; its elements say where rows begin
  std::string bound;                    // exclusive bound of its elements; empty: not known
  bool distinct = false;                // its elements select places to write and must differ
  bool padded = false;                  // kernels test whether its elements are negative
  bool constant = false;                // every kernel takes it as a pointer to const
};
// A launch or a memset of the plan in the making. Texts are in the plan's names.
struct DraftEntry {
  int step = 0;                         // number of its step in the plan
  int token = 0;                        // where it stands in the file, for the order
  std::vector<std::string> conditions;  // of the ifs around it, as host code writes them
  bool memset = false;
  std::string target, bytes;         // of a memset; `bytes` empty: the whole tensor
  int value = 0;                     // of a memset: the byte
  const CuKernel* kernel = nullptr;  // null: a memset
  std::vector<std::string> template_args;
  std::vector<std::string> grid, block, args;
  std::string shared, when;                    // bytes of dynamic shared memory; condition. Empty: none
  std::map<std::string, std::string> tensors;  // the kernel's pointer parameter -> tensor
};
struct DraftScalar {
  std::string name;
  DType dtype = DType::kFloat32;
  double value = 0;
  bool known = false;  // false: the file does not say the value
};

// Drafts one task: construct, then call Run once. `source`, and the plan that the file already contains (`given`; null:
// none), must stay valid.
class TaskDrafter {
 public:
  TaskDrafter(const CuSource& source, const NewTaskOptions& options, const GivenPlan* given = nullptr, std::string given_text = {})
      : s_(source), o_(options), given_(given), given_text_(std::move(given_text)) {
    for (const std::string& d : o_.dims) AddDim(d);
    for (const auto& [name, text] : o_.lets) Let(name, text);
  }

  Result<TaskDraft> Run();

 private:
  Status InvalidFile(const std::string& message) const { return Status::InvalidArgument(o_.file + ": " + message); }
  void NoteInference(std::string text) { draft_.inferred.push_back(std::move(text)); }
  void NoteGuess(const std::string& text) {
    draft_.guessed.push_back(text);
    NoteInference(text);
  }
  // Adds a question to the draft; `answer`: the option that answers it.
  void Ask(std::string what, std::string answer);
  // Adds a dimension that host code calls `name`; the plan calls it PlanName().
  void AddDim(const std::string& name);
  // Defines a size of the host code as an expression over dimensions: num_heads = group * num_kv_heads.
  void Let(const std::string& name, const std::string& text);
  // Returns `name`, or the name with the suffix `what` if plans reserve it.
  std::string PlanName(const std::string& name, const char* what);
  // Renames what options name by the host code's names to the plan's names.
  void RenameInOptions();
  // Returns an option's expression in the plan's names; `device`: sm_count and other names of device facts stay.
  std::string RenamedSizes(const std::string& text, bool device);
  std::string FileAndLine(int line) const { return o_.file + ":" + std::to_string(line); }
  // Returns the host function with the launches; nullptr: none.
  const CuFunction* Host() const { return function_ < 0 ? nullptr : &s_.functions[static_cast<size_t>(function_)]; }
  // Returns the initializer of a local of that function.
  std::optional<std::string> LocalText(const std::string& name) const;

  // The following functions read the launches and their context in host code (new_task.cc).
  Status ChooseLaunches();
  // Decides how tensors are named: by the kernel's parameters if there is one kernel, or several with the same
  // pointers; otherwise by the host code's names.
  void NameTensors();
  // Maps "x.data_ptr<float>()" and "reinterpret_cast<const float4*>(x)" to x.
  std::string BaseOf(const std::string& text) const;
  // Finds the dimensions among the host code's names: integer parameters of the launcher, and locals that are passed to
  // kernels and whose value is not known (x.size(0)) or is a plain number (int n = 1 << 20 in a test program). The grid may name
  // another one: rows in k<<<rows, 256>>>, by which the program also measures memory.
  void FindDims();
  // Returns the number to which a local or a constant that device code does not use is set directly, and not by other names.
  std::optional<int64_t> PlainNumber(const std::string& name) const;
  // Returns whether the host function measures memory by this name: it allocates so many elements, or multiplies it.
  bool MeasuresMemory(const std::string& name) const;
  // Returns the value of a constant local of the host function.
  std::optional<double> LocalNumber(const std::string& name) const;
  // Adds the dimensions on which a text of the host code depends, through locals too.
  void Follow(const std::string& text, int depth);
  // Relates two dimensions of which the code divides one by the other (num_heads / num_kv_heads): the first becomes a
  // multiple of the second, and so do drawn sizes.
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
  // Returns whether the user's options name the parameter as a size, although host code passes a constant.
  bool MeantAsSize(const CuParameter& parameter) const;
  std::optional<int64_t> Constant(const std::string& text) const;
  // Returns the number that is always passed for an integer parameter: that of --scalar, or some number if the
  // parameter's name says that it is a random seed. nullopt: the parameter is a dimension or depends on dimensions.
  std::optional<int64_t> FixedNumber(const CuParameter& parameter, const std::string& actual) const;
  // Lists as guesses the dimensions that --dims does not name, if it names any.
  void NameAddedDims();
  // Returns whether the kernels use the tensor's elements, which are bytes, only as booleans.
  bool IsYesOrNo(const DraftTensor& t) const;
  // Returns the type that a launch passes for a template parameter, or `type` itself.
  std::string TypeOf(const CuKernel& kernel, const CuLaunch& launch, const std::string& type) const;
  // Converts an expression of host code to the plan's language.
  Result<std::string> Plan(const std::string& text) const;
  Status MakeEntry(const CuLaunch& launch);
  // Make the launches and the entries from the plan that the file already contains.
  Status TakeGivenLaunches();
  Status MakeGivenEntry(const GivenEntry& given_entry);
  // Records that the entry passes the tensor `name` for the pointer `parameter`. Adds the tensor if it is new.
  void AddTensor(DraftEntry& entry, const std::string& parameter, const std::string& name, const std::string& type);
  void AddScalar(const std::string& name, const std::string& actual, DType dtype);
  // Groups entries into steps: launches in the branches of one `if` are alternatives of a step; the others run in turn.
  void Steps();

  // Determines the tensors, their dtypes, roles and shapes (new_task_tensors.cc).
  Status Tensors();
  Status ReadUses(DraftTensor& t, std::optional<std::vector<std::string>>& shape);
  Status GivenRole(DraftTensor& t);
  // Determines the shape: from --shape, else from host code and comments, else from the kernels' indices (`indexed`).
  Status ShapeOf(DraftTensor& t, const std::optional<std::vector<std::string>>& indexed);
  std::optional<std::vector<std::string>> ShapeStatedInCode(const DraftTensor& t,
                                                            const std::optional<std::vector<std::string>>& indexed,
                                                            std::string* where);
  std::string SizeThatNothingNames() const;
  bool IsCountOfBest(const std::string& dim) const;
  // Names axes of unknown size from which another tensor's elements select.
  void ResolveChosenAxes();
  DraftTensor* FindTensor(const std::string& name);
  Status KnownTensor(const char* option, const std::string& name) const;
  Status CheckNames();
  void DropUnusedDims();

  // Adds `const` to the kernels' pointer parameters that are inputs of the task and that the kernel does not declare
  // const.
  void AddConsts();

  // Read what the file says beside its launches (draft_notes.cc). NoteOptionalTensors lists the tensors that kernels test
  // for null; JoinDimensionAnswers makes one option --dims of all that questions offer.
  void NoteOptionalTensors();
  void JoinDimensionAnswers();
  // Returns the dimension of which every block computes one index, if all outputs begin with it; empty: none.
  std::string LikelySlice() const;
  // Returns whether the threads of a block work together on an output of fewer axes than an input has.
  bool SharesBlocksAndReduces() const;
  // Returns the comment at the head of the file, if it is one line in words; empty: there is none.
  std::string FirstComment() const;

  // These functions write the files' text (new_task_text.cc).
  static std::string KernelName(const DraftEntry& e);
  std::string EntryText(const DraftEntry& e, const std::vector<std::string>& args, int step, const std::string& shared,
                        bool with_when) const;
  // Returns the [[workspace]] tables. `element_bytes` 0: the size of each tensor's dtype.
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

  // These functions write work, cases and hidden ranges (draft_cases.cc).
  std::string WorkText();
  std::string CasesText();
  std::optional<std::string> EmptyDim(const std::vector<Dims>& checked) const;
  std::string CaseText(const char* role, const Dims& dims) const;
  std::string HiddenText() const;
  void CountElements(int width, std::string* extent);
  int64_t Multiple(const std::string& dim) const;
  // Returns the sizes of `dim` that the user gave: `timed`, in timed cases; `checked`, in check cases.
  std::vector<int64_t> GivenSizes(const std::string& dim, bool timed, bool checked) const;
  // Returns sizes of all dimensions: `first_size` for the first one, `other_sizes` for the others, rounded up to
  // multiples.
  Dims Sizes(int64_t first_size, int64_t other_sizes) const;
  // Reduces sizes until a block's shared memory fits every device.
  void FitSharedMemory(Dims& dims) const;
  // Returns the number of elements of the largest tensor; nullopt if a shape is not known.
  std::optional<int64_t> LargestTensor(const Dims& dims) const;
  Status ReadCases();
  // Returns the sizes of the task's dimensions for a case that the user gave in the host code's names.
  Result<Dims> ReadCase(const Dims& one) const;
  // Takes the sizes with which the file's own main() runs the kernels as the timed case (main_sizes.cc).
  void ReadMain();
  // Returns lower bounds of dimensions, as expressions: a scatter needs at least as many places as it writes (slots >=
  // tokens).
  std::map<std::string, std::string> LeastSizes() const;
  // Returns whether all outputs are single numbers.
  bool OneNumber() const;

  const CuSource& s_;  // the user's file
  NewTaskOptions o_;   // the user's options
  const GivenPlan* given_;
  std::string given_text_;  // the given plan's comment, as written
  TaskDraft draft_;         // the result
  int function_ = -1;                                // the host function with the launches; -1: none
  std::vector<CuLaunch> launches_;                   // the launches that the plan is made from
  bool own_names_ = true;                            // tensors are named by the kernels' parameters
  std::map<std::string, std::string> dims_;          // name in the host code -> name in the plan
  std::vector<std::string> dim_order_;               // names in the plan
  std::map<std::string, std::string> host_tensors_;  // name in the host code -> tensor
  std::map<std::string, std::string> lets_;          // size in the host code -> expression over dimensions
  std::set<std::string> ratios_;                     // dimensions that are a quotient of two sizes, or the k of a top-k
  std::vector<Dims> timed_, checked_;                // cases that the user gave, over dim_order_
  std::map<std::string, int64_t> default_sizes_;     // dimension -> size with which the file itself runs
  std::string main_unread_;      // why main()'s sizes could not be read; empty: they could, or there is no main()
  std::set<std::string> fixed_;  // integer parameters that are always given one number
  std::map<std::pair<const CuKernel*, std::string>, std::string> literal_sizes_;  // parameter given a number -> size
  bool template_asked_ = false;                           // the user is asked for template arguments
  std::set<std::pair<std::string, std::string>> consts_;  // kernel, parameter: those that AddConsts makes const
  std::vector<DraftEntry> entries_;
  std::vector<DraftTensor> tensors_;
  std::vector<DraftScalar> scalars_;
  std::map<std::pair<const CuKernel*, std::string>, std::string> integers_;  // integer parameter -> plan expression
  std::string device_code_;  // text of seed.cu without plan and launcher note
  int plan_lines_ = 0;  // lines of seed.cu before the device code
};

}  // namespace hone
