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

// The kinds of top-level items. kDevice: device functions and variables, and declarations of kernels; kScope: opens
// a namespace or an extern "C" block, or closes it.
enum class CuItemKind { kInclude, kDefine, kOtherDirective, kKernel, kDevice, kType, kConstant, kHost, kScope };

// One top-level item of the file.
struct CuItem {
  CuItemKind kind = CuItemKind::kHost;
  int first = 0, last = 0;    // tokens [first, last]
  size_t begin = 0, end = 0;  // bytes [begin, end) of the text, with the comments in front of the item
  std::string name;           // of a macro, constant or host function; of an #include the header: "<cuda_fp16.h>"
};

struct CuTemplateParameter {
  std::string name;
  bool is_type = false;  // false: a value, such as `int kVec`
};

struct CuParameter {
  std::string name;
  std::string type;  // "float", "T": without const, * and __restrict__
  bool pointer = false;   // a pointer, or an array
  bool to_const = false;  // a pointer to const
};

struct CuKernel {
  std::string name;       // unqualified, as host code in the same namespace launches it
  std::string qualified;  // with its namespaces, as a launch plan names it
  std::vector<CuTemplateParameter> template_parameters;
  std::vector<CuParameter> parameters;
  int item = 0;                       // index into CuSource::items
  int body_open = 0, body_close = 0;  // indices of the body's { and } in CuSource::tokens
};

struct CuFunction {
  std::string name;
  std::vector<CuParameter> parameters;
  int body_open = 0, body_close = 0;          // indices of the body's { and } in CuSource::tokens
  std::map<std::string, std::string> locals;  // name -> initializer; dim3 g(a, b) gives "dim3(a, b)"
  std::vector<std::string> changed;           // locals that are assigned to after their declaration
  std::optional<std::string> returned;        // the returned expression, if the body is one return statement
};

struct CuLaunch {
  std::string kernel;  // name without template arguments
  std::vector<std::string> template_args;  // of the kernel, as written
  std::vector<std::string> configuration;  // what stands in <<<…>>>: grid, block, shared memory, stream
  std::vector<std::string> arguments;      // as written
  int function = -1;                    // index into functions
  std::vector<std::string> conditions;  // conditions of the enclosing ifs, outermost first; "!(c)" in an else branch
  bool conditions_known = true;         // false: the launch is inside a loop, a switch or a lambda
  int line = 0;
  int token = 0;  // index into CuSource::tokens
};

// A function of the CUDA runtime or of a library that host code calls: cudaMemsetAsync(bins, 0, bytes, stream),
// cub::DeviceScan, cublasSgemm(…). PyTorch's bins.zero_() is recorded as cudaMemsetAsync(bins, 0).
struct CuHostCall {
  std::string name;                     // "cudaMemsetAsync", "cub::DeviceScan"
  std::vector<std::string> arguments;   // as written; empty for cub and thrust
  int function = -1;                    // index into functions
  std::vector<std::string> conditions;  // as in CuLaunch
  bool conditions_known = true;
  int line = 0;
  int token = 0;  // index into CuSource::tokens of the called name
};

// Text that DeviceCode leaves out although the kernels may need it: an #include of the user's own file, which a
// candidate cannot include.
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
  std::map<std::string, std::string> constants;  // constexpr values and macros without parameters: name -> text
  std::map<std::string, std::pair<std::vector<std::string>, std::string>> macros;  // name -> parameters, text

  const Token& token(int i) const { return tokens[static_cast<size_t>(i)]; }
  // Returns the kernel of this name, with or without its namespaces; nullptr: none.
  const CuKernel* FindKernel(std::string_view name) const;
  // Returns whether token `i` exists and equals `word`.
  bool TokenIs(int i, std::string_view word) const {
    return i >= 0 && i < static_cast<int>(tokens.size()) && token(i).text == word;
  }
};

// Reads a file. kInvalidArgument when it has no __global__ function.
Result<std::unique_ptr<CuSource>> ReadCuSource(std::string_view text, std::string_view file);

// Returns the file's text without host functions and without what only host functions use; the rest is unchanged.
// #includes of the CUDA toolkit's headers, and of unknown headers in angle brackets, are kept. #includes of the C++
// standard library and of PyTorch are removed. `left_out` (may be null) receives the #includes of the user's own files.
std::string DeviceCode(const CuSource& source, std::vector<CuLeftOut>* left_out);

// An item of the file that DeviceCode leaves out.
struct CuHostItem {
  size_t begin = 0, end = 0;  // bytes [begin, end) of the text, without the comments in front
  CuItemKind kind = CuItemKind::kHost;
  std::string name;  // as CuItem::name
};
// Returns the items that DeviceCode leaves out, in order.
std::vector<CuHostItem> HostItems(const CuSource& source);

}  // namespace hone
