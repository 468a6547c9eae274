// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds the text that a compiler gets for a candidate.
//
// Each argument gets a static assertion with a message of its own and the line of its [[launch]]. So a mismatch between
// plan and kernel is an ordinary compile error at the right place, and not a launch that reads eight bytes where four
// were passed.
#include "tuner/core/program/translation_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/numbers/hash.h"
#include "tuner/core/plan/argument_layout.h"
#include "tuner/core/plan/bindings.h"

namespace hone {

namespace {

// The templates that assertions use. They include no standard library: NVRTC has none, and the simulator's prelude
// excludes it. Every name that is not a keyword gets a prefix before a compiler reads it.
constexpr std::string_view kTemplates = R"cpp(
template <typename... T>
struct Types {};
template <typename T, typename U>
inline constexpr bool kSame = false;
template <typename T>
inline constexpr bool kSame<T, T> = true;
template <typename T>
struct RemoveCv {
  using type = T;
};
template <typename T>
struct RemoveCv<const T> {
  using type = T;
};
template <typename T>
struct RemoveCv<volatile T> {
  using type = T;
};
template <typename T>
struct RemoveCv<const volatile T> {
  using type = T;
};
template <typename T>
inline constexpr bool kConst = false;
template <typename T>
inline constexpr bool kConst<const T> = true;
template <typename T>
inline constexpr bool kConst<const volatile T> = true;

// Stands in for every parameter when their count is wrong: then that alone is reported.
struct Absent {};
template <unsigned index, typename... P>
struct At {
  using type = Absent;
};
template <typename First, typename... Rest>
struct At<0, First, Rest...> {
  using type = First;
};
template <unsigned index, typename First, typename... Rest>
struct At<index, First, Rest...> {
  using type = typename At<index - 1, Rest...>::type;
};

template <typename F>
struct Signature;
template <typename... P>
struct Signature<void (*)(P...)> {
  static constexpr int count = sizeof...(P);
  template <unsigned index>
  using Parameter = typename At<index, P...>::type;
};
template <typename... P>
struct Signature<void (*)(P...) noexcept> : Signature<void (*)(P...)> {};
template <typename F>
inline constexpr int kCount = Signature<F>::count;
template <typename F, unsigned index, bool counted>
struct Selected {
  using type = Absent;
};
template <typename F, unsigned index>
struct Selected<F, index, true> {
  using type = typename Signature<F>::template Parameter<index>;
};
// Parameter `index` of a function that takes `count` of them.
template <typename F, unsigned index, int count>
using Parameter = typename Selected<F, index, kCount<F> == count>::type;

template <typename T, typename List>
inline constexpr bool kOneOf = false;
template <typename T, typename... U>
inline constexpr bool kOneOf<T, Types<U...>> = (kSame<T, U> || ...);

using Integers = Types<char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                       long long, unsigned long long>;

// A function is no object.
template <typename T>
inline constexpr bool kObject = true;
template <typename R, typename... A>
inline constexpr bool kObject<R(A...)> = false;
// A pointer as an element says nothing about a tensor. A workspace may hold pointers: what is in it does not outlive a launch.
template <typename T>
inline constexpr bool kElement = kObject<T>;
template <typename T>
inline constexpr bool kElement<T*> = false;

// The parameter points to the tensor's elements, to vectors or bytes of them, or to void; never to a floating
// type of `Others`.
template <typename P, typename Exact, typename Others>
inline constexpr bool kTensor = kSame<P, Absent>;
template <typename T, typename Exact, typename Others>
inline constexpr bool kTensor<T*, Exact, Others> =
    kElement<typename RemoveCv<T>::type> &&
    (!kSame<typename RemoveCv<T>::type, bool> || kSame<bool, Exact>) &&
    (kSame<typename RemoveCv<T>::type, Exact> || !kOneOf<typename RemoveCv<T>::type, Others>);
// Whether what the parameter points to is const; true for what is no pointer, which kTensor reports.
template <typename P>
inline constexpr bool kReadOnly = true;
template <typename T>
inline constexpr bool kReadOnly<T*> = kConst<T>;

template <typename P>
inline constexpr bool kReference = kSame<P, Absent> || kSame<P, double*>;
template <typename P>
inline constexpr bool kWorkspace = kSame<P, Absent>;
template <typename T>
inline constexpr bool kWorkspace<T*> = kObject<T>;

template <typename P, unsigned bytes>
inline constexpr bool kInteger = kSame<P, Absent> || (kOneOf<P, Integers> && sizeof(P) == bytes);
template <typename P, typename Exact>
inline constexpr bool kExact = kSame<P, Absent> || kSame<P, Exact>;

template <typename P, bool is_class>
struct HoldsMap {
  static constexpr bool value = false;
};
template <typename P>
struct HoldsMap<P, true> {
  static constexpr bool value = sizeof(P) == 128 && alignof(P) % 64 == 0;
};
template <typename P>
inline constexpr bool kTensorMap = kSame<P, Absent> || HoldsMap<P, __is_class(P)>::value;
template <typename P, typename Named, unsigned long long bytes, unsigned long long align>
inline constexpr bool kStruct = kSame<P, Absent> ||
                                (kSame<P, Named> && sizeof(Named) == bytes && alignof(Named) == align);
)cpp";

// The keywords in templates and conditions. They get no prefix, and are undefined first, because a candidate could have
// defined them as macros.
constexpr std::string_view kWords[] = {
    "alignof", "bool", "char", "class", "const", "constexpr", "decltype", "double", "false", "float", "inline", "int", "long",
    "noexcept", "short", "signed", "sizeof", "static", "static_assert", "struct", "template", "true", "typename", "unsigned",
    "using", "void", "volatile", "__half", "__half2", "__is_class", "__nv_bfloat16", "__nv_bfloat162", "__nv_fp8_e4m3", "__nv_fp8_e5m2",
    "__nv_fp8_e8m0", "__nv_fp4x2_e2m1"};
// Placeholders in conditions: the type of the kernel, and the prefix of the templates' names.
constexpr std::string_view kKernelType = "$kernel", kPrefix = "hone_plan::";

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
}

// Returns the templates with `prefix` before every name that they define.
std::string PrefixNames(std::string_view text, std::string_view prefix) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    size_t end = i;
    while (end < text.size() && part(text[end])) ++end;
    if (end == i) {
      result += text[i++];
      continue;
    }
    const std::string_view word = text.substr(i, end - i);
    const bool name = std::isdigit(static_cast<unsigned char>(word[0])) == 0 &&
                      std::find(std::begin(kWords), std::end(kWords), word) == std::end(kWords);
    if (name) result += prefix;
    result += word;
    i = end;
  }
  return result;
}


// Escapes text for a C string literal or #line.
std::string EscapeLiteral(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += (c == '\n' || c == '\r') ? ' ' : c;
  }
  return result;
}

// Returns the source's name for line tables, made relative. By that, the simulator's findings, the profile and the
// listing of machine code tell the candidate's lines from those of headers (source_lines.cc, sass_lines.cc).
std::string NameInLineTables(const std::string& name) {
  if (!name.starts_with('/') && !name.starts_with("../")) return name;
  return name.substr(name.rfind('/') + 1);
}

// Returns the list of floating-point types as which a kernel must not read a tensor of this dtype.
std::string OtherFloats(DType dtype) {
  std::string others;
  const auto add = [&](DType other, std::string_view types) {
    if (dtype != other) others += fmt::format("{}{}", others.empty() ? "" : ", ", types);
  };
  add(DType::kFloat64, "double");
  add(DType::kFloat32, "float");
  add(DType::kFloat16, dtype == DType::kBFloat16 ? "__half, __half2" : "__half");
  add(DType::kBFloat16, dtype == DType::kFloat16 ? "__nv_bfloat16, __nv_bfloat162" : "__nv_bfloat16");
  if (IsFloat8(dtype)) {
    add(DType::kFloat8E4M3, "__nv_fp8_e4m3");
    add(DType::kFloat8E5M2, "__nv_fp8_e5m2");
    add(DType::kFloat8E8M0, "__nv_fp8_e8m0");
  }
  return fmt::format("hone_plan::Types<{}>", others);
}

std::string_view ScalarType(std::string_view type) {
  if (type == "f64") return "double";
  if (type == "f16") return "__half";
  if (type == "bf16") return "__nv_bfloat16";
  return "float";
}

// A condition and the message when it does not hold.
struct Check {
  std::string condition;
  std::string message;
};

// Returns the checks of one argument against the kernel's parameter, whose type is the C++ text `parameter`.
std::vector<Check> ChecksOf(const Argument& argument, const Task& task, const std::string& parameter) {
  switch (argument.kind) {
    case ArgumentKind::kTensor: {
      const TensorSpec* tensor = task.FindTensor(argument.name);
      HONE_CHECK(tensor != nullptr, "a plan was accepted that names no tensor: " + argument.name);
      const bool read_only = tensor->role == TensorRole::kIn;
      const std::string_view type = CudaElementType(tensor->dtype);
      std::vector<Check> checks = {
          {fmt::format("hone_plan::kTensor<{}, {}, {}>", parameter, type, OtherFloats(tensor->dtype)),
           fmt::format(
               "tensor '{}' is {}: the parameter must be {}{}*, or a pointer to a vector or integer type or void",
               tensor->name, DTypeName(tensor->dtype), read_only ? "const " : "", type)}};
      if (read_only) {
        checks.push_back({fmt::format("hone_plan::kReadOnly<{}>", parameter),
                          fmt::format("tensor '{}' is an input: the parameter must point to const", tensor->name)});
      }
      return checks;
    }
    case ArgumentKind::kReference:
      return {{fmt::format("hone_plan::kReference<{}>", parameter),
               fmt::format("'ref:{}' is the double-precision result: the parameter must be double*", argument.name)}};
    case ArgumentKind::kWorkspace:
      return {
          {fmt::format("hone_plan::kWorkspace<{}>", parameter),
           fmt::format("workspace '{}': the parameter must be a pointer to an object type or void", argument.name)}};
    case ArgumentKind::kInteger: {
      if (argument.type == "bool") {
        return {{fmt::format("hone_plan::kExact<{}, bool>", parameter),
                 fmt::format("'{}:bool': the parameter must be bool", argument.value->text())}};
      }
      const int bytes = argument.type.ends_with("64") ? 8 : 4;
      return {{fmt::format("hone_plan::kInteger<{}, {}>", parameter, bytes),
               fmt::format("'{}:{}': the parameter must be an integer of {} bytes", argument.value->text(),
                           argument.type, bytes)}};
    }
    case ArgumentKind::kScalar:
      return {
          {fmt::format("hone_plan::kExact<{}, {}>", parameter, ScalarType(argument.type)),
           fmt::format("'{}:{}': the parameter must be {}", argument.name, argument.type, ScalarType(argument.type))}};
    case ArgumentKind::kTensorMap:
      return {
          {fmt::format("hone_plan::kTensorMap<{}>", parameter),
           fmt::format("tensor map '{}' is passed by value: the parameter must be const __grid_constant__ CUtensorMap",
                       argument.name)}};
    case ArgumentKind::kStruct: {
      const ArgumentLayout layout = LayoutOf(SizesOf(argument));
      return {{fmt::format("hone_plan::kStruct<{}, {}, {}, {}>", parameter, argument.type, layout.size, layout.align),
               fmt::format(
                   "struct '{}' is passed by value with {} bytes aligned to {}: the parameter must be that type, and "
                   "its fields those of the plan",
                   argument.type, layout.size, layout.align)}};
    }
  }
  return {};
}

// Returns whether this entry is launched from the module of `unit`.
bool BelongsTo(const PlanEntry& entry, const CompileUnit& unit) {
  if (!entry.is_launch()) return false;
  for (const auto& [name, value] : entry.with) {
    const auto found = unit.binding.find(name);
    if (found == unit.binding.end() || found->second != value) return false;
  }
  const std::string kernel = SubstituteTunables(entry.kernel, unit.binding);
  return std::find(unit.kernels.begin(), unit.kernels.end(), kernel) != unit.kernels.end();
}

// Returns the sizes of the arguments that the launches of `unit` pass.
std::vector<PlanSignature> SignaturesOf(const Candidate& candidate, const CompileUnit& unit) {
  std::vector<PlanSignature> signatures;
  for (const PlanEntry& entry : candidate.plan.entries) {
    if (!BelongsTo(entry, unit)) continue;
    const std::string kernel = SubstituteTunables(entry.kernel, unit.binding);
    const auto kernel_of_entry = std::find(unit.kernels.begin(), unit.kernels.end(), kernel);
    PlanSignature signature;
    signature.kernel = static_cast<size_t>(kernel_of_entry - unit.kernels.begin());
    signature.line = std::max(entry.line, 1);
    for (const Argument& argument : entry.args) signature.argument_bytes.push_back(LayoutOf(SizesOf(argument)).size);
    std::array<int64_t, 3> block{1, 1, 1};
    bool all_types_known = true;
    for (size_t i = 0; i < entry.block.size(); ++i) {
      const Result<int64_t> extent = entry.block[i].Evaluate(unit.binding);
      all_types_known = all_types_known && extent.ok();
      if (extent.ok()) block[i] = *extent;
    }
    if (all_types_known) signature.block = block;
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

}  // namespace

std::string_view CudaElementType(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return "double";
    case DType::kFloat32:
      return "float";
    case DType::kFloat16:
      return "__half";
    case DType::kBFloat16:
      return "__nv_bfloat16";
    case DType::kInt64:
      return "long long";
    case DType::kInt32:
      return "int";
    case DType::kUInt32:
      return "unsigned";
    case DType::kInt16:
      return "short";
    case DType::kInt8:
      return "signed char";
    case DType::kUInt8:
      return "unsigned char";
    case DType::kUInt64:
      return "unsigned long long";
    case DType::kBool:
      return "bool";
    case DType::kFloat8E4M3:
      return "__nv_fp8_e4m3";
    case DType::kFloat8E5M2:
      return "__nv_fp8_e5m2";
    case DType::kFloat8E8M0:
      return "__nv_fp8_e8m0";
    case DType::kFloat4Pair:
      return "__nv_fp4x2_e2m1";
    case DType::kInt4Pair:
      return "unsigned char";
  }
  return "void";
}

std::string_view PlanCheckTemplates() { return kTemplates; }

std::string PlanCheckText(const TranslationUnit& unit, const std::vector<std::string>& kernels, bool preprocessed) {
  if (unit.checks.empty()) return "";
  HONE_CHECK(kernels.size() == unit.kernels.size(), "a name for each kernel of the unit");
  // The names below contain the text's hash. No text can contain its own hash, so a candidate cannot define these names
  // as macros or specialise the templates.
  const std::string prefix = fmt::format("hone_plan_{}_", Sha256Hex(unit.body).substr(0, 24));
  // Begin with two line ends, because the last line of a source may end in a backslash.
  std::string text = "\n\n";
  const auto line = [&](int number, const std::string& file) {
    text += fmt::format("{} {} \"{}\"\n", preprocessed ? "#" : "#line", number, file);
  };
  line(1, "hone-plan-checks");
  if (!preprocessed) {
    for (const std::string_view word : kWords) text += fmt::format("#undef {}\n", word);
  }
  // The 8-bit floating-point types are declared only if the candidate includes their header, which one that reads bytes
  // does not.
  const bool narrow = std::any_of(unit.checks.begin(), unit.checks.end(), [](const PlanCheck& check) {
    return check.condition.find("__nv_fp8") != std::string::npos;
  });
  const bool packed = std::any_of(unit.checks.begin(), unit.checks.end(), [](const PlanCheck& check) {
    return check.condition.find("__nv_fp4x2_e2m1") != std::string::npos;
  });
  if (packed) text += "struct __nv_fp4x2_e2m1;\n";
  if (narrow) text += "struct __nv_fp8_e4m3;\nstruct __nv_fp8_e5m2;\nstruct __nv_fp8_e8m0;\n";
  text += PrefixNames(kTemplates, prefix);
  const std::string file = EscapeLiteral(unit.file);
  for (const PlanCheck& check : unit.checks) {
    std::string condition = check.condition;
    ReplaceAll(condition, kPrefix, prefix);
    ReplaceAll(condition, kKernelType, fmt::format("decltype(&{})", kernels[check.kernel]));
    line(check.line, file);
    text += fmt::format("static_assert({}, \"launch plan: {}\");\n", condition, EscapeLiteral(check.message));
  }
  return text;
}

std::string WholeText(const TranslationUnit& unit) {
  return unit.body + PlanCheckText(unit, unit.kernels, /*preprocessed=*/false);
}

TranslationUnit MakeTranslationUnit(const Candidate& candidate, const Task& task, const CompileUnit& unit) {
  TranslationUnit result;
  result.file = NameInLineTables(candidate.name);
  result.kernels = unit.kernels;
  result.options = candidate.plan.compiler_options;
  result.include_set = candidate.plan.include_set;

  if (!candidate.plan.machine_code.empty()) {
    result.body = candidate.source;
    result.image = SubstituteTunables(candidate.plan.image, unit.binding);
    result.signatures = SignaturesOf(candidate, unit);
    return result;
  }

  std::string& body = result.body;
  const std::string file = EscapeLiteral(result.file);
  for (const auto& [name, value] : unit.binding)
    body += fmt::format("#define HONE_TUNE_{} {}\n", name,
                        value < 0 ? fmt::format("({})", value) : fmt::format("{}", value));
  body += fmt::format("#line 1 \"{}\"\n{}\n", file, candidate.source);
  if (candidate.plan.host_mode) return result;

  for (const PlanEntry& entry : candidate.plan.entries) {
    if (!BelongsTo(entry, unit)) continue;
    const std::string kernel = SubstituteTunables(entry.kernel, unit.binding);
    const auto kernel_of_entry = std::find(unit.kernels.begin(), unit.kernels.end(), kernel);
    const auto emit = [&](const std::string& condition, const std::string& message) {
      result.checks.push_back(
          {static_cast<size_t>(kernel_of_entry - unit.kernels.begin()), std::max(entry.line, 1), condition, message});
    };
    emit(fmt::format("hone_plan::kCount<{}> == {}", kKernelType, entry.args.size()),
         fmt::format("kernel '{}' does not take the {} argument{} that the plan passes", kernel, entry.args.size(),
                     entry.args.size() == 1 ? "" : "s"));
    for (size_t i = 0; i < entry.args.size(); ++i) {
      const std::string parameter = fmt::format("hone_plan::Parameter<{}, {}, {}>", kKernelType, i, entry.args.size());
      for (const Check& check : ChecksOf(entry.args[i], task, parameter)) {
        emit(check.condition, fmt::format("kernel '{}', argument {}: {}", kernel, i + 1, check.message));
      }
    }
  }
  return result;
}

}  // namespace hone
