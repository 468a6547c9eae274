// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// baseline.toml, beside a task's task.toml: which libraries do the same work, to be timed next to a candidate.
// docs/task-format.md describes the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

enum class LibraryKind { kCublasLt, kTorch };

struct LibrarySpec {
  LibraryKind kind = LibraryKind::kTorch;
  std::string expression;            // torch: over tensors, dims and scalars; gives the output, or a tuple of them
  // cuBLASLt: c[m, n] = a[m, k] b[k, n], row-major; a transposed one is stored [k, m] or [n, k].
  std::string a, b, c, m, n, k;
  bool transpose_a = false, transpose_b = false;
  std::string epilogue = "none";     // none | relu | gelu
  int64_t algorithms = 16;           // of the heuristics' list, tried for `cublaslt_best`
};

// Errors (kInvalidArgument) name file, line, field and remedy; names must be the task's.
Result<std::vector<LibrarySpec>> ParseBaselines(std::string_view toml, std::string_view file, const Task& task);
// Of the task's own baseline.toml; empty where it has none.
Result<std::vector<LibrarySpec>> LoadBaselines(const Task& task);

// A host-mode candidate that does the task by cuBLASLt with the first, or the fastest, of the heuristics' algorithms:
// it is timed as any incumbent is. The library is loaded at run time.
std::string CublasLtSource(const LibrarySpec& spec, const Task& task, bool best);

}  // namespace hone
