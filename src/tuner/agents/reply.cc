// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/text/utf8.h"
#include "tuner/agents/edit.h"
#include "tuner/agents/regions.h"
#include "tuner/agents/spans.h"

namespace hone {
namespace {

// This is far above any kernel's size. A longer reply is an endless repetition or a wrong file.
constexpr size_t kMaxReplyBytes = 2 << 20;
// How much of a reply's texts is kept.
constexpr size_t kMaxReasoningBytes = 4000;
constexpr size_t kMaxIdeaBytes = 120;
constexpr size_t kMaxMemoBytes = 12000;

std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Removes the marks of a heading, list item, quotation or bold text around a line.
std::string_view StripMarkup(std::string_view line) {
  while (!line.empty() && (line.front() == '#' || line.front() == '*' || line.front() == ' ' || line.front() == '-' ||
                           line.front() == '>'))
    line.remove_prefix(1);
  while (!line.empty() && (line.back() == '*' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

// Returns whether `line` reads "WORD: value", with or without Markdown's marks, and sets `value` if so.
bool IsLabelled(std::string_view line, std::string_view word, std::string_view& value) {
  line = StripMarkup(Trim(line));
  if (line.size() <= word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (std::toupper(static_cast<unsigned char>(line[i])) != word[i]) return false;
  }
  line.remove_prefix(word.size());
  while (!line.empty() && line.front() == '*') line.remove_prefix(1);
  if (line.empty() || line.front() != ':') return false;
  value = Trim(StripMarkup(line.substr(1)));
  return !value.empty();
}

// Turns "`silu_kernel` (kernel)" into "silu_kernel".
std::string RegionName(std::string_view value) {
  std::string name;
  for (const char c : value) {
    if (c == '`' || c == '"' || c == '\'' || c == '*') continue;
    if (c == ' ' || c == '\t' || c == '(' || c == ',' || c == ':') {
      if (!name.empty()) break;
      continue;
    }
    name += c;
  }
  return name;
}

// Returns the times in microseconds of a line such as "850 us, 1.2 ms": without a unit they are microseconds. Empty if
// anything else stands there, since a guess that cannot be read is as good as none.
std::vector<double> ReadTimes(std::string_view text) {
  constexpr size_t kMostTimes = 64;
  constexpr double kLongestUs = 1e10;  // beyond a launch's longest time
  std::vector<double> times;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string one(Trim(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
    char* end = nullptr;
    double us = std::strtod(one.c_str(), &end);
    const std::string_view unit = Trim(std::string_view(end));
    if (unit == "ms") us *= 1e3;
    if (unit == "s") us *= 1e6;
    const bool known = unit.empty() || unit == "us" || unit == "\u00b5s" || unit == "ms" || unit == "s";
    if (end == one.c_str() || !known || !(us > 0 && us < kLongestUs) || times.size() == kMostTimes) return {};
    times.push_back(us);
  }
  return times;
}

// Holds the parts of a reply, which was split line by line.
struct Parts {
  std::string prose;
  std::string idea;
  std::vector<std::string> code_blocks;
  std::vector<std::string> widen;
  std::vector<double> predicted_us;
  std::vector<RegionBody> regions;
  std::vector<SearchReplace> edits;
  std::string unclosed;  // the construct that was not closed at the end
};

// Returns whether the line is five or more `mark` and then `word`, as "<<<<<<< SEARCH".
bool StartsWithMark(std::string_view line, char mark, std::string_view word) {
  size_t count = 0;
  while (count < line.size() && line[count] == mark) ++count;
  if (count < 5) return false;
  return Trim(line.substr(count)) == word;
}

// Splits a reply into its parts. Each line belongs to prose, a code block, or a half of a search-and-replace block.
Parts TakeApart(std::string_view text) {
  Parts parts;
  enum class Where { kProse, kCode, kSearch, kReplace } where = Where::kProse;
  bool edit_inside_code = false;
  std::string block, region;  // the code block so far; the region that the next one replaces, or empty
  SearchReplace edit;
  for (size_t at = 0; at < text.size();) {
    size_t newline = text.find('\n', at);
    const size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    const std::string_view line_with_newline = text.substr(at, end - at);  // the line with its newline
    const std::string_view line = Trim(line_with_newline);
    at = end;
    switch (where) {
      case Where::kProse:
      case Where::kCode:
        if (StartsWithMark(line, '<', "SEARCH")) {
          edit_inside_code = where == Where::kCode;
          region.clear();  // the region is edited, not sent
          edit = {};
          where = Where::kSearch;
        } else if (line.starts_with("```") && where == Where::kProse) {
          where = Where::kCode;
          block.clear();
        } else if (line == "```" && where == Where::kCode) {
          where = Where::kProse;
          if (!region.empty()) {
            parts.regions.push_back({region, block});
            region.clear();
          } else if (!Trim(block).empty()) {
            parts.code_blocks.push_back(block);
          }
        } else if (where == Where::kCode) {
          block += line_with_newline;
        } else {
          std::string_view value;
          if (parts.idea.empty() && IsLabelled(line, "IDEA", value)) {
            parts.idea = value;
          } else {
            if (IsLabelled(line, "REGION", value)) region = RegionName(value);
            if (IsLabelled(line, "PREDICT", value)) parts.predicted_us = ReadTimes(value);
            if (IsLabelled(line, "WIDEN", value)) {
              const std::string name = RegionName(value);
              if (std::find(parts.widen.begin(), parts.widen.end(), name) == parts.widen.end()) parts.widen.push_back(name);
            }
            parts.prose += line_with_newline;
          }
        }
        break;
      case Where::kSearch:
        if (StartsWithMark(line, '=', ""))
          where = Where::kReplace;
        else
          edit.search += line_with_newline;
        break;
      case Where::kReplace:
        if (StartsWithMark(line, '>', "REPLACE")) {
          parts.edits.push_back(edit);
          where = edit_inside_code ? Where::kCode : Where::kProse;
        } else {
          edit.replace += line_with_newline;
        }
        break;
    }
  }
  if (where == Where::kCode) parts.unclosed = "a code block";
  if (where == Where::kSearch || where == Where::kReplace) parts.unclosed = "a search-and-replace block";
  return parts;
}

// Returns the whole file if the reply is a bare file without marks: it begins with a comment or a directive, after at
// most an IDEA, and has a plan. Returns an empty string otherwise. Commands behind exec: often reply like this.
std::string BareFile(std::string_view text) {
  std::string_view value;
  text = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (IsLabelled(text.substr(0, text.find('\n')), "IDEA", value)) {
    text.remove_prefix(std::min(text.find('\n'), text.size()));
    text = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }
  const bool file = (text.starts_with("//") || text.starts_with("/*") || text.starts_with("#include")) &&
                    text.find("/*hone") != std::string_view::npos;
  return file ? std::string(text) : "";
}

// Returns whether the text is a CUDA file as a whole, and no part of one or prose: it begins as a file does, and has a
// kernel.
bool LooksLikeCudaFile(std::string_view text) {
  text = Trim(text);
  std::string_view value;
  if (const size_t line = text.find('\n');
      line != std::string_view::npos && IsLabelled(text.substr(0, line), "IDEA", value))
    text = Trim(text.substr(line));
  constexpr std::string_view kBeginnings[] = {"//", "/*", "#include", "#define", "#pragma"};
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [&](std::string_view b) { return text.starts_with(b); }) &&
         text.find("__global__") != std::string_view::npos;
}

// Says why a reply cannot be used. `problem` is empty if there is no fault.
struct Fault {
  std::string problem, detail;
};

// Returns the fault that makes a reply useless for any role.
Fault CheckReply(const ModelReply& reply) {
  if (Trim(reply.text).empty()) return {"empty_reply", "the reply was empty"};
  if (reply.text.size() > kMaxReplyBytes) {
    return {"too_long", fmt::format("the reply has {} bytes; a kernel needs a few thousand", reply.text.size())};
  }
  if (!IsUtf8(reply.text)) return {"not_text", "the reply is not valid UTF-8 text"};
  if (reply.finish == FinishReason::kRefused) {
    return {"refused", "the model declined: " + ClipText(Trim(reply.text), 300)};
  }
  return {};
}

// Turns "uniform(-80, 80" into { distribution = "uniform", low = -80, high = 80 }. Returns an empty string for text that
// names no distribution.
std::string DrawnToml(std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return "";
  const std::string name(Trim(text.substr(0, open)));
  const std::optional<Distribution> distribution = DistributionFromName(name);
  if (!distribution || DrawsIntegers(*distribution) || *distribution == Distribution::kSpecial) return "";
  std::vector<std::string> numbers;
  for (std::string_view unparsed = text.substr(open + 1); !Trim(unparsed).empty();) {
    const size_t comma = unparsed.find(',');
    const std::string word(Trim(unparsed.substr(0, comma)));
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0' || !std::isfinite(number)) return "";
    numbers.push_back(fmt::format("{}", number));
    unparsed = comma == std::string_view::npos ? std::string_view() : unparsed.substr(comma + 1);
  }
  // The numbers in parentheses are the values of these fields, in this order.
  std::vector<const char*> fields;
  switch (*distribution) {
    case Distribution::kZero: break;
    case Distribution::kUniform:
    case Distribution::kLogUniform: fields = {"low", "high"}; break;
    case Distribution::kNormal: fields = {"offset", "scale"}; break;
    default: fields = {"scale"}; break;
  }
  if (numbers.size() != fields.size()) return "";
  std::string toml = fmt::format("{{ distribution = \"{}\"", name);
  for (size_t i = 0; i < fields.size(); ++i) toml += fmt::format(", {} = {}", fields[i], numbers[i]);
  return toml + " }";
}

}  // namespace

bool IsUtf8(std::string_view text) { return CheckUtf8(text, "").ok(); }

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

Proposal ParseReply(const ModelReply& reply, std::string_view parent, bool add_prelude) {
  Proposal proposal;
  const auto fail = [&](std::string problem, std::string detail) {
    proposal.problem = std::move(problem);
    proposal.detail = std::move(detail);
    if (proposal.idea.empty()) proposal.idea = "(none named)";
    return proposal;
  };
  const Fault fault = CheckReply(reply);
  if (!fault.problem.empty() && fault.problem != "refused") return fail(fault.problem, fault.detail);
  Parts parts = TakeApart(reply.text);
  proposal.reasoning = ClipText(Trim(parts.prose), kMaxReasoningBytes);
  proposal.widen = std::move(parts.widen);
  proposal.predicted_us = std::move(parts.predicted_us);
  const bool has_idea = !parts.idea.empty();
  if (!has_idea) {  // the first line of its prose stands for it
    const std::string_view prose = Trim(parts.prose);
    parts.idea = std::string(StripMarkup(Trim(prose.substr(0, prose.find('\n')))));
  }
  proposal.idea = ClipText(parts.idea, kMaxIdeaBytes);
  proposal.idea_key = IdeaKey(proposal.idea);
  if (!fault.problem.empty()) return fail(fault.problem, fault.detail);
  if (!parts.unclosed.empty()) {
    const bool cut = reply.finish == FinishReason::kLength;
    return fail(
        cut ? "cut_off" : "unclosed_block",
        fmt::format("{} is not closed{}", parts.unclosed, cut ? ": the reply was cut off at its token limit" : ""));
  }
  if (!parts.edits.empty() || !parts.regions.empty()) {
    // Next to edits, code blocks are illustrations. A whole file together with regions is ambiguous.
    proposal.form = parts.regions.empty() ? "edits" : "regions";
    proposal.source = std::string(parent);
    if (!parts.regions.empty()) {
      for (const std::string& block : parts.code_blocks) {
        if (block.find("/*hone") != std::string::npos) {
          return fail("several_files", "the reply holds a whole file and regions of it: send one or the other");
        }
      }
      RegionResult replaced = ReplaceRegions(parent, parts.regions, add_prelude);
      proposal.source.clear();
      if (!replaced.problem.empty()) return fail(replaced.problem, replaced.detail);
      proposal.source = std::move(replaced.source);
    }
    if (!parts.edits.empty()) {
      EditResult edited = ApplySearchReplace(proposal.source, parts.edits);
      proposal.source.clear();
      if (!edited.problem.empty()) return fail(edited.problem, edited.detail);
      proposal.source = std::move(edited.source);
    }
  } else {
    std::set<std::string> files;
    for (const std::string& block : parts.code_blocks) {
      if (block.find("/*hone") != std::string::npos) files.insert(block);
    }
    if (files.size() > 1) {
      return fail("several_files", fmt::format("the reply holds {} different whole files: send one", files.size()));
    }
    if (std::string bare = BareFile(reply.text); parts.code_blocks.empty() && !bare.empty()) {
      files.insert(std::move(bare));
      proposal.reasoning.clear();
      if (!has_idea) proposal.idea = "a whole file";
      proposal.idea_key = IdeaKey(proposal.idea);
      if (reply.finish == FinishReason::kLength) return fail("cut_off", "the reply was cut off at its token limit");
    }
    if (files.empty()) {
      if (reply.finish == FinishReason::kLength) return fail("cut_off", "the reply was cut off before any whole file");
      const bool bare = parts.code_blocks.empty() && LooksLikeCudaFile(reply.text);
      if (bare || (parts.code_blocks.size() == 1 && LooksLikeCudaFile(parts.code_blocks.front()))) {
        return fail("no_plan",
                    "the reply is a .cu file without a launch plan (/*hone … */ at its top): send the file with its "
                    "plan, or write a line 'REGION: name' above a block that replaces a region");
      }
      if (parts.code_blocks.empty()) {
        return fail("no_code",
                    "the reply holds no code: neither a REGION with its block, nor a search-and-replace block, nor a "
                    "whole file");
      }
      return fail("no_plan",
                  "no code block of the reply opens with a launch plan (/*hone … */), and none follows a line "
                  "'REGION: name': say which region a block replaces, or send the whole file");
    }
    proposal.form = "file";
    proposal.source = *files.begin();
  }
  if (Trim(proposal.source) == Trim(parent)) {
    proposal.source.clear();
    return fail("same_as_parent", "the reply repeats the parent without a change");
  }
  return proposal;
}

Proposal ParseAgentReply(const ModelReply& reply) {
  Proposal proposal;
  const Fault fault = CheckReply(reply);
  const size_t line = reply.text.find('\n');
  std::string_view idea;
  if (!fault.problem.empty() || !IsLabelled(std::string_view(reply.text).substr(0, line), "IDEA", idea) || line == std::string::npos) {
    proposal.idea = "(none named)";
    proposal.problem = fault.problem.empty() ? "no_code" : fault.problem;
    proposal.detail = fault.problem.empty() ? "the reply is not a line 'IDEA: …' and a whole file after it" : fault.detail;
    return proposal;
  }
  proposal.idea = ClipText(Trim(idea), kMaxIdeaBytes);
  proposal.idea_key = IdeaKey(proposal.idea);
  std::string_view source = std::string_view(reply.text).substr(line + 1);
  if (source.starts_with('\n')) source.remove_prefix(1);
  proposal.source = std::string(source);
  proposal.form = "file";
  return proposal;
}

PlanReply ParsePlanReply(const ModelReply& reply, std::string_view parent, bool bound, bool add_prelude) {
  PlanReply plan;
  const auto fail = [&](std::string problem, std::string detail) {
    plan.problem = std::move(problem);
    plan.detail = std::move(detail);
    if (plan.idea.empty()) plan.idea = "(none named)";
    return plan;
  };
  if (Fault fault = CheckReply(reply); !fault.problem.empty()) return fail(fault.problem, fault.detail);
  const std::vector<Region> regions = SplitRegions(parent);
  std::string block;
  const Region* region = nullptr;  // the region that the plan named last
  // Whether the current line is inside a code block, and whether lines of `region` have been quoted.
  bool inside = false, quoted = false;
  // A region without quotes is marked whole when the next one begins, or the plan ends.
  const auto close_region = [&] {
    if (region != nullptr && !quoted) plan.spans.push_back(*RegionSpan(parent, region->name));
  };
  // Returns what is wrong with a block that quotes lines of the region, or an empty string.
  const auto take_quote = [&]() -> Fault {
    const std::string_view body = parent.substr(region->begin, region->end - region->begin);
    const LinesFound lines_found = FindLines(body, block);
    if (lines_found.times == 1) {
      const auto line = [&](size_t offset) {
        return 1 + std::count(parent.begin(), parent.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
      };
      plan.spans.push_back(
          {region->name, line(region->begin + lines_found.begin), line(region->begin + lines_found.end - 1), false});
      quoted = true;
      return {};
    }
    if (lines_found.times > 1) {
      if (!bound) return {};
      return {"anchor_not_unique",
              fmt::format("the lines quoted for region '{}' stand {} times in it: quote more lines around them",
                          region->name, lines_found.times)};
    }
    if (quoted) return {};
    for (const Region& other : regions) {
      if (FindLines(parent.substr(other.begin, other.end - other.begin), block).times == 0) continue;
      return {"anchor_not_found",
              fmt::format("the lines quoted for region '{}' stand in region '{}'", region->name, other.name)};
    }
    return {"anchor_not_found",
            fmt::format("the lines quoted for region '{}' are not in it: {}", region->name, lines_found.near)};
  };
  std::string_view unparsed = reply.text;
  while (!unparsed.empty()) {
    const size_t newline = unparsed.find('\n');
    const std::string_view line_with_newline =
        unparsed.substr(0, newline == std::string_view::npos ? unparsed.size() : newline + 1);
    const std::string_view line = Trim(line_with_newline);
    unparsed.remove_prefix(line_with_newline.size());
    std::string_view value;
    if (line.starts_with("```")) {
      // Without `bound`, only the first block after a region counts.
      if (inside && region != nullptr && !Trim(block).empty() && (bound || !quoted)) {
        if (const Fault fault = take_quote(); !fault.problem.empty()) return fail(fault.problem, fault.detail);
        if (!bound) quoted = true;
      }
      inside = !inside;
      block.clear();
    } else if (inside) {
      block += line_with_newline;
    } else if (plan.idea.empty() && IsLabelled(line, "IDEA", value)) {
      plan.idea = ClipText(value, kMaxIdeaBytes);
    } else if (IsLabelled(line, "REGION", value)) {
      const std::string name = RegionName(value);
      const auto found = std::find_if(regions.begin(), regions.end(), [&](const Region& r) { return r.name == name; });
      const std::optional<PlanSpan> added =
          found == regions.end() && add_prelude && name == "prelude" ? RegionSpan(parent, name, true) : std::nullopt;
      if (found == regions.end() && !added) {
        return fail("unknown_region", fmt::format("the plan names a region '{}' that does not exist; there are: {}",
                                                  name, RegionList(regions)));
      }
      close_region();
      region = added ? nullptr : &*found;
      if (added) plan.spans.push_back(*added);
      quoted = false;
      if (std::find(plan.regions.begin(), plan.regions.end(), name) == plan.regions.end()) plan.regions.push_back(name);
    }
  }
  if (bound && inside) return fail("unclosed_block", "a code block of the plan is not closed");
  close_region();
  plan.spans = bound ? JoinSpans(std::move(plan.spans)) : std::vector<PlanSpan>();
  if (bound && plan.spans.empty()) {
    return fail("no_region", fmt::format("the plan names no region to change, and the coder may change only what it names; "
                                         "write a line 'REGION: name' for each place; there are: {}",
                                         RegionList(regions)));
  }
  if (plan.idea.empty()) {
    const std::string_view text = Trim(reply.text);
    plan.idea = ClipText(StripMarkup(Trim(text.substr(0, text.find('\n')))), kMaxIdeaBytes);
  }
  plan.idea_key = IdeaKey(plan.idea);
  plan.text = ClipText(Trim(reply.text), kMaxMemoBytes);
  return plan;
}

TextReply ParseTextReply(const ModelReply& reply) {
  TextReply text;
  if (Fault fault = CheckReply(reply); !fault.problem.empty()) {
    text.problem = std::move(fault.problem);
    text.detail = std::move(fault.detail);
  } else {
    text.text = ClipText(Trim(reply.text), kMaxMemoBytes);
  }
  return text;
}

CasesReply ParseCasesReply(const ModelReply& reply, const Task& task, size_t most) {
  CasesReply cases;
  if (Fault fault = CheckReply(reply); !fault.problem.empty()) {
    cases.problem = std::move(fault.problem);
    cases.detail = std::move(fault.detail);
    return cases;
  }
  cases.text = ClipText(Trim(reply.text), kMaxMemoBytes);
  std::set<std::pair<Dims, std::map<std::string, std::string>>> known_cases;  // cases that are not new
  for (const Case& c : task.cases) known_cases.insert({c.dims, {}});
  std::string_view unparsed = reply.text;
  while (!unparsed.empty() && cases.cases.size() < most) {
    const size_t newline = unparsed.find('\n');
    const std::string_view line = Trim(unparsed.substr(0, newline));
    unparsed.remove_prefix(newline == std::string_view::npos ? unparsed.size() : newline + 1);
    std::string_view value;
    if (!IsLabelled(line, "CASE", value)) continue;
    Dims dims;
    std::map<std::string, std::string> values;
    bool sound = true;  // every distribution is one that its tensor may have
    size_t at = 0;
    const size_t sizes_end = std::min(value.find(':'), value.size());  // the reason follows the colon
    // Read one NAME=NUMBER or NAME=DISTRIBUTION(…) after another.
    while (at < sizes_end) {
      const size_t equals = value.substr(0, sizes_end).find('=', at);
      if (equals == std::string_view::npos) break;
      size_t begin = equals;
      while (begin > at && (value[begin - 1] == ' ')) --begin;
      size_t name_end = begin;
      while (begin > at && (std::isalnum(static_cast<unsigned char>(value[begin - 1])) || value[begin - 1] == '_'))
        --begin;
      const std::string name(value.substr(begin, name_end - begin));
      const bool case_is_known =
          std::any_of(task.dims.begin(), task.dims.end(), [&](const auto& dim) { return dim.first == name; });
      size_t digit = equals + 1;
      while (digit < value.size() && value[digit] == ' ') ++digit;
      if (const TensorSpec* tensor = case_is_known ? nullptr : task.FindTensor(name)) {
        const size_t close = value.find(')', digit);
        const std::string drawn = close == std::string_view::npos ? "" : DrawnToml(value.substr(digit, close - digit));
        sound = sound && !drawn.empty() && tensor->role != TensorRole::kOut && IsFloating(tensor->dtype);
        if (!sound) break;
        values[name] = drawn;
        at = close + 1;
        continue;
      }
      int64_t number = 0;
      size_t end = digit;
      while (end < value.size() && std::isdigit(static_cast<unsigned char>(value[end])) && number < (1LL << 40)) {
        number = 10 * number + (value[end++] - '0');
      }
      if (!case_is_known || end == digit || dims.contains(name)) break;
      dims[name] = number;
      at = end;
    }
    if (!sound || dims.size() != task.dims.size() || !known_cases.insert({dims, values}).second) continue;
    while (at < value.size() && (value[at] == ':' || value[at] == ' ' || value[at] == '-' || value[at] == ',')) ++at;
    ProposedCase proposed;
    proposed.dims = std::move(dims);
    proposed.values = std::move(values);
    proposed.reason = ClipText(value.substr(at), 200);
    cases.cases.push_back(std::move(proposed));
  }
  if (cases.cases.empty()) {
    std::string example;
    for (const auto& [name, text] : task.dims) example += fmt::format("{}{}=1", example.empty() ? "" : ", ", name);
    cases.problem = "no_cases";
    cases.detail = fmt::format("the reply holds no new case; one line each, every dimension named: 'CASE: {}: why'",
                               example);
  }
  return cases;
}

}  // namespace hone
