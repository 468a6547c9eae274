// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds inline assembly in CUDA source text and takes each statement apart.
//
// Works on text, before preprocessing, because the host compiler must never see PTX. Comments, string and character
// literals (raw ones too) are skipped; a statement inside a macro definition is recognised as such. Templates are
// string literals, names of object-like macros that expand to one, and `#parameter` inside function-like macros.
// Plain functions of their input; no state.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

struct AsmOperand {
  std::string name;        // name in `[name] "=r"(x)`; usually empty
  std::string constraint;  // without quotes: "=r", "+f", "l", "n"
  std::string expression;  // C++ text on one line, comments removed
  bool output = false;
};

// In `text`, `%0` and `%[name]` stand as kAsmOperandMark followed by the operand's number and kAsmMarkEnd, and
// `#parameter` as kAsmTextMark, the parameter's name and kAsmMarkEnd; `%%` is a plain `%`.
inline constexpr char kAsmOperandMark = '\x01';
inline constexpr char kAsmTextMark = '\x02';
inline constexpr char kAsmMarkEnd = '\x03';

struct AsmStatement {
  size_t begin = 0, end = 0;  // range of `asm … )` in the source, without the semicolon
  int line = 1;               // line where it begins, from 1; #line directives are obeyed
  int newlines = 0;           // inside [begin, end)
  bool in_directive = false;  // inside a #define: its line breaks are backslash-newlines
  std::string text;
  std::vector<AsmOperand> operands;
};

// Returns all inline assembly of `source`, in order, except in branches that the preprocessor skips because HONE_SIM is
// defined (`#ifndef HONE_SIM`, `#if !defined(HONE_SIM) && …`, their `#else`) or because of `#if 0`: one source can thus
// hold variants for one GPU's own instructions. kInvalidArgument names the line of a statement that cannot be parsed.
Result<std::vector<AsmStatement>> FindAsmStatements(std::string_view source);

// Scans C++ text, also for unroll_pragmas.cc. Returns the end of the comment or literal that begins at `position`, or
// `position` when none does.
size_t SkipCommentOrLiteral(std::string_view source, size_t position);

}  // namespace hone
