// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/plain_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hone/tuner/candidate.h"
#include "tuner/core/plan/plan_text.h"
#include "tuner/interop/draft/new_task.h"
#include "tuner/interop/read/cu_source.h"
#include "tuner/model/builtin/cuda_lexer.h"
#include "tuner/model/builtin/plan_text.h"

namespace hone {
namespace {

// Returns the kernel's name in a plan without its template arguments: "norm" of "norm<float, 4>".
std::string KernelBase(const std::string& kernel) { return kernel.substr(0, kernel.find('<')); }

// Returns the name without namespaces.
std::string LastName(const std::string& name) {
  const size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

// Returns whether the plan passes the argument to a pointer parameter.
bool IsPointer(const Argument& argument) {
  return argument.kind == ArgumentKind::kTensor || argument.kind == ArgumentKind::kReference ||
         argument.kind == ArgumentKind::kWorkspace;
}

// Returns the argument as messages name it: "rows * d" or "x".
std::string Named(const Argument& argument) { return argument.value ? argument.value->text() : argument.name; }

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

class Planner {
 public:
  Planner(const Task& task, const CuSource& source, const std::string& file) : task_(task), s_(source), file_(file) {}

  Result<PlannedKernel> Run() {
    std::string own;  // why the file's own launches were not used
    if (!s_.launches.empty()) {
      const int line = s_.launches.front().line;
      const Result<std::string> plan = OwnPlan();
      Result<std::string> text = plan.ok() ? Assemble(*plan) : plan;
      if (text.ok()) {
        return PlannedKernel{
            *std::move(text),
            fmt::format("{} has no launch plan: it is judged with this one, made from its own launch in line {}{}{}. To "
                        "change it, put it above the code:\n{}",
                        file_, line, repeated_, taken_ + LeftOut() + Unnamed(*plan), *plan)};
      }
      own = fmt::format("Its own launch in line {} could not be taken: {}", line, FirstLine(text.status().message()));
      if (!unknown_.empty()) own = fmt::format("line {} launches with {}", line, unknown_);
    }
    const Result<std::string> plan = SeedsPlan();
    Result<std::string> text = plan.ok() ? Assemble(*plan) : plan;
    if (!text.ok()) {
      return Status::InvalidArgument(fmt::format(
          "{} has no launch plan, and that of the task's seed does not fit: {}. {}{}Begin the file with a comment "
          "/*hone … */ that says how its kernel is launched{} (candidate-format.md in the documentation)",
          file_, FirstLine(text.status().message()), own, own.empty() ? "" : ". ",
          task_.seed_source.empty() ? "" : fmt::format(": copy that of {}, and change it", SeedFile())));
    }
    if (!unknown_.empty()) {
      return PlannedKernel{*std::move(text), fmt::format("{} has no launch plan: the seed's plan is used ({}{}), because {}", file_,
                                                         geometry_, LeftOut(), own)};
    }
    return PlannedKernel{
        *std::move(text),
        fmt::format("{} has no launch plan: it is judged with the plan of the task's seed, which launches {}{}. {}{}If "
                    "the kernel needs another launch, copy the comment /*hone … */ of {} above the code, and change it",
                    file_, geometry_, LeftOut(), own, own.empty() ? "" : ". ", SeedFile())};
  }

 private:
  std::string SeedFile() const { return task_.directory.empty() ? "seed.cu" : task_.directory + "/seed.cu"; }

  // Returns the comment with the plan that `hone new` would write for the file's launches.
  Result<std::string> OwnPlan() {
    NewTaskOptions options;
    options.name = "plain";
    options.file = file_;
    NewTaskOptions options_with_dims = options;  // the file may set one of the task's dimensions to a number
    for (const auto& [name, text] : task_.dims) options_with_dims.dims.push_back(name);
    HONE_ASSIGN_OR_RETURN(const TaskDraft draft, DraftTask(s_.text, options));
    const Result<TaskDraft> with_dims = DraftTask(s_.text, options_with_dims);
    const std::string plan = PlanOf(draft.seed), other = with_dims.ok() ? PlanOf(with_dims->seed) : "";
    const bool better = !other.empty() && other.find(kFillIn) == std::string::npos && DimsNamed(other) > DimsNamed(plan);
    for (const std::string& line : draft.inferred) {
      if (line.find(": launched once") != std::string::npos) repeated_ += "; " + line;
    }
    if (better) return TakeSizes(other);
    for (const TaskQuestion& q : draft.questions) {
      // A question about the launch ends with the name that is missing: grid of kernel 'k': '…' ('argv' is not known).
      const size_t known = q.what.rfind("' is not known)");
      const size_t name = known == std::string::npos ? known : q.what.rfind('\'', known - 1);
      if (name == std::string::npos) continue;
      unknown_ = q.what.substr(name, known + 1 - name) + ", which is not known";
      return Status::InvalidArgument(unknown_);
    }
    return TakeSizes(plan);
  }

  // Returns how many of the task's dimensions the plan names.
  long DimsNamed(const std::string& plan) const {
    return std::count_if(task_.dims.begin(), task_.dims.end(), [&](const auto& dim) { return Names(plan, dim.first); });
  }

  static std::string PlanOf(const std::string& seed) {
    const size_t begin = PlanBegin(seed);
    const size_t end = begin == std::string::npos ? begin : seed.find("*/", begin);
    return end == std::string::npos ? "" : seed.substr(begin, end + 2 - begin);
  }

  // Returns the plan with a dimension in place of a number in a grid or among the arguments, if it is the size of this dimension alone in every
  // timed case, and the plan does not name the dimension.
  Result<std::string> TakeSizes(const std::string& plan) {
    if (plan.empty()) return Status::Internal("a drafted seed has no plan");
    const Result<PlanOutline> outline = FindPlan(plan);
    std::map<std::string, std::string> sizes;  // number -> dimension; empty: of several
    for (const auto& [name, text] : task_.dims) {
      const std::optional<int64_t> size = TimedSize(name);
      if (!size || *size < 2) continue;
      const auto [entry, fresh] = sizes.emplace(std::to_string(*size), name);
      if (!fresh) entry->second.clear();
    }
    std::vector<TextEdit> edits;
    std::set<std::string> replaced_keys;
    for (size_t i = 0; outline.ok() && outline->Entry(i) != nullptr; ++i) {
      for (const char* key : {"grid", "args"}) {
        const PlanKey* found = outline->Entry(i)->Find(key);
        for (size_t at = found == nullptr ? plan.size() : found->value_begin; found != nullptr && at < found->value_end; ++at) {
          // A number begins after a quotation mark, and ends at one or at a colon: "1024", "512:i32".
          if (plan[at] != '"') continue;
          const size_t end = plan.find_first_not_of("0123456789", at + 1);
          if (end == std::string::npos || end == at + 1 || (plan[end] != '"' && plan[end] != ':')) continue;
          const std::string number = plan.substr(at + 1, end - at - 1);
          const auto size = sizes.find(number);
          if (size == sizes.end() || size->second.empty() || Names(plan, size->second)) continue;
          edits.push_back({at + 1, end, size->second});
          if (replaced_keys.insert(number).second)
            taken_ +=
                fmt::format("{}{} stands for {}", replaced_keys.size() == 1 ? "; " : " and ", number, size->second);
        }
      }
    }
    if (!taken_.empty())
      taken_ += fmt::format(", for that is {} size where it is timed", replaced_keys.size() == 1 ? "its" : "their");
    return ApplyEdits(plan, std::move(edits));
  }

  // Returns the dimension's size if it is the same in all timed cases.
  std::optional<int64_t> TimedSize(const std::string& dim) const {
    std::optional<int64_t> size;
    for (const Case& task_case : task_.cases) {
      if (task_case.role != CaseRole::kTime) continue;
      const int64_t size_in_task = task_case.dims.at(dim);
      if (size && *size != size_in_task) return std::nullopt;
      size = size_in_task;
    }
    return size;
  }

  static bool Names(const std::string& plan, const std::string& dim) {
    return ReplaceWord(plan, dim, "") != plan;
  }

  // Returns a clause about dimensions of outputs that vary and that the plan does not name; empty: there are none.
  std::string Unnamed(const std::string& plan) const {
    std::vector<std::string> names;
    for (const auto& dim_and_text : task_.dims) {
      const std::string& dim = dim_and_text.first;
      const auto uses_dim = [&](const Expression& extent) {
        const std::vector<std::string> used_names = extent.Names();
        return std::find(used_names.begin(), used_names.end(), dim) != used_names.end();
      };
      const bool output = std::any_of(task_.tensors.begin(), task_.tensors.end(), [&](const TensorSpec& tensor) {
        return tensor.role != TensorRole::kIn && std::any_of(tensor.shape.begin(), tensor.shape.end(), uses_dim);
      });
      const bool varies = std::any_of(task_.cases.begin(), task_.cases.end(), [&](const Case& task_case) {
        return task_case.dims.at(dim) != task_.cases.front().dims.at(dim);
      });
      if (output && varies && !Names(plan, dim)) names.push_back(dim);
    }
    if (names.empty()) return "";
    return fmt::format(
        "; the launch does not name {0}, so a kernel that has {1} as a number in its code is right at that size only: pass {1} as an "
        "argument",
        fmt::join(names, " and "), names.size() == 1 ? "it" : "them");
  }

  // Returns the comment with the seed's plan, its kernels named as the file names them.
  Result<std::string> SeedsPlan() {
    if (task_.seed_source.empty()) return Status::InvalidArgument("the task has no seed");
    HONE_ASSIGN_OR_RETURN(const Candidate seed, ParseCandidate(task_.seed_source, SeedFile(), task_));
    if (seed.plan.host_mode || !seed.plan.machine_code.empty())
      return Status::InvalidArgument("the seed is in host mode or machine code");
    HONE_ASSIGN_OR_RETURN(const PlanOutline outline, FindPlan(seed.source));
    std::set<std::string> launched;
    for (const PlanEntry& entry : seed.plan.entries) {
      if (entry.is_launch()) launched.insert(KernelBase(entry.kernel));
    }
    const size_t begin = PlanBegin(seed.source);
    std::vector<TextEdit> edits;
    for (size_t i = 0; i < seed.plan.entries.size(); ++i) {
      const PlanEntry& entry = seed.plan.entries[i];
      if (!entry.is_launch()) continue;
      HONE_ASSIGN_OR_RETURN(const CuKernel* kernel, KernelFor(entry, launched.size() == 1));
      HONE_RETURN_IF_ERROR(CheckParameters(entry, *kernel, seed.source));
      const PlanSection* section = outline.Entry(i);
      const PlanKey* key = section == nullptr ? nullptr : section->Find("kernel");
      if (key == nullptr) return Status::InvalidArgument("the text of the seed's plan is not understood");
      const std::string arguments = entry.kernel.substr(KernelBase(entry.kernel).size());
      if (arguments.empty() && !kernel->template_parameters.empty()) {
        return Status::InvalidArgument(
            fmt::format("kernel '{}' is a template, and the plan gives no template arguments", kernel->name));
      }
      const std::string name = kernel->qualified + (kernel->template_parameters.empty() ? "" : arguments);
      edits.push_back({key->value_begin - begin, key->value_end - begin, Quote(name)});
      if (!geometry_.empty()) continue;
      geometry_ =
          fmt::format("'{}' in a grid of [{}] with blocks of [{}]", name, Texts(entry.grid), Texts(entry.block));
    }
    return ApplyEdits(seed.source.substr(begin, seed.source.find("*/", begin) + 2 - begin), std::move(edits));
  }

  static std::string Texts(const std::vector<Expression>& expressions) {
    std::vector<std::string> texts;
    for (const Expression& e : expressions) texts.push_back(e.text());
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  // Returns the file's kernel for a launch of the seed: the kernel of the same name, or, if the file and the seed have one
  // kernel each, that kernel.
  Result<const CuKernel*> KernelFor(const PlanEntry& entry, bool only) const {
    const std::string name = KernelBase(entry.kernel);
    if (const CuKernel* kernel = s_.FindKernel(name)) return kernel;
    if (const CuKernel* kernel = s_.FindKernel(LastName(name))) return kernel;
    if (only && s_.kernels.size() == 1) return &s_.kernels.front();
    std::vector<std::string> names;
    for (const CuKernel& k : s_.kernels) names.push_back(k.name);
    return Status::InvalidArgument(
        fmt::format("the plan launches '{}', and the file has {}", name, fmt::join(names, ", ")));
  }

  // Checks that the file's kernel takes what the plan passes, in the order of the seed's kernel.
  Status CheckParameters(const PlanEntry& entry, const CuKernel& kernel, const std::string& seed_source) const {
    std::vector<std::string> passed;
    for (const Argument& a : entry.args) passed.push_back(Named(a));
    bool fits = kernel.parameters.size() == entry.args.size();
    for (size_t i = 0; fits && i < entry.args.size(); ++i)
      fits = kernel.parameters[i].pointer == IsPointer(entry.args[i]);
    if (!fits) {
      std::vector<std::string> parameter_texts;
      for (const CuParameter& p : kernel.parameters) parameter_texts.push_back((p.pointer ? "*" : "") + p.name);
      return Status::InvalidArgument(fmt::format("kernel '{}' takes ({}), and the plan passes ({})", kernel.name,
                                                 fmt::join(parameter_texts, ", "), fmt::join(passed, ", ")));
    }
    const Result<std::unique_ptr<CuSource>> seed = ReadCuSource(seed_source, SeedFile());
    const CuKernel* seed_kernel = seed.ok() ? (*seed)->FindKernel(LastName(KernelBase(entry.kernel))) : nullptr;
    if (seed_kernel == nullptr || seed_kernel->parameters.size() != kernel.parameters.size()) return Status::Ok();
    std::vector<std::string> ours_in_order, theirs_in_order;
    for (const CuParameter& p : kernel.parameters) ours_in_order.push_back(p.name);
    for (const CuParameter& p : seed_kernel->parameters) theirs_in_order.push_back(p.name);
    if (ours_in_order == theirs_in_order) return Status::Ok();
    if (!std::is_permutation(ours_in_order.begin(), ours_in_order.end(), theirs_in_order.begin())) return Status::Ok();
    return Status::InvalidArgument(
        fmt::format("kernel '{}' takes ({}), and the seed's takes them in another order, ({})", kernel.name,
                    fmt::join(ours_in_order, ", "), fmt::join(theirs_in_order, ", ")));
  }

  // Returns the candidate with this plan, a comment. An error says why it is none.
  Result<std::string> Assemble(const std::string& plan) const {
    std::vector<TextEdit> edits;
    for (const CuHostItem& item : HostItems(s_)) {
      // A missing header of the user's own is named best by the compiler.
      if (item.kind == CuItemKind::kInclude && item.name.starts_with('"')) continue;
      const auto lines = std::count(s_.text.begin() + static_cast<std::ptrdiff_t>(item.begin),
                                    s_.text.begin() + static_cast<std::ptrdiff_t>(item.end), '\n');
      edits.push_back({item.begin, item.end, std::string(static_cast<size_t>(lines), '\n')});
    }
    HONE_ASSIGN_OR_RETURN(const Candidate parsed, ParseCandidate(plan, "the plan", task_));
    std::set<size_t> places;  // a kernel may be launched more than once
    for (const PlanEntry& entry : parsed.plan.entries) {
      const CuKernel* kernel = entry.is_launch() ? s_.FindKernel(KernelBase(entry.kernel)) : nullptr;
      if (kernel == nullptr || kernel->parameters.size() != entry.args.size()) continue;
      for (size_t i = 0; i < entry.args.size(); ++i) {
        const TensorSpec* tensor = task_.FindTensor(entry.args[i].name);
        if (entry.args[i].kind != ArgumentKind::kTensor || tensor == nullptr) continue;
        AdaptParameter(*kernel, i, tensor->role == TensorRole::kIn, places, edits);
      }
    }
    const std::string text =
        ApplyEdits(s_.text, std::move(edits)) + (s_.text.ends_with('\n') ? "" : "\n") + plan + "\n";
    HONE_RETURN_IF_ERROR(ParseCandidate(text, file_, task_).status());
    return text;
  }

  // Adds `const` to the pointer by which a kernel takes an input of the task, as `hone new` does in a seed, and makes a
  // bool* a pointer to bytes, because tasks have no type bool.
  void AdaptParameter(const CuKernel& kernel, size_t index, bool input, std::set<size_t>& places,
                      std::vector<TextEdit>& edits) const {
    const CuParameter& parameter = kernel.parameters[index];
    const auto [first, last] = Tokens(kernel, index);
    if (first >= last || !places.insert(s_.token(first).begin).second) return;
    // A pointer that the kernel passes on, or copies to another pointer, would have to be const there too.
    bool indexed_only = true;
    for (int i = kernel.body_open; i < kernel.body_close; ++i) {
      if (s_.token(i).text == parameter.name && s_.token(i - 1).text != "." && s_.token(i + 1).text != "[")
        indexed_only = false;
    }
    const size_t begin = s_.token(first).begin;
    if (input && parameter.pointer && !parameter.to_const && indexed_only) edits.push_back({begin, begin, "const "});
    for (int i = first; i < last; ++i) {
      if (s_.token(i).text == "bool" && s_.TokenIs(i + 1, "*"))
        edits.push_back({s_.token(i).begin, s_.token(i).end, "unsigned char"});
    }
  }

  // Returns the tokens [first, last) of a kernel's parameter.
  std::pair<int, int> Tokens(const CuKernel& kernel, size_t index) const {
    const int close = kernel.body_open - 1;
    int begin = s_.token(close).match + 1;
    size_t number = 0;
    for (int i = begin, angles = 0; i <= close; ++i) {
      if (i < close && s_.token(i).match > i) {
        i = s_.token(i).match;
        continue;
      }
      if (s_.token(i).text == "<") ++angles;
      if (s_.token(i).text == ">") --angles;
      if (i < close && (s_.token(i).text != "," || angles > 0)) continue;
      if (number++ == index) return {begin, i};
      begin = i + 1;
    }
    return {0, 0};
  }

  // Returns a clause about host functions that are not judged; empty: there are none.
  std::string LeftOut() const {
    std::vector<std::string> names;
    for (const CuHostItem& item : HostItems(s_)) {
      if (item.kind == CuItemKind::kHost && !item.name.empty()) names.push_back("'" + item.name + "'");
    }
    if (names.empty()) return "";
    return fmt::format("; host code ({}) is left out", fmt::join(names, ", "));
  }

  const Task& task_;
  const CuSource& s_;
  const std::string file_;
  std::string geometry_;  // the first launch of the seed's plan, for the note
  std::string unknown_;   // what the file's own launch passes and nothing tells: "'argv', which is not known"; empty: nothing
  std::string taken_;     // a clause about numbers of the launch that are taken for dimensions
  std::string repeated_;  // clauses about launches that are taken once, for the note
};

}  // namespace

Result<PlannedKernel> PlanPlainKernel(const Task& task, std::string_view source, const std::string& file) {
  if (PlanBegin(source) != std::string_view::npos) return PlannedKernel{std::string(source), ""};
  const Result<std::unique_ptr<CuSource>> cu_source = ReadCuSource(source, file);
  if (!cu_source.ok()) return PlannedKernel{std::string(source), ""};
  return Planner(task, **cu_source, file).Run();
}

}  // namespace hone
