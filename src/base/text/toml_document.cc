// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts toml++'s tree into TomlNode, and reads tables with exact messages.
#include "base/text/toml_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "base/text/nearest_word.h"

// toml++ treats some malformed texts ("[?") as a failed assertion, which in a release build becomes an assumption for
// the optimiser. Untrusted text must never get that far, so toml++'s assertions are kept in every build and throw.
namespace hone::toml_guard {
struct Malformed {};
[[noreturn]] inline void Refuse() { throw Malformed(); }
}  // namespace hone::toml_guard
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ASSERT(expr) ((expr) ? void() : ::hone::toml_guard::Refuse())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace hone {

namespace {

// Returns the line of the file where the region begins; 0: toml++ does not know. `line_offset`: lines of the file
// before the text.
int LineOf(const toml::source_region& source, int line_offset) {
  return source.begin.line == 0 ? 0 : static_cast<int>(source.begin.line) + line_offset;
}

// Converts a node of toml++ and everything below it.
TomlNode Convert(const toml::node& node, int line_offset) {
  TomlNode result;
  result.line = LineOf(node.source(), line_offset);
  if (const auto* text = node.as_string()) {
    result.kind = TomlNode::Kind::kString;
    result.string = text->get();
  } else if (const auto* integer = node.as_integer()) {
    result.kind = TomlNode::Kind::kInteger;
    result.integer = integer->get();
    result.number = static_cast<double>(result.integer);
  } else if (const auto* number = node.as_floating_point()) {
    result.kind = TomlNode::Kind::kFloat;
    result.number = number->get();
  } else if (const auto* boolean = node.as_boolean()) {
    result.kind = TomlNode::Kind::kBoolean;
    result.boolean = boolean->get();
  } else if (const auto* array = node.as_array()) {
    result.kind = TomlNode::Kind::kArray;
    for (const toml::node& item : *array) result.items.push_back(Convert(item, line_offset));
  } else if (const auto* table = node.as_table()) {
    result.kind = TomlNode::Kind::kTable;
    struct Positioned {
      toml::source_position position;
      std::pair<std::string, TomlNode> entry;
    };
    std::vector<Positioned> entries;
    for (auto&& [key, value] : *table) {
      TomlNode child = Convert(value, line_offset);
      const int key_line = LineOf(key.source(), line_offset);
      // In [[x]] the array has no position of its own; its key has that of the first entry.
      if (key_line != 0 && child.kind != TomlNode::Kind::kTable) child.line = key_line;
      if (child.line == 0) child.line = key_line;
      entries.push_back({key.source().begin, {std::string(key.str()), std::move(child)}});
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Positioned& a, const Positioned& b) { return a.position < b.position; });
    for (Positioned& positioned : entries) result.entries.push_back(std::move(positioned.entry));
  }
  return result;
}

// Line and fault of a text that toml++ must not see: it nests too deeply, or has characters outside ASCII where TOML
// allows none (toml++ 3.3 assumes that some of these cannot occur, which is undefined behaviour). `what` is empty if
// there is no fault. Only brackets, dots, quotes and comments are read, so the rest need not be valid TOML.
struct Unparsable {
  int line = 1;
  std::string what;
};

// Returns the first fault that toml++ must not see.
Unparsable FindUnparsable(std::string_view text) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);  // a byte-order mark, which TOML allows
  int line = 1, nesting = 0, dots = 0;
  const auto has_three = [&](size_t at, char quote) { return text.substr(at, 3) == std::string(3, quote); };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '#':
        i = std::min(text.find('\n', i), text.size()) - 1;
        break;
      case '"':
      case '\'': {
        // Behind anything else no string begins: toml++ reads on in the value or name before it, as 6.3 in 6.3"x.
        if (i > 0 && text[i - 1] != c && std::string_view(" \t\r\n=[{,.").find(text[i - 1]) == std::string_view::npos)
          break;
        const bool is_multiline = has_three(i, c);
        for (i += is_multiline ? 3 : 1; i < text.size(); ++i) {
          if (text[i] == '\n') ++line;
          if (c == '"' && text[i] == '\\') {
            if (++i < text.size() && text[i] == '\n') ++line;
          } else if (is_multiline ? has_three(i, c) : text[i] == c || text[i] == '\n') {
            break;
          }
        }
        // Up to two quotes that belong to the text may precede the closing three.
        for (int quotes_left = is_multiline ? 4 : 0; quotes_left > 0 && i + 1 < text.size() && text[i + 1] == c;
             --quotes_left)
          ++i;
        break;
      }
      case '[':
      case '{':
        dots = 0;
        if (++nesting > kMaxTomlNesting) {
          return {line,
                  fmt::format("brackets are nested more than {} deep, and no field needs more than 8: write the value "
                              "flat, or close the brackets that were left open",
                              kMaxTomlNesting)};
        }
        break;
      case ']':
      case '}':
        dots = 0;
        nesting = std::max(nesting - 1, 0);
        break;
      case '.':
        if (++dots >= kMaxTomlKeyParts) {
          return {line,
                  fmt::format("a key has more than {} parts between dots, and no field has more than 3: quote a name "
                              "that holds dots, or leave it out",
                              kMaxTomlKeyParts)};
        }
        break;
      case '\n':
        ++line;
        dots = 0;
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x80) {
          return {
              line,
              "a character outside ASCII stands outside of strings and comments: put it between quotes, or remove it"};
        }
        if (c != ' ' && c != '\t' && c != '-' && c != '_' && std::isalnum(static_cast<unsigned char>(c)) == 0) dots = 0;
    }
  }
  return {};
}

// Returns the first line with a table of more than kMaxTomlKeys keys, or 0.
int LineOfTooManyKeys(const TomlNode& node) {
  if (node.entries.size() > kMaxTomlKeys) return std::max(node.entries[kMaxTomlKeys].second.line, 1);
  for (const auto& [key, child] : node.entries) {
    if (const int line = LineOfTooManyKeys(child)) return line;
  }
  for (const TomlNode& item : node.items) {
    if (const int line = LineOfTooManyKeys(item)) return line;
  }
  return 0;
}

// Shortens a message: an error quotes untrusted text, and a megabyte of it helps nobody.
std::string ClipMessage(std::string text) {
  constexpr size_t kMost = 4000;
  if (text.size() <= kMost) return text;
  size_t end = kMost;
  // Does not cut a UTF-8 character in two: its bytes after the first have the form 10xxxxxx.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// Returns the first line where a table header starts with a character that cannot begin a key: toml++ itself does not
// report these.
int LineOfMalformedHeader(std::string_view text) {
  int line = 1;
  for (size_t start = 0; start < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string_view content = text.substr(start, end - start);
    start = end + 1;
    const auto skip = [&](std::string_view characters) {
      content.remove_prefix(std::min(content.find_first_not_of(characters), content.size()));
    };
    skip(" \t");
    if (content.empty() || content.front() != '[') continue;
    skip("[ \t");
    const bool begins_key =
        !content.empty() && (IsIdentifier(content.substr(0, 1)) || (content[0] >= '0' && content[0] <= '9') ||
                             content[0] == '-' || content[0] == '"' || content[0] == '\'');
    if (!begins_key) return line;
  }
  return 1;
}

}  // namespace

TomlNode::TomlNode() = default;
TomlNode::TomlNode(const TomlNode&) = default;
TomlNode::TomlNode(TomlNode&&) noexcept = default;
TomlNode& TomlNode::operator=(const TomlNode&) = default;
TomlNode& TomlNode::operator=(TomlNode&&) noexcept = default;
TomlNode::~TomlNode() = default;

const TomlNode* TomlNode::Find(std::string_view key) const {
  for (const auto& [name, node] : entries) {
    if (name == key) return &node;
  }
  return nullptr;
}

std::string_view TomlKindName(TomlNode::Kind kind) {
  switch (kind) {
    case TomlNode::Kind::kString:
      return "a string";
    case TomlNode::Kind::kInteger:
      return "an integer";
    case TomlNode::Kind::kFloat:
      return "a number with a fraction";
    case TomlNode::Kind::kBoolean:
      return "true or false";
    case TomlNode::Kind::kArray:
      return "an array";
    case TomlNode::Kind::kTable:
      return "a table";
    case TomlNode::Kind::kOther:
      return "a date or time";
  }
  return "a value";
}

Result<TomlNode> ParseToml(std::string_view text, std::string_view file, int line_offset) {
  if (text.size() > kMaxTomlBytes) {
    return Status::InvalidArgument(
        fmt::format("{}:{}: the text has {} bytes; at most {} are read: is it the right file?", file, line_offset + 1,
                    text.size(), kMaxTomlBytes));
  }
  if (const Unparsable unparsable = FindUnparsable(text); !unparsable.what.empty()) {
    return Status::InvalidArgument(fmt::format("{}:{}: {}", file, line_offset + unparsable.line, unparsable.what));
  }
  try {
    TomlNode root = Convert(toml::parse(text), line_offset);
    if (const int line = LineOfTooManyKeys(root)) {
      return Status::InvalidArgument(
          fmt::format("{}:{}: the table has more than {} keys, which no table of ours has: "
                      "leave out what nobody reads",
                      file, line, kMaxTomlKeys));
    }
    return root;
  } catch (const toml::parse_error& error) {
    return Status::InvalidArgument(ClipMessage(fmt::format(
        "{}:{}: not valid TOML: {}", file, std::max(1, LineOf(error.source(), line_offset)), error.description())));
  } catch (const toml_guard::Malformed&) {
    return Status::InvalidArgument(fmt::format("{}:{}: not valid TOML: a [table] or key has no proper name", file,
                                               line_offset + LineOfMalformedHeader(text)));
  }
}

std::string Suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  if (std::string meant = DidYouMean(word, candidates); !meant.empty()) return meant;
  // A longer list would hide the message.
  if (candidates.empty() || candidates.size() > 24) return "";
  return fmt::format(" (known: {})", fmt::join(candidates, ", "));
}

bool IsIdentifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void TomlErrors::Push(int line, std::string_view context, std::string_view key, std::string_view message, Entry entry) {
  if (entries_.size() >= max_entries_) return;
  entry.line = std::max(line, 1);
  entry.text = fmt::format("{}:{}: ", file_, entry.line);
  if (!context.empty()) entry.text += fmt::format("{} ", context);
  if (!key.empty()) entry.text += fmt::format("field '{}'", key);
  if (entry.text.back() == ' ') entry.text.pop_back();
  if (entry.text.back() != ':') entry.text += ':';
  entry.text += fmt::format(" {}", message);
  entry.text = ClipMessage(std::move(entry.text));
  const auto same = [&](const Entry& other) { return other.text == entry.text; };
  if (std::none_of(entries_.begin(), entries_.end(), same)) entries_.push_back(std::move(entry));
}

void TomlErrors::Add(int line, std::string_view context, std::string_view key, std::string_view message) {
  Push(line, context, key, message, {});
}

void TomlErrors::AddMissing(const TomlNode& table, std::string_view context, std::string_view key,
                            std::string_view message) {
  Push(table.line, context, key, message, {.missing_of = &table});
}

void TomlErrors::AddUnknown(const TomlNode& table, bool outermost, int line, std::string_view context,
                            std::string_view key, std::string_view message) {
  std::erase_if(entries_,
                [&](const Entry& entry) { return entry.missing_of == &table || (outermost && !entry.unknown); });
  Push(line, context, key, message, {.unknown = true});
}

Status TomlErrors::status() const {
  if (entries_.empty()) return Status::Ok();
  std::vector<const Entry*> by_line;
  for (const Entry& entry : entries_) by_line.push_back(&entry);
  std::stable_sort(by_line.begin(), by_line.end(), [](const Entry* a, const Entry* b) { return a->line < b->line; });
  std::string text;
  for (const Entry* entry : by_line) text += (text.empty() ? "" : "\n") + entry->text;
  return Status::InvalidArgument(std::move(text));
}

TableReader::TableReader(const TomlNode& table, std::string context, TomlErrors& errors)
    : table_(table), context_(std::move(context)), errors_(errors) {}

int TableReader::LineOf(std::string_view key) const {
  const TomlNode* node = table_.Find(key);
  return node != nullptr && node->line != 0 ? node->line : table_.line;
}

const TomlNode* TableReader::Take(std::string_view key) {
  known_.emplace(key);
  return table_.Find(key);
}

void TableReader::Error(std::string_view key, std::string_view message) {
  errors_.Add(LineOf(key), context_, key, message);
}

void TableReader::Missing(std::string_view key, std::string_view remedy) {
  errors_.AddMissing(table_, context_, key,
                     remedy.empty() ? std::string("is missing") : fmt::format("is missing; {}", remedy));
}

void TableReader::WrongKind(std::string_view key, const TomlNode& node, std::string_view wanted) {
  Error(key, fmt::format("expected {}, found {}", wanted, TomlKindName(node.kind)));
}

std::optional<std::string> TableReader::String(std::string_view key) {
  const TomlNode* node = Take(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != TomlNode::Kind::kString) {
    WrongKind(key, *node, "a string");
    return std::nullopt;
  }
  return node->string;
}

std::optional<int64_t> TableReader::Integer(std::string_view key) {
  const TomlNode* node = Take(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != TomlNode::Kind::kInteger) {
    WrongKind(key, *node, "an integer");
    return std::nullopt;
  }
  return node->integer;
}

std::optional<double> TableReader::Number(std::string_view key) {
  const TomlNode* node = Take(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != TomlNode::Kind::kInteger && node->kind != TomlNode::Kind::kFloat) {
    WrongKind(key, *node, "a number");
    return std::nullopt;
  }
  return node->number;
}

std::optional<bool> TableReader::Boolean(std::string_view key) {
  const TomlNode* node = Take(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != TomlNode::Kind::kBoolean) {
    WrongKind(key, *node, "true or false");
    return std::nullopt;
  }
  return node->boolean;
}

std::optional<std::vector<std::string>> TableReader::Strings(std::string_view key) {
  const TomlNode* node = Take(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != TomlNode::Kind::kArray) {
    WrongKind(key, *node, "an array of strings");
    return std::nullopt;
  }
  std::vector<std::string> result;
  for (const TomlNode& item : node->items) {
    if (item.kind != TomlNode::Kind::kString) {
      Error(key, fmt::format("expected strings only, found {}", TomlKindName(item.kind)));
      return std::nullopt;
    }
    result.push_back(item.string);
  }
  return result;
}

const TomlNode* TableReader::Table(std::string_view key) {
  const TomlNode* node = Take(key);
  if (node == nullptr) return nullptr;
  if (node->kind != TomlNode::Kind::kTable) {
    WrongKind(key, *node, "a table");
    return nullptr;
  }
  return node;
}

std::vector<const TomlNode*> TableReader::Tables(std::string_view key) {
  const TomlNode* node = Take(key);
  std::vector<const TomlNode*> result;
  if (node == nullptr) return result;
  if (node->kind != TomlNode::Kind::kArray) {
    Error(key, fmt::format("expected tables, each begun by [[{}]], found {}", key, TomlKindName(node->kind)));
    return result;
  }
  if (node->items.size() > kMaxTomlTables) {
    Error(key, fmt::format("has {} entries; at most {} are read", node->items.size(), kMaxTomlTables));
    return result;
  }
  for (const TomlNode& item : node->items) {
    if (item.kind != TomlNode::Kind::kTable) {
      Error(key, fmt::format("expected tables, each begun by [[{}]], found {}", key, TomlKindName(item.kind)));
      return {};
    }
    result.push_back(&item);
  }
  return result;
}

std::string TableReader::RequiredString(std::string_view key) {
  if (!Has(key)) {
    known_.emplace(key);
    Missing(key);
    return "";
  }
  return String(key).value_or("");
}

std::optional<std::string> TableReader::Word(std::string_view key, const std::vector<std::string>& words) {
  std::optional<std::string> value = String(key);
  if (!value) return std::nullopt;
  if (std::find(words.begin(), words.end(), *value) == words.end()) {
    Error(key, fmt::format("'{}' is not one of {}", *value, fmt::join(words, ", ")));
    return std::nullopt;
  }
  return value;
}

void TableReader::Finish() {
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const auto& [key, node] : table_.entries) {
    if (known_.contains(key)) continue;
    errors_.AddUnknown(table_, context_.empty(), node.line, context_, key,
                       fmt::format("is not a known field{}", Suggestion(key, known)));
    return;
  }
}

}  // namespace hone
