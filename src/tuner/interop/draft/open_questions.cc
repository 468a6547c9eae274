// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/draft/open_questions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files/file.h"

namespace hone {

std::vector<OpenQuestion> FindOpenQuestions(std::string_view text, const std::string& file) {
  std::vector<OpenQuestion> questions;
  int line = 1;
  for (size_t at = 0; at < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view one = text.substr(at, end - at);
    if (one.find(kFillIn) != std::string_view::npos)
      questions.push_back({fmt::format("{}:{}", file, line), std::string(one)});
    at = end + 1;
  }
  return questions;
}

Status CheckNothingOpen(const std::string& directory) {
  std::string list;
  for (const char* name : {"task.toml", "seed.cu", "oracle.cu"}) {
    const std::string path = directory + "/" + name;
    const Result<std::string> text = ReadFile(path);
    if (!text.ok()) continue;  // the reader of the file reports the error
    for (const OpenQuestion& q : FindOpenQuestions(*text, path)) list += fmt::format("\n  {}: {}", q.where, q.line);
  }
  if (list.empty()) return Status::Ok();
  return Status::InvalidArgument(fmt::format(
      "the task is not complete: put an answer where {} stands, or run `hone new` again with the options that "
      "answer it{}",
      kFillIn, list));
}

}  // namespace hone
