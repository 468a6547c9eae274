// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/shapes/condition_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace hone {
// This namespace is not anonymous, because ConditionDistance::Part, which other files can name, has a member of type
// Kind.
namespace condition {
enum class Kind { kAnd, kOr, kNot, kCompare, kUnknown };
}  // namespace condition

namespace {

using condition::Kind;

std::string_view Trimmed(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// Calls `visit(position)` for each position of `text` outside of all parentheses, until `visit` returns true.
template <typename Visit>
void AtTopLevel(std::string_view text, Visit visit) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth == 0 && text[i] != ')' && visit(i)) return;
  }
}

// Returns the text without outer parentheses: "a && b" for "(a && b)". "(a) && (b)" has none and is returned as it is.
std::string_view WithoutParentheses(std::string_view text) {
  for (text = Trimmed(text); text.size() >= 2 && text.front() == '(' && text.back() == ')';) {
    int depth = 0;
    size_t closes = 0;
    for (size_t i = 0; i < text.size() && closes == 0; ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (depth == 0) closes = i;
    }
    if (closes + 1 != text.size()) break;
    text = Trimmed(text.substr(1, text.size() - 2));
  }
  return text;
}

// Splits the text at each `symbol` ("&&" or "||") outside of parentheses; returns one piece if there is none.
std::vector<std::string_view> SplitAtTopLevel(std::string_view text, std::string_view symbol) {
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  AtTopLevel(text, [&](size_t i) {
    if (i >= begin && text.substr(i, symbol.size()) == symbol) {
      pieces.push_back(text.substr(begin, i - begin));
      begin = i + symbol.size();
    }
    return false;
  });
  pieces.push_back(text.substr(begin));
  return pieces;
}

// Returns position and symbol of the last comparison outside of parentheses, of the kind that binds least: == and !=,
// or if there is none the order comparisons. nullopt: no comparison.
std::optional<std::pair<size_t, std::string_view>> LastComparison(std::string_view text) {
  static constexpr std::string_view kEquality[] = {"==", "!="}, kOrder[] = {"<=", ">=", "<", ">"};
  std::optional<std::pair<size_t, std::string_view>> equality, order;
  size_t next_part = 0;
  AtTopLevel(text, [&](size_t i) {
    if (i < next_part) return false;
    for (const std::string_view symbol : kEquality) {
      if (text.substr(i, 2) == symbol) equality = {i, symbol}, next_part = i + 2;
    }
    for (const std::string_view symbol : kOrder) {
      if (i >= next_part && text.substr(i, symbol.size()) == symbol) order = {i, symbol}, next_part = i + symbol.size();
    }
    return false;
  });
  return equality ? equality : order;
}

class ValueScope : public Scope {
 public:
  ValueScope(const std::vector<std::string>& dimensions, const std::vector<int64_t>* values,
             const std::map<std::string, int64_t>& constants)
      : dimensions_(dimensions), values_(values), constants_(constants) {}
  std::optional<int64_t> Name(std::string_view name) const override {
    for (size_t i = 0; values_ != nullptr && i < dimensions_.size(); ++i) {
      if (dimensions_[i] == name) return (*values_)[i];
    }
    const auto constant = constants_.find(std::string(name));
    return constant == constants_.end() ? std::nullopt : std::optional<int64_t>(constant->second);
  }

 private:
  const std::vector<std::string>& dimensions_;
  const std::vector<int64_t>* values_;
  const std::map<std::string, int64_t>& constants_;
};

// Limit on the parts of one condition; an honest condition has ten. A conditional (c ? a : b) reads c twice, so that 40
// conditionals nested in each other's conditions would make 2^40 parts. Parts beyond the limit are unknown ones.
constexpr int kMostParts = 1024;

// Maps a distance into (0, 1) and keeps the order, so that a difference of millions of elements does not hide a
// remainder of three.
double ScaleToUnit(double difference) {
  const double logarithm = std::log2(1 + difference);
  return logarithm / (logarithm + 16);
}

}  // namespace

struct ConditionDistance::Part {
  condition::Kind kind = condition::Kind::kUnknown;
  std::vector<std::unique_ptr<Part>> parts;  // only for kAnd, kOr and kNot
  std::optional<Expression> left, right;     // only for kCompare
  std::string comparison;
  int64_t work = 1;                        // kCompare: cost of its evaluation, one for each 32 bytes of its text
  std::optional<double> to_hold, to_fail;  // distances of a kCompare that names no dimension; nullopt: it names one
};

ConditionDistance::~ConditionDistance() = default;
ConditionDistance::ConditionDistance(ConditionDistance&&) noexcept = default;
ConditionDistance& ConditionDistance::operator=(ConditionDistance&&) noexcept = default;

ConditionDistance::ConditionDistance(const Expression& condition, const std::vector<std::string>& dimensions,
                                     const std::map<std::string, int64_t>& constants)
    : dimensions_(dimensions), constants_(constants), root_(ParsePart(condition.text())) {
  const auto pin = [&](const Part& part) {
    if (part.kind != Kind::kCompare || part.comparison != "==") return;
    for (const auto& [one, other] : {std::pair(&part.left, &part.right), std::pair(&part.right, &part.left)}) {
      const auto dim = std::find(dimensions_.begin(), dimensions_.end(), (*one)->text());
      const ValueScope scope(dimensions_, nullptr, constants_);
      const Result<int64_t> value = (*other)->Evaluate(scope);
      if (dim != dimensions_.end() && value.ok()) pinned_[static_cast<size_t>(dim - dimensions_.begin())] = *value;
    }
  };
  const auto visit = [&](const auto& self, const Part& part) -> void {
    pin(part);
    if (part.kind == Kind::kAnd) {
      for (const auto& child : part.parts) self(self, *child);
    }
  };
  visit(visit, *root_);
}

std::unique_ptr<ConditionDistance::Part> ConditionDistance::ParseComparison(std::string_view left,
                                                                            std::string_view comparison,
                                                                            std::string_view right) const {
  auto part = std::make_unique<Part>();
  Result<Expression> a = Expression::Parse(WithoutParentheses(left)), b = Expression::Parse(WithoutParentheses(right));
  if (!a.ok() || !b.ok() || !a->Calls().empty() || !b->Calls().empty()) return part;  // unknown
  part->kind = Kind::kCompare;
  part->left = *a;
  part->right = *b;
  part->comparison = comparison;
  part->work = 1 + static_cast<int64_t>((left.size() + right.size()) / 32);
  const auto names_dimension = [&](const Expression& side) {
    const std::vector<std::string> names = side.Names();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return std::find(dimensions_.begin(), dimensions_.end(), name) != dimensions_.end();
    });
  };
  if (!names_dimension(*a) && !names_dimension(*b)) {
    const std::vector<int64_t> none(dimensions_.size(), 1);
    const double hold = Distance(*part, /*hold=*/true, none), fail = Distance(*part, /*hold=*/false, none);
    part->to_hold = hold;
    part->to_fail = fail;
  }
  return part;
}

// Parses a condition by precedence as Expression does: the operator that binds least is split first. Text without
// logical operators and comparisons is a number, and holds when it is not 0.
std::unique_ptr<ConditionDistance::Part> ConditionDistance::ParsePart(std::string_view text) const {
  if (++parts_ > kMostParts) return std::make_unique<Part>();
  text = WithoutParentheses(text);
  const auto join = [&](Kind kind, const std::vector<std::string_view>& pieces) {
    auto part = std::make_unique<Part>();
    part->kind = kind;
    for (const std::string_view piece : pieces) part->parts.push_back(ParsePart(piece));
    return part;
  };
  size_t question = std::string_view::npos;
  AtTopLevel(text, [&](size_t i) { return text[i] == '?' && (question = i, true); });
  if (question != std::string_view::npos) {
    size_t colon = std::string_view::npos;
    int open = 0;
    AtTopLevel(text, [&](size_t i) {
      if (i <= question) return false;
      open += text[i] == '?' ? 1 : 0;
      if (text[i] == ':' && open-- == 0) colon = i;
      return colon != std::string_view::npos;
    });
    if (colon == std::string_view::npos) return std::make_unique<Part>();
    // c ? a : b is (c && a) || (!c && b).
    const std::string_view condition = text.substr(0, question);
    auto otherwise = join(Kind::kAnd, {text.substr(colon + 1)});
    otherwise->parts.push_back(join(Kind::kNot, {condition}));
    auto part = std::make_unique<Part>();
    part->kind = Kind::kOr;
    part->parts.push_back(join(Kind::kAnd, {condition, text.substr(question + 1, colon - question - 1)}));
    part->parts.push_back(std::move(otherwise));
    return part;
  }
  for (const auto& [symbol, kind] : {std::pair<std::string_view, Kind>{"||", Kind::kOr}, {"&&", Kind::kAnd}}) {
    const std::vector<std::string_view> pieces = SplitAtTopLevel(text, symbol);
    if (pieces.size() > 1) return join(kind, pieces);
  }
  if (const auto at = LastComparison(text)) {
    return ParseComparison(text.substr(0, at->first), at->second, text.substr(at->first + at->second.size()));
  }
  // The text is a negation if it is "!x" or "!(…)"; "!a + b" is a number.
  if (text.size() > 1 && text.front() == '!') {
    const std::string_view unparsed = Trimmed(text.substr(1));
    const bool name = std::all_of(unparsed.begin(), unparsed.end(),
                                  [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
    if (name || WithoutParentheses(unparsed).size() < unparsed.size()) return join(Kind::kNot, {unparsed});
  }
  return ParseComparison(text, "!=", "0");
}

double ConditionDistance::Distance(const Part& part, bool hold, const std::vector<int64_t>& values) const {
  switch (part.kind) {
    case Kind::kUnknown:
      return 0;
    case Kind::kNot:
      return Distance(*part.parts[0], !hold, values);
    case Kind::kAnd:
    case Kind::kOr: {
      if ((part.kind == Kind::kAnd) == hold) {  // all parts must hold (or fail)
        double sum = 0;
        for (const auto& child : part.parts) sum += Distance(*child, hold, values);
        return sum;
      }
      double nearest = std::numeric_limits<double>::infinity();
      for (const auto& child : part.parts) {
        nearest = std::min(nearest, Distance(*child, hold, values));
        if (nearest == 0) break;
      }
      return nearest;
    }
    case Kind::kCompare:
      break;
  }
  if (part.to_hold) return hold ? *part.to_hold : *part.to_fail;
  comparisons_ += part.work;
  const ValueScope scope(dimensions_, &values, constants_);
  const Result<int64_t> left = part.left->Evaluate(scope), right = part.right->Evaluate(scope);
  if (!left.ok() || !right.ok()) return 1;
  const double a = static_cast<double>(*left), b = static_cast<double>(*right);
  const std::string& c = part.comparison;
  if (c == "==" || c == "!=") {
    if ((c == "==") == hold) return *left == *right ? 0 : ScaleToUnit(std::abs(a - b));
    return *left != *right ? 0 : ScaleToUnit(1);
  }
  // Find out which side must not exceed the other, and whether equality is enough.
  const bool swapped = (c[0] == '>') == hold, equal_will_do = (c.size() == 2) == hold;
  const double excess = swapped ? b - a : a - b;
  const bool holds = swapped ? (*right < *left || (equal_will_do && *right == *left))
                             : (*left < *right || (equal_will_do && *left == *right));
  return holds ? 0 : ScaleToUnit(std::max(excess, 0.0) + 1);
}

double ConditionDistance::ToHold(const std::vector<int64_t>& values) const {
  return Distance(*root_, /*hold=*/true, values);
}
double ConditionDistance::ToFail(const std::vector<int64_t>& values) const {
  return Distance(*root_, /*hold=*/false, values);
}

bool ConditionDistance::NeverHolds() const {
  const auto never = [](const auto& self, const Part& part) -> bool {
    if (part.kind == Kind::kCompare) return part.to_hold && *part.to_hold > 0;
    if (part.kind == Kind::kAnd)
      return std::any_of(part.parts.begin(), part.parts.end(), [&](const auto& p) { return self(self, *p); });
    if (part.kind == Kind::kOr)
      return std::all_of(part.parts.begin(), part.parts.end(), [&](const auto& p) { return self(self, *p); });
    return false;
  };
  return never(never, *root_);
}

}  // namespace hone
