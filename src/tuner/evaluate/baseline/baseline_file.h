// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// baseline.toml stands beside a task's task.toml and names the libraries that do the same work, which are timed next to
// a candidate. docs/task-format.md describes the file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

enum class LibraryKind { kCublasLt, kTorch };

struct LibrarySpec {
  LibraryKind kind = LibraryKind::kTorch;
  std::string expression;      // torch: Python over the task's tensors, dims and scalars; gives the output, or a
                               // tuple of the outputs
  std::string name = "torch";  // torch: the times' entries are NAME_eager and NAME_compiled
  // torch: names that the expression uses too, and expressions for their tensors, each over the task's tensors, dims
  // and scalars. They are evaluated once for each set of inputs and not timed.
  std::vector<std::pair<std::string, std::string>> prepare;
  bool module = false;  // torch: true: the task's own PyTorch module is timed, and `expression` is empty
  // For cuBLASLt, the product is c[m, n] = a[m, k] b[k, n], row-major; a transposed factor is stored as [k, m] or [n,
  // k].
  std::string a, b, c, m, n, k;
  bool transpose_a = false, transpose_b = false;
  std::string epilogue = "none";  // none | relu | gelu
  int64_t algorithms = 16;        // how many of cuBLASLt's suggested algorithms `cublaslt_best` tries
};

// Parses baseline.toml. Errors (kInvalidArgument) name file, line, field and remedy; every name must be one of the
// task's.
Result<std::vector<LibrarySpec>> ParseBaselines(std::string_view toml, std::string_view file, const Task& task);
// Loads the baseline.toml in the task's own folder. Adds the task's PyTorch module, if the task has one and the file
// names no PyTorch library. Without a file and a module, the list is empty.
Result<std::vector<LibrarySpec>> LoadBaselines(const Task& task);

// Returns the source of a host-mode candidate that does the task by cuBLASLt, with the first algorithm that cuBLASLt
// suggests or, with `best`, the fastest of them. It is timed like any incumbent. The library is loaded at run time.
std::string CublasLtSource(const LibrarySpec& spec, const Task& task, bool best);

}  // namespace hone
