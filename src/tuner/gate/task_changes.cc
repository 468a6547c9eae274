// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gate/task_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/text/toml_document.h"
#include "base/text/utf8.h"
#include "hone/tuner/task.h"

namespace hone {
namespace {

constexpr size_t kValueBytes = 60;  // limit on the bytes of a value in a sentence
// The files of a task's folder besides kernels (docs/task-format.md).
constexpr const char* kTaskFiles[] = {"task.toml", "oracle.cu", "reference.py", "baseline.toml"};

std::string JoinPath(const std::string& folder, std::string_view file) {
  return folder.empty() ? std::string(file) : fmt::format("{}/{}", folder, file);
}

Result<std::optional<std::string>> TextOf(const SourceTree& tree, const std::string& path) {
  Result<std::string> text = tree.Read(path);
  if (text.ok()) return std::optional<std::string>(std::move(*text));
  if (text.status().code() == StatusCode::kNotFound) return std::optional<std::string>();
  return text.status();
}

// Returns the value as one line of text.
std::string ValueText(const TomlNode& node) {
  switch (node.kind) {
    case TomlNode::Kind::kString:
      return fmt::format("\"{}\"", node.string);
    case TomlNode::Kind::kInteger:
      return fmt::format("{}", node.integer);
    case TomlNode::Kind::kFloat:
      return fmt::format("{}", node.number);
    case TomlNode::Kind::kBoolean:
      return node.boolean ? "true" : "false";
    case TomlNode::Kind::kArray: {
      std::string text = "[";
      for (const TomlNode& item : node.items) text += (text.size() > 1 ? ", " : "") + ValueText(item);
      return text + "]";
    }
    case TomlNode::Kind::kTable: {
      std::vector<std::string> parts;
      for (const auto& [key, value] : node.entries) parts.push_back(fmt::format("{} = {}", key, ValueText(value)));
      std::sort(parts.begin(), parts.end());  // the order of keys means nothing
      std::string text = "{";
      for (const std::string& part : parts) text += (text.size() > 1 ? ", " : "") + part;
      return text + "}";
    }
    case TomlNode::Kind::kOther:
      return "a date";
  }
  return "";
}

std::string ShortValue(const std::string& text) { return ClipText(text, kValueBytes); }

bool IsArrayOfTables(const TomlNode& node) {
  return node.kind == TomlNode::Kind::kArray && !node.items.empty() &&
         std::all_of(node.items.begin(), node.items.end(),
                     [](const TomlNode& one) { return one.kind == TomlNode::Kind::kTable; });
}

void CompareNodes(const std::string& path, const TomlNode* before, const TomlNode* after,
                  std::vector<std::string>& differences);

// Fills `tables_by_name` with the entries of an array of tables by their field `name`. Returns false if an entry has no
// name, or two have the same.
bool ByName(const TomlNode& array, std::map<std::string, const TomlNode*>& tables_by_name) {
  for (const TomlNode& entry : array.items) {
    const TomlNode* name = entry.Find("name");
    if (name == nullptr || name->kind != TomlNode::Kind::kString ||
        !tables_by_name.emplace(name->string, &entry).second)
      return false;
  }
  return true;
}

// Adds a sentence to `differences` for each difference of two arrays of tables.
void CompareArrays(const std::string& path, const TomlNode& before, const TomlNode& after,
                   std::vector<std::string>& differences) {
  std::map<std::string, const TomlNode*> old_named, new_named;
  if (ByName(before, old_named) && ByName(after, new_named)) {
    std::set<std::string> names;
    for (const auto& [name, entry] : old_named) names.insert(name);
    for (const auto& [name, entry] : new_named) names.insert(name);
    for (const std::string& name : names) {
      const auto was = old_named.find(name), is = new_named.find(name);
      CompareNodes(fmt::format("{} {}", path, name), was == old_named.end() ? nullptr : was->second,
                   is == new_named.end() ? nullptr : is->second, differences);
    }
    return;
  }
  std::vector<std::string> was, is, gone, added;
  for (const TomlNode& entry : before.items) was.push_back(ValueText(entry));
  for (const TomlNode& entry : after.items) is.push_back(ValueText(entry));
  if (was == is) return;
  std::sort(was.begin(), was.end());
  std::sort(is.begin(), is.end());
  std::set_difference(was.begin(), was.end(), is.begin(), is.end(), std::back_inserter(gone));
  std::set_difference(is.begin(), is.end(), was.begin(), was.end(), std::back_inserter(added));
  for (const std::string& one : gone) differences.push_back(fmt::format("[[{}]] {} is gone", path, ShortValue(one)));
  for (const std::string& one : added) differences.push_back(fmt::format("[[{}]] {} is new", path, ShortValue(one)));
  if (gone.empty() && added.empty()) differences.push_back(fmt::format("the order of [[{}]] changes", path));
}

// Adds a sentence to `differences` for each field in which `before` and `after` differ; null: that side lacks the node.
void CompareNodes(const std::string& path, const TomlNode* before, const TomlNode* after,
                  std::vector<std::string>& differences) {
  if (before == nullptr) {
    differences.push_back(fmt::format("{} = {} is new", path, ShortValue(ValueText(*after))));
    return;
  }
  if (after == nullptr) {
    differences.push_back(fmt::format("{} = {} is gone", path, ShortValue(ValueText(*before))));
    return;
  }
  if (before->kind == TomlNode::Kind::kTable && after->kind == TomlNode::Kind::kTable) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : before->entries) keys.push_back(key);
    for (const auto& [key, value] : after->entries) {
      if (before->Find(key) == nullptr) keys.push_back(key);
    }
    for (const std::string& key : keys)
      CompareNodes(path.empty() ? key : fmt::format("{}.{}", path, key), before->Find(key), after->Find(key),
                   differences);
    return;
  }
  if (IsArrayOfTables(*before) && IsArrayOfTables(*after)) {
    CompareArrays(path, *before, *after, differences);
    return;
  }
  const std::string old_value = ValueText(*before), new_value = ValueText(*after);
  if (old_value != new_value)
    differences.push_back(fmt::format("{}: {} becomes {}", path, ShortValue(old_value), ShortValue(new_value)));
}

// Returns the name of the task in a folder of the tree; empty if it cannot be read.
std::string NameOf(const SourceTree& tree, const std::string& folder) {
  const Result<std::string> text = tree.Read(JoinPath(folder, "task.toml"));
  if (!text.ok()) return "";
  const Result<TomlNode> toml = ParseToml(*text, folder);
  const TomlNode* name = toml.ok() ? toml->Find("name") : nullptr;
  return name != nullptr && name->kind == TomlNode::Kind::kString ? name->string : "";
}

// Returns which files of one task differ, and how; empty: none.
Result<std::string> DescribeFiles(const SourceTree& base, const std::string& base_folder, const SourceTree& head,
                                  const std::string& head_folder) {
  std::string what;
  for (const char* file : kTaskFiles) {
    const std::string path = JoinPath(head_folder, file);
    HONE_ASSIGN_OR_RETURN(const std::optional<std::string> before, TextOf(base, JoinPath(base_folder, file)));
    HONE_ASSIGN_OR_RETURN(const std::optional<std::string> after, TextOf(head, path));
    if (before == after) continue;
    what += (what.empty() ? "" : ", ") + std::string(file);
    if (!before || !after) {
      what += before ? " (which is gone)" : " (which is new)";
      continue;
    }
    if (!std::string_view(file).ends_with(".toml")) continue;
    const std::string fields = DescribeTomlChanges(*before, *after);
    std::string note = fields.empty() ? "no field differs" : fields;
    if (std::string_view(file) == "task.toml") {
      if (const Result<Task> task = ParseTask(*after, path); !task.ok())
        note = fmt::format("cannot be read any more: {}", task.status().message());
    }
    what += fmt::format(" ({})", note);
  }
  return what;
}

}  // namespace

std::vector<std::string> TaskFolders(const SourceTree& tree) {
  std::set<std::string> folders;
  for (const std::string& path : tree.Files()) {
    if (path == "task.toml")
      folders.insert("");
    else if (path.ends_with("/task.toml"))
      folders.insert(path.substr(0, path.rfind('/')));
  }
  return {folders.begin(), folders.end()};
}

TaskPairs PairTasks(const SourceTree& base, const SourceTree& head) {
  TaskPairs pairs;
  const std::vector<std::string> old_folders = TaskFolders(base), new_folders = TaskFolders(head);
  const std::set<std::string> old_set(old_folders.begin(), old_folders.end()),
      new_set(new_folders.begin(), new_folders.end());
  std::map<std::string, std::vector<std::string>>
      folders_left;  // folders of the base that head lacks, by the task's name
  for (const std::string& folder : old_folders) {
    if (new_set.contains(folder)) continue;
    pairs.gone.push_back(folder);
    if (const std::string name = NameOf(base, folder); !name.empty()) folders_left[name].push_back(folder);
  }
  for (const std::string& folder : new_folders) {
    if (old_set.contains(folder)) {
      pairs.base_of[folder] = folder;
      continue;
    }
    // Kernels of a task that head moved are judged by the base's task, so that a move cannot loosen a tolerance. If two
    // of the base's tasks have this name, it is not known which one was moved.
    const auto moved = folders_left.find(NameOf(head, folder));
    const bool moved_from_one = moved != folders_left.end() && moved->second.size() == 1;
    pairs.base_of[folder] = moved_from_one ? moved->second[0] : std::string(kNoTask);
    if (moved_from_one) {
      std::erase(pairs.gone, moved->second[0]);
      folders_left.erase(moved);
    }
  }
  return pairs;
}

Result<std::vector<std::string>> DescribeTaskChanges(const SourceTree& base, const SourceTree& head,
                                                     const TaskPairs& pairs) {
  std::vector<std::string> differences;
  for (const std::string& folder : pairs.gone) differences.push_back(fmt::format("{}: the task is gone", folder));
  for (const auto& [folder, before] : pairs.base_of) {
    if (before == kNoTask) {
      differences.push_back(fmt::format("{}: the task is new; its kernels were judged by it", folder));
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const std::string what, DescribeFiles(base, before, head, folder));
    if (before != folder) differences.push_back(fmt::format("{}: the task was {} before", folder, before));
    if (!what.empty())
      differences.push_back(fmt::format("{}: the change touches {}; kernels were judged by the base's", folder, what));
  }
  std::sort(differences.begin(), differences.end());
  return differences;
}

std::string DescribeTomlChanges(std::string_view before, std::string_view after, size_t most) {
  const Result<TomlNode> was = ParseToml(before, "base"), is = ParseToml(after, "head");
  if (!was.ok() || !is.ok()) return "";
  std::vector<std::string> differences;
  CompareNodes("", &*was, &*is, differences);
  std::string text;
  for (size_t i = 0; i < differences.size() && i < most; ++i) text += (text.empty() ? "" : "; ") + differences[i];
  if (differences.size() > most) text += fmt::format("; and {} more", differences.size() - most);
  return text;
}

}  // namespace hone
