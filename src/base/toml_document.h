// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A TOML text as a plain tree that remembers lines and the order of keys, and readers that take it apart with
// messages a person can act on: file, line, field, what is wrong, what would be right.
//
// toml++ sorts keys and is slow to compile, so it stays behind this header in one translation unit. It recurses over
// nested values and over the parts of a dotted key, and so does whoever walks the tree: what a stranger's text may hold
// is bounded before it is parsed.
// Everything of ours that is TOML is read through TableReader. Not thread-safe; plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// What is read of a document, far above what any of ours holds: a task has 6 KB, keys of two parts, arrays in arrays as
// deep as a tensor has axes.
inline constexpr size_t kMaxTomlBytes = size_t{4} << 20;
inline constexpr int kMaxTomlNesting = 32;    // brackets within brackets
inline constexpr int kMaxTomlKeyParts = 16;   // of a.b.c and [a.b.c]
inline constexpr size_t kMaxTomlKeys = 512;   // of one table
inline constexpr size_t kMaxTomlTables = 512;  // of one [[array]] of tables

struct TomlNode {
  enum class Kind { kString, kInteger, kFloat, kBoolean, kArray, kTable, kOther };  // kOther: dates and times
  Kind kind = Kind::kOther;
  std::string string;
  int64_t integer = 0;
  double number = 0;  // kFloat; also set for kInteger
  bool boolean = false;
  std::vector<TomlNode> items;                            // kArray
  std::vector<std::pair<std::string, TomlNode>> entries;  // kTable, in file order
  int line = 0;                                           // 1-based, `line_offset` included; 0: not known

  const TomlNode* Find(std::string_view key) const;
};
std::string_view TomlKindName(TomlNode::Kind kind);  // "a string", "an integer", …

// `file` names the text in messages. `line_offset` is added to every line number: the plan of a candidate
// begins somewhere inside its file. Errors are kInvalidArgument, "file:line: …"; a text beyond the bounds above is one.
Result<TomlNode> ParseToml(std::string_view text, std::string_view file, int line_offset = 0);

// " (did you mean 'grid'?)", or " (known: a, b, c)" when nothing is close and the list is short.
std::string Suggestion(std::string_view word, const std::vector<std::string>& candidates);
// A letter or underscore, then letters, digits and underscores.
bool IsIdentifier(std::string_view text);

// Keeps the errors of a document, one unless more are asked for: readers go on with harmless values and the caller asks
// once.
class TomlErrors {
 public:
  explicit TomlErrors(std::string_view file, size_t most = 1) : file_(file), most_(most) {}
  // "file:line: context field 'key': message"; empty context or key are left out.
  void Add(int line, std::string_view context, std::string_view key, std::string_view message);
  // The same for a field of `table` that is missing, and for one that nobody knows. What is missing is mostly there under
  // a misspelt name, so an unknown field of the same table takes the place of that error; one of `outermost`, the whole
  // document, that of any: names that were never declared follow from "[tun]".
  void AddMissing(const TomlNode& table, std::string_view context, std::string_view key, std::string_view message);
  void AddUnknown(const TomlNode& table, bool outermost, int line, std::string_view context, std::string_view key,
                  std::string_view message);
  bool ok() const { return entries_.empty(); }
  // A line for each error, by their lines in the file.
  Status status() const;
  const std::string& file() const { return file_; }

 private:
  struct Entry {
    int line = 0;
    std::string text;
    const TomlNode* missing_of = nullptr;  // the table of which a field is missing
    bool unknown = false;                  // an unknown field
  };
  void Push(int line, std::string_view context, std::string_view key, std::string_view message, Entry entry);

  std::string file_;
  size_t most_;
  std::vector<Entry> entries_;
};

// Takes the fields of one table. Every accessor marks its key as known, so that Finish can name the rest.
// The table and the errors are borrowed and must outlive the reader. Absent optional keys give nullopt;
// values of a wrong type give nullopt too, and an error.
class TableReader {
 public:
  // `context` is how the table is called in messages: "[[launch]] #1".
  TableReader(const TomlNode& table, std::string context, TomlErrors& errors);

  bool Has(std::string_view key) const { return table_.Find(key) != nullptr; }
  int line() const { return table_.line; }
  int LineOf(std::string_view key) const;
  const std::string& context() const { return context_; }

  const TomlNode* Take(std::string_view key);  // any type
  std::optional<std::string> String(std::string_view key);
  std::optional<int64_t> Integer(std::string_view key);
  std::optional<double> Number(std::string_view key);
  std::optional<bool> Boolean(std::string_view key);
  std::optional<std::vector<std::string>> Strings(std::string_view key);
  const TomlNode* Table(std::string_view key);
  // The tables of an array of tables ([[key]]); empty when absent.
  std::vector<const TomlNode*> Tables(std::string_view key);

  std::string RequiredString(std::string_view key);
  // One of `words`, or an error that lists them.
  std::optional<std::string> Word(std::string_view key, const std::vector<std::string>& words);

  void Error(std::string_view key, std::string_view message);  // at the key's line, or the table's
  void Missing(std::string_view key, std::string_view remedy = {});
  // "expected WANTED, found …".
  void WrongKind(std::string_view key, const TomlNode& node, std::string_view wanted);
  void Finish();  // keys that nobody took are errors

 private:
  const TomlNode& table_;
  std::string context_;
  TomlErrors& errors_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace hone
