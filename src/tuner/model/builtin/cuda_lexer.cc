// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/builtin/cuda_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace hone {
namespace {

bool IdentifierStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IdentifierPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Longest first, so that ">>=" is never read as ">>" and "=". ">>" itself is two tokens: template arguments close
// with it far more often in kernels than numbers are shifted, and no rewrite looks at shifts.
constexpr std::array<std::string_view, 22> kPunctuators{
    "<<=", "...", "->*", "<<", "->", "++", "--", "+=", "-=", "*=", "/=",
    "%=",  "&=",  "|=",  "^=", "==", "!=", "<=", ">=", "&&", "||", "::"};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> Run() {
    while (SkipBlanks()) {
      const char c = text_[at_];
      if (c == '#' && line_start_)
        LexDirective();
      else if (IdentifierStart(c))
        IdentifierOrString();
      else if (std::isdigit(static_cast<unsigned char>(c)) || (c == '.' && DigitAt(at_ + 1)))
        Number();
      else if (c == '"')
        Quoted('"', TokenKind::kString, at_);
      else if (c == '\'')
        Quoted('\'', TokenKind::kCharacter, at_);
      else
        LexPunctuation();
      line_start_ = false;
    }
    Pair();
    return std::move(tokens_);
  }

 private:
  bool DigitAt(size_t i) const { return i < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i])); }
  // `s` is not empty. Few texts begin like it, and a first character is compared in no time.
  bool StartsWith(std::string_view s) const {
    return at_ < text_.size() && text_[at_] == s.front() && text_.substr(at_, s.size()) == s;
  }

  // Skips blanks and comments. Returns false at the end of the text.
  bool SkipBlanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') {
        line_start_ = true;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (StartsWith("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (StartsWith("/*")) {
        const size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return true;
      }
    }
    return false;
  }

  void Add(TokenKind kind, size_t begin, size_t end) {
    end = std::min(end, text_.size());
    tokens_.push_back({kind, begin, end, text_.substr(begin, end - begin), -1});
    at_ = end;
  }

  // Takes a preprocessor directive, with the lines that a backslash or a comment joins to it, as one token.
  void LexDirective() {
    size_t end = at_;
    while (end < text_.size() && text_[end] != '\n') {
      if (text_.substr(end, 2) == "/*") {  // a comment may carry the directive over lines
        const size_t close = text_.find("*/", end + 2);
        end = close == std::string_view::npos ? text_.size() : close + 2;
      } else if (text_.substr(end, 2) == "//") {
        break;
      } else {
        end += text_.substr(end, 2) == "\\\n" ? 2 : 1;
      }
    }
    Add(TokenKind::kDirective, at_, end);
  }

  // Takes an identifier, or a string with a prefix such as R.
  void IdentifierOrString() {
    size_t end = at_;
    while (end < text_.size() && IdentifierPart(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    if (end < text_.size() && text_[end] == '"' &&
        (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) {
      const size_t open = text_.find('(', end);
      if (open == std::string_view::npos) return Add(TokenKind::kString, at_, text_.size());
      const std::string close = ")" + std::string(text_.substr(end + 1, open - end - 1)) + "\"";
      const size_t stop = text_.find(close, open);
      return Add(TokenKind::kString, at_, stop == std::string_view::npos ? text_.size() : stop + close.size());
    }
    if (end < text_.size() && text_[end] == '"' && (word == "L" || word == "u" || word == "U" || word == "u8")) {
      return Quoted('"', TokenKind::kString, end);
    }
    Add(TokenKind::kIdentifier, at_, end);
  }

  // Takes a number: digits, suffixes, and an exponent with its sign.
  void Number() {
    size_t end = at_;
    const bool hex = text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X";
    while (end < text_.size()) {
      const char c = text_[end];
      const bool exponent =
          end > at_ && (c == '+' || c == '-') &&
          (hex ? (text_[end - 1] == 'p' || text_[end - 1] == 'P') : (text_[end - 1] == 'e' || text_[end - 1] == 'E'));
      const bool separator = c == '\'' && end + 1 < text_.size() && IdentifierPart(text_[end + 1]);
      if (!IdentifierPart(c) && c != '.' && !exponent && !separator) break;
      ++end;
    }
    Add(TokenKind::kNumber, at_, end);
  }

  void Quoted(char quote, TokenKind kind, size_t open) {
    size_t end = open + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    Add(kind, at_, end + 1);
  }

  void LexPunctuation() {
    for (const std::string_view p : kPunctuators) {
      if (StartsWith(p)) return Add(TokenKind::kPunctuation, at_, at_ + p.size());
    }
    Add(TokenKind::kPunctuation, at_, at_ + 1);
  }

  // Sets `match` of every bracket to the bracket that it is paired with.
  void Pair() {
    std::vector<int> open;
    for (int i = 0; i < static_cast<int>(tokens_.size()); ++i) {
      const Token& t = tokens_[static_cast<size_t>(i)];
      if (t.kind != TokenKind::kPunctuation || t.text.size() != 1) continue;
      const char c = t.text[0];
      if (c == '(' || c == '[' || c == '{') {
        open.push_back(i);
      } else if (c == ')' || c == ']' || c == '}') {
        const char partner = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (open.empty() || tokens_[static_cast<size_t>(open.back())].text[0] != partner) continue;
        tokens_[static_cast<size_t>(open.back())].match = i;
        tokens_[static_cast<size_t>(i)].match = open.back();
        open.pop_back();
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  bool line_start_ = true;
  std::vector<Token> tokens_;
};

const Token& At(const std::vector<Token>& tokens, int i) { return tokens[static_cast<size_t>(i)]; }

KernelParameter ReadParameter(const std::vector<Token>& tokens, int first, int last) {
  KernelParameter p;
  p.first = first;
  p.last = last;
  int star = -1;
  for (int i = first; i < last; ++i) {
    const Token& t = At(tokens, i);
    if (Is(t, "=")) break;  // default argument
    if (Is(t, "*")) star = i;
    if (Is(t, "__restrict__") || Is(t, "__restrict"))
      p.restricted = true;
    else if (t.kind == TokenKind::kIdentifier && !Is(t, "const") && i > first)
      p.name = i;
    if (Is(t, "const") && star < 0) p.to_const = true;
  }
  p.pointer = star >= 0;
  for (int i = first; i < (star >= 0 ? star : p.name); ++i) {
    const Token& t = At(tokens, i);
    if (Is(t, "const") || Is(t, "__grid_constant__") || Is(t, "volatile")) continue;
    if (!p.pointee.empty() && t.kind == TokenKind::kIdentifier && IdentifierPart(p.pointee.back())) p.pointee += ' ';
    p.pointee += t.text;
  }
  return p;
}

}  // namespace

bool Is(const Token& token, std::string_view text) { return token.text == text; }

std::string_view Span(std::string_view text, const std::vector<Token>& tokens, int first, int last) {
  const size_t begin = At(tokens, first).begin;
  return text.substr(begin, At(tokens, last).end - begin);
}

std::vector<Token> LexCuda(std::string_view text) { return Lexer(text).Run(); }

bool HasConditional(const std::vector<Token>& tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    if (token.kind != TokenKind::kDirective) return false;
    std::string_view text = token.text;
    text.remove_prefix(std::min(text.size(), text.find_first_not_of("# \t")));
    return text.starts_with("if") || text.starts_with("el");
  });
}

const Token* UnpairedBracket(const std::vector<Token>& tokens) {
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::kPunctuation || token.text.size() != 1 || token.match >= 0) continue;
    if (std::string_view("()[]{}").find(token.text) != std::string_view::npos) return &token;
  }
  return nullptr;
}

std::string ApplyEdits(std::string_view text, std::vector<TextEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
  std::string out;
  size_t at = 0;
  for (const TextEdit& edit : edits) {
    if (edit.begin < at) continue;  // overlaps an edit already made
    out += text.substr(at, edit.begin - at);
    out += edit.text;
    at = edit.end;
  }
  out += text.substr(at);
  return out;
}

std::vector<KernelText> FindKernels(const std::vector<Token>& tokens) {
  std::vector<KernelText> kernels;
  const int count = static_cast<int>(tokens.size());
  for (int i = 0; i < count; ++i) {
    if (!Is(At(tokens, i), "__global__")) continue;
    KernelText k;
    k.global = i;
    // Between __global__ and the parameters: the type, attributes with parentheses of their own, the name.
    int j = i + 1;
    while (j < count && !Is(At(tokens, j), ";") && !Is(At(tokens, j), "{")) {
      if (Is(At(tokens, j), "(") && At(tokens, j).match > 0) {
        const int close = At(tokens, j).match;
        if (close + 1 < count && Is(At(tokens, close + 1), "{") && At(tokens, j - 1).kind == TokenKind::kIdentifier) {
          k.name_token = j - 1;
          k.name = std::string(At(tokens, j - 1).text);
          k.open = j;
          k.close = close;
          k.body_open = close + 1;
          k.body_close = At(tokens, close + 1).match;
          break;
        }
        if (Is(At(tokens, j - 1), "__launch_bounds__")) k.launch_bounds = j - 1;
        j = close;
      }
      ++j;
    }
    if (k.name.empty() || k.body_close < 0) continue;
    int first = k.open + 1;
    int angle = 0;
    for (int p = first; p <= k.close; ++p) {
      const Token& t = At(tokens, p);
      if (p < k.close && t.match > p) p = t.match;
      if (Is(t, "<")) ++angle;
      if (Is(t, ">")) --angle;
      if (p == k.close || (Is(t, ",") && angle == 0)) {
        if (p > first) k.parameters.push_back(ReadParameter(tokens, first, p));
        first = p + 1;
      }
    }
    kernels.push_back(std::move(k));
    i = kernels.back().body_open;
  }
  return kernels;
}

std::optional<int> StatementEnd(const std::vector<Token>& tokens, int token) {
  const int count = static_cast<int>(tokens.size());
  int i = token;
  while (i < count && At(tokens, i).kind == TokenKind::kDirective) ++i;
  if (i >= count) return std::nullopt;
  const Token& t = At(tokens, i);
  if (Is(t, "{")) return t.match > 0 ? std::optional<int>(t.match) : std::nullopt;
  if (Is(t, "for") || Is(t, "while") || Is(t, "if") || Is(t, "switch")) {
    int open = i + 1;
    if (open < count && Is(At(tokens, open), "constexpr")) ++open;
    if (open >= count || !Is(At(tokens, open), "(") || At(tokens, open).match < 0) return std::nullopt;
    std::optional<int> end = StatementEnd(tokens, At(tokens, open).match + 1);
    if (!end) return std::nullopt;
    if (Is(t, "if") && *end + 1 < count && Is(At(tokens, *end + 1), "else")) return StatementEnd(tokens, *end + 2);
    return end;
  }
  if (Is(t, "do")) {
    std::optional<int> body = StatementEnd(tokens, i + 1);
    if (!body) return std::nullopt;
    for (int j = *body + 1; j < count; ++j) {
      if (Is(At(tokens, j), ";")) return j;
    }
    return std::nullopt;
  }
  for (; i < count; ++i) {
    const Token& s = At(tokens, i);
    if (Is(s, ";")) return i;
    if (Is(s, "}")) return std::nullopt;
    if (s.match > i) i = s.match;
  }
  return std::nullopt;
}

std::vector<ForLoop> FindForLoops(const std::vector<Token>& tokens, int first, int last) {
  std::vector<ForLoop> loops;
  for (int i = first; i <= last; ++i) {
    if (!Is(At(tokens, i), "for") || i + 1 > last || !Is(At(tokens, i + 1), "(")) continue;
    ForLoop loop;
    loop.token = i;
    loop.open = i + 1;
    loop.close = At(tokens, i + 1).match;
    if (loop.close < 0 || loop.close >= last) continue;
    std::vector<int> semicolons;
    for (int j = loop.open + 1; j < loop.close; ++j) {
      const Token& t = At(tokens, j);
      if (Is(t, ";"))
        semicolons.push_back(j);
      else if (t.match > j)
        j = t.match;
    }
    std::optional<int> end = StatementEnd(tokens, loop.close + 1);
    if (semicolons.size() != 2 || !end) continue;  // a range-based loop, or something else
    loop.first_semicolon = semicolons[0];
    loop.second_semicolon = semicolons[1];
    loop.body_first = loop.close + 1;
    loop.body_last = *end;
    for (ForLoop& outer : loops) {
      if (outer.body_first <= i && i <= outer.body_last) {
        ++loop.depth;
        outer.has_inner_loop = true;
      }
    }
    loops.push_back(loop);
  }
  return loops;
}

}  // namespace hone
