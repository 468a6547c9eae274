// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/cu_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

namespace hone {
namespace {

using std::string_view;

// Returns the text without white space, and without the backslashes of continued lines, at both ends.
std::string Trim(string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n\\");
  if (begin == string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n\\") - begin + 1));
}

// Device code cannot use these headers; a device compiler without a standard library does not even have them.
constexpr string_view kHostHeaders[] = {"algorithm",
                                        "array",
                                        "atomic",
                                        "cerrno",
                                        "chrono",
                                        "complex",
                                        "cstdio",
                                        "cstdlib",
                                        "cstring",
                                        "ctime",
                                        "cublas_v2.h",
                                        "cublasLt.h",
                                        "cuda.h",
                                        "cuda_profiler_api.h",
                                        "cuda_runtime.h",
                                        "cuda_runtime_api.h",
                                        "cudnn.h",
                                        "cufft.h",
                                        "curand.h",
                                        "cusparse.h",
                                        "device_launch_parameters.h",
                                        "errno.h",
                                        "exception",
                                        "fstream",
                                        "functional",
                                        "getopt.h",
                                        "helper_cuda.h",
                                        "initializer_list",
                                        "iomanip",
                                        "ios",
                                        "iostream",
                                        "iterator",
                                        "list",
                                        "map",
                                        "memory",
                                        "mpi.h",
                                        "mutex",
                                        "nccl.h",
                                        "numeric",
                                        "nvToolsExt.h",
                                        "omp.h",
                                        "optional",
                                        "ostream",
                                        "pybind11/pybind11.h",
                                        "queue",
                                        "random",
                                        "set",
                                        "span",
                                        "sstream",
                                        "stdexcept",
                                        "stdio.h",
                                        "stdlib.h",
                                        "string",
                                        "string.h",
                                        "string_view",
                                        "sys/time.h",
                                        "thread",
                                        "time.h",
                                        "tuple",
                                        "unistd.h",
                                        "unordered_map",
                                        "unordered_set",
                                        "utility",
                                        "variant",
                                        "vector"};
// Programs often include these headers in quotes, but they belong to the CUDA toolkit and not to the user.
constexpr string_view kToolkitHeaders[] = {"cuda_fp16.h",          "cuda_bf16.h",     "cuda_fp8.h",
                                           "cuda_fp6.h",           "cuda_fp4.h",      "mma.h",
                                           "cooperative_groups.h", "cuda_pipeline.h", "math_constants.h"};

enum class HeaderUse { kDevice, kHost, kOwn };

// Returns who can use a header. `name` has its brackets or quotes: "<cuda_fp16.h>", "\"helpers.cuh\"".
HeaderUse UseOfHeader(string_view name) {
  if (name.size() < 3) return HeaderUse::kHost;
  const string_view header = name.substr(1, name.size() - 2);
  const auto among = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), header) != std::end(list);
  };
  for (const string_view folder : {"torch/", "ATen/", "c10/", "pybind11/", "thrust/", "nvtx3/", "sys/", "boost/"}) {
    if (header.starts_with(folder)) return HeaderUse::kHost;
  }
  if (among(kHostHeaders)) return HeaderUse::kHost;
  return name.front() == '<' || among(kToolkitHeaders) ? HeaderUse::kDevice : HeaderUse::kOwn;
}

// Fills a CuSource from its text. Ranges [first, last] and positions are indices of tokens.
class Reader {
 public:
  explicit Reader(CuSource& source) : s_(source) {}

  void Run() {
    s_.tokens = LexCuda(s_.text);
    count_ = static_cast<int>(s_.tokens.size());
    ReadItems(0, count_, "");
    for (CuItem& item : s_.items) {
      item.end = At(item.last).end;
    }
    size_t previous = 0;
    for (CuItem& item : s_.items) {
      item.begin = previous;
      previous = item.end;
    }
    for (size_t f = 0; f < s_.functions.size(); ++f) {
      ReadLocals(s_.functions[f]);
      CollectLaunches(static_cast<int>(f));
      HostCalls(static_cast<int>(f));
    }
  }

 private:
  const Token& At(int i) const { return s_.tokens[static_cast<size_t>(i)]; }
  bool Is(int i, string_view text) const { return i >= 0 && i < count_ && At(i).text == text; }
  std::string Text(int first, int last) const {  // [first, last)
    return first >= last ? "" : std::string(Span(s_.text, s_.tokens, first, last - 1));
  }
  int SkipAngles(int open) const {  // the token after the matching '>'
    // The search ends after the length of a long argument list. Without a limit, a text of nothing but "k<" would take
    // time quadratic in its length.
    constexpr int kMostTokens = 2048;
    int depth = 0;
    for (int i = open; i < std::min(count_, open + kMostTokens); ++i) {
      if (Is(i, "<")) ++depth;
      if (Is(i, ">") && --depth == 0) return i + 1;
      if (At(i).match > i) i = At(i).match;
      if (Is(i, ";") || Is(i, "{")) break;
    }
    return open + 1;
  }

  void Add(CuItemKind kind, int first, int last, std::string name = {}) {
    s_.items.push_back({kind, first, last, 0, 0, std::move(name)});
  }

  // The greatest nesting of namespaces and extern "C" blocks. Each level is a recursive call, and a hostile text may
  // have a hundred thousand levels.
  static constexpr int kMostScopes = 64;
  int depth_ = 0;

  // Reads the top-level items in [i, end). `scope`: the enclosing namespaces, "a::b::".
  void ReadItems(int i, int end, const std::string& scope) {
    while (i < end) {
      if (At(i).kind == TokenKind::kDirective) {
        ReadDirective(i++);
        continue;
      }
      if (Is(i, "namespace") || (Is(i, "inline") && Is(i + 1, "namespace"))) {
        int open = i;
        std::string name;
        while (open < end && !Is(open, "{") && !Is(open, ";") && !Is(open, "=")) {
          if (!Is(open, "namespace") && !Is(open, "inline")) name += std::string(At(open).text);
          ++open;
        }
        if (Is(open, "{") && At(open).match > 0 && depth_ < kMostScopes) {
          Add(CuItemKind::kScope, i, open);
          ++depth_;
          ReadItems(open + 1, At(open).match, name.empty() ? scope : scope + name + "::");
          --depth_;
          Add(CuItemKind::kScope, At(open).match, At(open).match);
          i = At(open).match + 1;
          continue;
        }
      }
      if (Is(i, "extern") && Is(i + 1, "\"C\"") && Is(i + 2, "{") && At(i + 2).match > 0 && depth_ < kMostScopes) {
        Add(CuItemKind::kScope, i, i + 2);
        ++depth_;
        ReadItems(i + 3, At(i + 2).match, scope);
        --depth_;
        Add(CuItemKind::kScope, At(i + 2).match, At(i + 2).match);
        i = At(i + 2).match + 1;
        continue;
      }
      int last = i;
      for (; last < end; ++last) {
        if (Is(last, ";")) break;
        if (Is(last, "{") && At(last).match > 0) {
          last = At(last).match;
          if (Is(last + 1, ";")) ++last;
          break;
        }
        if (At(last).match > last) last = At(last).match;
      }
      last = std::min(last, end - 1);
      ReadDeclaration(i, last, scope);
      i = last + 1;
    }
  }

  // Reads the preprocessor directive at token `i`.
  void ReadDirective(int i) {
    const string_view text = At(i).text;
    size_t at = 1;
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    if (text.substr(at).starts_with("include")) {
      std::string name = Trim(text.substr(at + 7));
      const size_t close = name.empty() ? std::string::npos : name.find(name[0] == '<' ? '>' : '"', 1);
      if (close != std::string::npos) name.resize(close + 1);  // drops a comment behind the header's name
      return Add(CuItemKind::kInclude, i, i, std::move(name));
    }
    if (!text.substr(at).starts_with("define")) return Add(CuItemKind::kOtherDirective, i, i, std::string(text));
    const std::vector<Token> tokens_of_pragma = LexCuda(text.substr(at + 6));
    if (tokens_of_pragma.empty()) return Add(CuItemKind::kOtherDirective, i, i);
    const string_view body = text.substr(at + 6);
    const std::string name(tokens_of_pragma[0].text);
    Add(CuItemKind::kDefine, i, i, name);
    if (tokens_of_pragma.size() > 1 && tokens_of_pragma[1].text == "(" &&
        tokens_of_pragma[1].begin == tokens_of_pragma[0].end && tokens_of_pragma[1].match > 0) {
      std::vector<std::string> parameters;
      const auto close = static_cast<size_t>(tokens_of_pragma[1].match);
      for (size_t k = 2; k < close; ++k) {
        if (tokens_of_pragma[k].kind == TokenKind::kIdentifier) parameters.emplace_back(tokens_of_pragma[k].text);
      }
      s_.macros[name] = {parameters, Trim(body.substr(tokens_of_pragma[close].end))};
    } else if (tokens_of_pragma.size() > 1) {
      s_.constants[name] = Trim(body.substr(tokens_of_pragma[1].begin));
    }
  }

  // Returns whether a declaration uses a type of the C++ library, of PyTorch or of the CUDA runtime, which device code
  // cannot.
  static bool HostOnly(string_view text) {
    for (const string_view word :
         {"std::vector", "std::string", "torch::", "at::", "c10::", "std::cout", "cudaStream_t", "cudaError_t"}) {
      if (text.find(word) != string_view::npos) return true;
    }
    return false;
  }

  // Reads the declaration or definition [first, last].
  void ReadDeclaration(int first, int last, const std::string& scope) {
    bool kernel = false, device = false, constant = false, has_parentheses = false, host = false;
    int begin = first;
    if (Is(first, "template")) begin = SkipAngles(first + 1);
    for (int i = first; i <= last; ++i) {
      kernel = kernel || Is(i, "__global__");
      device = device || Is(i, "__device__") || Is(i, "__constant__");
      constant = constant || Is(i, "constexpr") || (Is(i, "const") && i <= begin + 1);
      has_parentheses = has_parentheses || Is(i, "(");
      if (Is(i, "{")) {
        break;
      }
    }
    host = HostOnly(Text(first, last + 1));
    const bool is_type = Is(begin, "struct") || Is(begin, "class") || Is(begin, "enum") || Is(begin, "union") ||
                         Is(begin, "using") || Is(begin, "typedef");
    if (kernel && Is(last, "}")) {
      Add(CuItemKind::kKernel, first, last);
      return ReadKernel(first, last, scope);
    }
    if (kernel) return Add(CuItemKind::kDevice, first, last);  // a kernel that is only declared here
    if (is_type && !(host && !device)) return Add(CuItemKind::kType, first, last);
    if (device) return Add(CuItemKind::kDevice, first, last);
    if (constant && !host) {
      int equals = first;
      while (equals <= last && !Is(equals, "=") && !Is(equals, "{") && !Is(equals, "(")) ++equals;
      const bool function = Is(equals, "(");
      const std::string name = equals > first ? std::string(At(equals - 1).text) : "";
      if (Is(equals, "=")) s_.constants[name] = Text(equals + 1, last);
      if (!function || Is(begin, "constexpr") || Text(first, equals).find("constexpr") != std::string::npos) {
        if (function) ReadFunction(first, last);
        return Add(CuItemKind::kConstant, first, last, name);
      }
    }
    CuItem item{CuItemKind::kHost, first, last, 0, 0, ""};
    if (has_parentheses && Is(last, "}")) item.name = ReadFunction(first, last);
    s_.items.push_back(item);
  }

  CuParameter ReadParameter(int first, int last) const {  // [first, last)
    CuParameter p;
    int star = -1, name = -1;
    for (int i = first; i < last && !Is(i, "="); ++i) {
      if (Is(i, "<")) {
        i = SkipAngles(i) - 1;
        continue;
      }
      if (Is(i, "*")) star = i;
      if (Is(i, "const") && star < 0) p.to_const = true;
      if (At(i).kind == TokenKind::kIdentifier && !Is(i, "const") && !Is(i, "__restrict__") && !Is(i, "__restrict") &&
          !Is(i, "restrict"))
        name = i;
    }
    if (name < 0) return p;
    p.name = std::string(At(name).text);
    p.pointer = star >= 0 || Is(name + 1, "[");
    for (int i = first; i < (star >= 0 ? star : name); ++i) {
      if (Is(i, "const") || Is(i, "volatile") || Is(i, "__grid_constant__") || Is(i, "&")) continue;
      if (!p.type.empty() && At(i).kind == TokenKind::kIdentifier &&
          (std::isalnum(static_cast<unsigned char>(p.type.back())) != 0 || p.type.back() == '_'))
        p.type += ' ';
      p.type += std::string(At(i).text);
    }
    return p;
  }
  std::vector<CuParameter> Parameters(int open, int close) const {
    std::vector<CuParameter> list;
    for (const auto& [first, last] : Split(open + 1, close)) {
      if (first < last) list.push_back(ReadParameter(first, last));
    }
    return list;
  }
  // Returns the parts of [first, last) between commas that are not inside brackets, as ranges of tokens.
  std::vector<std::pair<int, int>> Split(int first, int last, bool angles = true) const {
    std::vector<std::pair<int, int>> parts;
    int begin = first, depth = 0;
    for (int i = first; i <= last; ++i) {
      if (i < last && At(i).match > i) i = At(i).match;
      if (angles && Is(i, "<")) ++depth;
      if (angles && Is(i, ">")) --depth;
      if (i >= last || (Is(i, ",") && depth <= 0)) {
        parts.emplace_back(begin, i);
        begin = i + 1;
      }
    }
    if (parts.size() == 1 && parts[0].first >= parts[0].second) parts.clear();
    return parts;
  }

  // Reads the definition of a kernel, the last item, in [first, last].
  void ReadKernel(int first, int last, const std::string& scope) {
    CuKernel k;
    k.item = static_cast<int>(s_.items.size()) - 1;
    if (Is(first, "template")) {
      for (const auto& [a, b] : Split(first + 2, SkipAngles(first + 1) - 1)) {
        if (a >= b) continue;
        CuTemplateParameter p;
        p.is_type = Is(a, "typename") || Is(a, "class");
        int name = a;
        for (int i = a; i < b && !Is(i, "="); ++i) {
          if (At(i).kind == TokenKind::kIdentifier) name = i;
        }
        p.name = std::string(At(name).text);
        k.template_parameters.push_back(p);
      }
    }
    for (int i = first; i <= last; ++i) {
      if (!Is(i, "(") || At(i).match < 0) continue;
      // A parenthesis at the start of the file has no name before it.
      if (i > first && Is(At(i).match + 1, "{") && !Is(i - 1, "__launch_bounds__")) {
        k.name = std::string(At(i - 1).text);
        k.qualified = scope + k.name;
        k.parameters = Parameters(i, At(i).match);
        k.body_open = At(i).match + 1;
        k.body_close = At(k.body_open).match;
        break;
      }
      i = At(i).match;
    }
    if (!k.name.empty() && k.body_close > 0) s_.kernels.push_back(std::move(k));
  }

  // Reads the definition of a host function in [first, last] and returns its name; empty: it is none.
  std::string ReadFunction(int first, int last) {
    for (int i = first; i <= last; ++i) {
      if (!Is(i, "(") || At(i).match < 0) continue;
      const int close = At(i).match;
      int open = close + 1;
      while (open <= last && !Is(open, "{") && !Is(open, ";")) ++open;
      if (!Is(open, "{") || At(open).match < 0) return "";
      CuFunction f;
      f.name = i > first ? std::string(At(i - 1).text) : "";
      f.parameters = Parameters(i, close);
      f.body_open = open;
      f.body_close = At(open).match;
      if (Is(open + 1, "return") && Is(f.body_close - 1, ";")) f.returned = Text(open + 2, f.body_close - 1);
      s_.functions.push_back(f);
      return f.name;
    }
    return "";
  }

  // Collects the initializers of a function's locals, and the names that it assigns to later.
  // Returns the initializer in tokens [begin, end). Where main() takes it from the command line if there is an argument,
  // `argc > 1 ? atoi(argv[1]) : 4096`, the other branch of the conditional is returned.
  std::string DefaultOf(const CuFunction& f, int begin, int end) const {
    const auto reads_arguments = [&](int first, int last) {
      for (int k = first; k < last; ++k) {
        for (const CuParameter& p : f.parameters) {
          if (At(k).text == p.name) return true;
        }
      }
      return false;
    };
    int question = -1, colon = -1;
    for (int k = begin; k < end && f.name == "main"; ++k) {
      if (At(k).match > k) {
        k = At(k).match;
      } else if (Is(k, "?") && question < 0) {
        question = k;
      } else if (Is(k, ":") && question >= 0 && colon < 0) {
        colon = k;
      }
    }
    if (colon < 0 || !reads_arguments(begin, question)) return Text(begin, end);
    if (!reads_arguments(colon + 1, end)) return Text(colon + 1, end);
    return reads_arguments(question + 1, colon) ? Text(begin, end) : Text(question + 1, colon);
  }

  // Reads the function's local variables with the expressions that they begin with.
  void ReadLocals(CuFunction& f) {
    for (int i = f.body_open + 1; i < f.body_close; ++i) {
      if (At(i).kind != TokenKind::kIdentifier) continue;
      const std::string name(At(i).text);
      const bool declared = i > f.body_open + 1 && (At(i - 1).kind == TokenKind::kIdentifier || Is(i - 1, ">")) &&
                            !Is(i - 1, "return") && !Is(i - 1, "else");
      if (Is(i + 1, "=")) {
        int end = i + 2, depth = 0;
        while (end < f.body_close && !Is(end, ";") && !(Is(end, ",") && depth == 0)) {
          if (At(end).match > end) end = At(end).match;
          ++end;
        }
        const bool list = Is(i - 1, ",");  // int a = 1, b = 2;
        if ((declared || list) && f.locals.count(name) == 0) {
          f.locals[name] = DefaultOf(f, i + 2, end);
        } else {
          f.changed.push_back(name);
        }
      } else if (declared && Is(i - 1, "dim3") && (Is(i + 1, "(") || Is(i + 1, "{")) && At(i + 1).match > 0) {
        f.locals[name] = "dim3(" + Text(i + 2, At(i + 1).match) + ")";
      } else if (i + 1 < f.body_close && At(i + 1).text.size() == 2 && At(i + 1).text[1] == '=' &&
                 string_view("+-*/%").find(At(i + 1).text[0]) != string_view::npos) {
        f.changed.push_back(name);
      }
    }
  }

  // Collects the conditions of the ifs around token `i` into `launch`, outermost first.
  template <typename Call>
  void ReadConditions(const CuFunction& f, int i, Call& launch) {
    int inner = i;
    // Handles what directly precedes a statement or a block, at token `before`: the ) of `if (c)`, or `else`.
    const auto look = [&](int before) {
      if (Is(before, "else")) {
        int close = before - 1;
        int open = -1;
        if (Is(close, "}")) open = At(close).match;
        if (open < 0) {  // the if branch has no braces: if (c) statement; else …
          int k = before - 2;
          while (k > f.body_open && !Is(k, ";") && !Is(k, "{") && !Is(k, "}"))
            k = At(k).match >= 0 && At(k).match < k ? At(k).match - 1 : k - 1;
          ++k;
          const int chain = Is(k, "else") ? k++ : -1;
          if (Is(k, "if") && Is(k + 1, "(")) {
            again_ = chain;
            launch.conditions.insert(launch.conditions.begin(), "!(" + Text(k + 2, At(k + 1).match) + ")");
            return;
          }
          launch.conditions_known = false;
          return;
        }
        if (Is(open - 1, ")") && Is(At(open - 1).match - 1, "if")) {
          const int paren = At(open - 1).match;
          launch.conditions.insert(launch.conditions.begin(), "!(" + Text(paren + 1, open - 1) + ")");
          // For `else if`, the conditions of the preceding ifs apply as well.
          if (Is(paren - 2, "else")) again_ = paren - 2;
        } else {
          launch.conditions_known = false;
        }
      } else if (Is(before, ")") && At(before).match > 0) {
        const int paren = At(before).match;
        if (Is(paren - 1, "if")) {
          launch.conditions.insert(launch.conditions.begin(), Text(paren + 1, before));
          if (Is(paren - 2, "else")) again_ = paren - 2;
        } else if (Is(paren - 1, "for") || Is(paren - 1, "while") || Is(paren - 1, "switch") || Is(paren - 1, "]") ||
                   At(paren - 1).kind == TokenKind::kIdentifier) {
          launch.conditions_known = false;
        }
      } else if (Is(before, "]")) {
        launch.conditions_known = false;  // the body of a lambda, such as PyTorch's dispatch macros take
      }
    };
    const auto look_all = [&](int before) {
      again_ = -1;
      look(before);
      while (again_ >= 0) {
        const int next_token = again_;
        again_ = -1;
        look(next_token);
      }
    };
    // Finds the start of the statement.
    int start = i;
    while (start - 1 > f.body_open && !Is(start - 1, ";") && !Is(start - 1, "{") && !Is(start - 1, "}") &&
           !Is(start - 1, ")") && !Is(start - 1, "else"))
      --start;
    if (Is(start - 1, ")") || Is(start - 1, "else")) look_all(start - 1);
    for (int k = inner; k > f.body_open; --k) {
      if (At(k).match >= 0 && At(k).match < k) {
        k = At(k).match;
        continue;
      }
      if (Is(k, "{")) look_all(k - 1);
    }
  }

  // Collects the launches in a host function, k<<<…>>>(…).
  void CollectLaunches(int function) {
    const CuFunction& f = s_.functions[static_cast<size_t>(function)];
    for (int i = f.body_open + 1; i < f.body_close; ++i) {
      if (!Is(i, "<<") || !Is(i + 1, "<") || At(i).end != At(i + 1).begin) continue;
      int close = i + 2;
      while (close + 3 < f.body_close &&
             !(Is(close, ">") && Is(close + 1, ">") && Is(close + 2, ">") && Is(close + 3, "("))) {
        if (At(close).match > close) close = At(close).match;
        ++close;
      }
      if (!Is(close + 3, "(") || At(close + 3).match < 0) continue;
      CuLaunch launch;
      launch.function = function;
      launch.line = LineOf(i);
      launch.token = i;
      int name = i - 1;
      if (Is(name, ">")) {  // template arguments
        int depth = 0, open = name;
        for (; open > f.body_open; --open) {
          if (Is(open, ">")) ++depth;
          if (Is(open, "<") && --depth == 0) break;
          if (At(open).match >= 0 && At(open).match < open) open = At(open).match;
        }
        for (const auto& [a, b] : Split(open + 1, name)) launch.template_args.push_back(Text(a, b));
        name = open - 1;
      }
      launch.kernel = std::string(At(name).text);
      for (const auto& [a, b] : Split(i + 2, close, /*angles=*/false)) launch.configuration.push_back(Text(a, b));
      for (const auto& [a, b] : Split(close + 4, At(close + 3).match)) launch.arguments.push_back(Text(a, b));
      while (Is(name - 1, "::")) name -= 2;
      ReadConditions(f, name, launch);
      s_.launches.push_back(std::move(launch));
    }
  }

  // Collects a host function's calls of the CUDA runtime and of libraries.
  void HostCalls(int function) {
    const CuFunction& f = s_.functions[static_cast<size_t>(function)];
    for (int i = f.body_open + 1; i < f.body_close; ++i) {
      if (At(i).kind != TokenKind::kIdentifier) continue;
      const string_view name = At(i).text;
      CuHostCall call;
      if ((name == "cub" || name == "thrust") && Is(i + 1, "::")) {
        call.name = std::string(name) + "::" + std::string(At(i + 2).text);
      } else if (name == "zero_" && Is(i - 1, ".") && At(i - 2).kind == TokenKind::kIdentifier) {
        call.name = "cudaMemsetAsync";
        call.arguments = {std::string(At(i - 2).text), "0"};
      } else if ((name.starts_with("cuda") || name.starts_with("cublas") || name.starts_with("cudnn")) &&
                 Is(i + 1, "(") && At(i + 1).match > 0) {
        call.name = std::string(name);
        for (const auto& [a, b] : Split(i + 2, At(i + 1).match)) call.arguments.push_back(Text(a, b));
      } else {
        continue;
      }
      call.function = function;
      call.line = LineOf(i);
      call.token = i;
      ReadConditions(f, i, call);
      s_.calls.push_back(std::move(call));
    }
  }

  int LineOf(int i) const {
    return 1 + static_cast<int>(std::count(s_.text.begin(), s_.text.begin() + static_cast<long>(At(i).begin), '\n'));
  }

  CuSource& s_;
  int count_ = 0;
  int again_ = -1;
};

}  // namespace

const CuKernel* CuSource::FindKernel(string_view name) const {
  for (const CuKernel& k : kernels) {
    if (k.name == name || k.qualified == name) return &k;
  }
  return nullptr;
}

Result<std::unique_ptr<CuSource>> ReadCuSource(string_view text, string_view file) {
  auto source = std::make_unique<CuSource>();
  source->text = std::string(text);
  Reader(*source).Run();
  if (const Token* bracket = HasConditional(source->tokens) ? nullptr : UnpairedBracket(source->tokens)) {
    const auto line = 1 + std::count(source->text.begin(), source->text.begin() + static_cast<ptrdiff_t>(bracket->begin), '\n');
    return Status::InvalidArgument(fmt::format("{}:{}: this '{}' has no partner: mend the file first, until its compiler takes it", file, line, bracket->text));
  }
  if (source->kernels.empty()) {
    return Status::InvalidArgument(
        fmt::format("{}: no __global__ function is defined in it; name the file that holds the kernel", file));
  }
  return source;
}

namespace {

// Returns for each item whether device code has it. `left_out` (may be null) receives the #includes of the user's own
// files.
std::vector<bool> KeptItems(const CuSource& source, std::vector<CuLeftOut>* left_out) {
  // A macro is kept if the kept text uses it, directly or through another macro.
  std::set<std::string, std::less<>> used_names;
  const auto add_names = [&](string_view text) {
    for (const Token& t : LexCuda(text)) {
      if (t.kind == TokenKind::kIdentifier) used_names.insert(std::string(t.text));
    }
  };
  const auto text_of = [&](const CuItem& item) {
    return string_view(source.text).substr(source.token(item.first).begin, item.end - source.token(item.first).begin);
  };
  const auto device = [](const CuItem& i) {
    return i.kind == CuItemKind::kKernel || i.kind == CuItemKind::kDevice || i.kind == CuItemKind::kType ||
           i.kind == CuItemKind::kConstant;
  };
  for (const CuItem& item : source.items) {
    if (device(item)) add_names(text_of(item));
  }
  for (size_t before = used_names.size() + 1; before != used_names.size();) {
    before = used_names.size();
    for (const CuItem& item : source.items) {
      if (item.kind != CuItemKind::kDefine || used_names.count(item.name) == 0) continue;
      if (const auto c = source.constants.find(item.name); c != source.constants.end()) add_names(c->second);
      if (const auto m = source.macros.find(item.name); m != source.macros.end()) add_names(m->second.second);
    }
  }
  std::vector<bool> is_kept;
  for (const CuItem& item : source.items) {
    const size_t start = source.token(item.first).begin;
    bool keep = device(item) || item.kind == CuItemKind::kScope;
    if (item.kind == CuItemKind::kInclude) {
      const HeaderUse use_of = UseOfHeader(item.name);
      keep = use_of == HeaderUse::kDevice;
      // Test programs include cuRAND's headers to fill their inputs. They are kept only if device code uses cuRAND.
      if (item.name.find("curand") != std::string::npos) {
        keep = keep && std::any_of(used_names.begin(), used_names.end(),
                                   [](const std::string& name) { return name.starts_with("curand"); });
      }
      if (use_of == HeaderUse::kOwn && left_out != nullptr) {
        const auto end = source.text.begin() + static_cast<long>(start);
        left_out->push_back(
            {1 + static_cast<int>(std::count(source.text.begin(), end, '\n')), "#include " + item.name});
      }
    } else if (item.kind == CuItemKind::kDefine) {
      keep = used_names.count(item.name) != 0;
    } else if (item.kind == CuItemKind::kOtherDirective) {
      keep = item.name.find("once") == std::string::npos;
    }
    is_kept.push_back(keep);
  }
  return is_kept;
}

}  // namespace

std::string DeviceCode(const CuSource& source, std::vector<CuLeftOut>* left_out) {
  const std::vector<bool> is_kept = KeptItems(source, left_out);
  std::string out;
  bool first = true;
  for (size_t i = 0; i < source.items.size(); ++i) {
    const CuItem& item = source.items[i];
    const size_t start = source.token(item.first).begin;
    // The file's opening comment (a licence, most often) stays, whatever follows it.
    const string_view comments = string_view(source.text).substr(item.begin, start - item.begin);
    if (is_kept[i]) {
      out += source.text.substr(item.begin, item.end - item.begin);
    } else {
      if (first && comments.find_first_not_of(" \t\r\n") != string_view::npos) out += Trim(comments);
    }
    first = false;
  }
  // Removes the runs of blank lines that dropped items leave behind.
  std::string tidy;
  int blank = 0;
  for (const char c : out) {
    blank = c == '\n' ? blank + 1 : (c == ' ' || c == '\t') && blank > 0 ? blank : 0;
    if (blank <= 2) tidy += c;
  }
  return Trim(tidy) + "\n";
}

std::vector<CuHostItem> HostItems(const CuSource& source) {
  const std::vector<bool> is_kept = KeptItems(source, nullptr);
  std::vector<CuHostItem> items;
  for (size_t i = 0; i < source.items.size(); ++i) {
    const CuItem& item = source.items[i];
    if (!is_kept[i]) items.push_back({source.token(item.first).begin, item.end, item.kind, item.name});
  }
  return items;
}

}  // namespace hone
