// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/image/source_text.h"

#include <algorithm>
#include <cctype>

namespace hone::sim {
namespace {

bool IsWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsWordPart(char c) { return IsWordStart(c) || IsDigit(c); }
bool IsQuote(char c) { return c == '"' || c == '\''; }

// Reads preprocessing tokens and copies them, with blanks for what is left out.
class Blanker {
 public:
  explicit Blanker(const JoinedText& joined) : s_(joined.text), splices_(joined.splices) {}

  std::optional<std::string> Run() {
    // A macro can stand for these operators, and then the name of a header follows that is read by rules of its own.
    if (s_.find("__has_") != std::string_view::npos) return std::nullopt;
    out_.reserve(s_.size());
    while (at_ < s_.size()) {
      const char c = s_[at_];
      bool read = true;
      if (c == '\\' || c == '\0' || static_cast<unsigned char>(c) >= 0x80) {
        read = false;
      } else if (c == '/' && Next() == '/') {
        Blank(std::min(s_.find('\n', at_), s_.size()));
      } else if (c == '/' && Next() == '*') {
        const size_t end = s_.find("*/", at_ + 2);
        read = end != std::string_view::npos;
        if (read) Blank(end + 2);
      } else if (IsDigit(c) || (c == '.' && IsDigit(Next()))) {
        read = Number();
      } else if (IsWordStart(c)) {
        read = Word();
      } else if (IsQuote(c)) {
        read = Literal();
      } else {
        keep_literals_ &= c != '\n';
        Copy(at_ + 1);
      }
      if (!read) return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  char Next() const { return at_ + 1 < s_.size() ? s_[at_ + 1] : '\n'; }
  char At(size_t i) const { return i < s_.size() ? s_[i] : '\n'; }
  void Copy(size_t end) {
    out_ += s_.substr(at_, end - at_);
    at_ = end;
  }
  void Blank(size_t end) {
    for (; at_ < end; ++at_) out_ += s_[at_] == '\n' ? '\n' : ' ';
  }

  bool Number() {
    size_t end = at_ + 1;
    for (;; ++end) {
      const char c = At(end), before = s_[end - 1];
      const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      if (c == '\'' && !IsWordPart(At(end + 1))) return false;
      if (!sign && c != '.' && c != '\'' && !IsWordPart(c)) break;
    }
    Copy(end);
    return true;
  }

  bool Word() {
    size_t end = at_;
    while (end < s_.size() && IsWordPart(s_[end])) ++end;
    const std::string_view word = s_.substr(at_, end - at_);
    if (At(end) == '"' && (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) return RawString(end);
    for (const std::string_view part : {"include", "import", "embed", "dependency"}) {
      if (keep_literals_ || word.find(part) == std::string_view::npos) continue;  // a line is examined once
      if (!HeaderNameIsPlain(s_.substr(end, std::min(s_.find('\n', end), s_.size()) - end))) return false;
      keep_literals_ = true;
    }
    Copy(end);
    return true;
  }

  // In the name of a header no quote, no backslash and no comment has its usual meaning. `rest`: the rest of a line in
  // which such a name may stand.
  static bool HeaderNameIsPlain(std::string_view rest) {
    if (rest.find('\\') != std::string_view::npos || rest.find("/*") != std::string_view::npos) return false;
    for (size_t open = rest.find('<'), close = 0; open != std::string_view::npos; open = rest.find('<', close)) {
      close = std::min(rest.find('>', open), rest.size());
      const std::string_view name = rest.substr(open, close - open);
      if (name.find_first_of("'\"") != std::string_view::npos || name.find("//") != std::string_view::npos) return false;
    }
    for (size_t open = rest.find('"'); open != std::string_view::npos;) {
      const size_t close = rest.find('"', open + 1);
      if (rest.substr(open, close - open).find("//") != std::string_view::npos) return false;
      open = close == std::string_view::npos ? close : rest.find('"', close + 1);
    }
    return true;
  }

  bool RawString(size_t quote) {
    const size_t open = s_.find('(', quote);
    constexpr size_t kMostOfADelimiter = 16;
    if (open == std::string_view::npos || open - quote - 1 > kMostOfADelimiter) return false;
    const std::string_view delimiter = s_.substr(quote + 1, open - quote - 1);
    if (delimiter.find_first_of(" )\\\t\v\f\n\"") != std::string_view::npos) return false;
    const std::string closing = ")" + std::string(delimiter) + "\"";
    const size_t close = s_.find(closing, open + 1);
    if (close == std::string_view::npos) return false;
    // In a raw string lines are not joined, so one that was joined may end elsewhere.
    const size_t end = close + closing.size();
    const auto splice = std::lower_bound(splices_.begin(), splices_.end(), at_);
    if (splice != splices_.end() && *splice <= end) return false;
    Copy(open + 1);
    Blank(close);
    Copy(end);
    return SuffixIsPlain();
  }

  bool Literal() {
    const char quote = s_[at_];
    size_t end = at_ + 1;
    while (At(end) != quote) {
      if (At(end) == '\n') return false;
      end += s_[end] == '\\' ? 2 : 1;
    }
    Copy(at_ + 1);
    keep_literals_ ? Copy(end) : Blank(end);
    Copy(end + 1);
    return SuffixIsPlain();
  }

  // A name that touches a literal is its suffix, and then no prefix of the literal that follows.
  bool SuffixIsPlain() const {
    size_t end = at_;
    while (end < s_.size() && IsWordPart(s_[end])) ++end;
    return end == at_ || !IsQuote(At(end));
  }

  std::string_view s_;
  const std::vector<size_t>& splices_;
  std::string out_;
  size_t at_ = 0;
  bool keep_literals_ = false;  // until the end of the line
};

}  // namespace

JoinedText JoinSplicedLines(std::string_view source) {
  JoinedText joined;
  joined.text.reserve(source.size());
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; };
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\') {
      size_t end = i + 1;
      while (end < source.size() && is_blank(source[end])) ++end;
      if (end < source.size() && source[end] == '\n') {
        joined.splices.push_back(joined.text.size());
        i = end;
        continue;
      }
    }
    joined.text += source[i];
  }
  return joined;
}

std::optional<std::string> WithoutCommentsAndLiterals(const JoinedText& joined) { return Blanker(joined).Run(); }

}  // namespace hone::sim
