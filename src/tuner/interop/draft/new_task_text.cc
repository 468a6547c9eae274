// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes task.toml and seed.cu for `hone new`.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "tuner/interop/draft/draft_words.h"
#include "tuner/interop/draft/task_drafter.h"
#include "tuner/interop/write/launcher_note.h"

namespace hone {

using std::string_view;

std::string TaskDrafter::KernelName(const DraftEntry& e) {
  return e.template_args.empty() ? e.kernel->qualified
                                 : fmt::format("{}<{}>", e.kernel->qualified, fmt::join(e.template_args, ", "));
}

std::string TaskDrafter::EntryText(const DraftEntry& e, const std::vector<std::string>& args, int step,
                                   const std::string& shared, bool with_when) const {
  if (e.memset) {
    std::string out = fmt::format("\n[[memset]]\n{}target = {}\n", step > 0 ? fmt::format("step   = {}\n", step) : "",
                                  Quoted(e.target));
    if (e.value != 0) out += fmt::format("value  = {}\n", e.value);
    if (!e.bytes.empty()) out += fmt::format("bytes  = {}\n", Quoted(e.bytes));
    return out;
  }
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
    for (const std::string& e : t.shape) bytes += " * " + InParentheses(e);
    out += fmt::format("\n[[workspace]]\nname = {}\nbytes = {}\n", Quoted(t.name),
                       Quoted(t.shape.empty() ? kFillIn : bytes));
  }
  return out;
}

std::string TaskDrafter::Elements(const DraftTensor& t) {
  std::string elements;
  for (const std::string& extent : t.shape) elements += (elements.empty() ? "" : " * ") + InParentheses(extent);
  return elements.empty() ? kFillIn : elements;
}

namespace {

// Returns the code with const added to the parameters in `consts`, pairs of a kernel's and a parameter's name.
std::string WithConsts(const std::string& code, const std::set<std::pair<std::string, std::string>>& consts) {
  if (consts.empty()) return code;
  const Result<std::unique_ptr<CuSource>> seed = ReadCuSource(code, "seed.cu");
  if (!seed.ok()) return code;
  const CuSource& s = **seed;
  std::vector<TextEdit> edits;
  for (const auto& [name, parameter] : consts) {
    const CuKernel* kernel = s.FindKernel(name);
    if (kernel == nullptr) continue;
    const int close = kernel->body_open - 1, open = s.token(close).match;
    for (int i = open + 1, begin = i; i <= close; ++i) {
      if (i < close && s.token(i).match > i) i = s.token(i).match;
      if (i < close && s.token(i).text != ",") continue;
      for (int k = begin; k < i; ++k) {
        if (s.token(k).text != parameter) continue;
        edits.push_back({s.token(begin).begin, s.token(begin).begin, "const "});
        break;
      }
      begin = i + 1;
    }
  }
  return ApplyEdits(code, std::move(edits));
}

// Returns the code with the kernels' bool* parameters as pointers to bytes: tasks have no type bool.
std::string WithBytes(const std::string& code) {
  const Result<std::unique_ptr<CuSource>> seed = ReadCuSource(code, "seed.cu");
  if (!seed.ok()) return code;
  const CuSource& s = **seed;
  std::vector<TextEdit> edits;
  for (const CuKernel& kernel : s.kernels) {
    const int close = kernel.body_open - 1;
    for (int i = s.token(close).match + 1; i < close; ++i) {
      if (s.token(i).text == "bool" && s.token(i + 1).text == "*")
        edits.push_back({s.token(i).begin, s.token(i).end, "unsigned char"});
    }
  }
  return ApplyEdits(code, std::move(edits));
}

}  // namespace

std::string TaskDrafter::SeedText() {
  std::vector<CuLeftOut> left_out;
  device_code_ = WithConsts(DeviceCode(s_, &left_out), consts_);
  if (std::any_of(tensors_.begin(), tensors_.end(), [](const DraftTensor& t) { return t.type == "bool"; }))
    device_code_ = WithBytes(device_code_);
  for (const CuLeftOut& one : left_out)
    draft_.left_out.push_back(fmt::format("{}: {}: a candidate is one file; paste what the kernels need of it",
                                          FileAndLine(one.line), one.text));
  if (device_code_.find("curand_") != std::string::npos) {
    NoteInference(
        "the kernels draw random numbers by cuRAND, which the simulated GPU has not, and an oracle must draw the same: "
        "write the "
        "generator into the kernel (Philox, or a hash of the element's number and a seed, takes a dozen lines)");
  }
  std::string plan = given_text_ + "\n";
  if (given_ == nullptr) {
    plan = "/*hone" + Workspaces(0);
    for (const DraftEntry& e : entries_) plan += EntryText(e, e.args, e.step, e.shared, /*with_when=*/true);
    plan += "*/\n";
  } else {
    // DraftTask has replaced the plan by empty lines, which are removed here.
    for (size_t at = 0; (at = device_code_.find("\n\n\n", at)) != std::string::npos;) device_code_.erase(at, 1);
    device_code_.erase(0, device_code_.find_first_not_of('\n'));
  }
  // The seed notes a launcher that takes pointers, for comparison with the generated function. One that takes PyTorch
  // tensors is not noted.
  const bool pointers = Host() != nullptr && std::any_of(Host()->parameters.begin(), Host()->parameters.end(),
                                                         [](const CuParameter& p) { return p.pointer; });
  if (pointers && Host()->name != "main") plan += LauncherNote(s_, *Host(), o_.file);
  plan_lines_ = static_cast<int>(std::count(plan.begin(), plan.end(), '\n'));
  return plan + device_code_;
}

std::string TaskDrafter::Summary() const {
  if (!o_.summary.empty()) return o_.summary;
  const std::string comment = FirstComment();
  return comment.empty() ? fmt::format("made by `hone new` from {}", o_.file) : comment;
}

std::string TaskDrafter::Class() {
  if (!o_.workload.empty()) return o_.workload;
  std::string names = o_.name;
  for (const DraftEntry& e : entries_) {
    if (e.kernel != nullptr) names += " " + e.kernel->name;
  }
  std::transform(names.begin(), names.end(), names.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has_word = [&](string_view w) { return names.find(w) != std::string::npos; };
  std::string guess = "elementwise";
  if (has_word("gemm") || has_word("matmul"))
    guess = "gemm";
  else if (has_word("conv"))
    guess = "convolution";
  else if (has_word("attention") || has_word("attn"))
    guess = "attention";
  else if (has_word("gather") || has_word("scatter") || has_word("embedding"))
    guess = "gather";
  else if (has_word("norm") || has_word("softmax") || has_word("sum") || has_word("reduce") || has_word("mean") ||
           has_word("loss") || has_word("entropy") || device_code_.find("__shfl") != std::string::npos ||
           SharesBlocksAndReduces())
    guess = "reduction";
  NoteGuess(fmt::format("class {}: a guess by names; --class for another", guess));
  return guess;
}

std::string TaskDrafter::Toml() {
  std::string out = fmt::format(
      "# {}: written by `hone new` from {}. Lines marked \"inferred\" were read from the code: look them over.\n"
      "# `hone tasks check` tells whether the task can be trusted; task-format.md in the documentation has every "
      "field.\n\n"
      "name = {}\nsummary = {}\nclass = {}\n",
      o_.name, o_.file, Quoted(o_.name), Quoted(Summary()), Quoted(Class()));
  if (!o_.slice.empty()) {
    out += fmt::format("slice = {}\n", Quoted(o_.slice));
  } else {
    const std::string likely = LikelySlice();
    if (!likely.empty()) {
      NoteInference(
          fmt::format("each block computes one of {}: if results along it do not depend on each other, --slice {} "
                      "makes checking cheaper",
                      likely, likely));
    }
    out += fmt::format("# slice = \"{}\": a dimension along which results are independent makes checking cheaper (--slice{})\n",
                       likely.empty() ? "…" : likely, likely.empty() ? "" : " " + likely);
  }
  if (o_.special) {
    out += fmt::format("special = {}\n", *o_.special == "none" ? "[]" : List(SplitCommas(*o_.special)));
  } else {
    out +=
        "# special = [\"inf\", \"-inf\", \"subnormal\"] is the default: infinities and subnormal numbers among the inputs must be answered as the "
        "oracle does (--special)\n";
  }
  out += "\n[dims]\n";
  for (const std::string& d : dim_order_)
    out += fmt::format("{} = {}\n", d, Quoted(fmt::format("{} of the kernel's launch", d)));
  for (const DraftTensor& t : tensors_) {
    if (!t.workspace) out += TensorText(t);
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
      case DType::kFloat8E4M3:  // correct rounding errs by at most 2^-4, rms 0.026
        c_max = 0.07, c_rms = 0.04;
        break;
      case DType::kFloat8E5M2:
        c_max = 0.14, c_rms = 0.08;
        break;
      case DType::kFloat32:
        break;
      default:
        c_max = c_rms = 0;
        break;
    }
    // An output of narrow integers computed from floats is quantized: a tie may round either way. Wider integers are
    // counts and positions, which are exact.
    const bool floats = std::any_of(tensors_.begin(), tensors_.end(), [](const DraftTensor& in) {
      return in.role == TensorRole::kIn && in.dtype && IsFloating(*in.dtype);
    });
    const bool rounds = floats && (t.dtype == DType::kInt8 || t.dtype == DType::kUInt8 || t.dtype == DType::kInt16);
    // A few elements that are off by `abs` stay within this rms limit; a kernel that is off everywhere exceeds it.
    if (rounds) c_rms = 1e-3;
    out += fmt::format(
        "\n# For {}; where oracle and seed were run, c_max follows their errors. `hone tasks check` proposes c_rms.\n[tolerance.{}]\nc_max = "
        "{}\nc_rms = {}\n{}",
        t.dtype ? DTypeName(*t.dtype) : "this dtype", t.name, Number(c_max), Number(c_rms),
        rounds ? "abs = 1.0  # one unit: a tie may be rounded the other way\n" : "");
  }
  return out + WorkText() + CasesText();
}

std::string TaskDrafter::TensorText(const DraftTensor& t) {
  std::string out =
      fmt::format("\n[[tensor]]\nname = {}\nrole = \"{}\"{}\ndtype = \"{}\"\nshape = {}{}\n", Quoted(t.name),
                  TensorRoleName(t.role), t.role_inferred ? "  # inferred" : "",
                  t.dtype ? DTypeName(*t.dtype) : string_view(kFillIn),
                  t.shape.empty() ? fmt::format("[\"{}\"]  # QUESTION: --shape {}=…", kFillIn, t.name) : List(t.shape),
                  t.shape_inferred ? "  # inferred" : "");
  if (t.role == TensorRole::kOut) return out;
  if (std::find(o_.no_stress.begin(), o_.no_stress.end(), t.name) != o_.no_stress.end()) out += "stress = false\n";
  const auto index = [&](const char* distribution, const std::string& bound, const char* comment) {
    // If the kernel tests whether an index is negative, some drawn indices must be.
    std::string padding =
        t.padded && !t.offsets && t.dtype != DType::kUInt32 && t.dtype != DType::kUInt8 ? "0.125" : "";
    if (const auto given_values = o_.values.find(t.name); given_values != o_.values.end()) {
      if (const Result<GivenValues> values = ReadGivenValues(given_values->second);
          values.ok() && !values->padding.empty())
        padding = values->padding;
    }
    if (std::string_view(distribution) != "index") padding.clear();
    if (!padding.empty() && !o_.values.count(t.name))
      NoteInference(
          fmt::format("{}: an eighth of its entries are -1, for the kernel asks whether they are negative", t.name));
    return fmt::format("values = {{ distribution = \"{}\", bound = {}{}{} }}{}\n", distribution, Quoted(bound),
                       t.distinct ? ", distinct = \"tensor\"" : "",
                       padding.empty() ? "" : ", padding = " + Number(LiteralValue(padding).value_or(0)), comment);
  };
  if (const auto given_values = o_.values.find(t.name); given_values != o_.values.end()) {
    const GivenValues values = ReadGivenValues(given_values->second).value();
    if (!values.bound.empty()) return out + index(values.distribution.c_str(), values.bound, "");
    return out + fmt::format("values = {{ distribution = {} }}\n", Quoted(values.distribution));
  }
  if (!t.dtype || IsFloating(*t.dtype)) {
    // One number computed from many elements is nearly the same for every draw, so that a kernel could pass by
    // returning a constant. `vary` gives every set of inputs another scale.
    if (t.dtype && OneNumber())
      out += "values = { distribution = \"normal\", vary = 4.0 }  # inferred: the answer is one number\n";
    return out;
  }
  if (!t.bound.empty()) {
    NoteInference(fmt::format("{}: {} {}", t.name, t.offsets ? "ascending offsets up to" : "indices below", t.bound));
    return out + index(t.offsets ? "offsets" : "index", t.bound, "  # inferred");
  }
  if (t.type == "bool") {
    NoteInference(
        fmt::format("{}: bytes of 0 and 1, which the kernel takes as bool and seed.cu as unsigned char", t.name));
    return out + index("index", "2", "  # inferred");
  }
  if (!t.index && IsYesOrNo(t)) {
    NoteGuess(fmt::format(
        "{}: 0 or 1, for the kernel asks whether it is 0: a guess; --values {}=index:BOUND for numbers below BOUND",
        t.name, t.name));
    return out + index("index", "2", "  # a guess: --values");
  }
  if (!t.index) {
    // No element selects anything, so that any numbers will do for which the dtype is wide enough and sums do not
    // overflow.
    NoteGuess(fmt::format("{}: whole numbers from 0 to 99: a guess; --values {}=index:BOUND", t.name, t.name));
    return out + index("index", "100", "  # a guess: --values");
  }
  Ask(fmt::format("values of the integer tensor '{}': indices below which bound?", t.name),
      fmt::format("--values {}=index:BOUND", t.name));
  return out + index("index", kFillIn, fmt::format("  # QUESTION: --values {}=index:BOUND", t.name).c_str());
}

bool TaskDrafter::IsYesOrNo(const DraftTensor& t) const {
  if (t.dtype != DType::kUInt8 && t.dtype != DType::kInt8) return false;
  bool has_question = false, used = false;
  for (const DraftEntry& e : entries_) {
    if (e.kernel == nullptr) continue;
    for (const auto& [parameter, tensor] : e.tensors) {
      if (tensor != t.name) continue;
      for (int i = e.kernel->body_open + 1; i < e.kernel->body_close; ++i) {
        if (s_.token(i).text != parameter || s_.token(i + 1).text != "[") continue;
        const int after = s_.token(i + 1).match + 1;
        const string_view before = s_.token(i - 1).text, next = s_.token(after).text;
        const bool zero = (next == "==" || next == "!=") && s_.token(after + 1).text == "0";
        const bool condition = before == "(" && next == ")" && i >= 2 && (s_.token(i - 2).text == "if" || s_.token(i - 2).text == "while");
        const bool logical = before == "!" || before == "&&" || before == "||" || next == "?" || next == "&&" || next == "||";
        (zero || condition || logical ? has_question : used) = true;
      }
    }
  }
  return has_question && !used;
}

std::string TaskDrafter::Number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace hone
