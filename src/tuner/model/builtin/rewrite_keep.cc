// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Normalisations read a row twice: once for a sum or a maximum, once to scale it. When both loops go over the same
// elements in the same order, each thread reads in the second what it has read (or written) itself in the first.
// This rewrite holds the first KEEP of those values in registers:
//
//   for (T i = a; i < n; i += s) { … V v = p[i]; … }          V kept[KEEP];
//   … a reduction over the block …                    becomes  for (pass = 0; pass < KEEP; ++pass) { … kept[pass] = v;
//   } for (T i = a; i < n; i += s) { … p[i] … }                  for (i = a + KEEP * s; …) { … }          (the rest)
//                                                             and the same for the second loop, reading kept[pass]
//
// Whatever does not fit into KEEP values a thread is handled by the original loops, started further on, so that the
// result is the same for every length. The unrolled head also has more loads in flight.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tuner/model/builtin/rewrite.h"

namespace hone {
namespace {

// for (TYPE name = first; name < bound; name += step)
struct StridedHeader {
  std::string type, name, first, bound, step;
};

// Reads a loop's header of the form "int i = START; i < END; i += STEP"; nullopt: it has another form.
std::optional<StridedHeader> ReadHeader(const SourceView& view, const ForLoop& loop) {
  StridedHeader h;
  int equals = -1;
  for (int i = loop.open + 1; i < loop.first_semicolon && equals < 0; ++i) {
    if (Is(view.token(i), "=")) equals = i;
  }
  if (equals < loop.open + 3 || equals + 1 >= loop.first_semicolon) return std::nullopt;
  for (int i = loop.open + 1; i < equals - 1; ++i)
    h.type += (h.type.empty() ? "" : " ") + std::string(view.token(i).text);
  if (h.type.find("auto") != std::string::npos || h.type.find("const") != std::string::npos) return std::nullopt;
  h.name = view.token(equals - 1).text;
  h.first = Span(view.text(), view.tokens(), equals + 1, loop.first_semicolon - 1);
  const int c = loop.first_semicolon + 1;
  if (c + 2 >= loop.second_semicolon || !Is(view.token(c), h.name) || !Is(view.token(c + 1), "<")) return std::nullopt;
  h.bound = Span(view.text(), view.tokens(), c + 2, loop.second_semicolon - 1);
  const int s = loop.second_semicolon + 1;
  if (s + 2 >= loop.close || !Is(view.token(s), h.name) || !Is(view.token(s + 1), "+=")) return std::nullopt;
  h.step = Span(view.text(), view.tokens(), s + 2, loop.close - 1);
  // A compound condition or a second variable would not be carried over.
  for (int i = loop.open; i < loop.close; ++i) {
    if (Is(view.token(i), "&&") || Is(view.token(i), "||") || Is(view.token(i), ",") || Is(view.token(i), "?"))
      return std::nullopt;
  }
  return h;
}

bool SameTokens(const SourceView& view, int a_first, int a_last, int b_first, int b_last) {
  if (a_last - a_first != b_last - b_first) return false;
  for (int i = 0; i <= a_last - a_first; ++i) {
    if (view.token(a_first + i).text != view.token(b_first + i).text) return false;
  }
  return true;
}

// Returns whether one of the words begins an identifier among the tokens first to last.
bool ContainsWord(const SourceView& view, int first, int last, std::initializer_list<std::string_view> unwanted_words) {
  for (int i = first; i <= last; ++i) {
    for (const std::string_view word : unwanted_words) {
      if (view.token(i).text.starts_with(word) && view.token(i).kind == TokenKind::kIdentifier) return true;
    }
  }
  return false;
}

// Returns whether the tokens first to last assign to `name`, or count it up or down.
bool IsAssigned(const SourceView& view, int first, int last, std::string_view name) {
  for (int i = first; i + 1 <= last; ++i) {
    if (!Is(view.token(i), name)) continue;
    const std::string_view next_token = view.token(i + 1).text;
    const bool assignment = next_token == "++" || next_token == "--" ||
                            (next_token.back() == '=' && next_token != "==" && next_token != "!=" &&
                             next_token != "<=" && next_token != ">=");
    if (assignment || (i > 0 && (Is(view.token(i - 1), "++") || Is(view.token(i - 1), "--")))) return true;
  }
  return false;
}

// Where the value of pointer[i] is available in the first loop: after token `after`, in the variable `name`.
struct Source {
  int after = -1;
  std::string name;
};

std::optional<Source> FindSource(const SourceView& view, const ForLoop& loop, const std::vector<GlobalAccess>& accesses,
                                 const std::string& pointer, const std::string& index) {
  std::optional<Source> source;
  for (const GlobalAccess& a : accesses) {
    if (a.first < loop.body_first || a.last > loop.body_last || a.pointer != pointer) continue;
    if (view.EnclosingBrace(a.first) != loop.body_first) return std::nullopt;  // not in every turn
    if (a.index_first != a.index_last || !Is(view.token(a.index_first), index)) return std::nullopt;
    if (a.store) {
      if (a.value_first != a.value_last || view.token(a.value_first).kind != TokenKind::kIdentifier)
        return std::nullopt;
      source = Source{a.value_last + 1, std::string(view.token(a.value_first).text)};
    } else {
      // [const] TYPE NAME = pointer[i];
      if (!Is(view.token(a.first - 1), "=") || !Is(view.token(a.last + 1), ";")) return std::nullopt;
      if (view.token(a.first - 2).kind != TokenKind::kIdentifier) return std::nullopt;
      source = Source{a.last + 1, std::string(view.token(a.first - 2).text)};
    }
  }
  return source;
}

struct KeptPointer {
  std::string pointer, type, array;
  Source source;
};

// Puts two more spaces before every line but the first, and none before directives.
std::string IndentMore(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size() && text[i + 1] != '#' && text[i + 1] != '\n') out += "  ";
  }
  return out;
}

// Returns whether a loop has a braced body and is a separate statement.
bool StandsAlone(const SourceView& view, const ForLoop& loop) {
  const Token& before = view.token(loop.token - 1);
  return Is(view.token(loop.body_first), "{") &&
         (Is(before, ";") || Is(before, "{") || Is(before, "}") || before.kind == TokenKind::kDirective);
}

bool IsRewritable(const SourceView& view, const ForLoop& loop, std::string_view index) {
  return !ContainsWord(view, loop.body_first, loop.body_last,
                   {"continue", "break", "return", "goto", "__sync", "__shfl", "asm"}) &&
         !IsAssigned(view, loop.body_first, loop.body_last, index);
}

// Returns whether anything except the first loop itself, through the pointer of `read`, may write the tensor before the
// last of the later loops ends. A store at the loop's own index after the read affects only the same thread.
bool MayBeWritten(const SourceView& view, const KernelText& kernel, const std::vector<GlobalAccess>& accesses,
                  const std::vector<GlobalPointer>& pointers, const ForLoop& one, const GlobalAccess& read,
                  const ForLoop& last) {
  for (const GlobalAccess& w : accesses) {
    if (!w.store || w.parameter != read.parameter) continue;
    const bool own = w.pointer == read.pointer && w.first >= one.body_first && w.last <= one.body_last;
    if (!own) return true;
  }
  // A write that the analysis cannot see: the pointer passed on, or written through in another way.
  for (int i = kernel.body_open + 1; i < last.body_last; ++i) {
    if (Is(view.token(i - 1), ".") || Is(view.token(i - 1), "->")) continue;
    for (const GlobalPointer& p : pointers) {
      if (p.parameter != read.parameter || p.to_const || !Is(view.token(i), p.name) || i <= p.declared) continue;
      const bool known = std::any_of(accesses.begin(), accesses.end(),
                                     [&](const GlobalAccess& x) { return x.first <= i && i <= x.last; });
      // Making another pointer from it is known too: that pointer's accesses are looked at above.
      const bool declares = std::any_of(pointers.begin(), pointers.end(), [&](const GlobalPointer& q) {
        return q.parameter == p.parameter && q.declared > i && q.name != p.name &&
               view.EnclosingBrace(i) == view.EnclosingBrace(q.declared);
      });
      if (!known && !declares) return true;
    }
  }
  return false;
}

// Says why none of the later loops' reads can be kept. `at_index`: whether an access is p[i] of the loops' variable i.
template <typename InsideLater, typename AtIndex>
std::string WhyNothingIsKept(const SourceView& view, const KernelText& kernel,
                             const std::vector<GlobalAccess>& accesses, const ForLoop& one, const std::string& index,
                             const InsideLater& inside_later, const AtIndex& at_index) {
  for (const GlobalAccess& read : accesses) {
    if (read.store || !inside_later(read) || read.index_last < read.index_first) continue;
    const bool is_read_again = std::any_of(accesses.begin(), accesses.end(), [&](const GlobalAccess& x) {
      return x.parameter == read.parameter && one.body_first <= x.first && x.last <= one.body_last &&
             SameTokens(view, x.index_first, x.index_last, read.index_first, read.index_last);
    });
    if (!is_read_again) continue;
    const std::string_view text = Span(view.text(), view.tokens(), read.first, read.last);
    if (!at_index(read) || read.pointer.empty()) {
      return fmt::format("the loops of {} read {} again, and only a pointer with the index [{}] alone is followed",
                         kernel.name, text, index);
    }
    return fmt::format("the first loop of {} does not read {} into a variable of its own, in every turn", kernel.name,
                       text);
  }
  return fmt::format("the later loops of {} read nothing that the first has read", kernel.name);
}

// A Reason is why no kernel was changed: the one of the loops that came furthest.
class Reason {
 public:
  enum Stage { kNone, kHeader, kBody, kSteady, kOverlap, kValues };

  void Set(Stage stage, std::string text) {
    if (stage <= stage_) return;
    stage_ = stage;
    text_ = std::move(text);
  }
  const std::string& text() const { return text_; }

 private:
  Stage stage_ = kNone;
  std::string text_ =
      "no kernel has two loops, one after the other, with the same header for (TYPE i = …; i < …; i += …)";
};

}  // namespace

RewriteOutcome KeepValuesBetweenPasses(const SourceView& view) {
  if (HasTunable(view, "KEEP")) return NotApplicable("there is a tunable KEEP already");
  Reason reason;
  std::vector<TextEdit> edits;
  std::string kept_names;
  for (const KernelText& kernel : view.kernels()) {
    if (view.EntriesOf(kernel).empty()) continue;
    const std::vector<ForLoop> loops = FindForLoops(view.tokens(), kernel.body_open, kernel.body_close);
    const std::vector<GlobalAccess> accesses = view.Accesses(kernel);
    const std::vector<GlobalPointer> pointers = view.Pointers(kernel);
    bool done = false;
    for (size_t a = 0; a < loops.size() && !done; ++a) {
      const ForLoop& one = loops[a];
      const std::optional<StridedHeader> header = ReadHeader(view, one);
      std::vector<const ForLoop*> later;
      bool paired = false, apart = StandsAlone(view, one);
      for (size_t b = a + 1; b < loops.size(); ++b) {
        const ForLoop& two = loops[b];
        if (two.token <= one.body_last || view.EnclosingBrace(one.token) != view.EnclosingBrace(two.token)) continue;
        if (!SameTokens(view, one.open, one.close, two.open, two.close)) continue;
        paired = true;
        apart = apart && StandsAlone(view, two);
        if (StandsAlone(view, two)) later.push_back(&two);
      }
      if (paired && !header) {
        reason.Set(Reason::kHeader,
                   fmt::format("the loops of {} have no header for (TYPE i = …; i < …; i += …)", kernel.name));
      } else if (paired && !apart) {
        reason.Set(
            Reason::kHeader,
            fmt::format("loops of {} have a body without braces, or stand inside another statement", kernel.name));
      }
      if (later.empty() || !header || !StandsAlone(view, one)) continue;
      bool usable = IsRewritable(view, one, header->name);
      for (const ForLoop* two : later) usable = usable && IsRewritable(view, *two, header->name);
      if (!usable) {
        reason.Set(Reason::kBody,
                   fmt::format("the loops of {} leave early, synchronise or change {}", kernel.name, header->name));
        continue;
      }
      // The loop's header must read the same values in every turn.
      bool steady = true;
      for (int i = one.open + 1; i < one.close; ++i) {
        const Token& t = view.token(i);
        if (t.kind != TokenKind::kIdentifier || Is(t, header->name)) continue;
        steady = steady && !IsAssigned(view, one.body_first, later.back()->body_last, t.text);
      }
      if (!steady) {
        reason.Set(Reason::kSteady,
                   fmt::format("what the headers of the loops of {} read changes between them", kernel.name));
        continue;
      }
      if (!view.ParametersAreDistinct(kernel)) {
        reason.Set(Reason::kOverlap, fmt::format("parameters of {} may overlap", kernel.name));
        continue;
      }

      const auto inside_later = [&](const GlobalAccess& x) {
        return std::any_of(later.begin(), later.end(),
                           [&](const ForLoop* l) { return l->body_first <= x.first && x.last <= l->body_last; });
      };
      const auto at_index = [&](const GlobalAccess& x) {
        return x.index_first == x.index_last && Is(view.token(x.index_first), header->name);
      };
      std::vector<KeptPointer> kept;
      for (const GlobalAccess& read : accesses) {
        if (read.store || read.pointer.empty() || !inside_later(read) || !at_index(read)) continue;
        if (std::any_of(kept.begin(), kept.end(), [&](const KeptPointer& k) { return k.pointer == read.pointer; }))
          continue;
        const std::optional<Source> source = FindSource(view, one, accesses, read.pointer, header->name);
        if (!source) continue;
        const TensorSpec* tensor = view.TensorOf(kernel, read.parameter);
        const bool input = tensor != nullptr && tensor->role == TensorRole::kIn;
        if (!input && MayBeWritten(view, kernel, accesses, pointers, one, read, *later.back())) {
          reason.Set(Reason::kValues,
                     fmt::format("{} may be written between the loops of {}", read.pointer, kernel.name));
          continue;
        }
        kept.push_back({read.pointer, read.type, "hone_kept_" + read.pointer, *source});
      }
      if (kept.empty()) {
        reason.Set(Reason::kValues,
                   WhyNothingIsKept(view, kernel, accesses, one, header->name, inside_later, at_index));
        continue;
      }

      const auto body_text = [&](const ForLoop& loop, bool first_loop) {
        const size_t base = view.token(loop.body_first).begin;
        std::vector<TextEdit> inner;
        for (const KeptPointer& k : kept) {
          if (first_loop) {
            const size_t at = view.token(k.source.after).end - base;
            inner.push_back({at, at, fmt::format(" {}[hone_pass] = {};", k.array, k.source.name)});
            continue;
          }
          for (const GlobalAccess& read : accesses) {
            if (read.store || read.pointer != k.pointer || read.first < loop.body_first || read.last > loop.body_last)
              continue;
            if (at_index(read))
              inner.push_back(
                  {view.token(read.first).begin - base, view.token(read.last).end - base, k.array + "[hone_pass]"});
          }
        }
        return ApplyEdits(Span(view.text(), view.tokens(), loop.body_first, loop.body_last), inner);
      };
      const auto split = [&](const ForLoop& loop, bool first_loop, const std::string& pad) {
        std::string text;
        if (first_loop) {
          for (const KeptPointer& k : kept) text += fmt::format("{}{} {}[HONE_TUNE_KEEP];\n", pad, k.type, k.array);
        }
        const std::string_view original = Span(view.text(), view.tokens(), loop.body_first, loop.body_last);
        text += fmt::format(
            "#pragma unroll\n"
            "{7}for (int hone_pass = 0; hone_pass < HONE_TUNE_KEEP; ++hone_pass) {{\n"
            "{7}  const {0} {1} = static_cast<{0}>({2}) + static_cast<{0}>(hone_pass) * static_cast<{0}>({4});\n"
            "{7}  if ({1} < {3}) {5}\n"
            "{7}}}\n"
            "{7}for ({0} {1} = static_cast<{0}>({2}) + static_cast<{0}>(HONE_TUNE_KEEP) * static_cast<{0}>({4}); "
            "{1} < {3}; {1} += {4}) {6}",
            header->type, header->name, header->first, header->bound, header->step,
            IndentMore(body_text(loop, first_loop)), original, pad);
        return text;
      };
      std::vector<const ForLoop*> all_loops{&one};
      all_loops.insert(all_loops.end(), later.begin(), later.end());
      for (const ForLoop* loop : all_loops) {
        size_t begin = view.token(loop->token).begin;
        const Token& before = view.token(loop->token - 1);
        // An unroll pragma would apply to the wrong loop.
        if (before.kind == TokenKind::kDirective && before.text.find("unroll") != std::string_view::npos)
          begin = before.begin;
        const std::optional<size_t> line = BlankLineStart(view.text(), begin);
        const std::string pad(line ? begin - *line : 0, ' ');
        edits.push_back({line.value_or(begin), view.token(loop->body_last).end,
                         (line ? "" : "\n") + split(*loop, loop == &one, pad)});
      }
      for (const KeptPointer& k : kept)
        kept_names += (kept_names.empty() ? "" : ", ") + k.pointer + " of " + kernel.name;
      done = true;
    }
  }
  if (edits.empty()) return NotApplicable(reason.text());
  edits.push_back(AddTunable(view, "KEEP", {4, 2, 8}));
  return ApplyEdits(view, edits, fmt::format("kept in registers: {}", kept_names));
}

}  // namespace hone
