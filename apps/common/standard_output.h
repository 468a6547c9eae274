// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes output reliable and safe. A program that ends with status 0 has written all of its standard output, even to a
// pipe, or to a file on a disk that filled up. Nothing that it prints sends commands to the reader's terminal.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text/visible_text.h"

namespace hone {

// Print and PrintError write to standard output and to standard error for both programs. All text passes through
// VisibleText, because most of it holds text from elsewhere: a model, a task, a compiler, a file's name. JSON keeps its
// meaning. Print throws as fmt::print does where nothing can be written; PrintError does not, because nobody is left to
// read it.
template <typename... T>
void Print(fmt::format_string<T...> format, T&&... arguments) {
  fmt::print(stdout, "{}", VisibleText(fmt::format(format, std::forward<T>(arguments)...)));
}
template <typename... T>
void PrintError(fmt::format_string<T...> format, T&&... arguments) {
  const std::string text = VisibleText(fmt::format(format, std::forward<T>(arguments)...));
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

// Writes bytes as they are: text with control sequences of the program's own (a line that is redrawn), or a source that
// must reach a file unchanged. The caller has made foreign text visible, or knows that no terminal reads it. No other
// function in apps/ writes to the two streams without VisibleText, which tests/docs/one_door_test.cc checks. Throws as
// Print does if standard output cannot be written; allocates no memory.
inline void WriteAsIs(std::FILE* stream, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream) == text.size() || stream != stdout) return;
  throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

// Makes a write beyond the limit that `ulimit -f` shows an error from now on, reported like a full disk, instead of a
// signal that ends the program. The programs that it starts are not affected.
inline void MakeFileLimitAnError() { std::signal(SIGXFSZ, SIG_IGN); }

// Returns the status to end with. If all of standard output was written, this is `exit_status`. Otherwise prints an
// error that begins with `program` on standard error, and returns 3 if `exit_status` is 0.
inline int FlushOutput(const char* program, int exit_status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_status;
  const int error = errno;
  PrintError("{}: could not write all of standard output{}{}\n", program, error != 0 ? ": " : "",
             error != 0 ? std::strerror(error) : "");
  return exit_status == 0 ? 3 : exit_status;
}

}  // namespace hone
