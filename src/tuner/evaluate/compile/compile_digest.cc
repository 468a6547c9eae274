// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See compile_digest.h. The log is read line by line and without regular expressions, because it may be megabytes of
// one line.
#include "tuner/evaluate/compile/compile_digest.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace hone {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Rewrites "candidate.cu(12): error: text" as "candidate.cu:12: error: text" and returns other lines as they are.
std::string WithColons(std::string_view line) {
  const size_t close = line.find("): ");
  if (close == std::string_view::npos) return std::string(line);
  const size_t open = line.rfind('(', close);
  if (open == std::string_view::npos || open == 0 || open + 1 == close) return std::string(line);
  for (size_t i = open + 1; i < close; ++i) {
    if (!IsDigit(line[i])) return std::string(line);
  }
  return fmt::format("{}:{}: {}", line.substr(0, open), line.substr(open + 1, close - open - 1), line.substr(close + 3));
}

// Says whether a line opens a diagnostic, and whether that is an error.
enum class Kind { kNone, kError, kOther };
// Returns whether a line of a compiler's output begins an error, a note or something else.
Kind KindOf(std::string_view line) {
  if (line.empty() || line.front() == ' ' || line.front() == '\t') return Kind::kNone;
  if (line.size() > 4096) line = line.substr(0, 4096);
  const auto has = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
  if (has(": error:") || has(": error #") || has(": error ") || has("catastrophic error:") || has("Catastrophic error:") || has(": fatal error:") ||
      has("Command-line error") || has("error   :") || has("fatal   :") || has("internal error") ||
      has("undefined reference")) {
    return Kind::kError;
  }
  if (has(": warning") || has("warning :") || has(": note:") || has(": remark") || line.substr(0, 6) == "Remark" ||
      has("detected in the compilation of") || has("Compilation terminated") || has("info    :")) {
    return Kind::kOther;
  }
  return Kind::kNone;
}

// Returns the line with relative paths, and not too long.
std::string Shorten(std::string_view line, const DigestOptions& options) {
  std::string text = WithColons(line);
  for (const std::string& prefix : options.strip_prefixes) {
    if (prefix.empty()) continue;
    const std::string directory = prefix.back() == '/' ? prefix : prefix + "/";
    for (size_t at = text.find(directory); at != std::string::npos; at = text.find(directory, at)) {
      text.erase(at, directory.size());
    }
  }
  // NVRTC looks names up in a text of its own making.
  if (const std::string_view map = "__nv_name_map:"; text.compare(0, map.size(), map) == 0) {
    const size_t colon = text.find(": ", map.size());
    text = "launch plan: kernel name: " + (colon == std::string::npos ? text : text.substr(colon + 2));
  }
  if (const size_t pragma = text.find("#pragma nv_mangled_name "); pragma != std::string::npos) text.erase(pragma, 24);
  if (text.size() > options.max_line_length) {
    size_t end = options.max_line_length;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      --end;  // do not cut inside a UTF-8 character
    text.resize(end);
    text += "…";
  }
  return text;
}

}  // namespace

std::string DigestCompilerLog(std::string_view log, const DigestOptions& options) {
  std::string digest;
  size_t errors = 0, lines_left = 0;
  bool full = false;
  std::string_view unread_log = log;
  while (!unread_log.empty()) {
    const size_t end = unread_log.find('\n');
    const std::string_view line = unread_log.substr(0, end);
    unread_log.remove_prefix(end == std::string_view::npos ? unread_log.size() : end + 1);
    const Kind kind = KindOf(line);
    if (kind == Kind::kError && errors > 0 && line.starts_with("hone-plan-checks")) {
      // Hone's text after the candidate's fails if the candidate leaves a brace open; such an error would tell the
      // author nothing.
      lines_left = 0;
    } else if (kind == Kind::kError) {
      ++errors;
      if (errors > options.max_errors || digest.size() > options.max_bytes) full = true;
      lines_left = full ? 0 : options.max_lines_per_error;
    } else if (kind == Kind::kOther || line.find_first_not_of(" \t\r") == std::string_view::npos) {
      lines_left = 0;
    }
    if (lines_left > 0) {
      digest += Shorten(line, options) + "\n";
      --lines_left;
    }
  }
  if (errors == 0) {
    size_t lines = 0;
    unread_log = log;
    while (!unread_log.empty() && lines < options.max_errors && digest.size() < options.max_bytes) {
      const size_t end = unread_log.find('\n');
      const std::string_view line = unread_log.substr(0, end);
      unread_log.remove_prefix(end == std::string_view::npos ? unread_log.size() : end + 1);
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      digest += Shorten(line, options) + "\n";
      ++lines;
    }
  } else if (full) {
    digest += "(more errors follow in the log)\n";
  }
  return digest;
}

}  // namespace hone
