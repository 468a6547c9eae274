// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses and evaluates integer expressions of tasks and launch plans, such as "ceil_div(tokens * d, VEC * BLOCK)".
//
// Values are 64-bit signed, and every operation is checked for overflow and division by zero: a candidate's arithmetic
// can never wrap into a plausible grid. Grammar, loosest first:
//   c ? a : b   ||   &&   == !=   < <= > >=   + -   * / %   unary - !   (…)  integer  name  f(args)
// Division truncates like C. Built-in functions: ceil_div, min, max, round_up, log2 (exact floor). Other names and
// functions (dimensions, tunables, sm_count, occupancy(kernel), align(x), stride(x, i)) are looked up in the Scope.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// Looks up names. Both functions return nullopt for a name they do not know.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual std::optional<int64_t> Name(std::string_view name) const = 0;
  // Calls a function. `arguments` are the source texts of the arguments, trimmed, because an argument may be a kernel's
  // name: occupancy(my_kernel<4>).
  virtual std::optional<Result<int64_t>> Call(std::string_view function,
                                              const std::vector<std::string>& arguments) const;
};

// A Scope over one map of names.
class MapScope : public Scope {
 public:
  explicit MapScope(const std::map<std::string, int64_t>& names) : names_(names) {}
  std::optional<int64_t> Name(std::string_view name) const override;

 private:
  const std::map<std::string, int64_t>& names_;
};

// Immutable after Parse; cheap to copy (shared tree); safe to evaluate from many threads.
class Expression {
 public:
  struct Node;

  // Parses an expression. kInvalidArgument quotes the text and says what is wrong.
  static Result<Expression> Parse(std::string_view text);
  static Expression Constant(int64_t value);

  // Evaluates the expression. kInvalidArgument quotes the expression, and names the unknown name, the overflow or the
  // division by zero.
  Result<int64_t> Evaluate(const Scope& scope) const;
  Result<int64_t> Evaluate(const std::map<std::string, int64_t>& names) const;

  // Returns the value in real numbers, for parameters such as "1 / sqrt(k)": `/` does not truncate, log2 gives
  // fractions, and sqrt(x) is available. The result may not be finite; the caller checks.
  Result<double> EvaluateNumber(const std::map<std::string, int64_t>& names) const;

  const std::string& text() const { return text_; }
  // Returns the plain names used (not function names), sorted, without repeats.
  std::vector<std::string> Names() const;
  // A call that the Scope must answer (not a built-in function). Calls are in the order written.
  struct ForeignCall {
    std::string function;
    std::vector<std::string> arguments;  // source texts, trimmed
  };
  std::vector<ForeignCall> Calls() const;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace hone
