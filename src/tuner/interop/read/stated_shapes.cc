// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/stated_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tuner/interop/draft/draft_words.h"

namespace hone {
namespace {

using std::string_view;

const CuFunction* FunctionAt(const CuSource& source, int function) {
  return function < 0 ? nullptr : &source.functions[static_cast<size_t>(function)];
}

std::string TextOf(string_view text, const std::vector<Token>& tokens, size_t first, size_t last) {  // [first, last)
  return first >= last ? "" : std::string(text.substr(tokens[first].begin, tokens[last - 1].end - tokens[first].begin));
}

// The size of a tensor's axis as host code reads it. "x.size(1) / 2" gives axis 1 and factor "2": the axis has twice
// the value of the local.
struct SizeCall {
  int axis = -1;  // -1: numel()
  std::string factor;  // empty: 1
};
// Reads NAME.size(AXIS) at the beginning of an expression's rest; nullopt: it is something else.
std::optional<SizeCall> ReadSizeCall(const std::string& text, const std::string& name) {
  const std::vector<Token> tokens = LexCuda(text);
  for (size_t i = 0; i + 4 < tokens.size() + 1; ++i) {
    if (tokens[i].text != name || i + 3 >= tokens.size() || tokens[i + 1].text != ".") continue;
    SizeCall call;
    size_t end = i + 5;
    if (tokens[i + 2].text == "numel") {
      end = i + 5;
    } else if ((tokens[i + 2].text == "size" || tokens[i + 2].text == "sizes") && i + 5 < tokens.size() &&
               tokens[i + 4].kind == TokenKind::kNumber) {
      call.axis = std::atoi(std::string(tokens[i + 4].text).c_str());
      end = i + 6;
    } else {
      return std::nullopt;
    }
    // Only casts and a division by a number may stand around the call.
    while (end < tokens.size() && tokens[end].text == ")") ++end;
    if (end == tokens.size()) return call;
    if (end + 2 == tokens.size() && tokens[end].text == "/" && tokens[end + 1].kind == TokenKind::kNumber) {
      call.factor = std::string(tokens[end + 1].text);
      return call;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

// Returns the PyTorch function that makes the local `name` ("empty", "zeros", "empty_like"), and the text of its
// arguments.
std::optional<std::pair<std::string, std::string>> FactoryCall(const CuFunction& f, const std::string& name) {
  const auto local = f.locals.find(name);
  if (local == f.locals.end()) return std::nullopt;
  const std::vector<Token> tokens = LexCuda(local->second);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i + 1].text != "(" || tokens[i + 1].match < 0) continue;
    static const std::set<string_view> kFactories = {"empty", "zeros", "ones", "full", "empty_like", "zeros_like"};
    if (kFactories.count(tokens[i].text) == 0) continue;
    return std::pair{std::string(tokens[i].text),
                     TextOf(local->second, tokens, i + 2, static_cast<size_t>(tokens[i + 1].match))};
  }
  return std::nullopt;
}

struct Comment {
  size_t begin = 0, end = 0;  // bytes of one line of it
};

// Returns the lines of the file's comments.
std::vector<Comment> CommentLines(const CuSource& source) {
  std::vector<Comment> lines;
  const auto gap = [&](size_t begin, size_t end) {
    const string_view text = string_view(source.text).substr(begin, end - begin);
    if (text.find("//") == string_view::npos && text.find("/*") == string_view::npos) return;
    for (size_t at = begin; at < end;) {
      const size_t line_end = std::min(source.text.find('\n', at), end);
      if (at < line_end) lines.push_back({at, line_end});
      at = line_end == std::string::npos ? end : line_end + 1;
    }
  };
  size_t previous = 0;
  for (const Token& t : source.tokens) {
    gap(previous, t.begin);
    previous = t.end;
  }
  gap(previous, source.text.size());
  return lines;
}

// Returns the names that a comment's shape at position `at` of `line` belongs to: {q, k} for "q, k: [". `parenthesis`:
// the shape is in round brackets, which are taken for a shape only behind a colon, "=", "is" or "shape".
std::set<std::string> NamesBeforeShape(string_view line, size_t at, bool parenthesis) {
  std::vector<Token> before = LexCuda(line.substr(0, at));
  bool introduced = false;  // a colon, an equals sign or "shape"
  while (!before.empty()) {
    const string_view word = before.back().text;
    if (word == ":" || word == "=" || word == "-" || word == "shape" || word == "is" || word == "of") {
      introduced = true;
      before.pop_back();
    } else {
      break;
    }
  }
  std::set<std::string> names;
  if (parenthesis && !introduced) return names;
  while (!before.empty() && before.back().kind == TokenKind::kIdentifier) {
    names.insert(std::string(before.back().text));
    before.pop_back();
    if (before.empty() || (before.back().text != "," && before.back().text != "and")) break;
    before.pop_back();
  }
  return names;
}

}  // namespace

std::optional<StatedShape> ShapeFromHost(const CuSource& source, int function, const std::string& name) {
  const CuFunction* f = FunctionAt(source, function);
  if (f == nullptr) return std::nullopt;
  if (const auto factory_call = FactoryCall(*f, name)) {
    const auto& [how, inside] = *factory_call;
    if (how.ends_with("_like")) {
      const std::vector<std::string> arguments = SplitCommas(inside);
      if (!arguments.empty() && arguments[0] != name) return ShapeFromHost(source, function, arguments[0]);
    } else if (inside.starts_with("{")) {
      const size_t close = inside.find('}');
      StatedShape shape{SplitCommas(inside.substr(1, close - 1)), "torch::" + how};
      if (!shape.extents.empty()) return shape;
    }
  }
  std::map<int, std::string> axes;
  for (const auto& [local, text] : f->locals) {
    const std::optional<SizeCall> call = ReadSizeCall(text, name);
    if (!call) continue;
    const std::string extent = call->factor.empty() ? local : call->factor + " * " + local;
    if (call->axis < 0) return StatedShape{{extent}, name + ".numel()"};
    axes.emplace(call->axis, extent);
  }
  StatedShape shape{{}, name + ".size()"};
  for (const auto& [axis, extent] : axes) {
    if (axis != static_cast<int>(shape.extents.size())) return std::nullopt;
    shape.extents.push_back(extent);
  }
  if (shape.extents.empty()) return std::nullopt;
  return shape;
}

std::vector<StatedShape> ShapesFromComments(const CuSource& source, const std::string& name) {
  std::vector<StatedShape> shapes;
  for (const Comment& c : CommentLines(source)) {
    const string_view line = string_view(source.text).substr(c.begin, c.end - c.begin);
    for (size_t at = 0; at < line.size(); ++at) {
      const char open = line[at];
      if (open != '[' && open != '(') continue;
      const size_t close = line.find(open == '[' ? ']' : ')', at);
      if (close == string_view::npos) break;
      // Skips the comment's // or /*.
      const size_t text_begin = line.find_first_not_of(" \t/*");
      std::set<std::string> subjects;
      if (text_begin < at) {
        subjects = NamesBeforeShape(line.substr(text_begin), at - text_begin, open == '(');
      } else if (text_begin == at) {
        // A comment behind a parameter speaks of the last name before it.
        for (size_t i = source.tokens.size(); i-- > 0;) {
          const Token& t = source.tokens[i];
          if (t.end > c.begin || t.kind != TokenKind::kIdentifier) continue;
          const string_view between = string_view(source.text).substr(t.end, c.begin - t.end);
          if (between.find('\n') == string_view::npos) subjects.insert(std::string(t.text));
          break;
        }
      }
      if (subjects.count(name) == 0) continue;
      const auto number = 1 + std::count(source.text.begin(), source.text.begin() + static_cast<long>(c.begin), '\n');
      StatedShape shape{SplitCommas(std::string(line.substr(at + 1, close - at - 1))),
                        fmt::format("a comment in line {}", number)};
      if (!shape.extents.empty()) shapes.push_back(std::move(shape));
    }
  }
  return shapes;
}

std::optional<StatedShape> ElementsFromHost(const CuSource& source, int function, const std::string& name) {
  for (const CuHostCall& call : source.calls) {
    if (call.function != function || call.arguments.empty()) continue;
    std::string pointer, bytes;
    for (const Token& t : LexCuda(call.arguments[0])) {
      if (t.kind == TokenKind::kIdentifier) pointer = std::string(t.text);
    }
    if (pointer != name) continue;
    if (call.name.starts_with("cudaMalloc") && call.arguments.size() > 1) bytes = call.arguments[1];
    if (call.name.starts_with("cudaMemset") && call.arguments.size() > 2) bytes = call.arguments[2];
    // The number of elements is what remains of the product n * sizeof(float).
    const std::vector<Token> tokens = LexCuda(bytes);
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i].text != "sizeof" || tokens[i + 1].match < 0) continue;
      const auto close = static_cast<size_t>(tokens[i + 1].match);
      const bool last = close + 1 == tokens.size();
      const bool front = i == 0 && close + 1 < tokens.size() && tokens[close + 1].text == "*";
      if (i == 0 && last) return StatedShape{{"1"}, call.name};
      if (front) return StatedShape{{TextOf(bytes, tokens, close + 2, tokens.size())}, call.name};
      if (last && tokens[i - 1].text == "*") return StatedShape{{TextOf(bytes, tokens, 0, i - 1)}, call.name};
    }
  }
  return std::nullopt;
}

std::string MadeBy(const CuSource& source, int function, const std::string& name) {
  const CuFunction* f = FunctionAt(source, function);
  const auto factory_call = f == nullptr ? std::nullopt : FactoryCall(*f, name);
  return factory_call ? factory_call->first : "";
}

}  // namespace hone
