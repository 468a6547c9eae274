// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/python_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace hone {
namespace {

using std::string_view;

struct PythonString {
  int line = 0;        // line of its first character
  std::string prefix;  // "", "r", "f", …, in small letters
  std::string text;    // text between the quotes
  string_view after;   // rest of the file
};

bool NameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the string literals of a Python file, in order.
std::vector<PythonString> PythonStrings(string_view text) {
  std::vector<PythonString> literals;
  int line = 1;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (c == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
      continue;
    }
    if (c != '"' && c != '\'') {
      ++i;
      continue;
    }
    PythonString one;
    size_t word = i;
    while (word > 0 && NameCharacter(text[word - 1])) --word;
    if (i - word <= 2) one.prefix = std::string(text.substr(word, i - word));
    std::transform(one.prefix.begin(), one.prefix.end(), one.prefix.begin(),
                   [](unsigned char p) { return static_cast<char>(std::tolower(p)); });
    const std::string triple(3, c);
    const bool long_one = text.substr(i, 3) == triple;
    const size_t begin = i + (long_one ? 3 : 1);
    size_t end = begin;
    while (end < text.size()) {
      if (text[end] == '\\') {
        end += 2;
        continue;
      }
      if (long_one ? text.substr(end, 3) == triple : text[end] == c || text[end] == '\n') break;
      ++end;
    }
    end = std::min(end, text.size());
    one.line = line;
    one.text = std::string(text.substr(begin, end - begin));
    line += static_cast<int>(std::count(one.text.begin(), one.text.end(), '\n'));
    i = std::min(text.size(), end + (long_one ? 3 : end < text.size() && text[end] == c ? 1 : 0));
    one.after = text.substr(i);
    literals.push_back(std::move(one));
  }
  return literals;
}

// Returns a literal's value, with Python's escapes.
std::string Value(const PythonString& literal) {
  if (literal.prefix.find('r') != std::string::npos) return literal.text;
  std::string out;
  for (size_t i = 0; i < literal.text.size(); ++i) {
    const char c = literal.text[i];
    if (c != '\\' || i + 1 == literal.text.size()) {
      out += c;
      continue;
    }
    const char escaped = literal.text[++i];
    switch (escaped) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case '\n':
        break;
      case '\\':
      case '"':
      case '\'':
        out += escaped;
        break;
      default:
        out += c;
        out += escaped;
    }
  }
  return out;
}

bool HoldsCuda(const std::string& text) {
  return text.find("__global__") != std::string::npos || text.find("<<<") != std::string::npos ||
         text.find("__device__") != std::string::npos;
}

}  // namespace

bool LooksLikePython(string_view text, string_view file) {
  if (file.ends_with(".py")) return true;
  if (file.ends_with(".cu") || file.ends_with(".cuh")) {
    if (text.find("load_inline") == string_view::npos) return false;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const string_view line = text.substr(at, end - at);
    const bool from = line.starts_with("from ") && line.find(" import ") != string_view::npos;
    if (from || (line.starts_with("import ") && line.find(';') == string_view::npos)) return true;
    at = end + 1;
  }
  return false;
}

Result<std::string> CudaFromPython(string_view text, string_view file) {
  std::string out;
  int line = 1;
  for (const PythonString& literal : PythonStrings(text)) {
    if (!HoldsCuda(literal.text)) continue;
    const size_t after_blanks = literal.after.find_first_not_of(" \t");
    const string_view after = after_blanks == string_view::npos ? string_view() : literal.after.substr(after_blanks);
    if (literal.prefix.find('f') != std::string::npos || after.starts_with(".") || after.starts_with("%")) {
      return Status::InvalidArgument(
          fmt::format("{}:{}: this CUDA source is put together by Python ({}): only Python knows what it becomes. "
                      "Print it to a .cu "
                      "file and give that with --from",
                      file, literal.line,
                      literal.prefix.find('f') != std::string::npos ? "an f-string" : "a method or % follows it"));
    }
    while (line < literal.line) {
      out += '\n';
      ++line;
    }
    const std::string value = Value(literal);
    out += value;
    out += '\n';
    line += static_cast<int>(std::count(value.begin(), value.end(), '\n')) + 1;
  }
  if (out.empty()) {
    return Status::InvalidArgument(fmt::format(
        "{}: this is Python, and no string in it holds CUDA (a __global__ function): give the .cu file that it "
        "builds, or the file that holds the kernel's text",
        file));
  }
  return out;
}

}  // namespace hone
