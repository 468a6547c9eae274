// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// `hone new`: the three files as text.
#include <fmt/format.h>

#include <algorithm>

#include "base/rounding.h"
#include "tuner/interop/draft_words.h"
#include "tuner/interop/promote_oracle.h"
#include "tuner/interop/task_drafter.h"

namespace hone {

using std::string_view;

std::string TaskDrafter::KernelName(const DraftEntry& e) {
  return e.template_args.empty() ? e.kernel->qualified
                                 : fmt::format("{}<{}>", e.kernel->qualified, fmt::join(e.template_args, ", "));
}

std::string TaskDrafter::EntryText(const DraftEntry& e, const std::vector<std::string>& args, int step,
                                   const std::string& shared, bool with_when) const {
  std::string out = "\n[[launch]]\n";
  if (step > 0) out += fmt::format("step   = {}\n", step);
  out += fmt::format("kernel = {}\ngrid   = {}\nblock  = {}\n", Quoted(KernelName(e)), List(e.grid), List(e.block));
  if (!shared.empty()) out += fmt::format("shared = {}\n", Quoted(shared));
  out += fmt::format("args   = {}\n", List(args));
  if (with_when && !e.when.empty()) out += fmt::format("when   = {}\n", Quoted(e.when));
  return out;
}

std::string TaskDrafter::Workspaces(int64_t element_bytes) const {
  std::string out;
  for (const DraftTensor& t : tensors_) {
    if (!t.workspace) continue;
    std::string bytes = std::to_string(element_bytes > 0 ? element_bytes : t.dtype ? DTypeBytes(*t.dtype) : 4);
    for (const std::string& e : t.shape) bytes += " * " + Wrapped(e);
    out += fmt::format("\n[[workspace]]\nname = {}\nbytes = {}\n", Quoted(t.name),
                       Quoted(t.shape.empty() ? kFillIn : bytes));
  }
  return out;
}

std::string TaskDrafter::SeedText() {
  device_code_ = DeviceCode(s_, &draft_.dropped);
  std::string plan = "/*hone" + Workspaces(0);
  for (const DraftEntry& e : entries_) plan += EntryText(e, e.args, e.step, e.shared, true);
  plan += "*/\n";
  plan_lines_ = static_cast<int>(std::count(plan.begin(), plan.end(), '\n'));
  return plan + device_code_;
}

Status TaskDrafter::Oracle() {
  const std::string head = fmt::format("// The trusted answer to {}", o_.name);
  if (o_.oracle) {
    if (o_.oracle->find("/*hone") != std::string::npos) {
      draft_.oracle = *o_.oracle;
      return Status::Ok();
    }
    NewTaskOptions inner = o_;
    inner.file = o_.oracle_file;
    inner.oracle.reset();
    inner.kernels.clear();
    inner.grid.clear();
    inner.block.clear();
    inner.shared.clear();
    inner.template_args.clear();
    inner.dims = dim_order_;
    Result<TaskDraft> derived = DraftTask(*o_.oracle, inner);
    if (!derived.ok()) return derived.status().WithContext("--oracle");
    draft_.oracle = derived->oracle;
    draft_.oracle_reasons = derived->oracle_reasons;
    return Status::Ok();
  }
  // The last alternative of every step: the one without a condition.
  std::vector<const DraftEntry*> chosen;
  for (const DraftEntry& e : entries_) {
    if (!chosen.empty() && chosen.back()->step == e.step) chosen.pop_back();
    chosen.push_back(&e);
  }
  std::vector<KernelToPromote> kernels;
  std::map<std::string, DType> in_place;
  for (const DraftEntry* e : chosen) {
    KernelToPromote k;
    k.kernel = e->kernel;
    k.template_args = e->template_args;
    for (const auto& [parameter, name] : e->tensors) {
      for (const DraftTensor& t : tensors_) {
        if (t.name == name && !t.workspace) k.parameters[parameter] = {t.role, t.dtype.value_or(DType::kFloat32)};
        if (t.name == name && t.role == TensorRole::kInOut && !t.workspace)
          in_place[name] = t.dtype.value_or(DType::kFloat32);
      }
    }
    kernels.push_back(std::move(k));
  }
  PromotedCode code = PromoteToDouble(device_code_, plan_lines_, kernels, in_place);
  if (!code.reasons.empty()) {
    draft_.oracle_reasons = code.reasons;
    return Status::Ok();
  }
  std::string plan = "/*hone" + Workspaces(8);
  int step = 0;
  for (const auto& [name, dtype] : in_place) {
    std::string elements;
    for (const DraftTensor& t : tensors_) {
      if (t.name != name) continue;
      for (const std::string& extent : t.shape) elements += (elements.empty() ? "" : " * ") + Wrapped(extent);
    }
    if (elements.empty()) elements = kFillIn;
    plan += fmt::format(
        "\n[[launch]]\n{}kernel = \"hone_copy_{}\"\ngrid   = [\"ceil_div({}, 256)\"]\nblock  = [\"256\"]\nargs   = "
        "[\"{}\", \"ref:{}\", \"{}:i64\"]\n",
        step > 0 ? fmt::format("step   = {}\n", step) : "", name, elements, name, name, elements);
    ++step;
  }
  for (const DraftEntry* e : chosen) {
    std::vector<std::string> args = e->args;
    for (std::string& a : args) {
      for (const DraftTensor& t : tensors_) {
        if (a == t.name && !t.workspace && t.role != TensorRole::kIn) a = "ref:" + a;
      }
      // Numbers are doubles here, as every float.
      if (a.ends_with(":f32") || a.ends_with(":f16") || a.ends_with(":bf16")) a = a.substr(0, a.rfind(':')) + ":f64";
    }
    DraftEntry copy = *e;
    copy.template_args.clear();
    // Shared memory holds doubles where it held floats.
    plan += EntryText(copy, args, step++, e->shared.empty() ? "" : fmt::format("2 * {}", Wrapped(e->shared)), false);
  }
  draft_.oracle =
      head +
      ": the kernel itself, in double.\n//\n"
      "// Derived mechanically by `hone new`. It shows what a rewrite breaks and what lower precision loses; what "
      "the\n"
      "// kernel itself gets wrong it gets wrong as well. Compare it with an independent answer ([[hand]] cases in\n"
      "// task.toml), or write a simpler oracle.\n" +
      plan + "*/\n" + code.text;
  return Status::Ok();
}

std::string TaskDrafter::Summary() const {
  return o_.summary.empty() ? fmt::format("made by `hone new` from {}", o_.file) : o_.summary;
}

std::string TaskDrafter::Class() {
  if (!o_.workload.empty()) return o_.workload;
  std::string names = o_.name;
  for (const DraftEntry& e : entries_) names += " " + e.kernel->name;
  std::transform(names.begin(), names.end(), names.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&](string_view w) { return names.find(w) != std::string::npos || false; };
  std::string guess = "elementwise";
  if (has("gemm") || has("matmul"))
    guess = "gemm";
  else if (has("conv"))
    guess = "convolution";
  else if (has("attention") || has("attn"))
    guess = "attention";
  else if (has("gather") || has("scatter") || has("embedding"))
    guess = "gather";
  else if (has("norm") || has("softmax") || has("sum") || has("reduce") || has("mean") ||
           device_code_.find("__shfl") != std::string::npos)
    guess = "reduction";
  Inferred(fmt::format("class {}: --class to change it", guess));
  return guess;
}

int64_t TaskDrafter::Multiple(const std::string& dim) const {
  const auto found = o_.multiples.find(dim);
  return found == o_.multiples.end() ? 1 : found->second;
}

std::string TaskDrafter::CaseText(const char* role, const Dims& dims) const {
  std::string text;
  for (const std::string& d : dim_order_) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", d, dims.at(d));
  return fmt::format("\n[[case]]\nrole = \"{}\"\ndims = {{ {} }}\n", role, text);
}

Dims TaskDrafter::Sizes(int64_t first, int64_t rest) const {
  Dims dims;
  for (size_t i = 0; i < dim_order_.size(); ++i) {
    dims[dim_order_[i]] = RoundUp(i == 0 ? first : rest, Multiple(dim_order_[i]));
  }
  return dims;
}

std::string TaskDrafter::Toml() {
  std::string out = fmt::format(
      "# {}: written by `hone new` from {}. Lines marked \"inferred\" were read from the code: look them over.\n"
      "# `hone tasks check` tells whether the task can be trusted.\n\n"
      "name = {}\nsummary = {}\nclass = {}\n",
      o_.name, o_.file, Quoted(o_.name), Quoted(Summary()), Quoted(Class()));
  if (!o_.slice.empty()) {
    out += fmt::format("slice = {}\n", Quoted(o_.slice));
  } else {
    out += "# slice = \"…\": a dimension along which results are independent makes checking cheaper (--slice)\n";
  }
  out += "\n[dims]\n";
  for (const std::string& d : dim_order_)
    out += fmt::format("{} = {}\n", d, Quoted(fmt::format("{} of the kernel's launch", d)));
  for (const DraftTensor& t : tensors_) {
    if (t.workspace) continue;
    const bool integer = t.dtype && !IsFloating(*t.dtype);
    out += fmt::format(
        "\n[[tensor]]\nname = {}\nrole = \"{}\"{}\ndtype = \"{}\"\nshape = {}{}\n", Quoted(t.name),
        TensorRoleName(t.role), t.role_inferred ? "  # inferred" : "",
        t.dtype ? DTypeName(*t.dtype) : string_view(kFillIn),
        t.shape.empty() ? fmt::format("[\"{}\"]  # QUESTION: --shape {}=…", kFillIn, t.name) : List(t.shape),
        t.shape_inferred ? "  # inferred" : "");
    if (t.role == TensorRole::kOut) continue;
    if (const auto given = o_.values.find(t.name); given != o_.values.end()) {
      const size_t colon = given->second.find(':');
      if (given->second.starts_with("index") && colon != std::string::npos) {
        out += fmt::format("values = {{ distribution = \"index\", bound = {} }}\n",
                           Quoted(given->second.substr(colon + 1)));
      } else {
        out += fmt::format("values = {{ distribution = {} }}\n", Quoted(given->second));
      }
    } else if (integer) {
      out +=
          fmt::format("values = {{ distribution = \"index\", bound = \"{}\" }}  # QUESTION: --values {}=index:BOUND\n",
                      kFillIn, t.name);
      Ask(fmt::format("values of the integer tensor '{}': indices below which bound?", t.name),
          fmt::format("--values {}=index:BOUND", t.name));
    }
  }
  for (const DraftScalar& s : scalars_) {
    out += fmt::format("\n[[scalar]]\nname = {}\ndtype = \"{}\"\nvalue = {}{}\n", Quoted(s.name), DTypeName(s.dtype),
                       Number(s.value), s.known ? "" : "  # a guess: --scalar");
  }
  for (const DraftTensor& t : tensors_) {
    if (t.role == TensorRole::kIn || t.workspace) continue;
    double c_max = 1e-3, c_rms = 2e-5;
    switch (t.dtype.value_or(DType::kFloat32)) {
      case DType::kFloat16:
        c_max = 4e-3, c_rms = 6e-4;
        break;
      case DType::kBFloat16:
        c_max = 3e-2, c_rms = 5e-3;
        break;
      case DType::kFloat64:
        c_max = 1e-9, c_rms = 1e-11;
        break;
      case DType::kFloat32:
        break;
      default:
        c_max = c_rms = 0;
        break;
    }
    out += fmt::format(
        "\n# A start for {}; `hone tasks check` measures honest kernels and proposes c_rms.\n[tolerance.{}]\nc_max = "
        "{}\nc_rms = {}\n",
        t.dtype ? DTypeName(*t.dtype) : "this dtype", t.name, Number(c_max), Number(c_rms));
  }
  // Cases.
  std::vector<Dims> timed = o_.time_cases, checked = o_.check_cases;
  for (auto* list : {&timed, &checked}) {
    for (Dims& dims : *list) {
      for (const std::string& d : dim_order_) {
        if (dims.count(d) == 0) dims[d] = default_sizes_.count(d) != 0 ? default_sizes_.at(d) : 1024;
      }
    }
  }
  const bool one = dim_order_.size() <= 1;
  if (timed.empty()) {
    Dims dims = one ? Sizes(1 << 22, 0) : Sizes(2048, 4096);
    for (const auto& [d, size] : default_sizes_) {
      if (dims.count(d) != 0) dims[d] = size;
    }
    timed.push_back(dims);
    Inferred("the timed case: a guess; --case " + Example());
    out += "\n# A guess: --case with the sizes that matter to you.";
  }
  if (checked.empty()) {
    for (const auto& [first, rest] :
         one ? std::vector<std::pair<int64_t, int64_t>>{{1, 0}, {255, 0}, {1024, 0}, {70001, 0}}
             : std::vector<std::pair<int64_t, int64_t>>{{4, 64}, {33, 257}, {1, 1000}, {7, 4096 / 2 + 24}}) {
      checked.push_back(Sizes(first, rest));
    }
  }
  for (const Dims& dims : timed) out += CaseText("time", dims);
  for (const Dims& dims : checked) out += CaseText("check", dims);
  out += "\n[[hidden]]\ncount = 3\n";
  for (size_t i = 0; i < dim_order_.size(); ++i) {
    const int64_t m = Multiple(dim_order_[i]), high = one ? 50000 : i == 0 ? 100 : 1200;
    out += fmt::format("{} = {{ low = {}, high = {}{} }}\n", dim_order_[i],
                       std::max<int64_t>(m, one      ? 1
                                            : i == 0 ? 1
                                                     : 8),
                       std::max(m, high / m * m), m > 1 ? fmt::format(", multiple = {}", m) : "");
  }
  return out;
}

std::string TaskDrafter::Example() const {
  std::string text;
  for (const std::string& d : dim_order_) text += fmt::format("{}{}=1024", text.empty() ? "" : ",", d);
  return text;
}

std::string TaskDrafter::Number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace hone
