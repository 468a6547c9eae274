// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Splits CUDA C++ text into tokens, on which mechanical rewrites work, so that nothing in a comment, a string or a
// preprocessor line is mistaken for code.
//
// There is no preprocessing and no parsing: tokens with their offsets, paired brackets, and the few shapes that
// rewrites need (kernels, parameters, loops), found among the tokens. Code that does not look as expected is left
// alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

enum class TokenKind { kIdentifier, kNumber, kString, kCharacter, kPunctuation, kDirective };

struct Token {
  TokenKind kind = TokenKind::kPunctuation;
  size_t begin = 0, end = 0;  // offsets into the text
  std::string_view text;      // of the text given to the lexer, which must outlive the tokens
  int match = -1;             // index of the partner of a bracket ( ) [ ] { }; -1: none
};

// Returns tokens without comments and white space; a directive is one token, continuation lines included. Unpaired
// brackets keep match == -1. Understands raw strings, digit separators and line splices in directives.
std::vector<Token> LexCuda(std::string_view text);

// Returns whether there is an #if: both of its branches are text, but only one is code.
bool HasConditional(const std::vector<Token>& tokens);
// Returns the first bracket without a partner, or nullptr.
const Token* UnpairedBracket(const std::vector<Token>& tokens);

// One replacement of [begin, end) by `text`; begin == end inserts.
struct TextEdit {
  size_t begin = 0, end = 0;
  std::string text;
};
// Applies edits that do not overlap, in any order; insertions at one place keep their order.
std::string ApplyEdits(std::string_view text, std::vector<TextEdit> edits);

struct KernelParameter {
  int first = 0, last = 0;  // token range [first, last)
  int name = -1;            // token of the name
  bool pointer = false;
  bool to_const = false;    // const T*
  bool restricted = false;  // __restrict__ is there
  std::string pointee;      // "float", "__half", "uint4"; for values their type
};

struct KernelText {
  std::string name;
  int global = 0;  // token `__global__`
  int name_token = 0;
  int open = 0, close = 0;            // parentheses of the parameters
  int body_open = 0, body_close = 0;  // braces
  int launch_bounds = -1;             // token of an existing __launch_bounds__
  std::vector<KernelParameter> parameters;
};

// Finds definitions of `__global__` functions, in order.
std::vector<KernelText> FindKernels(const std::vector<Token>& tokens);

struct ForLoop {
  int token = 0;            // `for`
  int open = 0, close = 0;  // parentheses
  int first_semicolon = 0, second_semicolon = 0;
  int body_first = 0, body_last = 0;  // body tokens [first, last], braces or the closing semicolon included
  int depth = 0;                      // loops around it in the same function
  bool has_inner_loop = false;
};
// Finds classic for loops between two tokens (a function's body), in order.
std::vector<ForLoop> FindForLoops(const std::vector<Token>& tokens, int first, int last);

// Returns the last token of the statement that begins at `token`, or nullopt when it is not understood.
std::optional<int> StatementEnd(const std::vector<Token>& tokens, int token);

bool Is(const Token& token, std::string_view text);
// Returns the text from one token to another, both included.
std::string_view Span(std::string_view text, const std::vector<Token>& tokens, int first, int last);

}  // namespace hone
