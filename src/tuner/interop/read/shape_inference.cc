// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/shape_inference.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/interop/read/device_calls.h"
#include "tuner/interop/read/plan_expression.h"
#include "tuner/interop/read/pointer_declarations.h"

namespace hone {
namespace {

using TokenTexts = std::vector<std::string>;
constexpr int kMaxDepth = 12;  // names that stand for names, one after another; beyond it, they stand for each other
constexpr size_t kMostSummands = 64;  // of an index whose locals were expanded

TokenTexts Split(const std::string& text) {
  TokenTexts token_texts;
  for (const Token& t : LexCuda(text)) token_texts.emplace_back(t.text);
  return token_texts;
}
std::string Join(const TokenTexts& token_texts) {
  std::string text;
  for (const std::string& w : token_texts) text += (text.empty() ? "" : " ") + w;
  return text;
}

// A summand of an index, split into its factors: those that are sizes or numbers, and the others.
struct Term {
  TokenTexts sizes;
  TokenTexts others;  // each a word or a parenthesised expression
};

// Infers from a kernel's body how it uses its pointers. Positions are indices of tokens.
class BodyReader {
 public:
  BodyReader(const CuSource& source, const CuKernel& kernel, const KernelBounds& bounds)
      : s_(source), k_(kernel), bounds_(bounds) {
    BlockEnds();
    CollectDefinitions();
    CollectLimits();
  }

  std::map<std::string, PointerUse> Run() {
    std::map<std::string, PointerUse> uses;
    for (const CuParameter& p : k_.parameters) {
      if (p.pointer) uses[p.name] = {};
    }
    // Finds pointers that are derived from parameters: const float* row = x + r * d. The same name may be another
    // pointer in another block.
    for (const auto& [name, use] : uses) derived_[name] = {{k_.body_open, k_.body_close, name, {}}};
    const auto followed = [&](int k) { return Pointer(Word(k), k) != nullptr; };
    for (int i = k_.body_open + 1; i < k_.body_close; ++i) {
      if (IsIdentifier(i) && !IsToken(i - 1, ".") && followed(i)) NoteMove(i);
      const std::optional<PointerDeclaration> declared = PointerDeclarationAt(s_, i, k_.body_close, followed);
      if (!declared) continue;
      const int name = declared->name, end = declared->end;
      const std::string base = Word(declared->base);
      const std::string parameter = Pointer(base, i)->parameter;
      TokenTexts offset = Pointer(base, i)->offset;
      bool vector = false, understood = true;
      // Reads the offset e from base + e, &base[e] or reinterpret_cast<T*>(base + e).
      int k = name + 2;
      TokenTexts after;
      bool seen = false;
      int depth_paren = 0;
      for (; k < end; ++k) {
        if (IsToken(k, "reinterpret_cast")) vector = true;
        if (IsToken(k, base.c_str()) && !seen) {
          seen = true;
          if (IsToken(k + 1, "[") && At(k + 1).match > 0) {
            for (int j = k + 2; j < At(k + 1).match; ++j) after.push_back(Word(j));
            break;
          }
          int j = k + 1;
          for (; j < end; ++j) {
            if (IsToken(j, "(")) ++depth_paren;
            if (IsToken(j, ")") && --depth_paren < 0) break;
            after.push_back(Word(j));
          }
          if (!after.empty() && after[0] == "+")
            after.erase(after.begin());
          else if (!after.empty())
            understood = false;
          break;
        }
      }
      if (vector) uses[parameter].vector_access = true;
      if (!understood) after = {"?"};
      if (!after.empty()) {
        if (!offset.empty()) offset.push_back("+");
        offset.insert(offset.end(), after.begin(), after.end());
      }
      derived_[Word(name)].push_back({name, BlockEnd(name), parameter, vector ? TokenTexts{"?"} : offset});
      skip_.insert({i, end});
    }
    for (int i = k_.body_open + 1; i < k_.body_close; ++i) {
      if (!IsIdentifier(i) || IsToken(i - 1, ".") || IsToken(i - 1, "->")) continue;
      const DerivedPointer* derived_pointer = Pointer(Word(i), i);
      if (derived_pointer == nullptr) continue;
      PointerUse& use = uses[derived_pointer->parameter];
      int access_end = -1;
      TokenTexts index = derived_pointer->offset;
      if (IsToken(i + 1, "[") && At(i + 1).match > 0) {
        access_end = At(i + 1).match;
        if (!index.empty()) index.push_back("+");
        for (int k = i + 2; k < access_end; ++k) index.push_back(Word(k));
      } else {
        bool in_definition = false;
        for (const auto& [a, b] : skip_) in_definition = in_definition || (i > a && i < b);
        if (in_definition) continue;
        // The pointer is passed to a function, dereferenced by *, or cast and then indexed: reinterpret_cast<T*>(x)[i].
        int k = i;
        while (k < k_.body_close && !IsToken(k, ")")) ++k;
        const bool steps = IsToken(i + 1, "++") || IsToken(i + 1, "--");  // *out++ = …
        const int behind = steps || (IsToken(i - 2, "(") && IsToken(i + 1, ")")) ? i + 2 : i + 1;
        if (IsToken(k + 1, "[") && At(k + 1).match > 0) {
          access_end = At(k + 1).match;
          use.vector_access = true;
          index = {"?"};
        } else {
          // Atomics both read and write. A call of a function of the file has the effects of that function's body.
          const bool product = IsIdentifier(i - 2) || IsToken(i - 2, ")") || IsToken(i - 2, "]");
          if (IsAtomic(i)) {
            use.read = use.written = true;
          } else if (IsToken(i - 1, "*") && (!product || IsAssignment(behind))) {
            NoteEffect(behind, use);  // *name = …
          } else {
            use.elsewhere = true;
            NoteCall(i, use);
            continue;
          }
          if (index.empty()) index = {"0"};
          access_end = i;
          NoteAccess(index, !steps, i, use, uses);
          continue;
        }
      }
      const bool atomic = IsAtomic(i);
      int after = access_end + 1;
      while (IsToken(after, ".") || (IsIdentifier(after) && IsToken(after - 1, "."))) ++after;
      if (atomic) {
        use.read = use.written = true;
      } else if (IsToken(i - 1, "&") && !IsToken(i - 2, ")") && !IsIdentifier(i - 2)) {
        NoteCall(i, use);  // f(&x[i])
      } else {
        NoteEffect(after, use);
      }
      NoteAccess(index, /*stays=*/true, i, use, uses);
    }
    MarkIndices(uses);
    FindNegativeElements(uses);
    return uses;
  }

 private:
  const Token& At(int i) const { return s_.token(i); }
  bool IsToken(int i, std::string_view text) const {
    return i >= 0 && i < static_cast<int>(s_.tokens.size()) && At(i).text == text;
  }
  bool IsIdentifier(int i) const {
    return i >= 0 && i < static_cast<int>(s_.tokens.size()) && At(i).kind == TokenKind::kIdentifier;
  }
  std::string Word(int i) const {
    return i >= 0 && i < static_cast<int>(s_.tokens.size()) ? std::string(At(i).text) : "";
  }

  // Records what the access `index` at token `i` implies for the shape behind a pointer. `stays`: the access does not
  // move the pointer, as *out++ does.
  void NoteAccess(const TokenTexts& index, bool stays, int i, PointerUse& use,
                  std::map<std::string, PointerUse>& uses) {
    const bool first = stays && index == TokenTexts{"0"};
    use.first = use.first || first;
    use.elsewhere = use.elsewhere || !first;
    if (!stays || std::find(index.begin(), index.end(), "?") != index.end()) return;
    position_ = i;
    below_.clear();
    if (std::optional<TokenTexts> shape = Shape(index, 0)) {
      use.shapes.push_back(*shape);
      for (const std::string& extent : *shape) use.scattered = use.scattered || (extent[0] == '@' && use.written);
      for (const auto& [chooser, size] : below_) uses[chooser].below.push_back(size);
    }
    if (index.size() >= 2 && index.back() == "1" && index[index.size() - 2] == "+") use.offsets = true;
  }

  // Records that the pointer at token `i` is moved, in += row * d: it has another offset from here to the end of its
  // block. If it is moved in a loop or conditionally, its offset is unknown.
  void NoteMove(int i) {
    const std::optional<PointerMove> move = PointerMoveAt(s_, i, k_.body_close);
    if (!move) return;
    const DerivedPointer meaning = *Pointer(Word(i), i);
    // The statement is not an access, unless it is *out++.
    if (!IsToken(i - 1, "*")) skip_.insert({move->first - 1, move->end});
    std::vector<DerivedPointer>& derivations = derived_.at(Word(i));
    if (move->statement && move->value > 0 && BlockEnd(i) == meaning.to) {
      TokenTexts offset = meaning.offset;
      if (!offset.empty()) offset.push_back("+");
      for (int k = move->value; k < move->end; ++k) offset.push_back(Word(k));
      derivations.push_back({move->end, meaning.to, meaning.parameter, offset});
    } else {
      for (DerivedPointer& one : derivations) {
        if (one.from <= i && i <= one.to) one.offset = {"?"};
      }
    }
  }
  // Returns whether token `i` is an assignment operator.
  bool IsAssignment(int i) const {
    const std::string next_word = Word(i);
    return next_word == "=" || (next_word.size() == 2 && next_word[1] == '=' &&
                                std::string("+-*/|&^").find(next_word[0]) != std::string::npos);
  }

  // The meaning of a pointer's name at tokens [from, to]: the kernel's parameter plus an offset in elements. The offset
  // {"?"} is unknown.
  struct DerivedPointer {
    int from = 0, to = 0;
    std::string parameter;
    TokenTexts offset;
  };
  struct Definition {
    int from = 0, to = 0;
    TokenTexts value;
  };

  // Returns the `}` of the innermost block around token `i` of the body.
  int BlockEnd(int i) const {
    const auto at = static_cast<size_t>(i - k_.body_open);
    return at < block_ends_.size() ? block_ends_[at] : k_.body_close;
  }
  // Notes for every token of the body where the block ends that contains it.
  void BlockEnds() {
    std::vector<int> open = {k_.body_close};
    for (int i = k_.body_open; i <= k_.body_close; ++i) {
      if (i > k_.body_open && IsToken(i, "{") && At(i).match > i) open.push_back(At(i).match);
      block_ends_.push_back(open.back());
      if (i == open.back() && open.size() > 1) open.pop_back();
    }
  }
  // Returns the last of several meanings of a name that begins before token `i` and is valid there; nullptr: none.
  template <typename Meaning>
  static const Meaning* MeaningAt(const std::vector<Meaning>& meanings, int i) {
    auto after_place =
        std::upper_bound(meanings.begin(), meanings.end(), i, [](int at, const Meaning& m) { return at < m.from; });
    // In ordinary code few adjacent blocks declare the same name; the limit protects against hostile texts.
    for (int tries = 0; after_place != meanings.begin() && tries < 64; ++tries) {
      --after_place;
      if (i <= after_place->to) return &*after_place;
    }
    return !meanings.empty() && meanings.front().from <= i && i <= meanings.front().to ? &meanings.front() : nullptr;
  }
  // Returns what the pointer `name` means at token `i`; nullptr: it is not derived from a parameter.
  const DerivedPointer* Pointer(const std::string& name, int i) const {
    const auto found = derived_.find(name);
    if (found == derived_.end()) return nullptr;
    return MeaningAt(found->second, i);
  }
  // Returns the definition of the integer `name` at the current position, else its first definition.
  const TokenTexts* DefinitionOf(const std::string& name) const {
    const auto found = definitions_.find(name);
    if (found == definitions_.end()) return nullptr;
    const Definition* definition = MeaningAt(found->second, position_);
    return definition != nullptr ? &definition->value : &found->second.front().value;
  }

  // Returns whether token `i` is the first argument of atomicAdd(&x[…], …) or
  // atomicAdd(reinterpret_cast<unsigned*>(&x[…]), …), and not part of an index.
  bool IsAtomic(int i) const {
    int k = i - 1;
    for (bool changed = true; changed;) {
      changed = false;
      while (IsToken(k, "&") || IsToken(k, "(")) --k, changed = true;
      if (IsToken(k, ">")) {
        int depth = 0;
        for (; k > k_.body_open; --k) {
          if (IsToken(k, ">")) ++depth;
          if (IsToken(k, "<") && --depth == 0) break;
        }
        --k;
        if (!Word(k).ends_with("_cast")) return Word(k).starts_with("atomic");
        --k, changed = true;
      }
    }
    return Word(k).starts_with("atomic") && IsToken(k + 1, "(");
  }
  // Records whether an access writes, updates or reads its element. `after`: the first token behind the access.
  void NoteEffect(int after, PointerUse& use) const {
    const std::string next_word = Word(after);
    if (next_word == "=") {
      use.written = true;
    } else if ((next_word.size() == 2 && next_word[1] == '=' &&
                std::string("+-*/|&^").find(next_word[0]) != std::string::npos) ||
               next_word == "++" || next_word == "--") {
      use.read = use.written = true;
    } else {
      use.read = true;
    }
  }
  // Records the effects of a call to which the pointer at token `i` is passed.
  void NoteCall(int i, PointerUse& use) const {
    PointerUse inner;
    const std::optional<CallSite> call = EnclosingCall(s_, i, k_.body_open);
    if (!call || !InFunction(*call, 0, inner)) inner.read = true;
    use.read = use.read || inner.read;
    use.written = use.written || inner.written;
  }
  // Records what the called function does with the pointer; returns false if the file does not define the function.
  bool InFunction(const CallSite& call, int depth, PointerUse& use) const {
    if (functions_.count(call.name) == 0) functions_[call.name] = FindDeviceFunction(s_, call.name);
    const std::optional<DeviceFunction>& f = functions_.at(call.name);
    if (!f || static_cast<size_t>(call.argument) >= f->parameters.size()) return false;
    const CuParameter& p = f->parameters[static_cast<size_t>(call.argument)];
    if (!p.pointer) return false;
    if (p.to_const) {
      use.read = true;
      return true;
    }
    for (int k = f->body_open + 1; k < f->body_close; ++k) {
      if (!IsToken(k, p.name) || IsToken(k - 1, ".") || IsToken(k - 1, "->")) continue;
      if (IsToken(k + 1, "[") && At(k + 1).match > 0) {
        NoteEffect(At(k + 1).match + 1, use);
      } else if (IsToken(k - 1, "*") && !IsIdentifier(k - 2) && !IsToken(k - 2, ")")) {
        NoteEffect(k + 1, use);
      } else {
        const std::optional<CallSite> on = EnclosingCall(s_, k, f->body_open);
        if (depth > 4 || !on || !InFunction(*on, depth + 1, use))
          use.read = use.written = true;  // the calls are nested too deeply to be followed
      }
    }
    return true;
  }

  // Finds id < 0, id >= 0 or id == -1 with id = ids[t], which show that the kernel expects negative elements.
  void FindNegativeElements(std::map<std::string, PointerUse>& uses) {
    for (int i = k_.body_open + 1; i < k_.body_close; ++i) {
      const bool zero = (IsToken(i, "<") || IsToken(i, ">=")) && IsToken(i + 1, "0");
      const bool minus = (IsToken(i, "==") || IsToken(i, "!=") || IsToken(i, ">") || IsToken(i, "<=")) &&
                         IsToken(i + 1, "-") && IsToken(i + 2, "1");
      if (!zero && !minus) continue;
      int begin = i - 1;
      if (IsToken(begin, "]") && At(begin).match >= 0) begin = At(begin).match - 1;
      if (!IsIdentifier(begin)) continue;
      TokenTexts token_texts;
      for (int k = begin; k < i; ++k) token_texts.push_back(Word(k));
      position_ = i;
      // Only a comparison of the element itself is evidence, not one of a sum.
      if (token_texts.size() == 1) {
        const TokenTexts* value = DefinitionOf(token_texts[0]);
        if (value == nullptr) continue;
        token_texts = WithoutCasts(*value);
      }
      if (token_texts.size() < 4 || token_texts[1] != "[" || token_texts.back() != "]") continue;
      if (const DerivedPointer* pointer = Pointer(token_texts[0], i)) uses[pointer->parameter].padded = true;
    }
  }

  // Marks pointers whose elements are used as an index of any array, without a visible bound.
  void MarkIndices(std::map<std::string, PointerUse>& uses) {
    for (int i = k_.body_open + 1; i < k_.body_close; ++i) {
      if (!IsIdentifier(i) || !IsToken(i + 1, "[") || At(i + 1).match < 0) continue;
      TokenTexts index;
      for (int k = i + 2; k < At(i + 1).match; ++k) index.push_back(Word(k));
      position_ = i;
      if (const std::optional<std::string> reach = ExclusiveBound(index, 0); reach && (*reach)[0] != '@') continue;
      for (const std::string& pointer : PointersLoadedBy(index, 0)) uses[pointer].index = true;
    }
  }
  // Returns the pointer parameters from whose elements a value is computed.
  std::set<std::string> PointersLoadedBy(const TokenTexts& token_texts, int depth) const {
    std::set<std::string> pointers;
    if (depth > 4) return pointers;
    for (size_t i = 0; i < token_texts.size(); ++i) {
      const DerivedPointer* derived_pointer = Pointer(token_texts[i], position_);
      if (derived_pointer != nullptr && i + 1 < token_texts.size() && token_texts[i + 1] == "[")
        pointers.insert(derived_pointer->parameter);
      if (const TokenTexts* value = DefinitionOf(token_texts[i]); value != nullptr && derived_pointer == nullptr) {
        for (const std::string& p : PointersLoadedBy(*value, depth + 1)) pointers.insert(p);
      }
    }
    return pointers;
  }

  // Collects every definition of an integer, int row = blockIdx.x, with the block in which it is valid.
  void CollectDefinitions() {
    for (int i = k_.body_open + 1; i < k_.body_close; ++i) {
      if (!IsIdentifier(i) || !IsToken(i + 1, "=") || !(IsIdentifier(i - 1) || IsToken(i - 1, ","))) continue;
      int end = i + 2;
      TokenTexts value;
      while (end < k_.body_close && !IsToken(end, ";") && !IsToken(end, ",")) {
        if (At(end).match > end) {
          for (int k = end; k < At(end).match; ++k) value.push_back(Word(k));
          end = At(end).match;
        }
        value.push_back(Word(end));
        ++end;
      }
      definitions_[Word(i)].push_back({i, BlockEnd(i), value});
    }
  }

  // Collects comparisons of an expression with a size: `row < rows`, `row >= rows`.
  void CollectLimits() {
    for (int i = k_.body_open + 1; i < k_.body_close; ++i) {
      if (!(IsToken(i + 1, "<") || IsToken(i + 1, ">=")) || !(IsIdentifier(i) || IsToken(i, ")"))) continue;
      // Goes back to where the compared expression begins.
      int begin = i;
      while (begin - 1 > k_.body_open) {
        const std::string before = Word(begin - 1);
        if (before == "(" || before == "&&" || before == "||" || before == ";" || before == "," || before == "{" ||
            before == "=" || before == "return")
          break;
        --begin;
        if (At(begin).match >= 0 && At(begin).match < begin) begin = At(begin).match;
      }
      TokenTexts compared;
      for (int k = begin; k <= i; ++k) compared.push_back(Word(k));
      TokenTexts limit;
      for (int k = i + 2; k < k_.body_close; ++k) {
        const std::string w = Word(k);
        if (w == ")" || w == ";" || w == "&&" || w == "||" || w == "?" || w == ",") break;
        if (w == "(") {
          for (int j = k; j <= At(k).match; ++j) limit.push_back(Word(j));
          k = At(k).match;
          continue;
        }
        limit.push_back(w);
      }
      position_ = i;
      if (std::optional<std::string> size = SizeText(limit)) limits_[Join(compared)].emplace_back(i, *size);
      // A plain number is accepted as the bound of a loop's counter: for (int j = 0; j < 4; ++j).
      if (compared.size() == 1 && limit.size() == 1 && At(i + 2).kind == TokenKind::kNumber) {
        const TokenTexts* from = DefinitionOf(compared[0]);
        if (from != nullptr && *from == TokenTexts{"0"}) limits_[compared[0]].emplace_back(i, limit[0]);
      }
    }
    // Collects the reversed form, rows > row.
    for (int i = k_.body_open + 1; i < k_.body_close; ++i) {
      if (IsIdentifier(i) && bounds_.dims.count(Word(i)) != 0 && IsToken(i + 1, ">") && IsIdentifier(i + 2))
        limits_[Word(i + 2)].emplace_back(i, Word(i));
    }
  }

  // Returns the expression if it consists of sizes and numbers only, with constants and locals replaced by their
  // values; nullopt: it does not.
  std::optional<std::string> SizeText(const TokenTexts& token_texts, int depth = 0) const {
    if (token_texts.empty() || depth > kMaxDepth) return std::nullopt;
    TokenTexts out;
    bool any = false;
    for (const std::string& w : token_texts) {
      if (bounds_.dims.count(w) != 0) {
        any = true;
        out.push_back(w);
      } else if (std::isdigit(static_cast<unsigned char>(w[0])) != 0 || w == "+" || w == "-" || w == "*" || w == "/" ||
                 w == "(" || w == ")") {
        out.push_back(w);
      } else if (const auto constant = s_.constants.find(w); constant != s_.constants.end()) {
        std::optional<std::string> inner = SizeText(Split(constant->second), depth + 1);
        if (!inner && constant->second.find_first_not_of("0123456789") == std::string::npos) inner = constant->second;
        if (!inner) return std::nullopt;
        any = true;
        out.push_back(*inner);
      } else if (const TokenTexts* local = DefinitionOf(w)) {
        std::optional<std::string> inner = SizeText(*local, depth + 1);
        if (!inner) return std::nullopt;
        any = true;
        out.push_back("(" + *inner + ")");
      } else {
        return std::nullopt;
      }
    }
    if (!any) return std::nullopt;
    return TidyExpression(Join(out));
  }

  // Returns the operands of the additions outside of all brackets.
  std::vector<TokenTexts> SplitSummands(const TokenTexts& token_texts) const {
    std::vector<TokenTexts> parts(1);
    int depth = 0;
    for (const std::string& w : token_texts) {
      if (w == "(" || w == "[") ++depth;
      if (w == ")" || w == "]") --depth;
      if (w == "+" && depth == 0) {
        parts.emplace_back();
      } else {
        parts.back().push_back(w);
      }
    }
    return parts;
  }

  // Returns the expression without casts and parentheses around the whole of it.
  static TokenTexts WithoutCasts(TokenTexts token_texts) {
    // Removes casts and parentheses around everything.
    for (bool changed = true; changed && token_texts.size() > 2;) {
      changed = false;
      if (token_texts[0] == "static_cast") {
        const auto open = std::find(token_texts.begin(), token_texts.end(), "(");
        token_texts.erase(token_texts.begin(), open);
        changed = true;
      }
      if (token_texts.empty() || token_texts.front() != "(") continue;
      int depth = 0;
      size_t close = 0;
      for (size_t i = 0; i < token_texts.size(); ++i) {
        if (token_texts[i] == "(") ++depth;
        if (token_texts[i] == ")" && --depth == 0) {
          close = i;
          break;
        }
      }
      static const std::set<std::string> kIntegerTypes = {"int",      "long",     "size_t",  "int64_t",  "unsigned",
                                                          "uint32_t", "uint64_t", "int32_t", "ptrdiff_t"};
      if (close + 1 == token_texts.size()) {
        token_texts = TokenTexts(token_texts.begin() + 1, token_texts.end() - 1);
        changed = true;
      } else if (close > 1 && std::all_of(token_texts.begin() + 1, token_texts.begin() + static_cast<long>(close),
                                          [](const std::string& w) { return kIntegerTypes.count(w) != 0; })) {
        token_texts.erase(token_texts.begin(), token_texts.begin() + static_cast<long>(close) + 1);
        changed = true;
      }
    }
    return token_texts;
  }

  // Returns a summand split into its factors; nullopt: it has another operator than *.
  std::optional<Term> SplitFactors(const TokenTexts& token_texts) const {
    Term term;
    TokenTexts factor;
    int depth = 0;
    const auto finish = [&]() {
      TokenTexts one = WithoutCasts(factor);
      factor.clear();
      if (one.empty()) return false;
      if (one.size() == 1 &&
          (bounds_.dims.count(one[0]) != 0 || std::isdigit(static_cast<unsigned char>(one[0][0])) != 0)) {
        term.sizes.push_back(one[0]);
      } else if (std::optional<std::string> size = SizeText(one)) {
        term.sizes.push_back(one.size() == 1 ? *size : "(" + *size + ")");
      } else {
        term.others.push_back(Join(one));
      }
      return true;
    };
    TokenTexts rest = WithoutCasts(token_texts);
    for (const std::string& w : rest) {
      if (w == "(" || w == "[") ++depth;
      if (w == ")" || w == "]") --depth;
      if (depth == 0 && w == "*") {
        if (!finish()) return std::nullopt;
      } else if (depth == 0 && (w == "-" || w == "&" || w == "^")) {
        return std::nullopt;
      } else {
        factor.push_back(w);
      }
    }
    if (!finish()) return std::nullopt;
    return term;
  }

  // Returns "rows" for "rows * d" divided by "d"; nullopt: the factors do not cancel.
  static std::optional<std::string> QuotientText(const std::string& product, const std::string& factor) {
    const auto factors = [](const std::string& text) {
      std::vector<std::string> parts(1);
      int depth = 0;
      for (const std::string& w : Split(text)) {
        if (w == "(") ++depth;
        if (w == ")") --depth;
        if (w == "*" && depth == 0)
          parts.emplace_back();
        else
          parts.back() += (parts.back().empty() ? "" : " ") + w;
      }
      return parts;
    };
    for (const std::string& text : {product, factor}) {
      int depth = 0;
      for (const std::string& w : Split(text)) {
        if (w == "(") ++depth;
        if (w == ")") --depth;
        if (depth == 0 && (w == "+" || w == "-" || w == "/" || w == "%")) return std::nullopt;
      }
    }
    std::vector<std::string> remaining_factors = factors(product);
    for (const std::string& f : factors(factor)) {
      const auto found = std::find(remaining_factors.begin(), remaining_factors.end(), f);
      if (found == remaining_factors.end()) return std::nullopt;
      remaining_factors.erase(found);
    }
    std::string text;
    for (const std::string& f : remaining_factors) text += (text.empty() ? "" : " * ") + f;
    return text.empty() ? "1" : text;
  }

  // Returns the exclusive bound of a name or expression: "rows".
  std::optional<std::string> ExclusiveBound(const TokenTexts& given, int depth) const {
    if (depth > kMaxDepth) return std::nullopt;
    const TokenTexts token_texts = WithoutCasts(given);
    // The bound of a % d is d.
    int level = 0;
    for (size_t i = 0; i < token_texts.size(); ++i) {
      if (token_texts[i] == "(") ++level;
      if (token_texts[i] == ")") --level;
      if (token_texts[i] == "%" && level == 0)
        return SizeText(TokenTexts(token_texts.begin() + static_cast<long>(i) + 1, token_texts.end()));
    }
    // The bound of min(e, size - 1) is size. The bound of an element ids[t] is "@ids", the bound of all elements of ids.
    if (token_texts.size() > 3 && token_texts[0] == "min" && token_texts[1] == "(" && token_texts.back() == ")") {
      int open = 0;
      size_t begin = 2;
      for (size_t i = 2; i < token_texts.size(); ++i) {
        if (token_texts[i] == "(") ++open;
        if (token_texts[i] == ")") --open;
        if (!((token_texts[i] == "," && open == 0) || i + 1 == token_texts.size())) continue;
        if (i >= begin + 3 && token_texts[i - 1] == "1" && token_texts[i - 2] == "-") {
          if (std::optional<std::string> size = SizeText(TokenTexts(token_texts.begin() + static_cast<long>(begin),
                                                                    token_texts.begin() + static_cast<long>(i) - 2)))
            return size;
        }
        begin = i + 1;
      }
    }
    if (token_texts.size() > 3 && token_texts[1] == "[" && token_texts.back() == "]") {
      const DerivedPointer* pointer = Pointer(token_texts[0], position_);
      const bool has_one_index = std::count(token_texts.begin(), token_texts.end(), "[") == 1;
      if (pointer != nullptr && has_one_index) return "@" + pointer->parameter;
    }
    // The bound of i / d is rows if that of i is rows * d.
    level = 0;
    for (size_t i = token_texts.size(); i-- > 0;) {
      if (token_texts[i] == ")") ++level;
      if (token_texts[i] == "(") --level;
      if (level != 0 || token_texts[i] != "/" || i == 0) continue;
      const std::optional<std::string> dividend =
          ExclusiveBound(TokenTexts(token_texts.begin(), token_texts.begin() + static_cast<long>(i)), depth + 1);
      const std::optional<std::string> part =
          SizeText(TokenTexts(token_texts.begin() + static_cast<long>(i) + 1, token_texts.end()));
      if (!dividend || !part || (*dividend)[0] == '@') break;
      if (std::optional<std::string> quotient = QuotientText(*dividend, *part)) return quotient;
      break;
    }
    // A name may be used for several variables: the last comparison before the access is taken, else the first one
    // after it.
    if (const auto limit = limits_.find(Join(token_texts)); limit != limits_.end()) {
      const std::string* size = &limit->second.front().second;
      for (const auto& [where, below] : limit->second) {
        if (where < position_) size = &below;
      }
      return *size;
    }
    if (token_texts.size() == 1) {
      if (const TokenTexts* value = DefinitionOf(token_texts[0])) return ExclusiveBound(*value, depth + 1);
      return std::nullopt;
    }
    if (token_texts.size() == 3 && token_texts[0] == "blockIdx" && token_texts[1] == ".") {
      const size_t axis = token_texts[2] == "x" ? 0 : token_texts[2] == "y" ? 1 : 2;
      if (axis < bounds_.grid.size()) {
        if (std::optional<std::string> size = SizeText(Split(bounds_.grid[axis]))) return size;
        // The launch of a kernel that is written for one size says a number.
        const std::string& number = bounds_.grid[axis];
        if (number.size() < 10 && number.find_first_not_of("0123456789") == std::string::npos) return number;
      }
    }
    return std::nullopt;
  }

  // Returns the summands of an index, with those of a local in place of the local if it is an offset: `row * d` and `i` for `base + i`
  // where base = row * d. A local that is compared with a size is an index itself, and stays. The file may be anybody's, so the number of
  // summands is bounded.
  std::vector<TokenTexts> ExpandedSummands(const TokenTexts& index) const {
    std::vector<TokenTexts> parts = SplitSummands(index);
    for (size_t i = 0; i < parts.size();) {
      const TokenTexts one = WithoutCasts(parts[i]);
      const TokenTexts* value = one.size() == 1 && limits_.count(one[0]) == 0 ? DefinitionOf(one[0]) : nullptr;
      const std::vector<TokenTexts> inner =
          value != nullptr ? SplitSummands(WithoutCasts(*value)) : std::vector<TokenTexts>();
      if (parts.size() + inner.size() > kMostSummands ||
          std::none_of(inner.begin(), inner.end(), [&](const TokenTexts& w) { return IsOffset(w); })) {
        ++i;
        continue;
      }
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
      parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(i), inner.begin(), inner.end());
    }
    return parts;
  }

  // Returns whether a summand is a size times something that is none: row * d.
  bool IsOffset(const TokenTexts& summand) const {
    const std::optional<Term> term = SplitFactors(summand);
    return term && term->others.size() == 1 && std::any_of(term->sizes.begin(), term->sizes.end(), [](const std::string& size) {
      return std::isdigit(static_cast<unsigned char>(size[0])) == 0;
    });
  }

  // Returns the extents of a flattened index, outermost first.
  std::optional<TokenTexts> Shape(const TokenTexts& given, int depth) const {
    if (depth > kMaxDepth) return std::nullopt;
    const TokenTexts index = WithoutCasts(given);
    if (index.size() == 1 && limits_.count(index[0]) == 0) {
      if (const TokenTexts* value = DefinitionOf(index[0])) return Shape(*value, depth + 1);
    }
    std::vector<Term> strided;
    std::vector<TokenTexts> plain_indices;
    const std::vector<TokenTexts> parts = ExpandedSummands(index);
    for (const TokenTexts& part : parts) {
      std::optional<Term> term = SplitFactors(part);
      if (!term) return std::nullopt;
      // An offset made of sizes only, d in x[row * 2 * d + d + i], does not change the shape.
      if (term->others.empty()) continue;
      bool has_size = std::any_of(term->sizes.begin(), term->sizes.end(), [&](const std::string& s) {
        return std::isdigit(static_cast<unsigned char>(s[0])) == 0;
      });
      // In weight[c * 4 + w], w < 4 shows that rows have 4 elements. Without such a bound, 2 * i may be any even
      // position.
      if (!has_size && term->sizes.size() == 1) {
        for (const TokenTexts& other : parts) {
          const TokenTexts inner = WithoutCasts(other);
          if (inner.size() == 1 && inner != WithoutCasts(part))
            has_size = has_size || ExclusiveBound(inner, depth + 1) == term->sizes[0];
        }
      }
      if (has_size && term->others.size() == 1) {
        strided.push_back(*term);
      } else if (term->sizes.empty()) {
        plain_indices.push_back(part);
      } else {
        return std::nullopt;
      }
    }
    if (strided.empty()) {
      if (plain_indices.size() != 1) {
        // Without a limit, blockIdx.x * blockDim.x + threadIdx.x implies nothing.
        return std::nullopt;
      }
      if (std::optional<std::string> reach = ExclusiveBound(plain_indices[0], depth + 1)) return TokenTexts{*reach};
      return std::nullopt;
    }
    for (const TokenTexts& part : plain_indices) {  // label in x[row * d + label], with label = labels[i], is below d
      const std::optional<std::string> reach = ExclusiveBound(part, depth + 1);
      if (!reach || (*reach)[0] != '@') continue;
      const auto& inner = std::min_element(strided.begin(), strided.end(), [](const Term& a, const Term& b) {
                            return a.sizes.size() < b.sizes.size();
                          })->sizes;
      std::string size;
      for (const std::string& one : inner) size += (size.empty() ? "" : " * ") + one;
      below_.emplace_back(reach->substr(1), size);
    }
    std::sort(strided.begin(), strided.end(),
              [](const Term& a, const Term& b) { return a.sizes.size() > b.sizes.size(); });
    const TokenTexts outer = Split(strided[0].others[0]);
    // In (b * H + h) * D + i, the outer part b * H + h is itself a flattened index.
    TokenTexts shape;
    if (std::optional<std::string> reach = ExclusiveBound(outer, depth + 1)) {
      shape = {*reach};
    } else if (std::optional<TokenTexts> inner = Shape(outer, depth + 1)) {
      shape = *inner;
    } else {
      return std::nullopt;
    }
    for (size_t i = 0; i < strided.size(); ++i) {
      TokenTexts ratio = strided[i].sizes;
      if (i + 1 < strided.size()) {
        for (const std::string& s : strided[i + 1].sizes) {
          const auto found = std::find(ratio.begin(), ratio.end(), s);
          if (found == ratio.end()) return std::nullopt;
          ratio.erase(found);
        }
      }
      std::string text;
      for (const std::string& s : ratio) text += (text.empty() ? "" : " * ") + s;
      if (text.empty()) return std::nullopt;
      shape.push_back(text);
    }
    return shape;
  }

  const CuSource& s_;
  const CuKernel& k_;
  const KernelBounds& bounds_;
  std::map<std::string, std::vector<Definition>> definitions_;
  std::map<std::string, std::vector<std::pair<int, std::string>>> limits_;  // expression -> token, exclusive bound
  std::map<std::string, std::vector<DerivedPointer>> derived_;              // a pointer's name -> its meanings
  mutable std::vector<std::pair<std::string, std::string>> below_;          // selecting pointer -> size, for the
                                                                            // current access
  int position_ = 0;                                                        // position of the current access
  std::set<std::pair<int, int>> skip_;
  std::vector<int> block_ends_;                                             // block ends by token of the body
  mutable std::map<std::string, std::optional<DeviceFunction>> functions_;  // functions of the file, as far as
                                                                            // requested
};

}  // namespace

std::map<std::string, PointerUse> ReadPointerUses(const CuSource& source, const CuKernel& kernel,
                                                  const KernelBounds& bounds) {
  return BodyReader(source, kernel, bounds).Run();
}

std::optional<std::vector<std::string>> LikelyShape(const PointerUse& use) {
  const std::vector<std::string>* best = nullptr;
  for (const auto& shape : use.shapes) {
    if (best == nullptr || shape.size() > best->size()) best = &shape;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

}  // namespace hone
