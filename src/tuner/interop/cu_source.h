// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a user's stand-alone .cu file without compiling it: its top-level items, its kernels with their parameters, and
// the launches in host code with their context.
//
// The reader works on tokens. Constructs of unexpected form are left out, and callers ask the user instead of guessing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "tuner/model/builtin/cuda_lexer.h"

namespace hone {

enum class CuItemKind { kInclude, kDefine, kOtherDirective, kKernel, kDevice, kType, kConstant, kHost, kScope };

struct CuItem {
  CuItemKind kind = CuItemKind::kHost;
  int first = 0, last = 0;    // tokens [first, last]
  size_t begin = 0, end = 0;  // bytes; begin includes the comments in front
  std::string name;           // macro, constant or function
};

struct CuTemplateParameter {
  std::string name;
  bool is_type = false;
};

struct CuParameter {
  std::string name;
  std::string type;  // "float", "T": without const, * and __restrict__
  bool pointer = false;
  bool to_const = false;
};

struct CuKernel {
  std::string name;       // as launched from the same scope
  std::string qualified;  // with its namespaces, for a plan
  std::vector<CuTemplateParameter> template_parameters;
  std::vector<CuParameter> parameters;
  int item = 0;
  int body_open = 0, body_close = 0;  // tokens
};

struct CuFunction {
  std::string name;
  std::vector<CuParameter> parameters;
  int body_open = 0, body_close = 0;          // tokens
  std::map<std::string, std::string> locals;  // name -> initializer; dim3 g(a, b) gives "dim3(a, b)"
  std::vector<std::string> changed;           // locals assigned again
  std::optional<std::string> returned;        // the expression of a body that is one return statement
};

struct CuLaunch {
  std::string kernel;  // name, no template arguments
  std::vector<std::string> template_args;
  std::vector<std::string> configuration;  // grid, block, shared, stream
  std::vector<std::string> arguments;
  int function = -1;                    // index into functions
  std::vector<std::string> conditions;  // conditions of the enclosing ifs, outermost first; "!(c)" in an else branch
  bool conditions_known = true;         // false: inside a loop, a switch or a lambda
  int line = 0;
  int token = 0;
};

// A call in host code of the CUDA runtime or of a library: cudaMemsetAsync(bins, 0, bytes, stream), cub::DeviceScan,
// cublasSgemm(…). PyTorch's bins.zero_() counts as cudaMemsetAsync(bins, 0).
struct CuHostCall {
  std::string name;
  std::vector<std::string> arguments;
  int function = -1;                    // index into functions
  std::vector<std::string> conditions;  // conditions, as for a launch
  bool conditions_known = true;
  int line = 0;
  int token = 0;
};

// Text that DeviceCode leaves out and that may be needed: an #include of a file that a candidate cannot include.
struct CuLeftOut {
  int line = 0;
  std::string text;  // "#include \"helpers.cuh\""
};

struct CuSource {
  std::string text;
  std::vector<Token> tokens;  // tokens of `text`
  std::vector<CuItem> items;
  std::vector<CuKernel> kernels;
  std::vector<CuFunction> functions;  // host functions
  std::vector<CuLaunch> launches;
  std::vector<CuHostCall> calls;                 // calls of CUDA's runtime and libraries, in order
  std::map<std::string, std::string> constants;  // constexpr values and object-like macros
  std::map<std::string, std::pair<std::vector<std::string>, std::string>> macros;  // F(a, b) -> parameters, text

  const Token& token(int i) const { return tokens[static_cast<size_t>(i)]; }
  const CuKernel* FindKernel(std::string_view name) const;
  // Returns whether token `i` exists and equals `word`.
  bool TokenIs(int i, std::string_view word) const {
    return i >= 0 && i < static_cast<int>(tokens.size()) && token(i).text == word;
  }
};

// Reads a file. kInvalidArgument when it has no __global__ function.
Result<std::unique_ptr<CuSource>> ReadCuSource(std::string_view text, std::string_view file);

// Returns the device part: everything but host functions and items that only they use, otherwise unchanged. The
// toolkit's and unknown headers in angle brackets are kept, but not those of the host's standard library or of PyTorch.
// `left_out` receives the #includes of the user's own files.
std::string DeviceCode(const CuSource& source, std::vector<CuLeftOut>* left_out);

}  // namespace hone
