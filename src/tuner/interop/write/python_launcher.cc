// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/python_launcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/interop/write/architecture_option.h"
#include "tuner/interop/write/cuda_header.h"
#include "tuner/interop/write/torch_extension.h"

namespace hone {
namespace {

// What the compiled library adds to the header: C functions over arrays, so that ctypes can call them. `{0}`: the
// task's name, `{1}`: the header's function, `{2}`: its arguments, `{3}`: the body of the function that returns the
// bytes of workspace, `{4}`: "workspace, " if the header's function takes one.
constexpr std::string_view kLauncherEntry = R"text(
// Bytes of device memory that a call needs beside its tensors; -1: the arguments are not valid.
extern "C" long long hone_{0}_bytes(void* const* tensors, const double* scalars, const long long* sizes, void* stream) {{
  (void)tensors, (void)scalars, (void)sizes, (void)stream;
{3}}}

// Enqueues one call on `stream` and returns a cudaError_t.
extern "C" int hone_{0}_run(void* const* tensors, const double* scalars, const long long* sizes, void* workspace, void* stream) {{
  (void)tensors, (void)scalars, (void)sizes, (void)workspace;
  return hone::{1}({2}{4}static_cast<cudaStream_t>(stream));
}}

extern "C" const char* hone_{0}_error(int error) {{ return cudaGetErrorString(static_cast<cudaError_t>(error)); }}
)text";

// Definitions of the two functions that a header with library calls declares. `{0}`: the task's name.
constexpr std::string_view kLauncherCalls = R"text(
// Calls of libraries are made by Python, which gives these two functions.
namespace hone {{
namespace {0}_detail {{
using MatmulFunction = int (*)(const MatmulCall*);
using ConvolutionFunction = int (*)(const ConvolutionCall*);
static MatmulFunction matmul = nullptr;
static ConvolutionFunction convolution = nullptr;
[[maybe_unused]] static cudaError_t LibraryMatmul(const MatmulCall& call, cudaStream_t) {{
  return static_cast<cudaError_t>(matmul(&call));
}}
[[maybe_unused]] static cudaError_t LibraryConvolution(const ConvolutionCall& call, cudaStream_t) {{
  return static_cast<cudaError_t>(convolution(&call));
}}
}}  // namespace {0}_detail
}}  // namespace hone

extern "C" void hone_{0}_calls(void* matmul, void* convolution) {{
  hone::{0}_detail::matmul = reinterpret_cast<hone::{0}_detail::MatmulFunction>(matmul);
  hone::{0}_detail::convolution = reinterpret_cast<hone::{0}_detail::ConvolutionFunction>(convolution);
}}
)text";

// Python's side of the library calls. The structures have the fields of MatmulCall and ConvolutionCall
// (header_support.cc). Operands are whole tensors or parts of the workspace, so each is a view of a tensor that
// _kernel() has. Products and convolutions are in full float32, as the kernel was judged.
constexpr std::string_view kLauncherPythonCalls = R"py(
class _MatmulCall(_ctypes.Structure):
    _fields_ = [*((name, _ctypes.c_void_p) for name in ("a", "b", "bias", "out")), *((name, _ctypes.c_longlong) for name in ("batch", "m", "n", "k")),
                ("transpose_a", _ctypes.c_bool), ("transpose_b", _ctypes.c_bool), ("epilogue", _ctypes.c_int), ("type", _ctypes.c_int)]


class _ConvolutionCall(_ctypes.Structure):
    _fields_ = [*((name, _ctypes.c_void_p) for name in ("input", "weight", "bias", "out")), ("axes", _ctypes.c_int),
                *((name, _ctypes.c_longlong) for name in ("batch", "in_channels", "out_channels", "groups")),
                *((name, _ctypes.c_longlong * 3) for name in ("size", "kernel", "stride", "padding", "dilation", "output_padding")),
                ("transposed", _ctypes.c_bool), ("type", _ctypes.c_int)]


_TYPES = (_torch.float32, _torch.float16, _torch.bfloat16)
_memory = {}  # the tensors of the call that runs, by address
_failed = []  # what a library call has raised


def _view(address, shape, dtype):
    """The tensor of this shape at an address: one that _kernel() was given, or a part of the workspace."""
    tensor = _memory.get(address)
    if tensor is not None and tensor.shape == shape and tensor.dtype == dtype:
        return tensor
    count = _math.prod(shape)
    if count == 0:
        return _torch.empty(shape, dtype=dtype, device=_memory["workspace"].device)
    if tensor is None:
        tensor = _memory["workspace"]
        begin = address - tensor.data_ptr()
        tensor = tensor[begin:begin + count * dtype.itemsize]
    return tensor.view(-1).view(dtype)[:count].view(shape)


class _FullPrecision:
    """Keeps TF32 out of the library calls. Of PyTorch's two kinds of settings it uses the newer one where there is one: they must not be mixed."""

    def __init__(self):
        matmul, convolution = _torch.backends.cuda.matmul, getattr(_torch.backends.cudnn, "conv", None)
        newer = convolution is not None and hasattr(matmul, "fp32_precision")
        self.name, self.full = ("fp32_precision", ("ieee", "none")) if newer else ("allow_tf32", (False,))
        self.matmul, self.convolution = matmul, convolution if newer else _torch.backends.cudnn
        self.changed = []

    def keep(self, settings):
        before = getattr(settings, self.name)
        if before not in self.full:
            setattr(settings, self.name, self.full[0])
            self.changed.append((settings, before))

    def restore(self):
        while self.changed:
            settings, before = self.changed.pop()
            setattr(settings, self.name, before)


_precision = _FullPrecision()


def _matmul(call):
    if call.batch == 0 or call.m == 0 or call.n == 0:
        return
    _precision.keep(_precision.matmul)
    dtype, one = _TYPES[call.type], call.batch == 1

    def view(address, rows, columns):
        return _view(address, (rows, columns) if one else (call.batch, rows, columns), dtype)

    a = view(call.a, call.k, call.m).transpose(-2, -1) if call.transpose_a else view(call.a, call.m, call.k)
    b = view(call.b, call.n, call.k).transpose(-2, -1) if call.transpose_b else view(call.b, call.k, call.n)
    out = view(call.out, call.m, call.n)
    if call.bias:
        bias = _view(call.bias, (call.n,), dtype)
        if one and call.epilogue:
            _torch._addmm_activation(bias, a, b, use_gelu=call.epilogue == 2, out=out)
            return
        if one:
            _torch.addmm(bias, a, b, out=out)
        else:
            _torch.baddbmm(bias.expand(call.batch, call.m, call.n), a, b, out=out)
    elif one:
        _torch.mm(a, b, out=out)
    else:
        _torch.bmm(a, b, out=out)
    if call.epilogue == 1:
        out.relu_()
    elif call.epilogue == 2:
        _torch.ops.aten.gelu_(out, approximate="tanh")


def _convolution(call):
    axes, dtype = call.axes, _TYPES[call.type]
    size, kernel, stride, padding, dilation, more = (list(one)[:axes] for one in (call.size, call.kernel, call.stride, call.padding, call.dilation, call.output_padding))
    reach = [d * (k - 1) for d, k in zip(dilation, kernel)]
    if call.transposed:
        made = [(n - 1) * s - 2 * p + r + m + 1 for n, s, p, r, m in zip(size, stride, padding, reach, more)]
        channels = [call.in_channels, call.out_channels // call.groups]
    else:
        made = [(n + 2 * p - r - 1) // s + 1 for n, s, p, r in zip(size, stride, padding, reach)]
        channels = [call.out_channels, call.in_channels // call.groups]
    if call.batch == 0 or call.out_channels == 0 or min(made) == 0:
        return
    if min(made) < 0:
        raise ValueError("a convolution's output would have a negative size")
    x = _view(call.input, (call.batch, call.in_channels, *size), dtype)
    weight = _view(call.weight, (*channels, *kernel), dtype)
    out = _view(call.out, (call.batch, call.out_channels, *made), dtype)
    bias = _view(call.bias, (1, call.out_channels) + (1,) * axes, dtype) if call.bias else None
    if not call.transposed and axes > 1 and call.groups == 1 and x.is_cuda and _torch.backends.cudnn.enabled:
        # cuDNN writes into the memory that the plan names; other convolutions of PyTorch make a tensor, which is copied.
        _torch.cudnn_convolution(x, weight, padding, stride, dilation, 1, _torch.backends.cudnn.benchmark, _torch.backends.cudnn.deterministic, False, out=out)
        if bias is not None:
            out.add_(bias)
        return
    _precision.keep(_precision.convolution)
    result = _torch.convolution(x, weight, None, stride, padding, dilation, call.transposed, more, call.groups)
    if bias is None:
        out.copy_(result)
    else:
        _torch.add(result, bias, out=out)


def _guarded(function, structure):
    """The function for C. What it raises is kept in _failed, because an exception cannot cross C."""
    def call(argument):
        try:
            function(argument.contents)
            return 0
        except Exception as error:
            _failed.append(error)
            return 999  # cudaErrorUnknown
        finally:
            _precision.restore()
    return _ctypes.CFUNCTYPE(_ctypes.c_int, _ctypes.POINTER(structure))(call)


_CALLS = (_guarded(_matmul, _MatmulCall), _guarded(_convolution, _ConvolutionCall))

)py";

constexpr std::string_view kLauncherCheck = R"py(
def _check(name, tensor, dtype, shape, strides, device):
    if tensor.dtype != dtype or tensor.device != device or tuple(tensor.shape) != shape:
        raise ValueError(f"{name}: expected {dtype} of shape {shape} on {device}, found {tensor.dtype} of shape {tuple(tensor.shape)} on {tensor.device}")
    if tensor.stride() != strides if strides else not tensor.is_contiguous():
        raise ValueError(f"{name}: " + (f"expected strides {strides}, found {tensor.stride()}" if strides else "must be contiguous; call .contiguous() first"))
)py";

std::string TorchName(DType dtype) {
  return fmt::format("_torch.{}", dtype == DType::kInt4Pair ? "uint8" : DTypeName(dtype));
}

// Returns a Python tuple of sizes.
Result<std::string> TupleOfSizes(const std::vector<Expression>& expressions) {
  std::string text;
  for (const Expression& expression : expressions) {
    HONE_ASSIGN_OR_RETURN(const std::string part, PythonSizeExpression(expression.text()));
    text += part + ", ";
  }
  return "(" + text + ")";
}

// Returns the compiler's flags for PyTorch's builder of extensions.
std::string LauncherFlags(const KernelPackage& package) {
  std::string flags = "\"-O3\"";
  for (const std::string& option : PackageOptions(package)) flags += fmt::format(", \"{}\"", option);
  // PyTorch's build disables the conversions of half types.
  for (const char* macro : {"HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS"}) {
    flags += fmt::format(", \"-U__CUDA_NO_{}__\"", macro);
  }
  return flags;
}

struct LauncherLibrary {
  std::string source;
  bool workspace = false;  // calls need device memory beside their tensors
};
// Returns the header with the C functions behind it, as one file that nvcc compiles alone. `calls`: the plan calls
// libraries.
Result<LauncherLibrary> LibrarySource(const KernelPackage& package, bool calls) {
  HONE_ASSIGN_OR_RETURN(std::string source, CudaHeader(package));
  for (size_t once = 0; (once = source.find("#pragma once\n", once)) != std::string::npos;) source.erase(once, 13);
  const HeaderSignature signature = SignatureOf(package.task);
  std::string arguments;
  for (size_t i = 0; i < signature.tensors.size(); ++i)
    arguments += fmt::format("static_cast<{}>(tensors[{}]), ", signature.tensors[i].type, i);
  for (size_t i = 0; i < signature.scalars.size(); ++i)
    arguments += fmt::format("static_cast<{}>(scalars[{}]), ", signature.scalars[i].type, i);
  for (size_t i = 0; i < signature.dims.size(); ++i) arguments += fmt::format("sizes[{}], ", i);
  const bool workspace = source.find(fmt::format("cudaError_t {}_workspace(", signature.function)) != std::string::npos;
  const std::string bytes = !workspace ? "  return 0;\n"
                                       : fmt::format(
                                             "  size_t bytes = 0;\n  const cudaError_t error = "
                                             "hone::{}_workspace({}static_cast<cudaStream_t>(stream), &bytes);\n"
                                             "  return error == cudaSuccess ? static_cast<long long>(bytes) : -1;\n",
                                             signature.function, arguments);
  if (calls) source += fmt::format(kLauncherCalls, package.task.name);
  source += fmt::format(kLauncherEntry, package.task.name, signature.function, arguments, bytes,
                              workspace ? "workspace, " : "");
  return LauncherLibrary{std::move(source), workspace};
}

}  // namespace

std::string PythonTripleQuoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return "\"\"\"" + out + "\"\"\"";
}

Result<std::string> PythonSizeExpression(const std::string& text) {
  if (text.find('?') != std::string::npos || text.find('!') != std::string::npos) {
    return Status::InvalidArgument(fmt::format("the size {} cannot be written in Python: use --as extension", text));
  }
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "&&") == 0) {
      out += " and ";
      ++i;
    } else if (text.compare(i, 2, "||") == 0) {
      out += " or ";
      ++i;
    } else {
      out += text[i] == '/' ? "//" : std::string(1, text[i]);
    }
  }
  return out;
}

std::string PythonDimensions(const Task& task, const std::string& indent, const Dims& sizes) {
  std::string direct, divided;
  for (const DimSource& source : FindDimensions(task)) {
    if (source.tensor.empty()) {
      const auto size = sizes.find(source.dim);
      if (size != sizes.end()) direct += fmt::format("{}{} = {}\n", indent, source.dim, size->second);
    } else if (source.other.empty()) {
      direct += fmt::format("{}{} = {}.shape[{}]{}\n", indent, source.dim, source.tensor, source.axis,
                            source.divisor == 1 ? "" : fmt::format(" // {}", source.divisor));
    } else {
      divided +=
          fmt::format("{}{} = {}.shape[{}] // {}\n", indent, source.dim, source.tensor, source.axis, source.other);
    }
  }
  return direct + divided;
}

Result<std::string> PythonLauncher(const KernelPackage& package, const std::string& library) {
  const Task& task = package.task;
  const HeaderSignature signature = SignatureOf(task);
  const bool calls = LineOfCall(package.winner.plan) > 0 || LineOfCall(package.seed.plan) > 0;
  HONE_ASSIGN_OR_RETURN(const LauncherLibrary compiled, LibrarySource(package, calls));
  const bool workspace = compiled.workspace;

  std::vector<std::string> parameters, inputs, results, tensors, scalars, sizes;
  std::string make, allocate, check, first;
  for (const HeaderParameter& p : signature.tensors) {
    const TensorSpec& tensor = *task.FindTensor(p.plan);
    HONE_ASSIGN_OR_RETURN(const std::string shape, TupleOfSizes(tensor.shape));
    HONE_ASSIGN_OR_RETURN(const std::string strides, TupleOfSizes(tensor.strides));
    tensors.push_back(p.plan);
    if (tensor.role == TensorRole::kOut) {
      results.push_back(p.plan);
      make += fmt::format("{}({}, {})", make.empty() ? "" : ", ", shape, tensor.strides.empty() ? "None" : strides);
      const std::string one = fmt::format("_outputs[{}]", results.size() - 1);
      allocate += tensor.strides.empty()
                      ? fmt::format("    {} = _torch.empty({}[0], dtype={}, device=_device)\n", p.plan, one, TorchName(tensor.dtype))
                      : fmt::format("    {} = _torch.empty_strided(*{}, dtype={}, device=_device)\n", p.plan, one, TorchName(tensor.dtype));
      continue;
    }
    if (first.empty()) first = p.plan;
    inputs.push_back(p.plan);
    parameters.push_back(p.plan);
    check += fmt::format("    _check(\"{0}\", {0}, {1}, {2}, {3}, _device)\n", p.plan, TorchName(tensor.dtype), shape,
                         strides);
  }
  const std::vector<DimSource> sources = FindDimensions(task);
  const bool dims_are_arguments =
      std::any_of(sources.begin(), sources.end(), [](const DimSource& source) { return source.tensor.empty(); });
  for (const HeaderParameter& p : signature.scalars) {
    parameters.push_back(dims_are_arguments ? p.plan : fmt::format("{}={}", p.plan, task.FindScalar(p.plan)->value));
    scalars.push_back(p.plan);
  }
  for (const DimSource& source : sources) {
    if (source.tensor.empty()) parameters.push_back(source.dim);
  }
  for (const HeaderParameter& p : signature.dims) sizes.push_back(p.plan);
  const auto joined = [](const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); };
  std::vector<std::string> addresses;
  for (const std::string& tensor : tensors) addresses.push_back(tensor + ".data_ptr()");

  std::string text = fmt::format(
      "import ctypes as _ctypes\nimport inspect as _inspect\nimport math as _math\n\nimport torch as _torch\n"
      "from torch.utils.cpp_extension import load_inline as _load_inline\n\n_SOURCE = {0}\n\n_library = None\n\n\n"
      "{4}\n\n"
      "def _load():\n"
      "    \"\"\"Compiles the kernel at the first call. No header of PyTorch is compiled with it, so this takes "
      "seconds.\"\"\"\n"
      "    global _library\n    if _library is None:\n"
      "        known = _inspect.signature(_load_inline).parameters\n"
      "        light = {{\"no_implicit_headers\": True}} if \"no_implicit_headers\" in known else {{}}\n"
      "        path = _load_inline(name=\"{1}\", cpp_sources=[], cuda_sources=[_SOURCE], extra_cflags=[\"-O2\"],\n"
      "                            extra_cuda_cflags=[{2}] + _architecture(), is_python_module=False, **light)\n"
      "        library = _ctypes.CDLL(path)\n"
      "        pointers = [_ctypes.c_void_p] * 5\n"
      "        library.hone_{3}_bytes.argtypes, library.hone_{3}_bytes.restype = pointers[:4], _ctypes.c_longlong\n"
      "        library.hone_{3}_run.argtypes, library.hone_{3}_run.restype = pointers, _ctypes.c_int\n"
      "        library.hone_{3}_error.argtypes, library.hone_{3}_error.restype = [_ctypes.c_int], _ctypes.c_char_p\n",
      PythonTripleQuoted(compiled.source), library, LauncherFlags(package), task.name, kArchitectureOption);
  if (calls) {
    text += fmt::format(
        "        library.hone_{0}_calls.argtypes = pointers[:2]\n"
        "        library.hone_{0}_calls(*(_ctypes.cast(one, _ctypes.c_void_p) for one in _CALLS))\n",
        task.name);
  }
  text += "        _library = library\n    return _library\n\n";
  if (calls) text += kLauncherPythonCalls;
  text += fmt::format("{}\n\n", kLauncherCheck);
  // What a call needs beside its tensors is found once for each combination of shapes: a call shall cost little time on
  // the host, in which the GPU may be idle.
  std::vector<std::string> key;
  for (const std::string& name : inputs) key.push_back(fmt::format("{0}.shape, {0}.dtype, {0}.stride(), {0}.device", name));
  std::vector<std::string> given = scalars;
  for (const DimSource& source : sources) {
    if (source.tensor.empty()) given.push_back(source.dim);
  }
  for (const std::string& name : given) key.push_back(name);
  text += fmt::format("_prepared = {{}}\n\n\ndef _prepare({}):\n    \"\"\"Checks a call's tensors, and returns what later calls with such tensors need.\"\"\"\n",
                      joined(parameters));
  text += fmt::format("    _device = {}\n", first.empty() ? "_torch.device(\"cuda\", _torch.cuda.current_device())" : first + ".device");
  if (!first.empty()) text += "    if _device.type != \"cuda\":\n        raise ValueError(f\"this CUDA kernel takes tensors on a GPU, and these are on {_device}\")\n";
  const std::string body = PythonDimensions(task, "    ", {}) + check;
  // The functions of size expressions are local, so that they do not replace a function of the problem's.
  const std::string launcher_source = body + make;
  if (launcher_source.find("ceil_div(") != std::string::npos) text += "    ceil_div = lambda a, b: (a + b - 1) // b\n";
  if (launcher_source.find("round_up(") != std::string::npos)
    text += "    round_up = lambda a, b: (a + b - 1) // b * b\n";
  text += body;
  text += fmt::format("    return _device, [{0}], (_ctypes.c_double * {1})({2}), (_ctypes.c_longlong * {3})({4}), (_ctypes.c_void_p * {5})()\n\n\n", make,
                      std::max<size_t>(scalars.size(), 1), joined(scalars), std::max<size_t>(sizes.size(), 1), joined(sizes), tensors.size());
  text += fmt::format("def _kernel({}):\n    _key = ({},)\n    _found = _prepared.get(_key)\n    if _found is None:\n", joined(parameters),
                      key.empty() ? "None" : joined(key));
  std::vector<std::string> names = inputs;
  names.insert(names.end(), given.begin(), given.end());
  text += fmt::format("        _found = _prepared[_key] = _prepare({})\n", joined(names));
  text += "    _device, _outputs, _scalars, _sizes, _tensors = _found\n";
  text += "    if _device.index is not None and _device.index != _torch.cuda.current_device():\n        with _torch.cuda.device(_device):\n"
          "            return _launch(" + joined(names) + (names.empty() ? "" : ", ") + "*_found)\n";
  text += "    return _launch(" + joined(names) + (names.empty() ? "" : ", ") + "*_found)\n\n\n";
  text += fmt::format("def _launch({}{}_device, _outputs, _scalars, _sizes, _tensors):\n", joined(names), names.empty() ? "" : ", ");
  text += allocate;
  text += fmt::format("    _tensors[:] = ({},)\n    _stream = _torch.cuda.current_stream().cuda_stream\n    _library = _load()\n", joined(addresses));
  if (workspace) {
    text += fmt::format("    _bytes = _library.hone_{0}_bytes(_tensors, _scalars, _sizes, _stream)\n"
                        "    _workspace = _torch.empty(max(_bytes, 0), dtype=_torch.uint8, device=_device)\n    _address = _workspace.data_ptr() or None\n", task.name);
  } else {
    text += "    _address = None\n";
  }
  const std::string run = fmt::format("_error = _library.hone_{}_run(_tensors, _scalars, _sizes, _address, _stream)\n", task.name);
  if (calls) {
    text += fmt::format("    _memory.update(zip(_tensors, ({},)))\n    _memory[\"workspace\"] = {}\n"
                        "    try:\n        {}    finally:\n        _memory.clear()\n"
                        "    if _failed:\n        raise _failed.pop()\n", joined(tensors), workspace ? "_workspace" : tensors.front(), run);
  } else {
    text += "    " + run;
  }
  text += fmt::format("    if _error != 0:\n        raise RuntimeError(\"{0}: \" + _library.hone_{0}_error(_error).decode())\n", task.name);
  return text + fmt::format("    return {}\n", results.empty() ? "None" : joined(results));
}

}  // namespace hone
