// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/infer/csv.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "gnn/infer/write_output.h"

namespace hone::gnn {
namespace {

constexpr std::string_view kFirstColumn = "node";

// Appends a field, in quotes if it has a separator, a quote or a line's end.
void AppendField(std::string& text, std::string_view field) {
  text += ',';
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    text += field;
    return;
  }
  text += '"';
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

}  // namespace

Status WriteCsv(const std::string& path, std::span<const NodeId> nodes, std::span<const int32_t> classes,
                std::span<const std::string> names) {
  std::string text(kFirstColumn);
  text += names.empty() ? ",class\n" : ",class,name\n";
  for (size_t i = 0; i < nodes.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{},{}", nodes[i], classes[i]);
    const auto at = static_cast<size_t>(classes[i]);
    if (!names.empty()) AppendField(text, at < names.size() ? std::string_view(names[at]) : std::string_view());
    text += '\n';
  }
  return WriteOutput(path, text);
}

Status WriteCsv(const std::string& path, std::span<const NodeId> nodes, std::span<const float> values,
                std::span<const std::string> headings) {
  std::string text(kFirstColumn);
  for (const std::string& heading : headings) AppendField(text, heading);
  text += '\n';
  auto value = values.begin();
  for (const NodeId node : nodes) {
    fmt::format_to(std::back_inserter(text), "{}", node);
    for (size_t c = 0; c < headings.size(); ++c) fmt::format_to(std::back_inserter(text), ",{}", *value++);
    text += '\n';
  }
  return WriteOutput(path, text);
}

Status CheckCsvOutput(const std::string& path) {
  HONE_RETURN_IF_ERROR(CheckOutput(path));
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) == 0) {
    return Status::Ok();
  }
  std::string begin(kFirstColumn.size() + 1, '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin == std::string(kFirstColumn) + ",") return Status::Ok();
  return Status::InvalidArgument(fmt::format(
      "'{}' is there and is no file of predictions, which begins with the column '{}'; predictions replace nothing "
      "else: name another file",
      path, kFirstColumn));
}

}  // namespace hone::gnn
