// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/compile/host_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace hone {
namespace {

using std::string_view;

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the text with comments, strings and character literals replaced by blanks. Line ends stay where they are.
std::string WithoutComments(string_view source) {
  std::string text(source);
  const auto blank = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < std::min(end, text.size()); ++i) {
      if (text[i] != '\n') text[i] = ' ';
    }
    return std::min(end, text.size());
  };
  for (size_t i = 0; i < text.size();) {
    if (source.substr(i, 2) == "//") {
      i = blank(i, source.find('\n', i));
    } else if (source.substr(i, 2) == "/*") {
      const size_t close = source.find("*/", i + 2);
      i = blank(i, close == string_view::npos ? close : close + 2);
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !IsWord(source[i - 1])))) {
      size_t end = i + 1;  // a quote after a digit separates digits: 1'000
      while (end < source.size() && source[end] != source[i] && source[end] != '\n') end += source[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return text;
}

// Returns where `word` stands in the text as the begin of a name; npos: nowhere. "cudaMalloc" finds cudaMallocAsync
// too.
size_t FindName(string_view text, string_view word) {
  for (size_t at = text.find(word); at != string_view::npos; at = text.find(word, at + 1)) {
    if (at == 0 || !IsWord(text[at - 1])) return at;
  }
  return string_view::npos;
}

// Returns the sign by which an item of the file is host code, as a reader would call it; empty: it is none.
std::string SignOfHostCode(string_view item) {
  if (item.find("<<<") != string_view::npos) return "a <<<…>>> launch";
  for (const string_view name :
       {"cudaMalloc", "cudaMemcpy", "cudaMemset", "cudaFree", "cudaDeviceSynchronize", "cudaStream", "cudaEvent",
        "cudaGetLastError", "cudaLaunchKernel", "cudaSetDevice", "cudaFuncSetAttribute", "std::vector", "std::cout",
        "std::string", "torch::", "at::Tensor", "PYBIND11_MODULE"}) {
    if (FindName(item, name) != string_view::npos) return std::string(name);
  }
  return "";
}

// Returns the name of the function that the item defines: the word before its first parenthesis. Empty: none.
std::string FunctionName(string_view item) {
  const size_t open = item.find('(');
  if (open == string_view::npos || item.find('{', open) == string_view::npos) return "";
  size_t end = open;
  while (end > 0 && std::isspace(static_cast<unsigned char>(item[end - 1])) != 0) --end;
  size_t begin = end;
  while (begin > 0 && IsWord(item[begin - 1])) --begin;
  return std::string(item.substr(begin, end - begin));
}

// A HostItem is a top-level definition that only a host can compile.
struct HostItem {
  std::string name;  // "'main'"; of something that is no function, its sign
  std::string sign;
  long first = 0, last = 0;  // lines, counted from 1
};

class Finder {
 public:
  explicit Finder(string_view text) : text_(text) {}

  // Cuts the text into top-level items. Blocks of namespaces and of extern "C" are looked through.
  std::vector<HostItem> Run() {
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '#' && depth == 0 && text_.substr(begin, i - begin).find_first_not_of(" \t\r\n") == string_view::npos) {
        i = std::min(text_.find('\n', i), text_.size());
        begin = i;
      } else if (c == '{') {
        const string_view before = text_.substr(begin, i - begin);
        if (depth == 0 && before.find('(') == string_view::npos &&
            (FindName(before, "namespace") != string_view::npos || FindName(before, "extern") != string_view::npos)) {
          begin = i + 1;
        } else {
          ++depth;
        }
      } else if (c == '}') {
        if (depth > 0 && --depth > 0) continue;
        ReadItem(begin, i + 1);
        begin = i + 1;
      } else if (c == ';' && depth == 0) {
        ReadItem(begin, i + 1);
        begin = i + 1;
      }
    }
    return std::move(items_);
  }

 private:
  long LineOf(size_t at) const {
    return 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  }

  // Notes the item if it is host code: a function, or something that a candidate may not hold.
  void ReadItem(size_t begin, size_t end) {
    while (begin < end && std::isspace(static_cast<unsigned char>(text_[begin])) != 0) ++begin;
    const string_view item = text_.substr(begin, end - begin);
    if (FindName(item, "__global__") != string_view::npos || FindName(item, "__device__") != string_view::npos) return;
    const std::string name = FunctionName(item);
    const std::string sign = SignOfHostCode(item);
    if (sign.empty() && name != "main") return;
    items_.push_back({name.empty() ? sign : fmt::format("'{}'", name), sign, LineOf(begin), LineOf(end - 1)});
  }

  string_view text_;
  std::vector<HostItem> items_;
};

}  // namespace

std::string HostCodeAdvice(string_view source, string_view file) {
  const std::string text = WithoutComments(source);
  const std::vector<HostItem> items = Finder(text).Run();
  if (items.empty()) return "";
  constexpr size_t kMostShown = 4;  // items that a message names
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(items.size(), kMostShown); ++i) {
    const HostItem& item = items[i];
    shown.push_back(item.first == item.last ? fmt::format("{} in line {}", item.name, item.first)
                                            : fmt::format("{} in lines {} to {}", item.name, item.first, item.last));
  }
  if (items.size() > kMostShown) shown.push_back(fmt::format("{} more", items.size() - kMostShown));
  const std::string& sign = items.front().sign;
  return fmt::format(
      "{}:{}: this is host code{}. A candidate holds only its launch plan and device code (kernels, and the device "
      "functions, types and constants that they use), because Hone allocates, launches and times itself. Delete {}, "
      "and "
      "the #include lines that only host code needs.\n",
      file, items.front().first, sign.empty() || sign == items.front().name ? "" : fmt::format(" ({})", sign),
      fmt::join(shown, ", "));
}

}  // namespace hone
