// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See asm_statement.h. The scanner is hand-written: the grammar is small, and no C++ parser is available.
#include "tuner/device/sim/cuda/asm_statement.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "tuner/device/sim/cuda/name_part.h"

namespace hone {
namespace {

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }

Status ErrorAtLine(int line, std::string message) {
  return Status::InvalidArgument("line " + std::to_string(line) + ": " + std::move(message));
}

// Returns the end of the raw string literal whose R is at `position` (after any encoding prefix), or npos when there is
// none.
size_t RawStringEnd(std::string_view s, size_t position) {
  if (s.substr(position, 2) != "R\"") return std::string_view::npos;
  // A delimiter has at most 16 characters. Without this limit, a text of many R"R"R" would take time quadratic in its
  // length.
  const size_t open = s.substr(0, std::min(s.size(), position + 19)).find('(', position + 2);
  if (open == std::string_view::npos) return std::string_view::npos;
  std::string close(1, ')');
  close.append(s.substr(position + 2, open - position - 2)).append(1, '"');
  const size_t end = s.find(close, open);
  return end == std::string_view::npos ? s.size() : end + close.size();
}

// Decodes the ordinary string literal [begin, end) with its quotes; a raw one stays as it is.
std::string LiteralValue(std::string_view s) {
  if (!s.empty() && s[0] == 'R') {
    const size_t open = s.find('('), close = s.rfind(')');
    return std::string(s.substr(open + 1, close - open - 1));
  }
  std::string out;
  for (size_t i = 1; i + 1 < s.size(); ++i) {
    if (s[i] != '\\') {
      out += s[i];
      continue;
    }
    const char c = s[++i];
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += ' ';
        break;
      case '\n':
        break;  // a spliced line
      case '\r':
        if (s[i + 1] == '\n') ++i;
        break;
      default:
        out += c;
        break;
    }
  }
  return out;
}

// Scans the inside of one asm statement, skipping comments and spliced lines.
class Scanner {
 public:
  Scanner(std::string_view source, size_t position) : source_(source), position_(position) {}

  size_t position() const { return position_; }
  bool AtEnd() {
    SkipSpace();
    return position_ >= source_.size();
  }
  char Peek() {
    SkipSpace();
    return position_ < source_.size() ? source_[position_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++position_;
    return true;
  }
  std::string TakeName() {
    SkipSpace();
    const size_t begin = position_;
    while (position_ < source_.size() && IsNamePart(source_[position_])) ++position_;
    return std::string(source_.substr(begin, position_ - begin));
  }
  bool AtLiteral() {
    SkipSpace();
    return position_ < source_.size() && (source_[position_] == '"' || source_.substr(position_, 2) == "R\"");
  }
  std::string TakeLiteral() {
    const size_t begin = position_;
    // A raw literal with too long a delimiter is invalid; the scan must go past it.
    position_ = std::max(SkipCommentOrLiteral(source_, position_), begin + 1);
    return LiteralValue(source_.substr(begin, position_ - begin));
  }
  // Reads text up to the parenthesis that closes one already read, on one line and without comments.
  std::optional<std::string> TakeBalanced() {
    std::string out;
    for (int depth = 1; position_ < source_.size();) {
      const char c = source_[position_];
      const size_t end = SkipCommentOrLiteral(source_, position_);
      if (end != position_) {
        const bool comment = c == '/';
        out += comment ? " " : std::string(source_.substr(position_, end - position_));
        position_ = end;
        continue;
      }
      ++position_;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') {
        if (--depth == 0) return out;
      }
      if (c == '\\' && position_ < source_.size() && (source_[position_] == '\n' || source_[position_] == '\r'))
        continue;
      out += c == '\n' || c == '\r' ? ' ' : c;
    }
    return std::nullopt;
  }

 private:
  // Skips blanks, comments, and backslashes that join lines.
  void SkipSpace() {
    while (position_ < source_.size()) {
      const char c = source_[position_];
      if (std::isspace(static_cast<unsigned char>(c))) {
        ++position_;
      } else if (c == '\\' && position_ + 1 < source_.size() &&
                 (source_[position_ + 1] == '\n' || source_[position_ + 1] == '\r')) {
        ++position_;
      } else if (c == '/' && SkipCommentOrLiteral(source_, position_) != position_) {
        position_ = SkipCommentOrLiteral(source_, position_);
      } else {
        break;
      }
    }
  }
  std::string_view source_;
  size_t position_;
};

// Returns N for `#line N …` or `# N …`, else nullopt. `position` is after `#`.
std::optional<int> LineDirective(std::string_view line_text) {
  Scanner scanner(line_text, 0);
  std::string word = scanner.TakeName();
  if (word == "line") word = scanner.TakeName();
  if (word.empty() || word.size() > 8 ||
      !std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); })) {
    return std::nullopt;
  }
  return std::stoi(word);
}

// Finds text that the preprocessor certainly leaves out: branches that depend on HONE_SIM, which the simulator's
// headers define, or on a literal. Other conditions are unknown, and both their branches count as compiled.
class Conditionals {
 public:
  // Reads one directive; `line_text` begins after its `#`.
  void Read(std::string_view line_text) {
    Scanner scanner(line_text, 0);
    const std::string word = scanner.TakeName();
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      std::optional<bool> holds = word == "if" ? Holds(scanner) : Defined(scanner.TakeName());
      if (word == "ifndef" && holds) holds = !*holds;
      levels_.push_back({holds, holds});
      left_out_ += holds == false ? 1 : 0;
    } else if (levels_.empty()) {
      return;
    } else if (word == "endif") {
      left_out_ -= levels_.back().taken == false ? 1 : 0;
      levels_.pop_back();
    } else if (word == "elif" || word == "else") {
      Level& level = levels_.back();
      left_out_ -= level.taken == false ? 1 : 0;
      const std::optional<bool> holds = word == "else" ? true : Holds(scanner), earlier = level.earlier;
      level.taken = earlier == true || holds == false ? false : earlier == false ? holds : std::nullopt;
      left_out_ += level.taken == false ? 1 : 0;
      level.earlier = earlier == true || holds == true     ? true
                      : earlier == false && holds == false ? std::optional<bool>(false)
                                                           : std::nullopt;
    }
  }
  bool LeftOut() const { return left_out_ > 0; }

 private:
  struct Level {
    std::optional<bool> taken;    // value of the present branch
    std::optional<bool> earlier;  // one of the branches so far is taken, this one included
  };

  static std::optional<bool> Defined(const std::string& name) {
    return name == "HONE_SIM" ? std::optional<bool>(true) : std::nullopt;
  }
  // Evaluates conditions joined by `&&`, each a literal, a name or a `defined`, perhaps negated.
  static std::optional<bool> Holds(Scanner& scanner) {
    std::optional<bool> all = true;
    for (;;) {
      bool negated = false;
      while (scanner.Take('!')) negated = !negated;
      std::string name = scanner.TakeName();
      std::optional<bool> holds;
      if (name == "defined") {
        const bool open = scanner.Take('(');
        holds = Defined(scanner.TakeName());
        if (open && !scanner.Take(')')) return std::nullopt;
      } else if (name == "0" || name == "1") {
        holds = name == "1";
      } else {
        holds = Defined(name);
      }
      if (holds && negated) holds = !*holds;
      if (all != false) all = holds == true ? all : holds;
      if (scanner.AtEnd()) return all;
      if (!scanner.Take('&') || !scanner.Take('&')) return std::nullopt;
    }
  }

  std::vector<Level> levels_;
  int left_out_ = 0;  // number of levels whose present branch is not taken, kept as a count because it is needed at
                      // every directive
};

using StringMacros = std::map<std::string, std::string>;

// Reads `#define NAME "literal" …`. `position` is after `#`.
void CollectStringMacro(std::string_view line_text, StringMacros& macros) {
  Scanner scanner(line_text, 0);
  if (scanner.TakeName() != "define") return;
  const std::string name = scanner.TakeName();
  if (name.empty() || !scanner.AtLiteral()) return;
  std::string value;
  while (scanner.AtLiteral()) value += scanner.TakeLiteral();
  if (scanner.AtEnd()) macros[name] = value;
}

constexpr size_t kMaxTemplateBytes = size_t{64} << 10;  // limit on the text of one asm statement

// Returns whether a text contains one of the characters that mark operands in templates. A candidate must not write
// them itself, because the operand numbers after them are trusted.
bool HoldsMark(std::string_view text) {
  return text.find_first_of(std::string_view("\x01\x02\x03", 3)) != std::string_view::npos;
}

// Parses `volatile ( template : outputs : inputs : clobbers )`; `scanner` is after the keyword. Sets *none when no
// statement follows (but a variable's asm label, say).
Status ParseStatement(Scanner& scanner, const StringMacros& macros, AsmStatement* statement) {
  for (;;) {
    const char c = scanner.Peek();
    if (!IsNameStart(c)) break;
    const std::string word = scanner.TakeName();
    if (word == "goto") return ErrorAtLine(statement->line, "asm goto is not emulated by the simulated GPU");
    if (word != "volatile" && word != "__volatile__" && word != "__volatile" && word != "inline") {
      return ErrorAtLine(statement->line, "unexpected '" + word + "' after asm");
    }
  }
  if (!scanner.Take('(')) return ErrorAtLine(statement->line, "asm without an opening parenthesis");

  std::string raw;  // the template after C++'s own escapes
  for (;;) {
    // A macro may be a megabyte long and used a million times, so the template's length is limited.
    if (raw.size() > kMaxTemplateBytes) {
      return ErrorAtLine(statement->line,
                         "the asm template is longer than " + std::to_string(kMaxTemplateBytes) + " bytes");
    }
    if (scanner.AtLiteral()) {
      const std::string literal = scanner.TakeLiteral();
      if (HoldsMark(literal)) return ErrorAtLine(statement->line, "the asm template holds a control character");
      raw += literal;
    } else if (scanner.Take('#')) {
      raw += kAsmTextMark + scanner.TakeName() + kAsmMarkEnd;
    } else if (IsNameStart(scanner.Peek())) {
      const std::string name = scanner.TakeName();
      const auto macro = macros.find(name);
      if (macro == macros.end()) {
        return ErrorAtLine(statement->line, "the asm template uses '" + name +
                                       "', which is not a string literal or a macro that expands to one; the "
                                       "simulated GPU needs the PTX as text");
      }
      if (HoldsMark(macro->second)) return ErrorAtLine(statement->line, "the asm template holds a control character");
      raw += macro->second;
    } else {
      break;
    }
  }

  // Sections after colons: outputs, inputs, clobbers. `::` is two of them.
  int section = 0;
  while (scanner.Peek() == ':') {
    scanner.Take(':');
    ++section;
    while (section <= 2 && (scanner.AtLiteral() || scanner.Peek() == '[')) {
      AsmOperand operand;
      operand.output = section == 1;
      if (scanner.Take('[')) {
        operand.name = scanner.TakeName();
        if (!scanner.Take(']')) return ErrorAtLine(statement->line, "asm operand name without ']'");
      }
      if (!scanner.AtLiteral()) return ErrorAtLine(statement->line, "asm operand without a constraint");
      operand.constraint = scanner.TakeLiteral();
      if (!scanner.Take('(')) return ErrorAtLine(statement->line, "asm operand without an expression");
      const std::optional<std::string> expression = scanner.TakeBalanced();
      if (!expression) return ErrorAtLine(statement->line, "asm operand with unbalanced parentheses");
      operand.expression = *expression;
      statement->operands.push_back(std::move(operand));
      if (!scanner.Take(',')) break;
    }
    while (section > 2 && (scanner.AtLiteral() || scanner.Peek() == ',')) {
      if (!scanner.Take(',')) scanner.TakeLiteral();
    }
  }
  if (!scanner.Take(')')) return ErrorAtLine(statement->line, "asm statement does not end where it should");

  // Percent signs: operands and escapes.
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '%') {
      statement->text += raw[i];
      continue;
    }
    if (i + 1 < raw.size() && raw[i + 1] == '%') {
      statement->text += '%';
      ++i;
      continue;
    }
    size_t number = 0, j = i + 1;
    if (j < raw.size() && raw[j] == '[') {
      const size_t close = raw.find(']', j);
      if (close == std::string::npos) return ErrorAtLine(statement->line, "'%[' without ']' in asm");
      const std::string name = raw.substr(j + 1, close - j - 1);
      const auto found = std::find_if(statement->operands.begin(), statement->operands.end(),
                                      [&](const AsmOperand& o) { return o.name == name; });
      if (found == statement->operands.end())
        return ErrorAtLine(statement->line, "asm has no operand named '" + name + "'");
      number = static_cast<size_t>(found - statement->operands.begin());
      j = close + 1;
    } else if (j < raw.size() && std::isdigit(static_cast<unsigned char>(raw[j]))) {
      while (j < raw.size() && std::isdigit(static_cast<unsigned char>(raw[j]))) {
        number = number * 10 + static_cast<size_t>(raw[j++] - '0');
      }
      if (number >= statement->operands.size()) {
        return ErrorAtLine(statement->line, "asm uses operand %" + std::to_string(number) + " but has only " +
                                       std::to_string(statement->operands.size()));
      }
    } else {
      // A statement without operands needs no escapes. It stays as written, even with a `%=` or `%tid`.
      statement->text += '%';
      continue;
    }
    statement->text += kAsmOperandMark + std::to_string(number) + kAsmMarkEnd;
    i = j - 1;
  }
  return Status::Ok();
}

}  // namespace

size_t SkipCommentOrLiteral(std::string_view s, size_t p) {
  if (s[p] == '/' && p + 1 < s.size()) {
    if (s[p + 1] == '/') {
      // A line comment ends at a newline that is not spliced.
      size_t end = p;
      do {
        end = s.find('\n', end + 1);
      } while (end != std::string_view::npos && s[end - 1] == '\\');
      return end == std::string_view::npos ? s.size() : end;
    }
    if (s[p + 1] == '*') {
      const size_t end = s.find("*/", p + 2);
      return end == std::string_view::npos ? s.size() : end + 2;
    }
    return p;
  }
  if (s[p] == 'R' && (p == 0 || !IsNamePart(s[p - 1]))) {
    const size_t end = RawStringEnd(s, p);
    return end == std::string_view::npos ? p : end;
  }
  if (s[p] == '"' || s[p] == '\'') {
    // 1'000'000 is a number, not a character.
    if (s[p] == '\'' && p > 0 && std::isalnum(static_cast<unsigned char>(s[p - 1]))) return p;
    // An unterminated literal is an apostrophe in inactive text, or text that no compiler accepts. It is not scanned
    // again from each of its characters: a line of `\"\"\"` would take time quadratic in its length.
    constexpr size_t kMostOfACharacter = 64;
    size_t i = p + 1;
    while (i < s.size() && s[i] != s[p]) {
      if (s[i] == '\n') return s[p] == '"' ? i : p + 1;
      if (s[p] == '\'' && i - p > kMostOfACharacter) return p + 1;
      i += s[i] == '\\' ? 2 : 1;
    }
    return std::min(i + 1, s.size());
  }
  return p;
}

Result<std::vector<AsmStatement>> FindAsmStatements(std::string_view source) {
  std::vector<AsmStatement> statements;
  StringMacros macros;
  Conditionals conditionals;
  int line = 1;
  bool in_directive = false, line_is_blank = true;
  for (size_t i = 0; i < source.size();) {
    const char c = source[i];
    if (c == '\n') {
      ++line;
      if (i == 0 || source[i - 1] != '\\') in_directive = false;
      line_is_blank = true;
      ++i;
      continue;
    }
    if (c == '#' && line_is_blank && !in_directive) {
      in_directive = true;
      size_t end = i;
      do {
        end = source.find('\n', end + 1);
      } while (end != std::string_view::npos && source[end - 1] == '\\');
      const std::string_view text = source.substr(i + 1, (end == std::string_view::npos ? source.size() : end) - i - 1);
      conditionals.Read(text);
      if (!conditionals.LeftOut()) CollectStringMacro(text, macros);
      // The line break that ends the directive counts up to N.
      if (const std::optional<int> directive_line = LineDirective(text)) line = *directive_line - 1;
    }
    if (!std::isspace(static_cast<unsigned char>(c))) line_is_blank = false;
    const size_t skipped = SkipCommentOrLiteral(source, i);
    if (skipped != i) {
      line += static_cast<int>(std::count(source.begin() + static_cast<ptrdiff_t>(i),
                                          source.begin() + static_cast<ptrdiff_t>(skipped), '\n'));
      i = skipped;
      continue;
    }
    if (!IsNameStart(c) && !std::isdigit(static_cast<unsigned char>(c))) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < source.size() && IsNamePart(source[end])) ++end;
    const std::string_view word = source.substr(i, end - i);
    if ((word != "asm" && word != "__asm__" && word != "__asm") || conditionals.LeftOut()) {
      i = end;
      continue;
    }
    AsmStatement statement;
    statement.begin = i;
    statement.line = line;
    statement.in_directive = in_directive;
    Scanner scanner(source, end);
    HONE_RETURN_IF_ERROR(ParseStatement(scanner, macros, &statement));
    statement.end = scanner.position();
    statement.newlines = static_cast<int>(std::count(source.begin() + static_cast<ptrdiff_t>(statement.begin),
                                                     source.begin() + static_cast<ptrdiff_t>(statement.end), '\n'));
    line += statement.newlines;
    i = statement.end;
    line_is_blank = false;
    statements.push_back(std::move(statement));
  }
  return statements;
}

}  // namespace hone
