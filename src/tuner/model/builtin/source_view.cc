// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/builtin/source_view.h"

#include <algorithm>
#include <array>
#include <set>

namespace hone {
namespace {

// Types for which CUDA defines __ldg, __ldcs and __stcs.
constexpr std::array<std::string_view, 38> kHintTypes{
    "float",          "float2",   "float4",    "double",       "double2",       "int",
    "int2",           "int4",     "unsigned",  "unsigned int", "uint2",         "uint4",
    "uint32_t",       "int32_t",  "long long", "int64_t",      "uint64_t",      "unsigned long long",
    "short",          "short2",   "short4",    "ushort2",      "ushort4",       "char2",
    "char4",          "uchar2",   "uchar4",    "signed char",  "unsigned char", "unsigned short",
    "__half",         "half",     "__half2",   "half2",        "__nv_bfloat16", "nv_bfloat16",
    "__nv_bfloat162", "longlong2"};

bool IsOperandEnd(const Token& t) {
  return t.kind == TokenKind::kIdentifier ? !(Is(t, "return") || Is(t, "else") || Is(t, "case"))
                                          : t.kind == TokenKind::kNumber || Is(t, ")") || Is(t, "]");
}

bool IsCast(const Token& t) { return Is(t, "reinterpret_cast") || Is(t, "static_cast"); }

// Returns the type between tokens [first, last), without const and stars.
std::string TypeText(const std::vector<Token>& tokens, int first, int last) {
  std::string type;
  for (int i = first; i < last; ++i) {
    const Token& t = tokens[static_cast<size_t>(i)];
    if (Is(t, "const") || Is(t, "*") || Is(t, "volatile")) continue;
    if (!type.empty() && t.kind == TokenKind::kIdentifier && type.back() != ':') type += ' ';
    type += t.text;
  }
  return type;
}

bool HasToken(const std::vector<Token>& tokens, int first, int last, std::string_view text) {
  for (int i = first; i < last; ++i) {
    if (Is(tokens[static_cast<size_t>(i)], text)) return true;
  }
  return false;
}

}  // namespace

std::string BaseName(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.find('<'));
  const size_t colon = kernel.rfind(':');
  if (colon != std::string_view::npos) kernel.remove_prefix(colon + 1);
  while (!kernel.empty() && kernel.back() == ' ') kernel.remove_suffix(1);
  return std::string(kernel);
}

Result<SourceView> SourceView::Make(const Candidate& candidate, const Task& task) {
  SourceView view;
  view.candidate_ = &candidate;
  view.task_ = &task;
  view.tokens_ = LexCuda(candidate.source);
  view.kernels_ = FindKernels(view.tokens_);
  HONE_ASSIGN_OR_RETURN(view.plan_, FindPlan(candidate.source));
  return view;
}

std::vector<size_t> SourceView::EntriesOf(const KernelText& kernel) const {
  std::vector<size_t> lines;
  const std::vector<PlanEntry>& entries = candidate_->plan.entries;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].is_launch() && BaseName(entries[i].kernel) == kernel.name) lines.push_back(i);
  }
  return lines;
}

const TensorSpec* SourceView::TensorOf(const KernelText& kernel, int parameter) const {
  const TensorSpec* tensor = nullptr;
  for (const size_t entry : EntriesOf(kernel)) {
    const std::vector<Argument>& args = candidate_->plan.entries[entry].args;
    if (static_cast<size_t>(parameter) >= args.size()) return nullptr;
    const Argument& argument = args[static_cast<size_t>(parameter)];
    if (argument.kind != ArgumentKind::kTensor) return nullptr;
    const TensorSpec* tensor_here = task_->FindTensor(argument.name);
    if (tensor_here == nullptr || (tensor != nullptr && tensor_here != tensor)) return nullptr;
    tensor = tensor_here;
  }
  return tensor;
}

bool SourceView::ParametersAreDistinct(const KernelText& kernel) const {
  for (const size_t entry : EntriesOf(kernel)) {
    std::set<std::string> storage;
    for (const Argument& argument : candidate_->plan.entries[entry].args) {
      if (argument.kind != ArgumentKind::kTensor && argument.kind != ArgumentKind::kWorkspace) continue;
      std::string name = argument.name;
      if (const TensorSpec* tensor = task_->FindTensor(name); tensor != nullptr && !tensor->alias.empty()) {
        name = tensor->alias;
      }
      if (!storage.insert(name).second) return false;
    }
  }
  return true;
}

std::vector<GlobalPointer> SourceView::Pointers(const KernelText& kernel) const {
  std::vector<GlobalPointer> pointers;
  for (size_t p = 0; p < kernel.parameters.size(); ++p) {
    const KernelParameter& parameter = kernel.parameters[p];
    if (!parameter.pointer || parameter.name < 0) continue;
    pointers.push_back({std::string(token(parameter.name).text), static_cast<int>(p), kernel.body_open,
                        parameter.pointee, parameter.to_const});
  }
  for (int i = kernel.body_open + 1; i < kernel.body_close; ++i) {
    if (!StartsStatement(i) || token(i).kind != TokenKind::kIdentifier) continue;
    // [const] TYPE [const] * [const] [__restrict__] NAME = EXPRESSION ;
    int star = -1, equals = -1;
    bool is_plain = true;
    for (int j = i; j < kernel.body_close && equals < 0 && is_plain; ++j) {
      const Token& t = token(j);
      if (Is(t, "="))
        equals = j;
      else if (Is(t, "*") && star < 0)
        star = j;
      else if (t.kind != TokenKind::kIdentifier && !Is(t, "::"))
        is_plain = false;
    }
    if (!is_plain || star < 0 || equals < 0 || star == i || token(equals - 1).kind != TokenKind::kIdentifier) continue;
    int end = equals;
    while (end < kernel.body_close && !Is(token(end), ";"))
      end = token(end).match > end ? token(end).match + 1 : end + 1;
    int parameter = -1;
    bool several = false;
    std::string cast_type;
    for (int j = equals + 1; j < end; ++j) {
      if (IsCast(token(j)) && Is(token(j + 1), "<") && cast_type.empty()) {
        int close = j + 2;
        while (close < end && !Is(token(close), ">")) ++close;
        cast_type = TypeText(tokens_, j + 2, close);
      }
      for (const GlobalPointer& pointer : pointers) {
        if (!Is(token(j), pointer.name) || Is(token(j - 1), ".") || Is(token(j - 1), "->")) continue;
        several = several || (parameter >= 0 && parameter != pointer.parameter);
        parameter = pointer.parameter;
      }
    }
    if (parameter < 0 || several) continue;
    GlobalPointer pointer;
    pointer.name = std::string(token(equals - 1).text);
    pointer.parameter = parameter;
    pointer.declared = end;
    pointer.type = TypeText(tokens_, i, star);
    if (pointer.type == "auto") pointer.type = cast_type;
    pointer.to_const = HasToken(tokens_, i, star, "const");
    pointers.push_back(std::move(pointer));
  }
  return pointers;
}

std::vector<GlobalAccess> SourceView::Accesses(const KernelText& kernel) const {
  const std::vector<GlobalPointer> pointers = Pointers(kernel);
  const auto find = [&](std::string_view name, int at) -> const GlobalPointer* {
    const GlobalPointer* global_pointer = nullptr;
    for (const GlobalPointer& p : pointers) {
      if (p.name == name && p.declared <= at) global_pointer = &p;
    }
    return global_pointer;
  };
  std::vector<GlobalAccess> accesses;
  for (int i = kernel.body_open + 1; i < kernel.body_close; ++i) {
    GlobalAccess access;
    access.first = i;
    int at = i;
    if (IsCast(token(i)) && Is(token(i), "reinterpret_cast") && Is(token(i + 1), "<")) {
      int close = i + 2;
      while (close < kernel.body_close && !Is(token(close), ">")) ++close;
      const int open = close + 1;
      if (open >= kernel.body_close || !Is(token(open), "(") || token(open).match < 0 || !Is(token(close - 1), "*"))
        continue;
      access.type = TypeText(tokens_, i + 2, close);
      int parameter = -1;
      bool several = false;
      for (int j = open + 1; j < token(open).match; ++j) {
        const GlobalPointer* p = find(token(j).text, j);
        if (p == nullptr || Is(token(j + 1), "[") || Is(token(j - 1), ".") || Is(token(j - 1), "->")) continue;
        several = several || (parameter >= 0 && parameter != p->parameter);
        parameter = p->parameter;
      }
      if (parameter < 0 || several) continue;
      access.parameter = parameter;
      at = token(open).match;
      if (Is(token(at + 1), "[")) {
        access.index_first = at + 2;
        at = token(at + 1).match;
        access.index_last = at - 1;
      } else if (Is(token(i - 1), "*") && !IsOperandEnd(token(i - 2))) {
        access.dereference = true;
        access.first = i - 1;
      } else {
        continue;
      }
    } else if (token(i).kind == TokenKind::kIdentifier && Is(token(i + 1), "[") && token(i + 1).match > 0) {
      if (Is(token(i - 1), ".") || Is(token(i - 1), "->") || Is(token(i - 1), "::")) continue;
      const GlobalPointer* pointer = find(token(i).text, i);
      if (pointer == nullptr) continue;
      access.pointer = pointer->name;
      access.parameter = pointer->parameter;
      access.type = pointer->type;
      access.index_first = i + 2;
      at = token(i + 1).match;
      access.index_last = at - 1;
    } else {
      continue;
    }
    if (at < 0) continue;
    access.last = at;
    const Token& before = token(access.first - 1);
    if (Is(before, "&") && !IsOperandEnd(token(access.first - 2))) continue;  // an address, not an access
    if (Is(before, "++") || Is(before, "--")) continue;
    int after = at + 1;
    while (Is(token(after), ".")) after += 2;  // a member of a vector
    const std::string_view next_token = token(after).text;
    if (next_token == "++" || next_token == "--" ||
        (next_token.size() > 1 && next_token.back() == '=' && next_token != "==" && next_token != "!=" &&
         next_token != "<=" && next_token != ">=")) {
      continue;  // read and written at once
    }
    if (next_token == "=") {
      if (after != at + 1 || !StartsStatement(access.first)) continue;
      int end = after;
      while (end < kernel.body_close && !Is(token(end), ";"))
        end = token(end).match > end ? token(end).match + 1 : end + 1;
      access.store = true;
      access.value_first = after + 1;
      access.value_last = end - 1;
      if (HasToken(tokens_, access.value_first, end, "=")) continue;  // a = b = c
    }
    accesses.push_back(std::move(access));
  }
  return accesses;
}

bool SourceView::HasCacheHints(std::string_view type) const {
  const auto known = [](std::string_view t) {
    return std::find(kHintTypes.begin(), kHintTypes.end(), t) != kHintTypes.end();
  };
  std::string name(type);
  for (int depth = 0; depth < 4; ++depth) {
    if (known(name)) return true;
    // using NAME = …; every definition of that name in the file must qualify, because the relevant one is unknown.
    std::string member;
    int definitions = 0, good = 0, members = 0;
    for (int i = 0; i + 2 < static_cast<int>(tokens_.size()); ++i) {
      if (!Is(token(i), "using") || !Is(token(i + 1), name) || !Is(token(i + 2), "=")) continue;
      int end = i + 3;
      while (end < static_cast<int>(tokens_.size()) && !Is(token(end), ";")) ++end;
      ++definitions;
      if (known(TypeText(tokens_, i + 3, end)))
        ++good;
      else if (Is(token(i + 3), "typename") && (member.empty() || Is(token(end - 1), member))) {
        member = std::string(token(end - 1).text);
        ++members;
      }
    }
    if (definitions == 0) return false;
    if (good == definitions) return true;
    if (members != definitions) return false;
    name = member;  // typename Pack<kWidth>::Type: look at every `using Type = …;`
  }
  return false;
}

int SourceView::EnclosingBrace(int i) const {
  for (int j = i - 1; j >= 0; --j) {
    if (Is(token(j), "}") && token(j).match >= 0)
      j = token(j).match;
    else if (Is(token(j), "{"))
      return j;
  }
  return -1;
}

// Returns whether a statement begins with token `i`.
bool SourceView::StartsStatement(int i) const {
  if (i == 0) return true;
  const Token& before = token(i - 1);
  if (before.kind == TokenKind::kDirective || Is(before, ";") || Is(before, "{") || Is(before, "}") ||
      Is(before, "else")) {
    return true;
  }
  if (!Is(before, ")") || before.match < 1) return false;
  const Token& head = token(before.match - 1);
  return Is(head, "if") || Is(head, "for") || Is(head, "while") || Is(head, "constexpr");
}

}  // namespace hone
