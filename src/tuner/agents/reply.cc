// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "tuner/agents/edit.h"

namespace hone {
namespace {

// Far above any kernel; a reply beyond it is a loop or a wrong file.
constexpr size_t kMaxReplyBytes = 2 << 20;
constexpr size_t kMaxReasoningBytes = 4000;
constexpr size_t kMaxIdeaBytes = 120;

std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Cuts at a character's boundary.
std::string Clip(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string_view StripMarkup(std::string_view line) {
  while (!line.empty() && (line.front() == '#' || line.front() == '*' || line.front() == ' ' || line.front() == '-' ||
                           line.front() == '>'))
    line.remove_prefix(1);
  while (!line.empty() && (line.back() == '*' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

bool IsIdeaLine(std::string_view line, std::string_view& idea) {
  line = StripMarkup(Trim(line));
  if (line.size() < 5) return false;
  for (size_t i = 0; i < 4; ++i) {
    if (std::toupper(static_cast<unsigned char>(line[i])) != "IDEA"[i]) return false;
  }
  line.remove_prefix(4);
  while (!line.empty() && line.front() == '*') line.remove_prefix(1);
  if (line.empty() || line.front() != ':') return false;
  idea = Trim(StripMarkup(line.substr(1)));
  return !idea.empty();
}

// The reply, taken apart line by line.
struct Parts {
  std::string prose;
  std::string idea;
  std::vector<std::string> code_blocks;
  std::vector<SearchReplace> edits;
  std::string unclosed;  // what was left open at the end
};

bool StartsWithMark(std::string_view line, char mark, std::string_view word) {
  size_t count = 0;
  while (count < line.size() && line[count] == mark) ++count;
  if (count < 5) return false;
  return Trim(line.substr(count)) == word;
}

Parts TakeApart(std::string_view text) {
  Parts parts;
  enum class Where { kProse, kCode, kSearch, kReplace } where = Where::kProse;
  bool edit_inside_code = false;
  std::string block;
  SearchReplace edit;
  for (size_t at = 0; at < text.size();) {
    size_t newline = text.find('\n', at);
    const size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    const std::string_view whole = text.substr(at, end - at);
    const std::string_view line = Trim(whole);
    at = end;
    switch (where) {
      case Where::kProse:
      case Where::kCode:
        if (StartsWithMark(line, '<', "SEARCH")) {
          edit_inside_code = where == Where::kCode;
          edit = {};
          where = Where::kSearch;
        } else if (line.starts_with("```") && where == Where::kProse) {
          where = Where::kCode;
          block.clear();
        } else if (line == "```" && where == Where::kCode) {
          where = Where::kProse;
          if (!Trim(block).empty()) parts.code_blocks.push_back(block);
        } else if (where == Where::kCode) {
          block += whole;
        } else {
          std::string_view idea;
          if (parts.idea.empty() && IsIdeaLine(line, idea))
            parts.idea = idea;
          else
            parts.prose += whole;
        }
        break;
      case Where::kSearch:
        if (StartsWithMark(line, '=', ""))
          where = Where::kReplace;
        else
          edit.search += whole;
        break;
      case Where::kReplace:
        if (StartsWithMark(line, '>', "REPLACE")) {
          parts.edits.push_back(edit);
          where = edit_inside_code ? Where::kCode : Where::kProse;
        } else {
          edit.replace += whole;
        }
        break;
    }
  }
  if (where == Where::kCode) parts.unclosed = "a code block";
  if (where == Where::kSearch || where == Where::kReplace) parts.unclosed = "a search-and-replace block";
  return parts;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x80 ? 1 : (c >> 5) == 6 ? 2 : (c >> 4) == 14 ? 3 : (c >> 3) == 30 ? 4 : 0;
    if (length == 0 || i + length > text.size()) return false;
    uint32_t point = length == 1 ? c : c & (0x7fu >> length);
    for (size_t j = 1; j < length; ++j) {
      const auto next = static_cast<unsigned char>(text[i + j]);
      if ((next & 0xc0) != 0x80) return false;
      point = (point << 6) | (next & 0x3fu);
    }
    constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < kSmallest[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
    i += length;
  }
  return true;
}

std::string IdeaKey(std::string_view idea) {
  std::string key;
  for (const char c : idea) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) || u >= 0x80)
      key += static_cast<char>(u < 0x80 ? std::tolower(u) : u);
    else if (!key.empty() && key.back() != '-')
      key += '-';
  }
  while (!key.empty() && key.back() == '-') key.pop_back();
  return key;
}

Proposal ParseReply(const ModelReply& reply, std::string_view parent) {
  Proposal proposal;
  const auto fail = [&](std::string problem, std::string detail) {
    proposal.problem = std::move(problem);
    proposal.detail = std::move(detail);
    if (proposal.idea.empty()) proposal.idea = "(none named)";
    return proposal;
  };
  if (Trim(reply.text).empty()) return fail("empty_reply", "the reply was empty");
  if (reply.text.size() > kMaxReplyBytes) {
    return fail("too_long", fmt::format("the reply has {} bytes; a kernel needs a few thousand", reply.text.size()));
  }
  if (!IsUtf8(reply.text)) return fail("not_text", "the reply is not valid UTF-8 text");
  Parts parts = TakeApart(reply.text);
  proposal.reasoning = Clip(Trim(parts.prose), kMaxReasoningBytes);
  if (parts.idea.empty()) {
    const std::string_view prose = Trim(parts.prose);
    parts.idea = std::string(StripMarkup(Trim(prose.substr(0, prose.find('\n')))));
  }
  proposal.idea = Clip(parts.idea, kMaxIdeaBytes);
  proposal.idea_key = IdeaKey(proposal.idea);
  if (reply.finish == FinishReason::kRefused) {
    return fail("refused", "the model declined: " + Clip(Trim(reply.text), 300));
  }
  if (!parts.unclosed.empty()) {
    const bool cut = reply.finish == FinishReason::kLength;
    return fail(
        cut ? "cut_off" : "unclosed_block",
        fmt::format("{} is not closed{}", parts.unclosed, cut ? ": the reply was cut off at its token limit" : ""));
  }
  if (!parts.edits.empty()) {
    // Beside edits, code blocks are illustrations.
    EditResult edited = ApplySearchReplace(parent, parts.edits);
    if (!edited.problem.empty()) return fail(edited.problem, edited.detail);
    proposal.source = std::move(edited.source);
  } else {
    std::set<std::string> files;
    for (const std::string& block : parts.code_blocks) {
      if (block.find("/*hone") != std::string::npos) files.insert(block);
    }
    if (files.size() > 1) {
      return fail("several_files", fmt::format("the reply holds {} different whole files: send one", files.size()));
    }
    if (files.empty()) {
      if (reply.finish == FinishReason::kLength) return fail("cut_off", "the reply was cut off before any whole file");
      if (parts.code_blocks.empty()) {
        return fail("no_code", "the reply holds neither a code block with a whole file nor a search-and-replace block");
      }
      return fail("no_plan", "no code block of the reply opens with a launch plan (/*hone … */): send the whole file");
    }
    proposal.source = *files.begin();
  }
  if (Trim(proposal.source) == Trim(parent)) {
    proposal.source.clear();
    return fail("same_as_parent", "the reply repeats the parent without a change");
  }
  return proposal;
}

}  // namespace hone
