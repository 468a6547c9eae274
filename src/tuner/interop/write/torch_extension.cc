// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/torch_extension.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tuner/interop/read/host_expression.h"
#include "tuner/interop/write/architecture_option.h"
#include "tuner/interop/write/cuda_header.h"
#include "tuner/interop/write/header_support.h"
#include "tuner/model/builtin/cuda_lexer.h"

namespace hone {
namespace {

// Returns PyTorch's C++ name of a dtype.
std::string_view TorchDType(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return "torch::kFloat64";
    case DType::kFloat32:
      return "torch::kFloat32";
    case DType::kFloat16:
      return "torch::kFloat16";
    case DType::kBFloat16:
      return "torch::kBFloat16";
    case DType::kInt64:
      return "torch::kInt64";
    case DType::kInt32:
      return "torch::kInt32";
    case DType::kUInt32:
      return "torch::kUInt32";
    case DType::kInt16:
      return "torch::kInt16";
    case DType::kInt8:
      return "torch::kInt8";
    case DType::kUInt8:
      return "torch::kUInt8";
    case DType::kUInt64:
      return "torch::kUInt64";
    case DType::kBool:
      return "torch::kBool";
    case DType::kFloat8E4M3:
      return "at::kFloat8_e4m3fn";
    case DType::kFloat8E5M2:
      return "at::kFloat8_e5m2";
    case DType::kFloat8E8M0:
      return "at::kFloat8_e8m0fnu";
    case DType::kFloat4Pair:
      return "at::kFloat4_e2m1fn_x2";
    case DType::kInt4Pair:
      return "torch::kUInt8";
  }
  return "torch::kFloat32";
}

// Returns the number by which `extent` multiplies `dim`: 1 for "d", 2 for "2 * d" or "d * 2"; 0: it is another
// expression.
int64_t MultipleOf(const std::string& extent, const std::string& dim) {
  const std::vector<Token> tokens = LexCuda(extent);
  if (tokens.size() == 1 && tokens[0].text == dim) return 1;
  if (tokens.size() != 3 || tokens[1].text != "*") return 0;
  const Token& number = tokens[0].kind == TokenKind::kNumber ? tokens[0] : tokens[2];
  const Token& name = tokens[0].kind == TokenKind::kNumber ? tokens[2] : tokens[0];
  if (number.kind != TokenKind::kNumber || name.text != dim) return 0;
  return std::atoll(std::string(number.text).c_str());
}

class BindingWriter {
 public:
  explicit BindingWriter(const KernelPackage& package)
      : package_(package),
        task_(package.task),
        signature_(SignatureOf(package.task)),
        dims_(FindDimensions(package.task)) {
    for (const HeaderParameter& p : signature_.dims) names_.names[p.plan] = p.name;
    for (const HeaderParameter& p : signature_.tensors) cpp_[p.plan] = p.name;
    for (const HeaderParameter& p : signature_.dims) cpp_[p.plan] = p.name;
    for (const HeaderParameter& p : signature_.scalars) cpp_[p.plan] = p.name;
  }

  // Returns the C++ file that binds the kernel to PyTorch: checks of the arguments, allocation of outputs, and the
  // call.
  Result<std::string> BindingSource() const {
    std::string inputs, in_place, outputs, checks, call, allocate, returned, types;
    for (const HeaderParameter& p : signature_.tensors) {
      const TensorSpec& t = *task_.FindTensor(p.plan);
      const bool output = t.role == TensorRole::kOut;
      if (!output) {
        inputs += fmt::format("{}const torch::Tensor& {}", inputs.empty() ? "" : ", ", p.name);
      } else {
        outputs += fmt::format("torch::Tensor& {}, ", p.name);
        std::string shape;
        for (const Expression& e : t.shape) {
          HONE_ASSIGN_OR_RETURN(const std::string extent, HostExpression(e.text(), names_));
          shape += fmt::format("{}Extent({}, ok)", shape.empty() ? "" : ", ", extent);
        }
        allocate += fmt::format("  torch::Tensor {} = torch::empty({{{}}}, options.dtype({}));\n", p.name, shape,
                                TorchDType(t.dtype));
        returned += fmt::format("{}{}", returned.empty() ? "" : ", ", p.name);
        types += types.empty() ? "torch::Tensor" : ", torch::Tensor";
      }
      std::string shape, strides;
      for (size_t i = 0; i < t.shape.size(); ++i) {
        HONE_ASSIGN_OR_RETURN(const std::string extent, HostExpression(t.shape[i].text(), names_));
        shape += fmt::format("{}Extent({}, ok)", i == 0 ? "" : ", ", extent);
      }
      for (size_t i = 0; i < t.strides.size(); ++i) {
        HONE_ASSIGN_OR_RETURN(const std::string stride, HostExpression(t.strides[i].text(), names_));
        strides += fmt::format("{}Extent({}, ok)", i == 0 ? "" : ", ", stride);
      }
      checks += fmt::format("  Check({0}, \"{1}\", {2}, {{{3}}}, {{{4}}}, device);\n", p.name, t.name,
                            TorchDType(t.dtype), shape, strides);
      const std::string element(HostElementType(t.dtype));
      call += fmt::format("static_cast<{0}>({1}.data_ptr()), ", p.type, p.name);
    }
    std::string scalars, scalar_defaults, scalar_names;
    for (const HeaderParameter& p : signature_.scalars) {
      scalars += fmt::format("{}double {}", inputs.empty() && scalars.empty() ? "" : ", ", p.name);
      call += fmt::format("static_cast<{}>({}), ", p.type, p.name);
    }
    std::string extra, find, divided;
    for (size_t i = 0; i < dims_.size(); ++i) {
      const DimSource& d = dims_[i];
      const std::string& name = cpp_.at(d.dim);
      if (d.tensor.empty()) {
        extra += fmt::format(", int64_t {}_size", name);
        find += fmt::format("  const Int {0}(static_cast<long long>({0}_size), &ok);\n", name);
      } else {
        const TensorSpec& t = *task_.FindTensor(d.tensor);
        const std::string rank =
            fmt::format("  TORCH_CHECK({0}.dim() == {1}, \"{2}: expected {1} dimensions, found \", {0}.dim());\n",
                        cpp_.at(d.tensor), t.shape.size(), d.tensor);
        if (d.other.empty()) {
          find += rank + fmt::format("  const Int {}(static_cast<long long>({}.size({})){}, &ok);\n", name,
                                     cpp_.at(d.tensor), d.axis, d.divisor == 1 ? "" : fmt::format(" / {}", d.divisor));
        } else {
          divided += rank + fmt::format("  const Int {} = Int(static_cast<long long>({}.size({})), &ok) / {};\n", name,
                                        cpp_.at(d.tensor), d.axis, cpp_.at(d.other));
        }
      }
      call += fmt::format("{}.value, ", name);
    }
    find += divided;
    const std::string first = FirstTensor();
    const std::string device = fmt::format(
        "  const torch::Device device = {0}.device();\n  const c10::cuda::CUDAGuard guard(device);\n", first);

    std::string out = fmt::format(
        "// {0} for PyTorch: checks shapes, dtypes and devices, and calls hone::{1} on the current stream.\n//\n"
        "// Written by `hone apply` from {2}. setup.py and load.py build it.\n"
        "#include <ATen/cuda/CUDAContext.h>\n#include <c10/cuda/CUDAGuard.h>\n#include <torch/extension.h>\n\n"
        "#include <optional>\n#include <tuple>\n#include <vector>\n\n#include \"{3}\"\n\n",
        task_.name, signature_.function, PackageOrigin(package_), CudaHeaderName(package_));
    if (LineOfCall(package_.winner.plan) > 0 || LineOfCall(package_.seed.plan) > 0) {
      out += fmt::format("namespace hone {{\nnamespace {0}_detail {{\n{1}}}  // namespace {0}_detail\n}}  // namespace hone\n\n",
                         task_.name, TorchCallFunctions());
    }
    out += fmt::format("namespace {{\n\nusing hone::{}_detail::Int;\n\n", task_.name);
    out += R"cpp(int64_t Extent(Int value, const bool& ok) {
                   TORCH_CHECK(ok && value.value >= 0, "the sizes overflow");
                   return value.value;
                 }

                 // `strides` empty: contiguous.
                 void Check(const torch::Tensor& tensor, const char* name, torch::ScalarType dtype,
                            const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                            const torch::Device& device) {
                   TORCH_CHECK(tensor.is_cuda(), name, ": expected a CUDA tensor");
                   TORCH_CHECK(tensor.device() == device, name, ": lies on ", tensor.device(), ", the first tensor on ", device);
                   TORCH_CHECK(tensor.scalar_type() == dtype, name, ": expected ", dtype, ", found ", tensor.scalar_type());
                   TORCH_CHECK(tensor.sizes() == torch::IntArrayRef(shape), name, ": expected shape ",
                               torch::IntArrayRef(shape), ", found ", tensor.sizes());
                   if (strides.empty()) {
                     TORCH_CHECK(tensor.is_contiguous(), name, ": must be contiguous; call .contiguous() first");
                   } else {
                     TORCH_CHECK(tensor.numel() == 0 || tensor.strides() == torch::IntArrayRef(strides), name,
                                 ": expected strides ", torch::IntArrayRef(strides), ", found ", tensor.strides());
                   }
                 }
    )cpp";
    const std::string launch = fmt::format(
        "  const cudaError_t error = hone::{}({}at::cuda::getCurrentCUDAStream().stream());\n"
        "  TORCH_CHECK(error == cudaSuccess, \"{}: \", cudaGetErrorString(error));\n",
        signature_.function, call, task_.name);
    // A second function, NAME_out, writes to outputs that the caller allocates: for reused memory, and for CUDA graphs.
    out += fmt::format("void {}_out({}{}{}{}) {{\n  bool ok = true;\n{}{}{}{}}}\n\n", task_.name, outputs, inputs,
                       scalars, extra, find, device, checks, launch);
    if (!returned.empty()) {
      std::string arguments;
      const auto add = [&](const std::string& name) {
        arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", name);
      };
      for (const HeaderParameter& p : signature_.tensors) {
        if (task_.FindTensor(p.plan)->role == TensorRole::kOut) add(p.name);
      }
      for (const HeaderParameter& p : signature_.tensors) {
        if (task_.FindTensor(p.plan)->role != TensorRole::kOut) add(p.name);
      }
      for (const HeaderParameter& p : signature_.scalars) add(p.name);
      for (const DimSource& d : dims_) {
        if (d.tensor.empty()) add(cpp_.at(d.dim) + "_size");
      }
      const bool several = types.find(',') != std::string::npos;
      std::string head = inputs + scalars + extra;
      if (head.starts_with(", ")) head = head.substr(2);
      const std::string options =
          HasInput() ? fmt::format("  const torch::TensorOptions options = {}.options();\n", FirstTensor())
                     : "  const torch::TensorOptions options = torch::TensorOptions().device(torch::kCUDA);\n";
      out += fmt::format("{} {}({}) {{\n  bool ok = true;\n{}{}{}  {}_out({});\n  return {};\n}}\n\n",
                         several ? "std::tuple<" + types + ">" : types, task_.name, head, find, options, allocate,
                         task_.name, arguments, several ? "{" + returned + "}" : returned);
    }
    out += "}  // namespace\n\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n";
    const std::string summary = CString(task_.summary);
    if (!returned.empty()) {
      out += fmt::format("  m.def(\"{0}\", &{0}, \"{1}\"{2});\n", task_.name, summary,
                         PythonArguments(/*with_outputs=*/false));
      out += fmt::format("  m.def(\"{0}_out\", &{0}_out, \"{1} (into given outputs)\"{2});\n", task_.name, summary,
                         PythonArguments(/*with_outputs=*/true));
    } else {
      out += fmt::format("  m.def(\"{0}\", &{0}_out, \"{1} (in place)\"{2});\n", task_.name, summary,
                         PythonArguments(/*with_outputs=*/true));
    }
    return out + "}\n";
  }

  // Returns the text of setup.py.
  std::string SetupPy() const {
    return fmt::format(
        "# Builds {0} as a package: pip install --no-build-isolation .\n"
        "# Written by `hone apply` from {1}.\n"
        "{4}\nfrom setuptools import setup\nfrom torch.utils.cpp_extension import BuildExtension, "
        "CUDAExtension\n{5}\n\n{6}\n\n"
        "here = os.path.dirname(os.path.abspath(__file__))\n\n"
        "setup(\n    name=\"hone_{0}\",\n    version=\"0.1\",\n    ext_modules=[\n        CUDAExtension(\n"
        "            name=\"hone_{0}\",\n            sources=[\"hone_{0}_torch.cu\"],\n            "
        "include_dirs=[here{2}],\n"
        "            extra_compile_args={{\"cxx\": [\"-O2\"], \"nvcc\": [{3}] + _architecture()}},\n        )\n    ],\n"
        "    cmdclass={{\"build_ext\": BuildExtension}},\n)\n",
        task_.name, PackageOrigin(package_), CutlassInclude(), NvccOptions(), PythonImports(), CutlassSearch(), kArchitectureOption);
  }

  // Returns the text of load.py.
  std::string Load() const {
    std::string arguments;
    for (const HeaderParameter& p : signature_.tensors) {
      if (task_.FindTensor(p.plan)->role != TensorRole::kOut)
        arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", p.plan);
    }
    for (const HeaderParameter& p : signature_.scalars) {
      arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", p.plan, task_.FindScalar(p.plan)->value);
    }
    for (const DimSource& d : dims_) {
      if (d.tensor.empty()) arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", d.dim);
    }
    return fmt::format(
        "# Builds {0} on first use, without installing it:\n#\n#   from load import {0}\n#   result = {0}({4})\n#\n"
        "# Written by `hone apply` from {1}.\n"
        "{6}\nfrom torch.utils.cpp_extension import load\n{7}\n\n{8}\n\n"
        "_here = os.path.dirname(os.path.abspath(__file__))\n"
        "_module = load(\n    name=\"hone_{0}\",\n    sources=[os.path.join(_here, \"hone_{0}_torch.cu\")],\n"
        "    extra_include_paths=[_here{2}],\n    extra_cflags=[\"-O2\"],\n    "
        "extra_cuda_cflags=[{3}] + _architecture(),\n)\n"
        "{0} = _module.{0}\n{5}",
        task_.name, PackageOrigin(package_), CutlassInclude(), NvccOptions(), arguments,
        HasOutput() ? fmt::format("{0}_out = _module.{0}_out\n", task_.name) : "", PythonImports(), CutlassSearch(), kArchitectureOption);
  }

 private:
  bool HasInput() const {
    return std::any_of(task_.tensors.begin(), task_.tensors.end(),
                       [](const TensorSpec& t) { return t.role != TensorRole::kOut; });
  }
  bool HasOutput() const {
    return std::any_of(signature_.tensors.begin(), signature_.tensors.end(),
                       [&](const HeaderParameter& p) { return task_.FindTensor(p.plan)->role == TensorRole::kOut; });
  }
  // Returns the name of a tensor that the caller passes, whose device the function uses.
  std::string FirstTensor() const {
    for (const HeaderParameter& p : signature_.tensors) {
      if (task_.FindTensor(p.plan)->role != TensorRole::kOut) return p.name;
    }
    return signature_.tensors.front().name;
  }
  // Returns the text as a C string literal on one line.
  static std::string CString(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c == '\n' ? ' ' : c;
    }
    return out;
  }
  // Returns the names and default values of the Python function's arguments, as pybind11 takes them.
  std::string PythonArguments(bool with_outputs) const {
    std::string out;
    const auto add = [&](const std::string& name, const std::string& value = "") {
      out += fmt::format(", pybind11::arg(\"{}\"){}", name, value);
    };
    if (with_outputs) {
      for (const HeaderParameter& p : signature_.tensors) {
        if (task_.FindTensor(p.plan)->role == TensorRole::kOut) add(p.plan);
      }
    }
    for (const HeaderParameter& p : signature_.tensors) {
      if (task_.FindTensor(p.plan)->role != TensorRole::kOut) add(p.plan);
    }
    // A scalar gets no default value if a parameter without a default value follows it.
    const bool extra = std::any_of(dims_.begin(), dims_.end(), [](const DimSource& d) { return d.tensor.empty(); });
    for (const HeaderParameter& p : signature_.scalars) {
      add(p.plan, extra ? "" : fmt::format(" = {}", task_.FindScalar(p.plan)->value));
    }
    for (const DimSource& d : dims_) {
      if (d.tensor.empty()) add(d.dim);
    }
    return out;
  }
  bool UsesCutlass() const {
    return package_.winner.plan.include_set == "cute" || package_.seed.plan.include_set == "cute";
  }
  std::string CutlassInclude() const {
    return UsesCutlass() ? ", _cutlass_include()" : "";
  }
  // Returns Python code that searches CUTLASS where `hone` does (docs/cute.md), and among the packages of the Python
  // that runs it.
  std::string CutlassSearch() const {
    if (!UsesCutlass()) return "";
    return R"py(

def _cutlass_include():
    """The folder of CUTLASS's headers: CUTLASS_HOME, else CUTLASS_PATH, else the usual places."""
    named = os.environ.get("CUTLASS_HOME") or os.environ.get("CUTLASS_PATH")
    usual = ["/usr/local/cutlass", "/usr/local/include", "/usr/include", "/opt/cutlass"] + sys.path
    for folder in [named] if named else usual:
        for below in ("", "include", "source/include", "cutlass_library/source/include"):
            include = os.path.join(folder, below)
            if os.path.exists(os.path.join(include, "cute", "tensor.hpp")):
                return include
    raise RuntimeError("CUTLASS's headers (4.0 or newer) were not found: pip install nvidia-cutlass, or set CUTLASS_HOME")

)py";
  }
  // Returns the import lines of the two scripts.
  std::string PythonImports() const { return UsesCutlass() ? "import os\nimport sys\n" : "import os\n"; }
  // Returns the options for nvcc as Python strings. None is -std=: torch adds the one that its headers need (C++17 up
  // to 2.14, C++20 from 2.15), but only if none is given.
  std::string NvccOptions() const {
    std::string out = "\"-O3\"";
    if (UsesCutlass()) out += ", \"--expt-relaxed-constexpr\"";
    for (const std::string& option : PackageOptions(package_)) out += fmt::format(", \"{}\"", option);
    // torch's own flags disable the conversions of half types.
    for (const char* macro : {"HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS"}) {
      out += fmt::format(", \"-U__CUDA_NO_{}__\"", macro);
    }
    return out;
  }

  const KernelPackage& package_;
  const Task& task_;
  const HeaderSignature signature_;
  const std::vector<DimSource> dims_;
  HostNames names_;
  std::map<std::string, std::string> cpp_;
};

}  // namespace

std::vector<DimSource> FindDimensions(const Task& task) {
  std::vector<DimSource> sources;
  for (const auto& [dim, text] : task.dims) {
    DimSource best{dim, "", 0, 1};
    for (const TensorSpec& t : task.tensors) {
      if (t.role == TensorRole::kOut) continue;
      for (size_t axis = 0; axis < t.shape.size(); ++axis) {
        const int64_t multiple = MultipleOf(t.shape[axis].text(), dim);
        if (multiple == 0 || (!best.tensor.empty() && multiple >= best.divisor)) continue;
        best = {dim, t.name, static_cast<int>(axis), multiple};
      }
    }
    sources.push_back(best);
  }
  // An extent group * heads gives group, once another tensor has given heads.
  for (DimSource& source : sources) {
    for (const TensorSpec& t : task.tensors) {
      for (size_t axis = 0; axis < t.shape.size() && source.tensor.empty() && t.role != TensorRole::kOut; ++axis) {
        const std::vector<Token> tokens = LexCuda(t.shape[axis].text());
        if (tokens.size() != 3 || tokens[1].text != "*") continue;
        for (const auto& [own, other] : {std::pair{0, 2}, {2, 0}}) {
          if (tokens[static_cast<size_t>(own)].text != source.dim) continue;
          const std::string name(tokens[static_cast<size_t>(other)].text);
          const bool other_is_known = std::any_of(sources.begin(), sources.end(), [&](const DimSource& s) {
            return s.dim == name && s.dim != source.dim && !s.tensor.empty() && s.other.empty();
          });
          if (other_is_known) source = {source.dim, t.name, static_cast<int>(axis), 1, name};
        }
      }
    }
  }
  return sources;
}

Result<std::vector<GeneratedFile>> TorchExtension(const KernelPackage& package) {
  const BindingWriter writer(package);
  HONE_ASSIGN_OR_RETURN(std::string source, writer.BindingSource());
  return std::vector<GeneratedFile>{
      {fmt::format("hone_{}_torch.cu", package.task.name), std::move(source), "the PyTorch binding"},
      {"setup.py", writer.SetupPy(), "builds it as a package"},
      {"load.py", writer.Load(), "builds it on first use"}};
}

}  // namespace hone
