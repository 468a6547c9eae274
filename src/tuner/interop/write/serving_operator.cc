// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/serving_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace hone {
namespace {

// An operator of sgl-kernel whose work a task of Hone describes. All texts but the first are Python or PyTorch's schema
// language; they use the names of sgl-kernel's arguments.
struct ServingForm {
  const char* task;                  // name of the task
  std::vector<const char*> tensors;  // names of the task's tensors, in order; another task of this name does not match
  const char* schema;                // the operator's schema without its name
  const char* name;                  // name of the operator, and of sgl-kernel's Python function
  const char* arguments;             // names of the schema's arguments
  const char* kernel;                // name of the extension's function
  const char* call;                  // arguments to the extension's function
  const char* signature;             // parameters of sgl-kernel's Python function
  const char* prepare;               // statements of that function before it calls the operator, indented
  const char* pass;                  // arguments that it passes to the operator
  const char* result;                // expression that it returns
  const char* watched;               // parameter whose dtype must be the kernel's, else sgl-kernel's own function runs
};

// Returns the known operators.
const std::vector<ServingForm>& KnownForms() {
  static const std::vector<ServingForm> forms = {
      {"silu_and_mul",
       {"x", "out"},
       "(Tensor! out, Tensor input) -> ()",
       "silu_and_mul",
       "out, input",
       "silu_and_mul_out",
       "out, input",
       "input, out=None",
       "    if out is None:\n        out = input.new_empty(input.shape[:-1] + (input.shape[-1] // 2,))\n",
       "out.view(-1, out.shape[-1]), input.view(-1, input.shape[-1])",
       "out",
       "input"},
      {"fused_add_rmsnorm",
       {"x", "residual", "weight"},
       "(Tensor! input, Tensor! residual, Tensor weight, float eps, bool enable_pdl) -> ()",
       "fused_add_rmsnorm",
       "input, residual, weight, eps, enable_pdl",
       "fused_add_rmsnorm",
       "input, residual, weight, eps",
       "input, residual, weight, eps=1e-6, enable_pdl=None",
       "",
       "input, residual, weight, eps, bool(enable_pdl)",
       "None",
       "input"},
      {"merge_attn_states",
       {"v_a", "s_a", "v_b", "s_b", "v_out", "s_out"},
       "(Tensor v_a, Tensor s_a, Tensor v_b, Tensor s_b, Tensor! v_merged, Tensor! s_merged) -> ()",
       "merge_state_v2",
       "v_a, s_a, v_b, s_b, v_merged, s_merged",
       "merge_attn_states_out",
       "v_merged, s_merged, v_a, s_a, v_b, s_b",
       "v_a, s_a, v_b, s_b, v_merged=None, s_merged=None",
       "    v_merged = torch.empty_like(v_a) if v_merged is None else v_merged\n"
       "    s_merged = torch.empty_like(s_a) if s_merged is None else s_merged\n",
       "v_a, s_a.float(), v_b, s_b.float(), v_merged, s_merged",
       "v_merged, s_merged",
       "v_a"}};
  return forms;
}

// Returns the arguments of a call, "input, out", for the parameters "input, out=None".
std::string PassedOn(std::string_view signature) {
  std::string out;
  for (bool value = false; const char c : signature) {
    if (c == '=') value = true;
    if (c == ',') value = false;
    if (!value) out += c;
  }
  return out;
}

}  // namespace

Result<GeneratedFile> ServingOperator(const KernelPackage& package) {
  const Task& task = package.task;
  const auto form = std::find_if(KnownForms().begin(), KnownForms().end(), [&](const ServingForm& known) {
    if (task.name != known.task || task.tensors.size() != known.tensors.size()) return false;
    for (size_t i = 0; i < known.tensors.size(); ++i) {
      if (task.tensors[i].name != known.tensors[i]) return false;
    }
    return true;
  });
  if (form == KnownForms().end()) {
    std::string operator_names;
    for (const ServingForm& one : KnownForms())
      operator_names += fmt::format("{}{}", operator_names.empty() ? "" : ", ", one.task);
    return Status::InvalidArgument(
        fmt::format("task {} does what no operator of sgl-kernel does that Hone knows ({}): use --as torch", task.name,
                    operator_names));
  }
  const std::string dtype(DTypeName(task.tensors.front().dtype));
  std::string text = fmt::format(
      "# {0} with the schema of sgl-kernel's operator {1}, for {2} tensors. Written by `hone apply` from {3}.\n"
      "# It is built on first use by load.py beside it, runs on the current stream and may be captured in a CUDA "
      "graph.\n#\n"
      "#   import hone_{0}_sgl\n"
      "#   hone_{0}_sgl.install()      # before the serving engine is imported: sgl_kernel.{1} is this one from then "
      "on\n#\n"
      "# Tensors of another dtype, or on a device without CUDA, go to sgl-kernel's own function.\n\n"
      "import importlib.util\nimport os\n\nimport torch\n\n_loaded = None\n_original = None\n\n\n"
      "def _kernel():\n    global _loaded\n    if _loaded is None:\n"
      "        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), \"load.py\")\n"
      "        spec = importlib.util.spec_from_file_location(\"hone_{0}_load\", path)\n"
      "        module = importlib.util.module_from_spec(spec)\n        spec.loader.exec_module(module)\n"
      "        _loaded = module.{4}\n    return _loaded\n\n\n",
      task.name, form->name, dtype, PackageOrigin(package), form->kernel);
  text += fmt::format(
      "_library = torch.library.Library(\"hone_sgl_kernel\", \"FRAGMENT\")\n"
      "_library.define(\"{0}{1}\")\n\n\n"
      "def _run({2}):\n    _kernel()({3})\n\n\n"
      "_library.impl(\"{0}\", _run, \"CUDA\")\n"
      "_library.impl(\"{0}\", lambda *_: None, \"Meta\")  # what it writes is the caller's\n\n\n",
      form->name, form->schema, form->arguments, form->call);
  text += fmt::format(
      "def {0}({1}):\n    \"\"\"sgl_kernel.{0}, by this kernel.\"\"\"\n"
      "    if {2}.dtype != torch.{3} or not {2}.is_cuda:\n"
      "        if _original is None:\n            raise TypeError(f\"this kernel is for {3} on a GPU, and got "
      "{{{2}.dtype}} on {{{2}.device}}\")\n"
      "        return _original({4})\n"
      "{5}    torch.ops.hone_sgl_kernel.{0}({6})\n    return {7}\n\n\n"
      "def install():\n    \"\"\"Puts this function in the place of sgl-kernel's, which stays for what this one does "
      "not serve.\"\"\"\n"
      "    global _original\n    import sgl_kernel\n    if sgl_kernel.{0} is not {0}:\n"
      "        _original = sgl_kernel.{0}\n        sgl_kernel.{0} = {0}\n",
      form->name, form->signature, form->watched, dtype, PassedOn(form->signature), form->prepare, form->pass,
      form->result);
  return GeneratedFile{fmt::format("hone_{}_sgl.py", task.name), std::move(text),
                       fmt::format("sgl-kernel's operator {}", form->name)};
}

}  // namespace hone
