// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses integer expressions by recursive descent into an immutable tree, and evaluates them.
//
// The text is untrusted (a model writes the candidate), so length and nesting are bounded: a megabyte of parentheses
// must be an error message, not a stack overflow.
#include "hone/tuner/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace hone {

// This namespace is not anonymous, because Expression::Node, which other files can name, has a member of type
// Operation.
namespace expression {

enum class Operation {
  kConstant,
  kName,
  kCall,
  kNot,
  kNegate,
  kConditional,
  kOr,
  kAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kCeilDiv,
  kMin,
  kMax,
  kRoundUp,
  kLog2,
};

}  // namespace expression

namespace {

using expression::Operation;

constexpr size_t kMaxTextBytes = 4096;  // limit on the text of one expression
constexpr int kMaxDepth = 128;  // limit on nested parentheses and operators

// Returns the operation as it is written.
std::string_view OperationText(Operation operation) {
  switch (operation) {
    case Operation::kNegate:
      return "-";
    case Operation::kAdd:
      return "+";
    case Operation::kSubtract:
      return "-";
    case Operation::kMultiply:
      return "*";
    case Operation::kDivide:
      return "/";
    case Operation::kModulo:
      return "%";
    case Operation::kCeilDiv:
      return "ceil_div";
    case Operation::kRoundUp:
      return "round_up";
    case Operation::kLog2:
      return "log2";
    default:
      return "operation";
  }
}

bool IsIdentifierStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsIdentifierPart(char c) { return IsIdentifierStart(c) || IsDigit(c); }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

struct Expression::Node {
  expression::Operation operation = expression::Operation::kConstant;
  int64_t constant = 0;
  std::string name;                // only for kName and kCall
  std::vector<std::string> texts;  // kCall: source texts of the arguments
  std::vector<std::shared_ptr<const Node>> operands;
};

namespace {

using Node = Expression::Node;
using NodePointer = std::shared_ptr<const Node>;

NodePointer MakeNode(Operation operation, std::vector<NodePointer> operands) {
  auto node = std::make_shared<Node>();
  node->operation = operation;
  node->operands = std::move(operands);
  return node;
}

// A Parser parses one text. The first error is kept and ends the parse: every Parse* then returns null.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<NodePointer> Run() {
    if (text_.size() > kMaxTextBytes) {
      return Status::InvalidArgument(
          fmt::format("expression of {} bytes; at most {} are read", text_.size(), kMaxTextBytes));
    }
    SkipSpace();
    if (AtEnd()) return Status::InvalidArgument("the expression is empty");
    NodePointer root = ParseConditional();
    if (root != nullptr) {
      SkipSpace();
      if (!AtEnd()) Fail(fmt::format("unexpected '{}'", text_[position_]));
    }
    if (!error_.empty()) {
      return Status::InvalidArgument(
          fmt::format("expression '{}': {} at character {}", text_, error_, error_position_ + 1));
    }
    return root;
  }

 private:
  bool AtEnd() const { return position_ >= text_.size(); }
  char Peek(size_t ahead = 0) const { return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0'; }
  void SkipSpace() {
    while (!AtEnd() && IsSpace(text_[position_])) ++position_;
  }

  NodePointer Fail(std::string message) {
    if (error_.empty()) {
      error_ = std::move(message);
      error_position_ = position_;
    }
    return nullptr;
  }

  // Consumes `token` when it is next. A one-character '<' is not taken from "<=", nor '!' from "!=".
  bool Take(std::string_view token) {
    SkipSpace();
    if (text_.substr(position_, token.size()) != token) return false;
    if (token.size() == 1 && (token == "<" || token == ">" || token == "!") && Peek(1) == '=') return false;
    position_ += token.size();
    return true;
  }

  struct DepthGuard {
    explicit DepthGuard(int& depth) : depth_(depth) { ++depth_; }
    ~DepthGuard() { --depth_; }
    int& depth_;
  };

  // Parses the loosest form: c ? a : b, or what ParseBinary parses. The Parse functions return null after an error.
  NodePointer ParseConditional() {
    DepthGuard guard(depth_);
    if (depth_ > kMaxDepth) return Fail("too deeply nested");
    NodePointer condition = ParseBinary(0);
    if (condition == nullptr || !Take("?")) return condition;
    NodePointer yes = ParseConditional();
    if (yes == nullptr) return nullptr;
    if (!Take(":")) return Fail("expected ':' of a conditional");
    NodePointer no = ParseConditional();
    if (no == nullptr) return nullptr;
    return MakeNode(Operation::kConditional, {condition, yes, no});
  }

  struct Infix {
    std::string_view token;
    Operation operation;
  };

  // Operators are listed by level, loosest first; all associate to the left.
  NodePointer ParseBinary(size_t level) {
    static const std::vector<std::vector<Infix>> kLevels = {
        {{"||", Operation::kOr}},
        {{"&&", Operation::kAnd}},
        {{"==", Operation::kEqual}, {"!=", Operation::kNotEqual}},
        {{"<=", Operation::kLessEqual},
         {">=", Operation::kGreaterEqual},
         {"<", Operation::kLess},
         {">", Operation::kGreater}},
        {{"+", Operation::kAdd}, {"-", Operation::kSubtract}},
        {{"*", Operation::kMultiply}, {"/", Operation::kDivide}, {"%", Operation::kModulo}},
    };
    if (level == kLevels.size()) return ParseUnary();
    NodePointer left = ParseBinary(level + 1);
    while (left != nullptr) {
      const Infix* infix_operator = nullptr;
      for (const Infix& infix : kLevels[level]) {
        if (Take(infix.token)) {
          infix_operator = &infix;
          break;
        }
      }
      if (infix_operator == nullptr) return left;
      NodePointer right = ParseBinary(level + 1);
      if (right == nullptr) return nullptr;
      left = MakeNode(infix_operator->operation, {left, right});
    }
    return nullptr;
  }

  // Parses -x, !x or a primary expression.
  NodePointer ParseUnary() {
    DepthGuard guard(depth_);
    if (depth_ > kMaxDepth) return Fail("too deeply nested");
    if (Take("-")) {
      NodePointer operand = ParseUnary();
      return operand == nullptr ? nullptr : MakeNode(Operation::kNegate, {operand});
    }
    if (Take("!")) {
      NodePointer operand = ParseUnary();
      return operand == nullptr ? nullptr : MakeNode(Operation::kNot, {operand});
    }
    return ParsePrimary();
  }

  // Parses a parenthesis, a number, a name or a call.
  NodePointer ParsePrimary() {
    SkipSpace();
    if (AtEnd()) return Fail("the expression ends where a value was expected");
    if (Take("(")) {
      NodePointer inner = ParseConditional();
      if (inner == nullptr) return nullptr;
      if (!Take(")")) return Fail("expected ')'");
      return inner;
    }
    if (IsDigit(Peek())) return ParseInteger();
    if (IsIdentifierStart(Peek())) {
      const size_t start = position_;
      while (IsIdentifierPart(Peek())) ++position_;
      const std::string name(text_.substr(start, position_ - start));
      if (Take("(")) return ParseCall(name);
      auto node = std::make_shared<Node>();
      node->operation = Operation::kName;
      node->name = name;
      return node;
    }
    return Fail(fmt::format("unexpected '{}'", Peek()));
  }

  // Parses an integer, decimal or hexadecimal, with a check for overflow.
  NodePointer ParseInteger() {
    const bool hexadecimal = Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X');
    const int64_t base = hexadecimal ? 16 : 10;
    if (hexadecimal) position_ += 2;
    const size_t start = position_;
    int64_t value = 0;
    for (;; ++position_) {
      const char c = Peek();
      int64_t digit;
      if (IsDigit(c)) {
        digit = c - '0';
      } else if (hexadecimal && c >= 'a' && c <= 'f') {
        digit = c - 'a' + 10;
      } else if (hexadecimal && c >= 'A' && c <= 'F') {
        digit = c - 'A' + 10;
      } else {
        break;
      }
      if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value)) {
        return Fail("an integer does not fit in 64 bits");
      }
    }
    if (position_ == start) return Fail("expected hexadecimal digits");
    if (IsIdentifierPart(Peek()) || Peek() == '.') return Fail("an integer is followed directly by other characters");
    auto node = std::make_shared<Node>();
    node->constant = value;
    return node;
  }

  // Parses the arguments of a call, after "name(".
  NodePointer ParseCall(const std::string& name) {
    struct Builtin {
      std::string_view name;
      Operation operation;
      size_t minimum, maximum;
    };
    static constexpr Builtin kBuiltins[] = {
        {"ceil_div", Operation::kCeilDiv, 2, 2}, {"min", Operation::kMin, 2, 16},  {"max", Operation::kMax, 2, 16},
        {"round_up", Operation::kRoundUp, 2, 2}, {"log2", Operation::kLog2, 1, 1},
    };
    for (const Builtin& builtin : kBuiltins) {
      if (builtin.name != name) continue;
      std::vector<NodePointer> operands;
      do {
        NodePointer operand = ParseConditional();
        if (operand == nullptr) return nullptr;
        operands.push_back(std::move(operand));
      } while (Take(","));
      if (!Take(")")) return Fail(fmt::format("expected ',' or ')' in {}(…)", name));
      if (operands.size() < builtin.minimum || operands.size() > builtin.maximum) {
        return Fail(fmt::format("{} takes {} argument{}, not {}", name,
                                builtin.minimum == builtin.maximum ? fmt::format("{}", builtin.minimum)
                                                                   : fmt::format("{} or more", builtin.minimum),
                                builtin.maximum == 1 ? "" : "s", operands.size()));
      }
      return MakeNode(builtin.operation, std::move(operands));
    }
    return ParseForeignCall(name);
  }

  // Parses a call of a function that the Scope computes. Its arguments are kept as text. They may name a kernel such as
  // "reduce<4, 8>", so angle brackets nest like parentheses.
  NodePointer ParseForeignCall(const std::string& name) {
    auto node = std::make_shared<Node>();
    node->operation = Operation::kCall;
    node->name = name;
    int depth = 0;
    size_t start = position_;
    for (; !AtEnd(); ++position_) {
      const char c = Peek();
      if (depth == 0 && (c == ',' || c == ')')) {
        std::string argument = Trimmed(text_.substr(start, position_ - start));
        if (argument.empty()) {
          if (c == ')' && node->texts.empty()) {
            ++position_;
            return node;
          }
          return Fail(fmt::format("an argument of {}(…) is empty", name));
        }
        node->texts.push_back(std::move(argument));
        if (c == ')') {
          ++position_;
          return node;
        }
        start = position_ + 1;
      } else if (c == '(' || c == '<') {
        ++depth;
      } else if (c == ')' || c == '>') {
        if (--depth < 0) return Fail(fmt::format("unbalanced '{}'", c));
      }
    }
    return Fail(fmt::format("expected ')' of {}(…)", name));
  }

  std::string_view text_;
  size_t position_ = 0;
  int depth_ = 0;
  std::string error_;
  size_t error_position_ = 0;
};

// A Walk evaluates a tree in integers. Failed() is true after the first error.
class Walk {
 public:
  explicit Walk(const Scope& scope) : scope_(scope) {}

  const Status& status() const { return status_; }

  int64_t Value(const Node& node) {
    if (Failed()) return 0;
    switch (node.operation) {
      case Operation::kConstant:
        return node.constant;
      case Operation::kName: {
        const std::optional<int64_t> value = scope_.Name(node.name);
        return value ? *value : Fail(fmt::format("the name '{}' is not known here", node.name));
      }
      case Operation::kCall: {
        std::optional<Result<int64_t>> value = scope_.Call(node.name, node.texts);
        if (!value) return Fail(fmt::format("the function '{}' is not known here", node.name));
        if (!value->ok()) {
          status_ = value->status();
          return 0;
        }
        return **value;
      }
      case Operation::kConditional:
        return Value(*node.operands[Value(*node.operands[0]) != 0 ? 1 : 2]);
      case Operation::kOr:
        return Value(*node.operands[0]) != 0 || Value(*node.operands[1]) != 0;
      case Operation::kAnd:
        return Value(*node.operands[0]) != 0 && Value(*node.operands[1]) != 0;
      case Operation::kNot:
        return Value(*node.operands[0]) == 0;
      case Operation::kNegate:
        return Subtract(node.operation, 0, Value(*node.operands[0]));
      case Operation::kLog2:
        return Log2(Value(*node.operands[0]));
      case Operation::kMin:
      case Operation::kMax: {
        int64_t best = Value(*node.operands[0]);
        for (size_t i = 1; i < node.operands.size(); ++i) {
          const int64_t value = Value(*node.operands[i]);
          best = node.operation == Operation::kMin ? std::min(best, value) : std::max(best, value);
        }
        return best;
      }
      default:
        break;
    }
    const int64_t a = Value(*node.operands[0]);
    const int64_t b = Value(*node.operands[1]);
    if (Failed()) return 0;
    switch (node.operation) {
      case Operation::kEqual:
        return a == b;
      case Operation::kNotEqual:
        return a != b;
      case Operation::kLess:
        return a < b;
      case Operation::kLessEqual:
        return a <= b;
      case Operation::kGreater:
        return a > b;
      case Operation::kGreaterEqual:
        return a >= b;
      case Operation::kAdd:
        return Add(a, b);
      case Operation::kSubtract:
        return Subtract(node.operation, a, b);
      case Operation::kMultiply:
        return Multiply(a, b);
      case Operation::kDivide:
        return Divide(node.operation, a, b) ? a / b : 0;
      case Operation::kModulo:
        return Divide(node.operation, a, b) ? a % b : 0;
      case Operation::kCeilDiv:
        return CeilDiv(node.operation, a, b);
      case Operation::kRoundUp: {
        if (b < 0) return Fail(fmt::format("round_up({}, {}): the multiple is negative", a, b));
        const int64_t quotient = CeilDiv(node.operation, a, b);
        return Failed() ? 0 : Multiply(quotient, b);
      }
      default:
        break;
    }
    return Fail("an operation of the expression is not known");
  }

 private:
  bool Failed() const { return !status_.ok(); }
  int64_t Fail(std::string message) {
    if (!Failed()) status_ = Status::InvalidArgument(std::move(message));
    return 0;
  }
  int64_t FailByOverflow(Operation operation, int64_t a, int64_t b) {
    return Fail(fmt::format("{} {} {} does not fit in 64 bits", a, OperationText(operation), b));
  }

  int64_t Add(int64_t a, int64_t b) {
    int64_t value;
    return __builtin_add_overflow(a, b, &value) ? FailByOverflow(Operation::kAdd, a, b) : value;
  }
  int64_t Subtract(Operation operation, int64_t a, int64_t b) {
    int64_t value;
    return __builtin_sub_overflow(a, b, &value) ? FailByOverflow(operation, a, b) : value;
  }
  int64_t Multiply(int64_t a, int64_t b) {
    int64_t value;
    return __builtin_mul_overflow(a, b, &value) ? FailByOverflow(Operation::kMultiply, a, b) : value;
  }
  // Returns whether a / b is defined; records a failure otherwise.
  bool Divide(Operation operation, int64_t a, int64_t b) {
    if (b == 0) {
      Fail(fmt::format("division by zero in {} {} 0", a, OperationText(operation)));
    } else if (b == -1 && a == std::numeric_limits<int64_t>::min()) {
      FailByOverflow(operation, a, b);
    }
    return !Failed();
  }
  int64_t CeilDiv(Operation operation, int64_t a, int64_t b) {
    if (!Divide(operation, a, b)) return 0;
    return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
  }
  int64_t Log2(int64_t value) {
    if (Failed()) return 0;
    if (value <= 0) return Fail(fmt::format("log2({}) is not defined", value));
    return 63 - __builtin_clzll(static_cast<unsigned long long>(value));
  }

  const Scope& scope_;
  Status status_;
};

// A NumberWalk evaluates a tree in doubles. Nothing overflows; the result may be infinite or NaN.
class NumberWalk {
 public:
  explicit NumberWalk(const std::map<std::string, int64_t>& names) : names_(names) {}

  const Status& status() const { return status_; }

  double Value(const Node& node) {
    if (!status_.ok()) return 0;
    const auto operand = [&](size_t i) { return Value(*node.operands[i]); };
    switch (node.operation) {
      case Operation::kConstant:
        return static_cast<double>(node.constant);
      case Operation::kName: {
        const auto found = names_.find(node.name);
        return found != names_.end() ? static_cast<double>(found->second)
                                     : Fail(fmt::format("the name '{}' is not known here", node.name));
      }
      case Operation::kCall: {
        // A root within a root is refused: the recursion could get as deep as the text is long, and nobody needs it.
        if (node.name != "sqrt" || node.texts.size() != 1 || node.texts[0].find("sqrt") != std::string::npos) {
          return Fail(fmt::format("{}({}) is not known here; sqrt takes one argument without a root of its own",
                                  node.name, fmt::join(node.texts, ", ")));
        }
        Result<Expression> argument = Expression::Parse(node.texts[0]);
        Result<double> value = argument.ok() ? argument->EvaluateNumber(names_) : Result<double>(argument.status());
        if (!value.ok()) {
          status_ = value.status();
          return 0;
        }
        return std::sqrt(*value);
      }
      case Operation::kConditional:
        return operand(operand(0) != 0 ? 1 : 2);
      case Operation::kOr:
        return operand(0) != 0 || operand(1) != 0;
      case Operation::kAnd:
        return operand(0) != 0 && operand(1) != 0;
      case Operation::kNot:
        return operand(0) == 0;
      case Operation::kNegate:
        return -operand(0);
      case Operation::kLog2:
        return std::log2(operand(0));
      case Operation::kMin:
      case Operation::kMax: {
        double best = operand(0);
        for (size_t i = 1; i < node.operands.size(); ++i) {
          best = node.operation == Operation::kMin ? std::min(best, operand(i)) : std::max(best, operand(i));
        }
        return best;
      }
      default:
        return ApplyBinary(node.operation, operand(0), operand(1));
    }
  }

 private:
  double Fail(std::string message) {
    if (status_.ok()) status_ = Status::InvalidArgument(std::move(message));
    return 0;
  }
  // Returns the value of a binary operation in real numbers; comparisons give 1 or 0.
  static double ApplyBinary(Operation operation, double a, double b) {
    switch (operation) {
      case Operation::kEqual:
        return a == b;
      case Operation::kNotEqual:
        return a != b;
      case Operation::kLess:
        return a < b;
      case Operation::kLessEqual:
        return a <= b;
      case Operation::kGreater:
        return a > b;
      case Operation::kGreaterEqual:
        return a >= b;
      case Operation::kAdd:
        return a + b;
      case Operation::kSubtract:
        return a - b;
      case Operation::kMultiply:
        return a * b;
      case Operation::kDivide:
        return a / b;
      case Operation::kModulo:
        return std::fmod(a, b);
      case Operation::kCeilDiv:
        return std::ceil(a / b);
      case Operation::kRoundUp:
        return std::ceil(a / b) * b;
      default:
        return std::numeric_limits<double>::quiet_NaN();
    }
  }

  const std::map<std::string, int64_t>& names_;
  Status status_;
};

void CollectNames(const Node& node, std::set<std::string>& names) {
  if (node.operation == Operation::kName) names.insert(node.name);
  for (const NodePointer& operand : node.operands) CollectNames(*operand, names);
}

void CollectCalls(const Node& node, std::vector<Expression::ForeignCall>& calls) {
  if (node.operation == Operation::kCall) calls.push_back({node.name, node.texts});
  for (const NodePointer& operand : node.operands) CollectCalls(*operand, calls);
}

}  // namespace

std::optional<Result<int64_t>> Scope::Call(std::string_view, const std::vector<std::string>&) const {
  return std::nullopt;
}

std::optional<int64_t> MapScope::Name(std::string_view name) const {
  const auto found = names_.find(std::string(name));
  if (found == names_.end()) return std::nullopt;
  return found->second;
}

Result<Expression> Expression::Parse(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(NodePointer root, Parser(text).Run());
  Expression expression;
  expression.text_ = Trimmed(text);
  expression.root_ = std::move(root);
  return expression;
}

Expression Expression::Constant(int64_t value) {
  auto node = std::make_shared<Node>();
  node->constant = value;
  Expression expression;
  expression.text_ = fmt::format("{}", value);
  expression.root_ = std::move(node);
  return expression;
}

Result<int64_t> Expression::Evaluate(const Scope& scope) const {
  HONE_CHECK(root_ != nullptr, "an expression that was never parsed is evaluated");
  Walk walk(scope);
  const int64_t value = walk.Value(*root_);
  if (!walk.status().ok()) return walk.status().WithContext(fmt::format("expression '{}'", text_));
  return value;
}

Result<int64_t> Expression::Evaluate(const std::map<std::string, int64_t>& names) const {
  return Evaluate(MapScope(names));
}

Result<double> Expression::EvaluateNumber(const std::map<std::string, int64_t>& names) const {
  HONE_CHECK(root_ != nullptr, "an expression that was never parsed is evaluated");
  NumberWalk walk(names);
  const double value = walk.Value(*root_);
  if (!walk.status().ok()) return walk.status().WithContext(fmt::format("expression '{}'", text_));
  return value;
}

std::vector<std::string> Expression::Names() const {
  std::set<std::string> names;
  if (root_ != nullptr) CollectNames(*root_, names);
  return {names.begin(), names.end()};
}

std::vector<Expression::ForeignCall> Expression::Calls() const {
  std::vector<ForeignCall> calls;
  if (root_ != nullptr) CollectCalls(*root_, calls);
  return calls;
}

}  // namespace hone
