// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes oracle.cu for `hone new`, from the user's own oracle or from the kernel in double precision.
//
// Integer outputs keep their type while the kernel runs, since atomics, packed stores and bit operations depend on it.
// The kernel writes them to a workspace, and a last step converts the workspace to the doubles that an oracle returns.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tuner/core/program/translation_unit.h"
#include "tuner/interop/draft/draft_words.h"
#include "tuner/interop/draft/promote_oracle.h"
#include "tuner/interop/draft/task_drafter.h"

namespace hone {
namespace {

bool IsInteger(const DraftTensor& t) { return t.dtype && !IsFloating(*t.dtype); }

// Returns the name of the workspace that holds an integer output.
std::string TypedName(const std::string& tensor) { return tensor + "_integers"; }

// Returns the plan entry that launches such a kernel. `elements`: an expression for their number.
std::string ElementwiseLaunch(int step, const std::string& kernel, const std::string& elements,
                              const std::vector<std::string>& args) {
  std::vector<std::string> passed_args = args;
  passed_args.push_back(elements + ":i64");
  return fmt::format(
      "\n[[launch]]\n{}kernel = \"{}\"\ngrid   = [\"ceil_div({}, 256)\"]\nblock  = [\"256\"]\nargs   = {}\n",
      step > 0 ? fmt::format("step   = {}\n", step) : "", kernel, elements, List(passed_args));
}

// Returns a kernel that executes `statement` for every element i.
std::string ElementwiseKernel(const std::string& comment, const std::string& name, const std::string& parameters,
                              const std::string& statement) {
  return fmt::format(
      "\n// {}\n__global__ void {}({}, long long elements) {{\n"
      "  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
      "  if (i < elements) {}\n}}\n",
      comment, name, parameters, statement);
}

// Returns the number of type `dtype` whose bytes are all `byte`; NaN: those bytes are no number.
double NumberOfBytes(DType dtype, int byte) {
  const auto b = static_cast<uint64_t>(byte & 0xff);
  const uint64_t bits = b * 0x0101010101010101ULL;
  if (dtype == DType::kFloat64) return std::bit_cast<double>(bits);
  if (dtype == DType::kFloat32) return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return byte == 0 ? 0.0 : std::nan("");
}

}  // namespace

Status TaskDrafter::GivenOracle() {
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
  inner.lets = lets_;
  inner.time_cases.clear();
  inner.check_cases.clear();
  inner.hidden.clear();
  inner.multiples.clear();
  inner.scalars.clear();
  inner.no_stress.clear();
  for (auto* list : {&inner.shapes, &inner.dtypes, &inner.roles, &inner.values}) list->clear();
  // The oracle computes the same tensors, so facts about them apply to it as well.
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<CuSource> oracle_source, ReadCuSource(*o_.oracle, o_.oracle_file));
  std::set<std::string> pointers;
  for (const CuKernel& k : oracle_source->kernels) {
    for (const CuParameter& p : k.parameters) {
      if (p.pointer) pointers.insert(p.name);
    }
  }
  // An oracle of one kernel must name its pointers as the task names its tensors; otherwise nothing says which result
  // is which.
  if (oracle_source->kernels.size() == 1) {
    std::vector<std::string> kernel_names;
    for (const DraftTensor& t : tensors_) {
      if (!t.workspace) kernel_names.push_back(t.name);
    }
    for (const std::string& name : pointers) {
      if (std::find(kernel_names.begin(), kernel_names.end(), name) != kernel_names.end()) continue;
      return Status::InvalidArgument(fmt::format(
          "--oracle {}: '{}' of kernel '{}' is no tensor of the task; its pointers must be called as the tensors "
          "are: {}",
          o_.oracle_file, name, oracle_source->kernels[0].name, fmt::join(kernel_names, ", ")));
    }
    for (const DraftTensor& t : tensors_) {
      if (t.workspace || t.role == TensorRole::kIn || pointers.count(t.name) != 0) continue;
      return Status::InvalidArgument(
          fmt::format("--oracle {}: kernel '{}' has no pointer '{}', which the task's kernels write", o_.oracle_file,
                      oracle_source->kernels[0].name, t.name));
    }
  }
  for (const DraftTensor& t : tensors_) {
    if (pointers.count(t.name) == 0 || t.workspace) continue;
    if (t.dtype) inner.dtypes[t.name] = std::string(DTypeName(*t.dtype));
    if (!t.shape.empty()) inner.shapes[t.name] = fmt::format("{}", fmt::join(t.shape, ","));
    inner.roles[t.name] = std::string(TensorRoleName(t.role));
  }
  if (oracle_source->launches.empty() && oracle_source->kernels.size() == 1) {
    const CuKernel& k = oracle_source->kernels[0];
    for (int i = k.body_open; i < k.body_close; ++i) {
      const std::string_view word = oracle_source->token(i).text;
      if (word != "blockIdx" && word != "threadIdx" && word != "blockDim" && word != "gridDim") continue;
      return Status::InvalidArgument(
          fmt::format("--oracle {}: no function in it launches '{}', and it asks for its place in a grid; add one that "
                      "does, such as "
                      "void run(…) {{ {}<<<blocks, threads>>>(…); }}",
                      o_.oracle_file, k.name, k.name));
    }
    inner.grid = inner.block = {"1"};  // one thread loops over everything
  }
  Result<TaskDraft> derived = DraftTask(*o_.oracle, inner);
  if (!derived.ok()) return derived.status().WithContext("--oracle");
  draft_.oracle = derived->oracle;
  draft_.oracle_reasons = derived->oracle_reasons;
  return Status::Ok();
}

// Returns the oracle's entry for a memset `e` of the kernel's plan. A memset cannot set the bytes of a reference, which
// are doubles: a kernel, added to `kernels`, writes the number that the bytes mean.
std::string TaskDrafter::MemsetForOracle(const DraftEntry& e, int step, std::string* kernels) {
  const DraftTensor& t = *FindTensor(e.target);
  if (IsInteger(t) && t.role != TensorRole::kIn && !t.workspace) {
    DraftEntry typed = e;
    typed.target = TypedName(t.name);
    return EntryText(typed, {}, step, "", /*with_when=*/false);
  }
  if (t.workspace) {
    DraftEntry whole_entry = e;
    whole_entry.bytes.clear();  // the whole workspace: its elements are doubles in the oracle, so that the plan's
                                // number of bytes does not apply
    return EntryText(whole_entry, {}, step, "", /*with_when=*/false);
  }
  const DType dtype = t.dtype.value_or(DType::kFloat32);
  const double number = NumberOfBytes(dtype, e.value);
  const std::string name = fmt::format("hone_fill_{}", t.name);
  if (kernels->find("void " + name + "(") == std::string::npos) {
    *kernels += ElementwiseKernel(fmt::format("What setting the bytes of {} to {} gives.", t.name, e.value), name,
                                  "double* target",
                                  fmt::format("target[i] = {};", std::isnan(number) ? "nan(\"\")" : Number(number)));
  }
  const std::string elements =
      e.bytes.empty() ? Elements(t) : fmt::format("{} / {}", InParentheses(e.bytes), DTypeBytes(dtype));
  return ElementwiseLaunch(step, name, elements, {"ref:" + t.name});
}

Status TaskDrafter::Oracle() {
  if (o_.oracle) return GivenOracle();
  // Takes the last alternative of every step, which handles the shapes that the earlier ones leave out.
  std::vector<const DraftEntry*> chosen;
  for (const DraftEntry& e : entries_) {
    if (!chosen.empty() && chosen.back()->step == e.step) chosen.pop_back();
    chosen.push_back(&e);
  }
  std::vector<KernelToPromote> kernels;
  std::map<std::string, DType> in_place;  // in-place tensors of floating types
  for (const DraftEntry* e : chosen) {
    if (e->memset) continue;
    KernelToPromote k;
    k.kernel = e->kernel;
    k.template_args = e->template_args;
    for (const auto& [parameter, name] : e->tensors) {
      const DraftTensor& t = *FindTensor(name);
      if (t.workspace) continue;
      if (IsInteger(t)) {
        k.integers.insert(parameter);
        continue;
      }
      k.parameters[parameter] = {t.role, t.dtype.value_or(DType::kFloat32)};
      if (t.role == TensorRole::kInOut) in_place[name] = t.dtype.value_or(DType::kFloat32);
    }
    kernels.push_back(std::move(k));
  }
  PromotedCode code = PromoteToDouble(device_code_, plan_lines_, kernels, in_place);
  if (!code.reasons.empty()) {
    draft_.oracle_reasons = code.reasons;
    return Status::Ok();
  }
  std::string tunables;
  if (given_ != nullptr) {
    for (const auto& [name, choice] : given_->first_choices) tunables += fmt::format("{}{} = [{}]\n", tunables.empty() ? "\n[tune]\n" : "", name, choice);
  }
  std::string plan = "/*hone" + tunables + Workspaces(8), steps, extra;
  int step = 0;
  for (const auto& [name, dtype] : in_place) {
    steps += ElementwiseLaunch(step++, "hone_copy_" + name, Elements(*FindTensor(name)), {name, "ref:" + name});
  }
  for (const DraftTensor& t : tensors_) {
    if (!IsInteger(t) || t.workspace || t.role == TensorRole::kIn) continue;
    const std::string type(CudaElementType(*t.dtype)), typed = TypedName(t.name);
    plan += fmt::format("\n[[workspace]]\nname = {}\nbytes = {}\n", Quoted(typed),
                        Quoted(fmt::format("{} * {}", DTypeBytes(*t.dtype), Elements(t))));
    if (t.role != TensorRole::kInOut) continue;
    extra += ElementwiseKernel("The in-place tensor's input: the kernel works on it from here.", "hone_copy_" + t.name,
                               fmt::format("const {0}* source, {0}* target", type), "target[i] = source[i];");
    steps += ElementwiseLaunch(step++, "hone_copy_" + t.name, Elements(t), {t.name, typed});
  }
  for (const DraftEntry* e : chosen) {
    if (e->memset) {
      steps += MemsetForOracle(*e, step++, &extra);
      continue;
    }
    std::vector<std::string> args = e->args;
    for (std::string& a : args) {
      for (const DraftTensor& t : tensors_) {
        if (a == t.name && !t.workspace && t.role != TensorRole::kIn) a = IsInteger(t) ? TypedName(a) : "ref:" + a;
      }
      // The promoted kernels take their scalars as doubles.
      if (a.ends_with(":f32") || a.ends_with(":f16") || a.ends_with(":bf16")) a = a.substr(0, a.rfind(':')) + ":f64";
    }
    DraftEntry copy = *e;
    copy.template_args.clear();
    // Shared memory is doubled, because it holds doubles where it held floats.
    steps += EntryText(copy, args, step++, e->shared.empty() ? "" : fmt::format("2 * {}", InParentheses(e->shared)),
                       /*with_when=*/false);
  }
  for (const DraftTensor& t : tensors_) {
    if (!IsInteger(t) || t.workspace || t.role == TensorRole::kIn) continue;
    extra += ElementwiseKernel("The answer, as an oracle gives it.", "hone_answer_" + t.name,
                               fmt::format("const {}* source, double* target", CudaElementType(*t.dtype)),
                               "target[i] = static_cast<double>(source[i]);");
    steps += ElementwiseLaunch(step++, "hone_answer_" + t.name, Elements(t), {TypedName(t.name), "ref:" + t.name});
  }
  draft_.oracle =
      fmt::format(
          "// The trusted answer to {}: the kernel itself, in double.\n//\n"
          "// Derived mechanically by `hone new`. It shows what a rewrite breaks and what lower precision "
          "loses; what the\n"
          "// kernel itself gets wrong it gets wrong as well. Compare it with an independent answer ([[hand]] "
          "cases in\n"
          "// task.toml), or write a simpler oracle.\n",
          o_.name) +
      plan + steps + "*/\n" + code.text + extra;
  return Status::Ok();
}

}  // namespace hone
