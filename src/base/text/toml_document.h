// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads TOML into a plain tree that remembers lines and the order of keys. Readers of the tree report errors that a
// person can act on: file, line, field, what is wrong, what would be right.
//
// toml++ sorts keys and is slow to compile, so it stays behind this header in one translation unit. toml++ and every
// function that walks the tree recurse over nested values and the parts of a dotted key, so the size of untrusted text
// is bounded before it is parsed.
// All of Hone's TOML is read through TableReader. The types are plain values and not thread-safe.
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

// Limits on documents, far above Hone's own: a task has 6 KB, keys of two parts, arrays nested as deep as a tensor has
// axes.
inline constexpr size_t kMaxTomlBytes = size_t{4} << 20;
inline constexpr int kMaxTomlNesting = 32;    // brackets within brackets
inline constexpr int kMaxTomlKeyParts = 16;   // parts of a.b.c and [a.b.c]
inline constexpr size_t kMaxTomlKeys = 4096;  // keys of one table: a network may have a thousand weights
inline constexpr size_t kMaxTomlTables = 4096;  // tables of one [[array]], such as one for each weight

struct TomlNode {
  enum class Kind { kString, kInteger, kFloat, kBoolean, kArray, kTable, kOther };  // kOther: dates and times
  Kind kind = Kind::kOther;
  std::string string;
  int64_t integer = 0;
  double number = 0;  // kFloat; also set for kInteger
  bool boolean = false;
  std::vector<TomlNode> items;                            // only for kArray
  std::vector<std::pair<std::string, TomlNode>> entries;  // kTable, in file order
  int line = 0;                                           // 1-based in the whole file (`line_offset` is added); 0: not known

  // The special members are defined in toml_document.cc: here TomlNode is an incomplete type in a pair, which clang
  // rejects.
  TomlNode();
  TomlNode(const TomlNode&);
  TomlNode(TomlNode&&) noexcept;
  TomlNode& operator=(const TomlNode&);
  TomlNode& operator=(TomlNode&&) noexcept;
  ~TomlNode();

  const TomlNode* Find(std::string_view key) const;
};
std::string_view TomlKindName(TomlNode::Kind kind);  // "a string", "an integer", …

// Parses `text`, which messages name `file`. `line_offset` is added to every line number: the plan of a candidate
// begins somewhere inside its file. Errors are kInvalidArgument, "file:line: …", also for a text beyond the limits
// above.
Result<TomlNode> ParseToml(std::string_view text, std::string_view file, int line_offset = 0);

// Returns " (did you mean 'grid'?)", or " (known: a, b, c)" when nothing is close and the list is short.
std::string Suggestion(std::string_view word, const std::vector<std::string>& candidates);
// Returns whether `text` is a letter or underscore, followed by letters, digits and underscores.
bool IsIdentifier(std::string_view text);

// Keeps the errors of a document: one by default, more on request. Readers go on with harmless values, and the caller
// asks for the status once, at the end.
class TomlErrors {
 public:
  explicit TomlErrors(std::string_view file, size_t max_entries = 1) : file_(file), max_entries_(max_entries) {}
  // Adds "file:line: context field 'key': message"; an empty context or key is left out.
  void Add(int line, std::string_view context, std::string_view key, std::string_view message);
  // Report a missing field of `table`, and an unknown field. A field that is missing is mostly there under a misspelt
  // name. So an error about an unknown field replaces the errors about missing fields of the same table. In the
  // outermost table (`outermost`) it replaces all errors but those about unknown fields, because a misspelt "[tun]"
  // makes names undeclared everywhere.
  void AddMissing(const TomlNode& table, std::string_view context, std::string_view key, std::string_view message);
  void AddUnknown(const TomlNode& table, bool outermost, int line, std::string_view context, std::string_view key,
                  std::string_view message);
  bool ok() const { return entries_.empty(); }
  // Returns one line for each error, ordered by line in the file.
  Status status() const;
  const std::string& file() const { return file_; }

 private:
  struct Entry {
    int line = 0;
    std::string text;
    const TomlNode* missing_of = nullptr;  // the table that lacks a field; null: another error
    bool unknown = false;                  // the error is about an unknown field
  };
  void Push(int line, std::string_view context, std::string_view key, std::string_view message, Entry entry);

  std::string file_;
  size_t max_entries_;  // limit of errors that are kept
  std::vector<Entry> entries_;
};

// Reads the fields of one table. Every accessor marks its key as known, so that Finish can report the rest. The table
// and the errors are borrowed and must outlive the reader. Absent optional keys give nullopt; values of a wrong type
// give nullopt too, and an error.
class TableReader {
 public:
  // `context` names the table in messages: "[[launch]] #1".
  TableReader(const TomlNode& table, std::string context, TomlErrors& errors);

  bool Has(std::string_view key) const { return table_.Find(key) != nullptr; }
  int line() const { return table_.line; }
  // Returns the line of the field `key`, or the table's line if the field has none.
  int LineOf(std::string_view key) const;
  const std::string& context() const { return context_; }

  const TomlNode* Take(std::string_view key);  // value of any type, marked as known; null: absent
  std::optional<std::string> String(std::string_view key);
  std::optional<int64_t> Integer(std::string_view key);
  std::optional<double> Number(std::string_view key);
  std::optional<bool> Boolean(std::string_view key);
  std::optional<std::vector<std::string>> Strings(std::string_view key);
  const TomlNode* Table(std::string_view key);
  // Returns the tables of an array of tables ([[key]]); empty when absent.
  std::vector<const TomlNode*> Tables(std::string_view key);

  // Returns the string, or reports that it is missing and returns an empty one.
  std::string RequiredString(std::string_view key);
  // Returns one of `allowed_words`, or reports an error that lists them.
  std::optional<std::string> Word(std::string_view key, const std::vector<std::string>& allowed_words);

  // Reports an error at the key's line, or at the table's if the key is absent.
  void Error(std::string_view key, std::string_view message);
  // Reports that a required key is missing.
  void Missing(std::string_view key, std::string_view remedy = {});
  // Reports "expected EXPECTED_KIND, found …".
  void WrongKind(std::string_view key, const TomlNode& node, std::string_view expected_kind);
  void Finish();  // reports keys that no accessor has read

 private:
  const TomlNode& table_;
  std::string context_;
  TomlErrors& errors_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace hone
