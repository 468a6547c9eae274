// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks tokens, with knowledge of line markers, literals, attributes and pragmas.
#include "tuner/device/sim/image/source_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "tuner/device/sim/cuda/asm_statement.h"
#include "tuner/device/sim/image/source_text.h"

namespace hone::sim {

namespace {

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

template <size_t kCount>
bool IsOneOf(std::string_view word, const std::string_view (&words)[kCount]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}
bool BeginsWith(std::string_view word, std::string_view with) { return word.substr(0, with.size()) == with; }

// Returns the bracket that the digraph at the beginning of `text` stands for, as the compiler reads it; empty if there
// is none. `<::` is `<` and `::`, unless another colon or `>` follows.
std::string_view Digraph(std::string_view text) {
  if (BeginsWith(text, ":>")) return "]";
  if (!BeginsWith(text, "<:")) return {};
  const bool scope = text.size() > 2 && text[2] == ':' && (text.size() == 3 || (text[3] != ':' && text[3] != '>'));
  return scope ? std::string_view() : "[";
}

// `__x__` and `x` are the same attribute.
std::string_view WithoutUnderscores(std::string_view name) {
  if (name.size() > 4 && BeginsWith(name, "__") && name.substr(name.size() - 2) == "__")
    return name.substr(2, name.size() - 4);
  return name;
}

constexpr std::string_view kHarmlessAttributes[] = {
    "always_inline", "noinline", "aligned", "artificial", "unused", "used", "packed", "nodiscard", "maybe_unused", "likely",
    "unlikely", "fallthrough", "deprecated", "noreturn", "no_unique_address", "may_alias", "gnu_inline", "flatten", "hot",
    "cold", "warn_unused_result", "nonnull", "returns_nonnull", "nothrow", "device", "global", "host", "launch_bounds"};
// Attributes whose only use is to change how code is compiled.
constexpr std::string_view kForbiddenAttributes[] = {
    "no_instrument_function", "no_profile_instrument_function", "optimize", "optnone", "target", "target_clones", "naked",
    "ifunc", "alias", "constructor", "destructor", "section", "simd", "tls_model", "visibility", "weak", "weakref", "copy",
    "symver", "no_reorder", "patchable_function_entry", "interrupt", "cleanup", "error", "warning", "externally_visible",
    "init_priority", "const", "pure", "malloc", "leaf", "returns_twice", "noipa", "noclone", "no_icf", "access"};
constexpr std::string_view kHarmlessBuiltins[] = {
    "__builtin_unreachable", "__builtin_expect", "__builtin_expect_with_probability", "__builtin_assume_aligned",
    "__builtin_bit_cast", "__builtin_constant_p", "__builtin_is_constant_evaluated", "__builtin_offsetof",
    "__builtin_addressof", "__builtin_types_compatible_p", "__builtin_clz", "__builtin_clzl", "__builtin_clzll",
    "__builtin_ctz", "__builtin_ctzl", "__builtin_ctzll", "__builtin_ffs", "__builtin_ffsl", "__builtin_ffsll",
    "__builtin_popcount", "__builtin_popcountl", "__builtin_popcountll", "__builtin_bswap16", "__builtin_bswap32",
    "__builtin_bswap64", "__builtin_parity", "__builtin_abs", "__builtin_fabs", "__builtin_fabsf", "__builtin_fma",
    "__builtin_fmaf", "__builtin_fmax", "__builtin_fmaxf", "__builtin_fmin", "__builtin_fminf", "__builtin_sqrt",
    "__builtin_sqrtf", "__builtin_exp", "__builtin_expf", "__builtin_log", "__builtin_logf", "__builtin_inf",
    "__builtin_inff", "__builtin_huge_val", "__builtin_huge_valf", "__builtin_nan", "__builtin_nanf", "__builtin_isnan",
    "__builtin_isinf", "__builtin_isfinite", "__builtin_signbit", "__builtin_signbitf", "__builtin_copysign",
    "__builtin_copysignf", "__builtin_add_overflow", "__builtin_sub_overflow", "__builtin_mul_overflow", "__builtin_trap",
    "__builtin_prefetch", "__builtin_align__", "__builtin_assume"};
// Names of the simulator that a candidate's preprocessed text may contain: macros with CUDA's names expand to them.
constexpr std::string_view kHarmlessOfOurs[] = {"hone_sim_clock", "hone_sim_assert_fail"};
constexpr std::string_view kOursInNamespace[] = {"Discard", "ThreadIndex", "BlockIndex", "BlockDim", "GridDim", "WarpSize"};
// Headers of the compiler itself that contain no machine instructions.
constexpr std::string_view kHarmlessCompilerHeaders[] = {"stddef.h", "stdint.h", "stdint-gcc.h", "stdarg.h", "float.h",
                                                         "limits.h", "syslimits.h", "stdbool.h", "stdalign.h", "iso646.h",
                                                         "mm_malloc.h"};
constexpr std::string_view kKeywords[] = {
    "alignas", "alignof", "and", "auto", "bool", "break", "case", "catch", "char", "class", "const", "constexpr", "consteval",
    "constinit", "continue", "concept", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
    "else", "enum", "explicit", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "not", "nullptr", "operator", "or", "private", "protected", "public", "register",
    "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
    "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned",
    "using", "virtual", "void", "volatile", "while", "asm", "__asm", "__asm__", "__attribute__", "__attribute", "__volatile__",
    "__global__", "__device__", "__host__", "__constant__", "__managed__", "__shared__", "__forceinline__", "__noinline__",
    "__launch_bounds__", "__align__", "__restrict__", "__inline__", "_Pragma", "HONE_SIM"};

class Guard {
 public:
  Guard(std::string_view text, std::string_view file) : s_(text), file_(file) {}

  std::optional<SourceRefusal> CheckWords();
  std::optional<SourceRefusal> LeftAssembly();
  std::string PlainFileNames();

 private:
  SourceRefusal Refuse(Verdict verdict, const std::string& what) const {
    return {verdict, fmt::format("{}:{}: {}", file_, line_, what)};
  }
  // Advances to the next token of the candidate's own text. Returns false at the end.
  bool Next();
  void ReadLineMarker(size_t begin, size_t end);
  std::optional<SourceRefusal> Pragma(std::string_view line) const;
  std::optional<SourceRefusal> CheckAttributes(bool double_parenthesis);
  std::optional<SourceRefusal> CheckAttribute(std::string_view name, std::string_view argument) const;
  std::optional<SourceRefusal> CheckName(std::string_view word, std::string_view before);

  std::string_view s_, file_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  int depth_ = 0;                       // depth of headers; 0: the candidate
  bool in_system_ = false;              // the text belongs to a system header
  std::string_view token_;
  size_t token_begin_ = 0;
  std::optional<SourceRefusal> found_;  // found by Next, in markers and pragmas
  bool only_assembly_ = false;
  bool only_markers_ = false;           // nothing is refused; names_ collects file names
  struct Span {
    size_t begin = 0, end = 0;
  };
  std::vector<Span> names_;             // file names in the candidate's own line markers, without their quotes
  bool seen_header_ = false;            // the mark of the precompiled header has been passed
};

// In `# 12 "file" 1 3`, flag 1 enters a file and 2 returns to one.
void Guard::ReadLineMarker(size_t begin, size_t end) {
  const std::string_view line = s_.substr(begin, end - begin);
  size_t i = 1;
  while (i < line.size() && IsBlank(line[i])) ++i;
  int number = 0;
  while (i < line.size() && std::isdigit(static_cast<unsigned char>(line[i])) != 0) {
    number = std::min(number * 10 + (line[i++] - '0'), 100'000'000);
  }
  const size_t open = line.find('"', i), close = line.rfind('"');
  if (open == std::string_view::npos || close <= open) return;
  const std::string_view path = line.substr(open + 1, close - open - 1);
  const std::string_view flags = line.substr(close + 1);
  in_system_ = BeginsWith(path, "/usr/include/") || BeginsWith(path, "/usr/lib/");
  if (flags.find('1') != std::string_view::npos) {
    ++depth_;
    // The toolkit's headers are in folders with absolute names; files in the compiler's own folder, the candidate's own
    // first of all, must not pass for headers there.
    if ((path.empty() || path.front() != '/' || BeginsWith(path, "/proc/") || BeginsWith(path, "/dev/")) && !found_) {
      found_ = Refuse(Verdict::kRuleViolation,
                      fmt::format("#include of '{}': a candidate may include the toolkit's headers by name only", path));
    }
    const size_t slash = path.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    const bool compilers_own = path.find("/lib/gcc/") != std::string_view::npos && path.find("/c++/") == std::string_view::npos;
    if (compilers_own && !IsOneOf(name, kHarmlessCompilerHeaders) && !found_) {
      found_ = Refuse(Verdict::kUnsupported,
                      fmt::format("<{}> holds instructions of the host's processor, which are no device code", name));
    }
  } else if (flags.find('2') != std::string_view::npos) {
    depth_ = std::max(0, depth_ - 1);
  }
  if (depth_ == 0) line_ = number - 1;  // the line break that ends the marker counts up
  if (depth_ == 0 && only_markers_) names_.push_back({begin + open + 1, begin + close});
}

// Checks a pragma.
std::optional<SourceRefusal> Guard::Pragma(std::string_view line) const {
  const auto word = [&line] {
    while (!line.empty() && (IsBlank(line.front()) || line.front() == '#')) line.remove_prefix(1);
    size_t n = 0;
    while (n < line.size() && IsNamePart(line[n])) ++n;
    const std::string_view result = line.substr(0, n);
    line.remove_prefix(n);
    return result;
  };
  word();  // pragma
  const std::string_view first = word();
  if (first == "redefine_extname" || first == "weak" || first == "scalar_storage_order") {
    return Refuse(Verdict::kRuleViolation, fmt::format("'#pragma {}' changes how a candidate is linked", first));
  }
  if (first != "GCC" && first != "clang") return std::nullopt;
  const std::string_view second = word();
  if (second == "unroll" || second == "diagnostic" || second == "ivdep" || second == "warning" || second == "error") {
    return std::nullopt;
  }
  return Refuse(Verdict::kRuleViolation,
                fmt::format("'#pragma {} {}' changes how a candidate is compiled, and so what is seen of it", first, second));
}

bool Guard::Next() {
  while (at_ < s_.size()) {
    const char c = s_[at_];
    if (c == '\n') {
      if (depth_ == 0) ++line_;
      line_start_ = true;
      ++at_;
      continue;
    }
    if (IsBlank(c)) {
      ++at_;
      continue;
    }
    if (c == '#' && line_start_) {
      const size_t end = std::min(s_.find('\n', at_), s_.size());
      size_t i = at_ + 1;
      while (i < end && IsBlank(s_[i])) ++i;
      if (i < end && std::isdigit(static_cast<unsigned char>(s_[i])) != 0) {
        ReadLineMarker(at_, end);
      } else if (depth_ == 0 && !found_ && !only_assembly_ && !only_markers_ && s_.substr(i, 6) == "pragma") {
        // The first one is the compiler's own and marks its precompiled header.
        const bool own = !seen_header_ && s_.substr(i, end - i).find("GCC pch_preprocess") != std::string_view::npos;
        seen_header_ |= own;
        if (!own) found_ = Pragma(s_.substr(at_, end - at_));
      }
      at_ = end;
      if (found_ && !only_markers_) return false;
      continue;
    }
    line_start_ = false;
    const size_t skipped = SkipCommentOrLiteral(s_, at_);
    if (skipped != at_) {
      if (depth_ == 0) line_ += static_cast<int>(std::count(s_.begin() + static_cast<ptrdiff_t>(at_), s_.begin() + static_cast<ptrdiff_t>(skipped), '\n'));
      at_ = skipped;
      continue;
    }
    size_t end = at_ + 1;
    const std::string_view digraph = Digraph(s_.substr(at_, 4));
    if (!digraph.empty()) {
      ++end;
    } else if (IsNameStart(c)) {
      while (end < s_.size() && IsNamePart(s_[end])) ++end;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (end < s_.size() && (IsNamePart(s_[end]) || s_[end] == '.' || s_[end] == '\'')) ++end;
    }
    token_begin_ = at_;
    token_ = digraph.empty() ? s_.substr(at_, end - at_) : digraph;
    at_ = end;
    if (depth_ == 0) return true;
    // The simulator's own headers switch hooks off in some places. No system header does, so the word comes from a
    // macro.
    if (in_system_ && !only_assembly_ && !only_markers_ && token_.find("no_sanitize") != std::string_view::npos) {
      found_ = Refuse(Verdict::kRuleViolation, fmt::format("'{}' in a header comes from a macro of the candidate's", token_));
      return false;
    }
  }
  return false;
}

// Checks an attribute: only those known to be harmless are allowed.
std::optional<SourceRefusal> Guard::CheckAttribute(std::string_view name, std::string_view argument) const {
  name = WithoutUnderscores(name);
  // This is the simulator's own mark of constant memory.
  if (name == "section" && argument.find("hone_constant.") != std::string_view::npos) return std::nullopt;
  if (name == "section" && argument.find("hone_managed") != std::string_view::npos) {
    return Refuse(Verdict::kRuleViolation,
                  "a __managed__ variable keeps state and is shared with the host. Declare a [[workspace]] in the launch plan instead");
  }
  if (IsOneOf(name, kHarmlessAttributes)) return std::nullopt;
  if (name.find("sanitize") != std::string_view::npos || IsOneOf(name, kForbiddenAttributes)) {
    return Refuse(Verdict::kRuleViolation,
                  fmt::format("the attribute '{}' changes how a candidate is compiled, and so what is seen of it", name));
  }
  return Refuse(Verdict::kUnsupported, fmt::format("the attribute '{}' is not known to the simulated GPU", name));
}

// Reads attribute names after `__attribute__` or `[[`, up to the end.
std::optional<SourceRefusal> Guard::CheckAttributes(bool parentheses) {
  const char open = parentheses ? '(' : '[', close = parentheses ? ')' : ']';
  int depth = parentheses ? 0 : 2;
  bool name_due = true, in_namespace = false;
  do {
    if (!Next()) return std::nullopt;
    const char c = token_[0];
    if (c == open && depth < 2) {
      ++depth;
    } else if (c == close) {
      --depth;
    } else if (c == ',') {
      name_due = true;
    } else if (c == ':') {
      name_due = in_namespace;
    } else if (depth >= 2 && IsNameStart(c) && name_due) {
      const std::string_view name = token_;
      size_t i = at_;
      while (i < s_.size() && (IsBlank(s_[i]) || s_[i] == '\n')) ++i;
      if (!parentheses && name == "using") return Refuse(Verdict::kUnsupported, "an attribute with 'using' is not read");
      if (!parentheses && s_.substr(i, 2) == "::") {
        in_namespace = true;
        continue;
      }
      in_namespace = false;
      name_due = false;
      std::string_view argument;
      if (i < s_.size() && s_[i] == '(') {
        // The arguments of an attribute are not names of attributes.
        int inner = 0;
        size_t end = i;
        do {
          const size_t skipped = SkipCommentOrLiteral(s_, end);
          if (skipped != end) {
            end = skipped;
            continue;
          }
          inner += s_[end] == '(' ? 1 : s_[end] == ')' ? -1 : 0;
          ++end;
        } while (end < s_.size() && inner > 0);
        argument = s_.substr(i, end - i);
        at_ = end;
      }
      if (auto refusal = CheckAttribute(name, argument)) return refusal;
    }
  } while (depth > 0);
  return std::nullopt;
}

// Checks a name. `before`: the name in front of its `::`, or empty.
std::optional<SourceRefusal> Guard::CheckName(std::string_view word, std::string_view before) {
  const auto violation = [&](const std::string& what) { return Refuse(Verdict::kRuleViolation, what); };
  if (before == "hone_sim" || before == "hone_ptx") {
    if (IsOneOf(word, kOursInNamespace)) return std::nullopt;
    return violation(fmt::format("'{}::{}' is the simulator's own", before, word));
  }
  if (word == "hone_sim" || word == "hone_ptx") {
    size_t i = at_;
    while (i < s_.size() && IsBlank(s_[i])) ++i;
    if (s_.substr(i, 2) == "::") return std::nullopt;  // judged with the following name
    return violation(fmt::format("the namespace '{}' is the simulator's own", word));
  }
  const bool is_simulator_name = BeginsWith(word, "hone_sim") || BeginsWith(word, "hone_ptx") ||
                                 BeginsWith(word, "hone_entry") || BeginsWith(word, "hone_shared_anchor") ||
                                 BeginsWith(word, "hone_dynamic_shared") || BeginsWith(word, "hone_touch") ||
                                 BeginsWith(word, "hone_name_");
  // A function with C linkage may have the name that the compiler would give to one of the simulator's.
  const bool is_mangled = BeginsWith(word, "_Z") && (word.find("hone_sim") != std::string_view::npos || word.find("hone_ptx") != std::string_view::npos);
  if ((is_simulator_name && !IsOneOf(word, kHarmlessOfOurs)) || is_mangled)
    return violation(fmt::format("'{}' is the simulator's own", word));
  for (const std::string_view part : {"__tsan", "__sanitizer", "__asan", "__wrap_", "__real_"}) {
    if (word.find(part) != std::string_view::npos) return violation(fmt::format("'{}' is the instrumentation's own", word));
  }
  if (BeginsWith(word, "__builtin_ia32") || BeginsWith(word, "__sync_")) {
    return violation(fmt::format("'{}' reaches memory behind the simulator's back", word));
  }
  if (BeginsWith(word, "__builtin_") && !IsOneOf(word, kHarmlessBuiltins)) {
    return Refuse(Verdict::kUnsupported, fmt::format("'{}' is not known to the simulated GPU", word));
  }
  return std::nullopt;
}

// Checks all names, attributes and assembly of the text.
std::optional<SourceRefusal> Guard::CheckWords() {
  std::string_view before;  // the name before `::`
  std::string_view last;    // the token before
  while (Next()) {
    const std::string_view word = token_;
    if (word == "__attribute__" || word == "__attribute") {
      if (auto refusal = CheckAttributes(/*parentheses=*/true)) return refusal;
      last = {};
      continue;
    }
    if (word == "[" && last == "[") {
      if (auto refusal = CheckAttributes(/*parentheses=*/false)) return refusal;
      last = {};
      continue;
    }
    if (IsNameStart(word[0])) {
      if (auto refusal = CheckName(word, before)) return refusal;
      before = word;
    } else if (word != ":") {
      before = {};
    }
    last = word;
  }
  return found_;
}

// Refuses inline assembly that is left after preprocessing.
std::optional<SourceRefusal> Guard::LeftAssembly() {
  only_assembly_ = true;
  while (Next()) {
    if (token_ == "asm" || token_ == "__asm__" || token_ == "__asm") {
      return Refuse(Verdict::kUnsupported,
                    "inline assembly that a macro puts together is not read by the simulated GPU; it must stand in the text as it is");
    }
  }
  return std::nullopt;
}

// Replaces file names in the candidate's own line markers.
std::string Guard::PlainFileNames() {
  only_markers_ = true;
  while (Next()) {
  }
  std::string text;
  text.reserve(s_.size());
  size_t from = 0;
  for (const Span& span : names_) {
    std::string_view name = s_.substr(span.begin, span.end - span.begin);
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    if (name.empty() || BeginsWith(name, "hone-")) name = "candidate.cc";
    text += s_.substr(from, span.begin - from);
    text += name;
    from = span.end;
  }
  text += s_.substr(from);
  return text;
}

// Judges what looks like a directive in text whose spliced lines are joined.
std::optional<SourceRefusal> CheckDirectives(std::string_view s, std::string_view file) {
  const auto skip = [&s](size_t i) {
    for (;;) {
      while (i < s.size() && IsBlank(s[i])) ++i;
      if (s.substr(i, 2) != "/*") return i;
      const size_t end = s.find("*/", i + 2);
      if (end == std::string_view::npos) return s.size();
      i = end + 2;
    }
  };
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '#' && s.substr(i, 2) != "%:") continue;
    size_t next = skip(i + (s[i] == '#' ? 1 : 2));
    // After a marker such as `# 1 "file" 3`, text would pass for a header's.
    if (next < s.size() && std::isdigit(static_cast<unsigned char>(s[next])) != 0) {
      while (next < s.size() && std::isdigit(static_cast<unsigned char>(s[next])) != 0) ++next;
      next = skip(next);
      if (next < s.size() && s[next] == '"') {
        return SourceRefusal{Verdict::kRuleViolation,
                             fmt::format("{}: a line marker ('# 1 \"file\"') may not stand in a candidate", file)};
      }
      continue;
    }
    size_t end = next;
    while (end < s.size() && IsNamePart(s[end])) ++end;
    const std::string_view directive = s.substr(next, end - next);
    if (directive == "include" || directive == "import" || directive == "include_next" || directive == "embed") {
      const size_t what = skip(end);
      if (what < s.size() && s[what] != '<' && s[what] != '"') {
        return SourceRefusal{Verdict::kUnsupported,
                             fmt::format("{}: the name that '#{}' takes must be written out, not made by a macro", file, directive)};
      }
      continue;
    }
    if (BeginsWith(directive, "if") || BeginsWith(directive, "elif")) {
      const std::string_view condition = s.substr(end, std::min(s.find('\n', end), s.size()) - end);
      bool asks = false;  // a name that only ends so is another one
      for (size_t at = 0; (at = condition.find("__SANITIZE_", at)) != std::string_view::npos; ++at) {
        asks |= at == 0 || !IsNamePart(condition[at - 1]);
      }
      if (asks) {
        return SourceRefusal{Verdict::kRuleViolation,
                             fmt::format("{}: '#{}' asks how the simulated GPU compiles this; the macro that tells it from a GPU is "
                                         "HONE_SIM", file, directive)};
      }
      continue;
    }
    if (directive != "define" && directive != "undef") continue;
    next = skip(end);
    end = next;
    while (end < s.size() && IsNamePart(s[end])) ++end;
    const std::string_view name = s.substr(next, end - next);
    const bool is_simulator_name =
        BeginsWith(name, "HONE_SIM") || BeginsWith(name, "hone_") || BeginsWith(name, "HONE_PTX");
    if (is_simulator_name || IsOneOf(name, kKeywords)) {
      // A keyword may have been defined in good faith; a GPU's compiler is not misled by it.
      return SourceRefusal{
          is_simulator_name ? Verdict::kRuleViolation : Verdict::kUnsupported,
          fmt::format("{}: '#{} {}' would give a word of the language another meaning on the simulated GPU", file,
                      directive, name)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<SourceRefusal> GuardRawSource(std::string_view source, std::string_view file) {
  const JoinedText joined = JoinSplicedLines(source);
  // Most candidates have nothing to refuse, whatever is a comment.
  std::optional<SourceRefusal> refusal = CheckDirectives(joined.text, file);
  if (!refusal) return std::nullopt;
  const std::optional<std::string> plain = WithoutCommentsAndLiterals(joined);
  return plain ? CheckDirectives(*plain, file) : refusal;
}

std::optional<SourceRefusal> GuardPreprocessed(std::string_view text, std::string_view file) {
  return Guard(text, file).CheckWords();
}

std::string PlainFileNames(std::string_view text) { return Guard(text, "").PlainFileNames(); }

std::optional<SourceRefusal> GuardTranslated(std::string_view text, std::string_view file) {
  return Guard(text, file).LeftAssembly();
}

}  // namespace hone::sim
