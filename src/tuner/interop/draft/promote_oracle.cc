// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/draft/promote_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "tuner/core/program/translation_unit.h"
#include "tuner/interop/read/device_calls.h"
#include "tuner/interop/read/pointer_declarations.h"

namespace hone {
namespace {

using std::string_view;

// Maps functions of float to those of double. Names with a leading double underscore are CUDA's intrinsics.
const std::map<string_view, string_view>& FunctionsOfDouble() {
  static const std::map<string_view, string_view> kMap = {{"expf", "exp"},
                                                          {"__expf", "exp"},
                                                          {"exp2f", "exp2"},
                                                          {"exp10f", "exp10"},
                                                          {"expm1f", "expm1"},
                                                          {"logf", "log"},
                                                          {"__logf", "log"},
                                                          {"log2f", "log2"},
                                                          {"__log2f", "log2"},
                                                          {"log10f", "log10"},
                                                          {"log1pf", "log1p"},
                                                          {"sqrtf", "sqrt"},
                                                          {"rsqrtf", "rsqrt"},
                                                          {"__fsqrt_rn", "sqrt"},
                                                          {"__frsqrt_rn", "rsqrt"},
                                                          {"tanhf", "tanh"},
                                                          {"sinf", "sin"},
                                                          {"__sinf", "sin"},
                                                          {"cosf", "cos"},
                                                          {"__cosf", "cos"},
                                                          {"tanf", "tan"},
                                                          {"powf", "pow"},
                                                          {"__powf", "pow"},
                                                          {"fabsf", "fabs"},
                                                          {"fmaxf", "fmax"},
                                                          {"fminf", "fmin"},
                                                          {"fmaf", "fma"},
                                                          {"__fmaf_rn", "fma"},
                                                          {"erff", "erf"},
                                                          {"erfcf", "erfc"},
                                                          {"floorf", "floor"},
                                                          {"ceilf", "ceil"},
                                                          {"roundf", "round"},
                                                          {"truncf", "trunc"},
                                                          {"rintf", "rint"},
                                                          {"fmodf", "fmod"},
                                                          {"copysignf", "copysign"},
                                                          {"cbrtf", "cbrt"},
                                                          {"sinhf", "sinh"},
                                                          {"coshf", "cosh"},
                                                          {"atanf", "atan"},
                                                          {"asinf", "asin"},
                                                          {"acosf", "acos"},
                                                          {"atan2f", "atan2"},
                                                          {"__fdividef", "hone_divide"},
                                                          {"__fdiv_rn", "hone_divide"},
                                                          {"__frcp_rn", "hone_reciprocal"},
                                                          {"__fadd_rn", "hone_add"},
                                                          {"__fmul_rn", "hone_multiply"},
                                                          {"__float2int_rn", "__double2int_rn"},
                                                          {"__float2int_rz", "__double2int_rz"},
                                                          {"__float2int_rd", "__double2int_rd"},
                                                          {"__float2int_ru", "__double2int_ru"},
                                                          {"__float2uint_rn", "__double2uint_rn"},
                                                          {"__float2uint_rz", "__double2uint_rz"},
                                                          {"lrintf", "lrint"},
                                                          {"lroundf", "lround"},
                                                          {"llrintf", "llrint"},
                                                          {"llroundf", "llround"},
                                                          {"nearbyintf", "nearbyint"},
                                                          {"sincosf", "sincos"},
                                                          {"__sincosf", "sincos"},
                                                          {"hypotf", "hypot"},
                                                          {"ldexpf", "ldexp"},
                                                          {"asinhf", "asinh"},
                                                          {"acoshf", "acosh"},
                                                          {"atanhf", "atanh"}};
  return kMap;
}
// Names of the functions that convert to a half type.
const std::set<string_view>& ToHalf() {
  static const std::set<string_view> kNames = {"__float2half", "__float2half_rn", "__float2bfloat16",
                                               "__float2bfloat16_rn", "__double2half"};
  return kNames;
}
// Names of the functions that convert from a half type.
const std::set<string_view>& FromHalf() {
  static const std::set<string_view> kNames = {"__half2float", "__bfloat162float"};
  return kNames;
}
bool IsHalf(string_view w) {
  return w == "__half" || w == "half" || w == "__nv_bfloat16" || w == "nv_bfloat16" || w == "__nv_fp8_e4m3" ||
         w == "__nv_fp8_e5m2";
}
bool IsVector(string_view w) {
  static const std::set<string_view> kNames = {"float2",         "float4",       "float3", "half2", "__half2",
                                               "__nv_bfloat162", "nv_bfloat162", "uint2",  "uint4", "int2",
                                               "int4",           "double2",      "int3",   "uint3"};
  return kNames.count(w) != 0;
}

constexpr string_view kPrelude = R"cpp(
  // The linter compiles the oracle again with another definition of this, to see what a kernel that reads its inputs
  // with less precision would answer.
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
)cpp";
constexpr string_view kHelpers = R"cpp(
  __device__ inline double hone_divide(double a, double b) { return a / b; }
  __device__ inline double hone_reciprocal(double a) { return 1.0 / a; }
  __device__ inline double hone_add(double a, double b) { return a + b; }
  __device__ inline double hone_multiply(double a, double b) { return a * b; }
)cpp";

// Rewrites device code in double precision, token by token.
class Promoter {
 public:
  Promoter(const CuSource& source, const std::vector<KernelToPromote>& kernels, int lines_before)
      : s_(source), kernels_(kernels), lines_before_(lines_before) {}

  PromotedCode Run() {
    for (const CuItem& item : s_.items) {
      if (item.kind == CuItemKind::kKernel) {
        const KernelToPromote* chosen = KernelOfItem(item);
        if (chosen == nullptr) {  // the oracle does not launch this kernel
          edits_.push_back({s_.token(item.first).begin, item.end, ""});
          continue;
        }
        RewriteItem(item, chosen);
      } else if (item.kind == CuItemKind::kDevice || item.kind == CuItemKind::kType ||
                 item.kind == CuItemKind::kConstant) {
        RewriteItem(item, nullptr);
      }
    }
    PromotedCode result;
    if (!reasons_.empty()) {
      result.reasons.assign(reasons_.begin(), reasons_.end());
      return result;
    }
    result.text = ApplyEdits(s_.text, edits_);
    return result;
  }

 private:
  const Token& FileAndLine(int i) const { return s_.token(i); }
  bool IsToken(int i, string_view text) const {
    return i >= 0 && i < static_cast<int>(s_.tokens.size()) && FileAndLine(i).text == text;
  }
  bool IsIdentifier(int i) const {
    return i >= 0 && i < static_cast<int>(s_.tokens.size()) && FileAndLine(i).kind == TokenKind::kIdentifier;
  }
  void Replace(int i, string_view text) {
    edits_.push_back({FileAndLine(i).begin, FileAndLine(i).end, std::string(text)});
  }
  // Records why the code at token `i` cannot be rewritten.
  void AddReason(int i, const std::string& what) {
    const auto line = 1 + lines_before_ +
                      std::count(s_.text.begin(), s_.text.begin() + static_cast<long>(FileAndLine(i).begin), '\n');
    reasons_.insert(fmt::format("{} (line {} of seed.cu)", what, line));
  }

  // Returns the kernel that the oracle launches and that is this item; null: none is.
  const KernelToPromote* KernelOfItem(const CuItem& item) const {
    for (const KernelToPromote& k : kernels_) {
      const CuItem& own = s_.items[static_cast<size_t>(k.kernel->item)];
      if (own.first == item.first) return &k;
    }
    return nullptr;
  }

  // Rewrites an item. `kernel`: the kernel that it is; null: it is another item.
  void RewriteItem(const CuItem& item, const KernelToPromote* kernel) {
    std::map<string_view, std::string> substituted;  // template parameter -> argument
    int first = item.first;
    if (kernel != nullptr) {
      const auto& parameters = kernel->kernel->template_parameters;
      for (size_t i = 0; i < parameters.size() && i < kernel->template_args.size(); ++i) {
        substituted[parameters[i].name] = kernel->template_args[i];
      }
      if (!parameters.empty()) {  // removes template<…>: the arguments replace the parameters
        int end = item.first + 1, depth = 0;
        for (;; ++end) {
          if (IsToken(end, "<")) ++depth;
          if (IsToken(end, ">") && --depth == 0) break;
        }
        edits_.push_back({FileAndLine(item.first).begin, FileAndLine(end).end, ""});
        first = end + 1;
      }
    }
    FindPointers(item, kernel);
    // Collects the names of variables, since a variable may be called `half`.
    std::set<string_view> variables;
    for (int i = first; i < item.last; ++i) {
      if (IsIdentifier(i) && IsIdentifier(i + 1) && !IsToken(i, "const") && !IsToken(i, "typename") &&
          !IsToken(i, "return") && !IsToken(i, "inline") && !IsToken(i, "static") &&
          !FileAndLine(i).text.starts_with("__")) {
        variables.insert(FileAndLine(i + 1).text);
      }
    }
    const auto meaning = [&](int i) -> string_view {
      const auto found = substituted.find(FileAndLine(i).text);
      return found == substituted.end() ? FileAndLine(i).text : string_view(found->second);
    };
    const int body = kernel != nullptr ? kernel->kernel->body_open : -1;

    for (int i = first; i <= item.last; ++i) {
      const Token& t = FileAndLine(i);
      if (t.kind == TokenKind::kNumber) {
        // 1.0f becomes 1.0. The f of a hexadecimal number is a digit and stays.
        const bool hex = t.text.size() > 1 && (t.text[1] == 'x' || t.text[1] == 'X');
        if (!hex && (t.text.back() == 'f' || t.text.back() == 'F')) Replace(i, t.text.substr(0, t.text.size() - 1));
        continue;
      }
      if (t.kind != TokenKind::kIdentifier) continue;
      if (variables.count(t.text) != 0 && t.text == "half") continue;
      const string_view word = meaning(i);
      if (word == "asm" || word == "__asm__") AddReason(i, "inline assembly");
      if (word == "wmma" || word == "mma_sync" || word == "nvcuda") AddReason(i, "tensor cores");
      if (word.starts_with("__float_as_") || word.starts_with("__int_as_float") ||
          word.starts_with("__uint_as_float")) {
        AddReason(i, "the bits of a float are used: " + std::string(word));
      }
      if (word.starts_with("__half2") && FromHalf().count(word) == 0 && !IsVector(word))
        AddReason(i, "packed halves: " + std::string(word));
      if (word.starts_with("__nv_cvt_") || word.starts_with("__nv_fp8x")) {
        AddReason(i, "8-bit floats converted in pairs or by intrinsics: " + std::string(word));
      }
      if (word.starts_with("__h") && word.size() > 4 && word != "__half" && word != "__host__" &&
          !word.starts_with("__half") && IsToken(i + 1, "(")) {
        AddReason(i, "arithmetic in half precision: " + std::string(word));
      }
      if (IsVector(word) && (word != "float4" && word != "float2" && word != "float3"))
        AddReason(i, "packed values: " + std::string(word));
      if (word == "reinterpret_cast") {
        // A cast that reads an input as float2 or float4 is sound; other casts depend on the bytes of floats.
        const bool reads =
            IsToken(i + 1, "<") && IsToken(i + 2, "const") && (IsToken(i + 3, "float4") || IsToken(i + 3, "float2"));
        int open = i + 1;
        while (open < item.last && !IsToken(open, "(")) ++open;
        const bool is_whole_tensor =
            MeaningOf(IsToken(open + 1, "&") && IsIdentifier(open + 2) ? open + 2 : open + 1).integer;
        if (!reads && !is_whole_tensor) AddReason(i, "a pointer is reinterpreted");
      }
      if ((word == "float4" || word == "float2") && !reads_pack(i) && IsToken(i + 1, "*"))
        AddReason(i, "packed stores");
      if (word == "make_float4" || word == "make_float2") AddReason(i, "packed values are built: " + std::string(word));
      const auto function = FunctionsOfDouble().find(word);
      if (function != FunctionsOfDouble().end() && IsToken(i + 1, "(")) {
        Replace(i, function->second);
        continue;
      }
      if (ToHalf().count(word) != 0) {
        Replace(i, "static_cast<double>");
        continue;
      }
      if (FromHalf().count(word) != 0 && IsToken(i + 1, "(") && FileAndLine(i + 1).match > 0) {
        edits_.push_back({t.begin, t.begin, "HONE_ORACLE_IN("});
        edits_.push_back({FileAndLine(FileAndLine(i + 1).match).end, FileAndLine(FileAndLine(i + 1).match).end, ")"});
        Skip(i + 2, FileAndLine(i + 1).match);
        continue;
      }
      const bool scalar_type = word == "float" || IsHalf(word);
      if (scalar_type) {
        RewriteType(i, word, kernel, substituted);
        continue;
      }
      const bool reads_input = kernel != nullptr && i > body && MeaningOf(i).input;
      if (reads_input && !IsToken(i + 1, "[")) GivenToHelper(i, body);
      // Wraps the element of an input in HONE_ORACLE_IN where it is read.
      if (reads_input && IsToken(i + 1, "[") && FileAndLine(i + 1).match > 0 && !IsToken(i - 1, "&") &&
          !IsToken(i - 1, ".") && !IsSkipped(i)) {
        const auto parameter = kernel->parameters.find(std::string(t.text));
        const DType dtype =
            parameter != kernel->parameters.end() ? parameter->second.dtype : DTypeOfDerivedPointers(kernel);
        if (dtype == DType::kFloat32 || dtype == DType::kFloat64 || IsFloat8(dtype)) {
          edits_.push_back({t.begin, t.begin, "HONE_ORACLE_IN("});
          edits_.push_back({FileAndLine(FileAndLine(i + 1).match).end, FileAndLine(FileAndLine(i + 1).match).end, ")"});
        } else if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
          const char* convert = dtype == DType::kFloat16 ? "__half2float" : "__bfloat162float";
          edits_.push_back({t.begin, t.begin, fmt::format("HONE_ORACLE_IN({}(", convert)});
          edits_.push_back(
              {FileAndLine(FileAndLine(i + 1).match).end, FileAndLine(FileAndLine(i + 1).match).end, "))"});
        }
      } else if (substituted.count(t.text) != 0) {
        Replace(i, word);
      }
    }
  }

  bool reads_pack(int i) const { return IsToken(i - 1, "const"); }

  // The kinds of tensors into which a pointer may point. If none of the three is true, the name is not a pointer into a
  // tensor.
  struct Meaning {
    bool input = false, output = false, integer = false;
  };
  struct Pointer {
    int from = 0, to = 0;  // the name has this meaning at tokens [from, to]
    Meaning meaning;
  };
  // Finds the pointers in the kernel's body. Those derived from inputs and from integer tensors keep their type; those
  // derived from outputs become pointers to double. The same name may be another pointer in another block.
  void FindPointers(const CuItem& item, const KernelToPromote* kernel) {
    pointers_.clear();
    if (kernel == nullptr) return;
    for (const auto& [name, p] : kernel->parameters) {
      const bool input = p.role == TensorRole::kIn;
      pointers_[name] = {{item.first, item.last, {input, !input, false}}};
    }
    for (const std::string& name : kernel->integers) pointers_[name] = {{item.first, item.last, {false, false, true}}};
    const auto followed = [&](int k) {
      const Meaning m = MeaningOf(k);
      return m.input || m.output || m.integer;
    };
    std::vector<int> blocks = {kernel->kernel->body_close};  // ends of the blocks around token `i`, innermost last
    for (int i = kernel->kernel->body_open + 1; i < kernel->kernel->body_close; ++i) {
      while (blocks.size() > 1 && i > blocks.back()) blocks.pop_back();
      if (IsToken(i, "{") && FileAndLine(i).match > i) blocks.push_back(FileAndLine(i).match);
      const auto declared = PointerDeclarationAt(s_, i, kernel->kernel->body_close, followed);
      if (!declared) continue;
      Pointer pointer{declared->name, blocks.back(), {}};
      for (int k = declared->value; k < declared->end; ++k) {
        const Meaning m = IsIdentifier(k) ? MeaningOf(k) : Meaning{};
        // In x + ids[i], `ids` is only read and is not what the pointer points into.
        if (k != declared->base && IsToken(k + 1, "[")) continue;
        pointer.meaning.input = pointer.meaning.input || m.input;
        pointer.meaning.output = pointer.meaning.output || m.output;
        pointer.meaning.integer = pointer.meaning.integer || m.integer;
      }
      pointers_[FileAndLine(declared->name).text].push_back(pointer);
    }
  }
  Meaning MeaningOf(int i) const {
    const auto found = pointers_.find(FileAndLine(i).text);
    if (found == pointers_.end()) return {};
    for (auto p = found->second.rbegin(); p != found->second.rend(); ++p) {
      if (p->from <= i && i <= p->to) return p->meaning;
    }
    return {};
  }

  // Refuses a pointer into an input as the argument of a helper function whose parameter would become a pointer to
  // double. It is sound only if the helper deduces the parameter's type from this one argument.
  void GivenToHelper(int i, int body) {
    const std::optional<CallSite> call = EnclosingCall(s_, i, body);
    const std::optional<DeviceFunction> helper = call ? FindDeviceFunction(s_, call->name) : std::nullopt;
    if (!helper || static_cast<size_t>(call->argument) >= helper->parameters.size()) return;
    const CuParameter& p = helper->parameters[static_cast<size_t>(call->argument)];
    if (!p.pointer) return;
    const auto& names = helper->template_parameters;
    bool deduced = !call->explicit_template_arguments && std::find(names.begin(), names.end(), p.type) != names.end();
    for (const CuParameter& other : helper->parameters)
      deduced = deduced && (other.name == p.name || other.type != p.type);
    // Pointers to int, and to types that are not numbers, stay as they are.
    if (deduced ||
        (p.type != "float" && !IsHalf(p.type) && std::find(names.begin(), names.end(), p.type) == names.end()))
      return;
    AddReason(
        i, fmt::format(
               "'{}' is given '{}', a pointer into an input: inputs keep their type, and the helper's `{}* {}` would "
               "become double; read the input in the kernel and pass values",
               call->name, FileAndLine(i).text, p.type, p.name));
  }

  // Returns the dtype taken for a pointer that is derived from an input: that of the kernel's floating input. With
  // several, the last by name.
  DType DTypeOfDerivedPointers(const KernelToPromote* kernel) const {
    DType dtype = DType::kInt32;
    for (const auto& [name, p] : kernel->parameters) {
      if (p.role == TensorRole::kIn && IsFloating(p.dtype)) dtype = p.dtype;
    }
    return dtype;
  }

  // Rewrites the type at token `i` (`float`, a half type, or a template parameter that stands for one; `word` is the
  // type itself) as double, unless it is the type of a pointer into an input.
  void RewriteType(int i, string_view word, const KernelToPromote* kernel,
                   const std::map<string_view, std::string>& substituted) {
    int star = i + 1;
    while (IsToken(star, "const")) ++star;
    if (IsToken(star, "*")) {
      int name = star + 1;
      while (IsToken(name, "__restrict__") || IsToken(name, "const") || IsToken(name, "__restrict")) ++name;
      const auto [input, output, integer] = IsIdentifier(name) ? MeaningOf(name) : Meaning{};
      if (input && output) AddReason(i, fmt::format("'{}' points into an input and an output", FileAndLine(name).text));
      if (kernel != nullptr && input) {
        if (substituted.count(FileAndLine(i).text) != 0) Replace(i, word);
        return;
      }
      return Replace(i, "double");
    }
    Replace(i, "double");
  }

  // Marks tokens [first, last] as already wrapped in HONE_ORACLE_IN.
  void Skip(int first, int last) { skipped_.emplace_back(first, last); }
  bool IsSkipped(int i) const {
    return std::any_of(skipped_.begin(), skipped_.end(),
                       [&](const auto& range) { return i >= range.first && i <= range.second; });
  }

  const CuSource& s_;
  const std::vector<KernelToPromote>& kernels_;
  const int lines_before_;
  std::map<string_view, std::vector<Pointer>> pointers_;  // pointers of the current kernel, in the order of the text
  std::vector<TextEdit> edits_;
  std::set<std::string> reasons_;
  std::vector<std::pair<int, int>> skipped_;
};

}  // namespace

PromotedCode PromoteToDouble(const std::string& device_code, int lines_before,
                             const std::vector<KernelToPromote>& given, const std::map<std::string, DType>& in_place) {
  PromotedCode result;
  Result<std::unique_ptr<CuSource>> source = ReadCuSource(device_code, "seed.cu");
  if (!source.ok()) {
    result.reasons.push_back(source.status().message());
    return result;
  }
  // `given` has the kernels of the user's file. They are looked up again in the device code.
  std::vector<KernelToPromote> kernels = given;
  for (KernelToPromote& k : kernels) {
    const CuKernel* own = (*source)->FindKernel(k.kernel->qualified);
    if (own == nullptr) {
      result.reasons.push_back(fmt::format("kernel '{}' was not found again", k.kernel->name));
      return result;
    }
    k.kernel = own;
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (kernels[i].kernel == kernels[j].kernel && kernels[i].template_args != kernels[j].template_args) {
        result.reasons.push_back(
            fmt::format("kernel '{}' is used with two sets of template arguments", kernels[i].kernel->name));
        return result;
      }
    }
    if (kernels[i].template_args.size() != kernels[i].kernel->template_parameters.size()) {
      result.reasons.push_back(
          fmt::format("kernel '{}': not all template arguments are known", kernels[i].kernel->name));
      return result;
    }
  }
  result = Promoter(**source, kernels, lines_before).Run();
  if (!result.reasons.empty()) return result;
  std::string copies;
  for (const auto& [name, dtype] : in_place) {
    const std::string value = dtype == DType::kFloat16    ? "__half2float(source[i])"
                              : dtype == DType::kBFloat16 ? "__bfloat162float(source[i])"
                                                          : "source[i]";
    copies += fmt::format(
        "\n// The in-place tensor's input, in double: the kernel works on it from here.\n"
        "__global__ void hone_copy_{}(const {}* source, double* target, long long elements) {{\n"
        "  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
        "  if (i < elements) target[i] = HONE_ORACLE_IN({});\n}}\n",
        name, CudaElementType(dtype), value);
  }
  const bool helpers = result.text.find("hone_divide(") != std::string::npos ||
                       result.text.find("hone_reciprocal(") != std::string::npos ||
                       result.text.find("hone_add(") != std::string::npos ||
                       result.text.find("hone_multiply(") != std::string::npos;
  const bool narrow = (result.text + copies).find("__nv_fp8") != std::string::npos;
  result.text = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n" +
                std::string(narrow ? "#include <cuda_fp8.h>\n" : "") + std::string(kPrelude) +
                (helpers ? std::string(kHelpers) : "") + "\n" + result.text + copies;
  return result;
}

}  // namespace hone
