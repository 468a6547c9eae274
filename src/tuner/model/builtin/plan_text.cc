// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/builtin/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace hone {
namespace {

constexpr std::string_view kOpening = "/*hone";

bool WordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Walks TOML statements without building values.
class PlanScanner {
 public:
  PlanScanner(std::string_view source, size_t begin, size_t end) : source_(source), at_(begin), end_(end) {}

  Result<std::vector<PlanSection>> Run() {
    sections_.push_back({});
    sections_.back().begin = at_;
    while (true) {
      SkipBlanksAndComments();
      if (at_ >= end_) break;
      Status status = source_[at_] == '[' ? ReadTableHeader() : KeyValue();
      HONE_RETURN_IF_ERROR(status);
    }
    for (size_t i = 0; i + 1 < sections_.size(); ++i) sections_[i].end = sections_[i + 1].begin;
    sections_.back().end = end_;
    return std::move(sections_);
  }

 private:
  size_t LineBegin(size_t at) const {
    const size_t newline = source_.rfind('\n', at == 0 ? 0 : at - 1);
    return newline == std::string_view::npos ? 0 : newline + 1;
  }
  size_t LineEnd(size_t at) const {
    const size_t newline = source_.find('\n', at);
    return std::min(newline == std::string_view::npos ? end_ : newline + 1, end_);
  }
  Status FaultAtLine(std::string_view what) const {
    const auto line = 1 + std::count(source_.begin(), source_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    return Status::InvalidArgument(fmt::format("line {} of the plan's file: {}", line, what));
  }

  void SkipBlanksAndComments() {
    while (at_ < end_) {
      if (source_[at_] == '#')
        at_ = LineEnd(at_);
      else if (std::isspace(static_cast<unsigned char>(source_[at_])))
        ++at_;
      else
        return;
    }
  }

  // Reads "[table]" or "[[table]]", and begins a section.
  Status ReadTableHeader() {
    const size_t begin = LineBegin(at_);
    const bool array = source_.substr(at_, 2) == "[[";
    const size_t close = source_.find(array ? "]]" : "]", at_);
    if (close == std::string_view::npos || close >= end_) return FaultAtLine("a table header is not closed");
    PlanSection section;
    section.array = array;
    for (size_t i = at_ + (array ? 2 : 1); i < close; ++i) {
      if (!std::isspace(static_cast<unsigned char>(source_[i]))) section.name += source_[i];
    }
    section.begin = begin;
    sections_.push_back(std::move(section));
    at_ = close + (array ? 2 : 1);
    return Status::Ok();
  }

  // Reads "key = value" into the current section.
  Status KeyValue() {
    PlanKey key;
    key.line_begin = LineBegin(at_);
    while (at_ < end_ && source_[at_] != '=' && source_[at_] != '\n') {
      const char c = source_[at_++];
      if (!std::isspace(static_cast<unsigned char>(c)) && c != '"') key.name += c;
    }
    if (at_ >= end_ || source_[at_] != '=') return FaultAtLine(fmt::format("'{}' has no value", key.name));
    ++at_;
    while (at_ < end_ && (source_[at_] == ' ' || source_[at_] == '\t')) ++at_;
    key.value_begin = at_;
    int depth = 0;
    size_t last = at_;
    while (at_ < end_) {
      const char c = source_[at_];
      if (c == '"' || c == '\'') {
        HONE_RETURN_IF_ERROR(SkipString(c));
        last = at_;
        continue;
      }
      if (c == '#') {
        if (depth == 0) break;
        at_ = LineEnd(at_);
        continue;
      }
      if (c == '\n' && depth == 0) break;
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      ++at_;
      if (!std::isspace(static_cast<unsigned char>(c))) last = at_;
    }
    if (depth != 0) return FaultAtLine(fmt::format("the value of '{}' is not closed", key.name));
    key.value_end = last;
    key.line_end = LineEnd(at_);
    sections_.back().keys.push_back(std::move(key));
    return Status::Ok();
  }

  // Moves behind a string that begins here with `quote`, of one or three quotes.
  Status SkipString(char quote) {
    const std::string triple(3, quote);
    const bool is_triple = source_.substr(at_, 3) == triple;
    size_t i = at_ + (is_triple ? 3 : 1);
    while (i < end_) {
      if (quote == '"' && source_[i] == '\\') {
        i += 2;
      } else if (is_triple ? source_.substr(i, 3) == triple : source_[i] == quote) {
        at_ = i + (is_triple ? 3 : 1);
        return Status::Ok();
      } else {
        if (!is_triple && source_[i] == '\n') break;
        ++i;
      }
    }
    return FaultAtLine("a string is not closed");
  }

  std::string_view source_;
  size_t at_, end_;
  std::vector<PlanSection> sections_;
};

}  // namespace

const PlanKey* PlanSection::Find(std::string_view key) const {
  for (const PlanKey& k : keys) {
    if (k.name == key) return &k;
  }
  return nullptr;
}

const PlanSection* PlanOutline::Find(std::string_view section) const {
  for (const PlanSection& s : sections) {
    if (s.name == section) return &s;
  }
  return nullptr;
}

const PlanSection* PlanOutline::Entry(size_t entry) const {
  size_t entries_before = 0;
  for (const PlanSection& s : sections) {
    if (!s.array || (s.name != "launch" && s.name != "memset" && s.name != "call")) continue;
    if (entries_before++ == entry) return &s;
  }
  return nullptr;
}

Result<PlanOutline> FindPlan(std::string_view source) {
  const size_t open = source.find(kOpening);
  const size_t close = open == std::string_view::npos ? open : source.find("*/", open);
  if (close == std::string_view::npos) {
    return Status::InvalidArgument("there is no launch plan: a candidate opens with a comment /*hone … */");
  }
  PlanOutline plan;
  plan.begin = open + kOpening.size();
  plan.end = close;
  HONE_ASSIGN_OR_RETURN(plan.sections, PlanScanner(source, plan.begin, plan.end).Run());
  return plan;
}

std::string TunableLine(std::string_view name, const std::vector<int64_t>& choices) {
  return fmt::format("{} = [{}]", name, fmt::join(choices, ", "));
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;  // a TOML string of this kind is one line
  }
  return out + "\"";
}

std::string ReplaceWord(std::string_view expression, std::string_view word, std::string_view replacement) {
  std::string out;
  for (size_t i = 0; i < expression.size();) {
    if (!WordPart(expression[i])) {
      out += expression[i++];
      continue;
    }
    size_t end = i;
    while (end < expression.size() && WordPart(expression[end])) ++end;
    const std::string_view identifier = expression.substr(i, end - i);
    out += identifier == word ? replacement : identifier;
    i = end;
  }
  return out;
}

}  // namespace hone
