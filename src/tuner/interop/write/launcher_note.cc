// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/launcher_note.h"

#include <fmt/format.h>

#include "tuner/interop/read/function_template.h"

namespace hone {
namespace {

constexpr std::string_view kBegin = "// Launcher in ";

}  // namespace

std::string LauncherNote(const CuSource& source, const CuFunction& launcher, std::string_view file) {
  const int first = DefinitionStart(source, launcher.body_open);
  std::string text;
  bool glued = true;  // no blank before the next word
  for (int i = first; i < launcher.body_open; ++i) {
    const std::string_view word = source.token(i).text;
    const bool closes = word == "," || word == ")" || word == "*" || word == "&" || word == "(" || word == "::" ||
                        word == "<" || word == ">";
    if (!glued && !closes) text += ' ';
    text += word;
    glued = word == "(" || word == "::" || word == "<";
  }
  return fmt::format("{}{}: {}\n", kBegin, file, text);
}

std::string LauncherNoted(std::string_view seed) {
  const size_t at = seed.find(kBegin);
  if (at == std::string_view::npos || (at > 0 && seed[at - 1] != '\n')) return "";
  std::string_view line = seed.substr(at + kBegin.size());
  line = line.substr(0, line.find('\n'));
  const size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return "";
  return fmt::format("{} in {}", line.substr(colon + 2), line.substr(0, colon));
}

}  // namespace hone
