// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads, for `hone new`, what a file says beside its launches: tests for null pointers, the comment at its head, and
// grids that show which dimension is the task's slice.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "tuner/interop/draft/draft_words.h"
#include "tuner/interop/draft/task_drafter.h"

namespace hone {
namespace {

using std::string_view;

constexpr string_view kDimsOption = "--dims …,";

// Returns whether the word at token `i`, a pointer, is asked whether it is null: if (p), !p, p ? a : b, p != nullptr.
bool TestedForNull(const CuSource& source, int i) {
  const auto words_are = [&](int at, std::initializer_list<string_view> expected) {
    return std::any_of(expected.begin(), expected.end(), [&](string_view word) { return source.TokenIs(at, word); });
  };
  if (words_are(i - 1, {".", "->", "::"})) return false;
  if (words_are(i + 1, {"==", "!="})) return words_are(i + 2, {"nullptr", "NULL"});
  if (words_are(i - 1, {"==", "!="})) return words_are(i - 2, {"nullptr", "NULL"});
  if (words_are(i + 1, {"?"})) return true;
  const bool stands_alone = words_are(i + 1, {")", "&&", "||"});
  if (words_are(i - 1, {"!", "&&", "||"})) return stands_alone;
  return stands_alone && words_are(i - 1, {"("}) &&
         (words_are(i - 2, {"if", "while"}) || words_are(i + 1, {"&&", "||"}));
}

}  // namespace

void TaskDrafter::NoteOptionalTensors() {
  std::set<std::string> noted;
  for (const DraftEntry& e : entries_) {
    if (e.kernel == nullptr) continue;
    for (int i = e.kernel->body_open + 1; i < e.kernel->body_close; ++i) {
      const auto tensor = e.tensors.find(std::string(s_.token(i).text));
      if (tensor == e.tensors.end() || !TestedForNull(s_, i) || !noted.insert(tensor->second).second) continue;
      const auto line =
          1 + std::count(s_.text.begin(), s_.text.begin() + static_cast<std::ptrdiff_t>(s_.token(i).begin), '\n');
      NoteInference(
          fmt::format("{} is tested for null in line {}: only the case with a tensor is judged", tensor->second, line));
    }
  }
}

void TaskDrafter::JoinDimensionAnswers() {
  std::vector<std::string> questions;
  for (const TaskQuestion& q : draft_.questions) {
    if (q.answer.starts_with(kDimsOption)) questions.push_back(q.answer.substr(kDimsOption.size()));
  }
  if (questions.empty()) return;
  std::vector<std::string> answered_dims = o_.dims;
  for (const std::string& name : questions) {
    if (std::find(answered_dims.begin(), answered_dims.end(), name) == answered_dims.end())
      answered_dims.push_back(name);
  }
  for (TaskQuestion& q : draft_.questions) {
    if (q.answer.starts_with(kDimsOption)) q.answer = fmt::format("--dims {}", fmt::join(answered_dims, ","));
  }
}

std::string TaskDrafter::LikelySlice() const {
  std::string dim;
  for (const DraftEntry& e : entries_) {
    if (e.memset || e.grid.size() != 1) return "";
    if (std::find(dim_order_.begin(), dim_order_.end(), e.grid[0]) == dim_order_.end()) return "";
    if (!dim.empty() && dim != e.grid[0]) return "";
    dim = e.grid[0];
  }
  for (const DraftTensor& t : tensors_) {
    if (t.workspace) return "";
    if (t.role != TensorRole::kIn && (t.shape.empty() || t.shape[0] != dim)) return "";
  }
  return dim;
}

bool TaskDrafter::SharesBlocksAndReduces() const {
  if (device_code_.find("__shared__") == std::string::npos && device_code_.find("__syncthreads") == std::string::npos)
    return false;
  size_t widest = 0, narrowest = SIZE_MAX;
  for (const DraftTensor& t : tensors_) {
    if (t.workspace || t.shape.empty()) continue;
    if (t.role == TensorRole::kIn) {
      widest = std::max(widest, t.shape.size());
    } else {
      narrowest = std::min(narrowest, t.shape.size());
    }
  }
  return narrowest < widest;
}

std::string TaskDrafter::FirstComment() const {
  std::string notes;
  for (size_t at = 0; at < s_.text.size();) {
    const size_t end = std::min(s_.text.find('\n', at), s_.text.size());
    string_view line = string_view(s_.text).substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("//")) break;
    line.remove_prefix(std::min(line.find_first_not_of("/ \t"), line.size()));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.remove_suffix(1);
    const bool legal = line.starts_with("SPDX") || line.find("opyright") != string_view::npos ||
                       line.find("icense") != string_view::npos;
    if (legal || (line.empty() && notes.empty())) continue;
    if (line.empty()) break;
    if (notes.empty() && line.starts_with(o_.file)) {
      // "rowlse.cu - row-wise log-sum-exp" and "rowlse.cu: …" name the file first.
      line.remove_prefix(o_.file.size());
      line.remove_prefix(std::min(line.find_first_not_of(" :-"), line.size()));
      if (line.empty()) continue;
    }
    // The first line is the summary; what follows are formulas, options of compilers and authors.
    notes = std::string(line);
    break;
  }
  constexpr size_t kLongest = 160;
  const bool is_printable = std::all_of(notes.begin(), notes.end(),
                                        [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  const bool is_prose = notes.find(' ') != std::string::npos && std::isalpha(static_cast<unsigned char>(notes[0])) != 0;
  if (!is_printable || !is_prose || notes.size() > kLongest) return "";
  if (notes.back() == '.') notes.pop_back();
  return notes;
}

}  // namespace hone
