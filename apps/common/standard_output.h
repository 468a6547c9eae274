// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program owes the reader of its standard output: an end with status 0 means that all of it was written, be it
// to a pipe, or to a file on a disk that filled up meanwhile; and nothing that is printed commands the reader's
// terminal.
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

#include "base/visible_text.h"

namespace hone {

// Print what both programs have to say, on standard output and on standard error. All text passes through VisibleText,
// because most of what is printed holds words of somebody else: a model, a task, a compiler, a file's name. JSON keeps
// its meaning. Print throws as fmt::print does where nothing can be written; PrintError does not, for nobody is left to
// be told.
template <typename... T>
void Print(fmt::format_string<T...> format, T&&... arguments) {
  fmt::print(stdout, "{}", VisibleText(fmt::format(format, std::forward<T>(arguments)...)));
}
template <typename... T>
void PrintError(fmt::format_string<T...> format, T&&... arguments) {
  const std::string text = VisibleText(fmt::format(format, std::forward<T>(arguments)...));
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

// Writes bytes as they are: text with control sequences of the program's own (a line that is drawn over), or a source that
// goes to a file to the letter. Whoever calls it has made visible what others wrote, or knows that no terminal reads it.
// Nothing else in apps/ writes to the two streams, which tests/docs/one_door_test.cc looks for.
// Throws as Print does where standard output cannot be written; takes no memory.
inline void WriteAsIs(std::FILE* stream, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream) == text.size() || stream != stdout) return;
  throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

// From now on a file beyond the limit that `ulimit -f` shows is an error of the write, reported like a full disk, instead
// of a signal that ends the program. Programs that it starts are not concerned.
inline void MakeFileLimitAnError() { std::signal(SIGXFSZ, SIG_IGN); }

// The status to end with: `exit_status` when all of standard output was written; otherwise says so on standard error, as
// `program`, and gives 3 where it would have been 0.
inline int FlushOutput(const char* program, int exit_status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_status;
  const int error = errno;
  PrintError("{}: could not write all of standard output{}{}\n", program, error != 0 ? ": " : "",
             error != 0 ? std::strerror(error) : "");
  return exit_status == 0 ? 3 : exit_status;
}

}  // namespace hone
