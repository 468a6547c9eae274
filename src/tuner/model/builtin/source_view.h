// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Analyses a candidate for rewrites: its text, tokens and kernels, what the plan passes to each parameter, and which
// expressions read or write global memory through which tensor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"
#include "tuner/model/builtin/cuda_lexer.h"
#include "tuner/model/builtin/plan_text.h"

namespace hone {

// A kernel's named pointer to global memory: a parameter, or a local pointer made from one.
struct GlobalPointer {
  std::string name;
  int parameter = 0;  // index of the parameter it was made from
  int declared = 0;   // token from which the name is valid
  std::string type;   // pointee, as written; resolved for `auto`
  bool to_const = false;
};

// One read or write of global memory in a kernel's body, tokens [first, last].
//   name[index]        reinterpret_cast<T*>(…)[index]        *reinterpret_cast<T*>(…)
struct GlobalAccess {
  int first = 0, last = 0;
  bool dereference = false;             // the third form
  bool store = false;                   // an assignment that is a whole statement
  int value_first = 0, value_last = 0;  // store: tokens of the assigned expression
  int parameter = 0;
  std::string pointer;                   // name, or empty for casts
  std::string type;                      // type that is read or written
  int index_first = 0, index_last = -1;  // tokens of the index; empty for the third form
};

class SourceView {
 public:
  // `candidate` must outlive the view.
  static Result<SourceView> Make(const Candidate& candidate, const Task& task);

  const Candidate& candidate() const { return *candidate_; }
  const Task& task() const { return *task_; }
  std::string_view text() const { return candidate_->source; }
  const std::vector<Token>& tokens() const { return tokens_; }
  const Token& token(int i) const { return tokens_[static_cast<size_t>(i)]; }
  const std::vector<KernelText>& kernels() const { return kernels_; }
  const PlanOutline& plan() const { return plan_; }

  // Returns the indices of the plan entries that launch a kernel.
  std::vector<size_t> EntriesOf(const KernelText& kernel) const;
  // Returns the tensor that every plan entry of the kernel passes for `parameter`, or nullptr if an entry passes something
  // else, or entries pass different tensors.
  const TensorSpec* TensorOf(const KernelText& kernel, int parameter) const;
  // Returns whether no two parameters of the kernel can point into one tensor.
  bool ParametersAreDistinct(const KernelText& kernel) const;

  std::vector<GlobalPointer> Pointers(const KernelText& kernel) const;
  std::vector<GlobalAccess> Accesses(const KernelText& kernel) const;

  // Returns whether cache-hint loads and stores support `type`; looks through `using` names.
  bool HasCacheHints(std::string_view type) const;

  // Returns the brace token that encloses token `i`; -1: none.
  int EnclosingBrace(int i) const;
  bool StartsStatement(int i) const;

 private:
  const Candidate* candidate_ = nullptr;
  const Task* task_ = nullptr;
  std::vector<Token> tokens_;
  std::vector<KernelText> kernels_;
  PlanOutline plan_;
};

// Returns the bare name: "ns::silu<HONE_TUNE_VEC>" -> "silu".
std::string BaseName(std::string_view kernel);

}  // namespace hone
