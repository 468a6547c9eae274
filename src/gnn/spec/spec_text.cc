// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes specs as TOML; docs/models-spec.md describes the fields.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/files/file.h"
#include "base/text/toml_document.h"
#include "gnn/spec/spec_words.h"
#include "hone/gnn/model_spec.h"
#include "hone/gnn/op.h"

namespace hone::gnn {
namespace {

constexpr std::string_view kClasses = "classes";

// Reads a field that holds one of an enumeration's words. The target is unchanged if the field is absent or wrong.
template <typename Enum>
void ReadWord(TableReader& reader, std::string_view key, std::span<const std::string_view> allowed_words,
              Enum& target) {
  const std::optional<std::string> word = reader.Word(key, {allowed_words.begin(), allowed_words.end()});
  if (!word) return;
  target = static_cast<Enum>(std::find(allowed_words.begin(), allowed_words.end(), *word) - allowed_words.begin());
}

void ReadInteger(TableReader& reader, std::string_view key, int& target) {
  const std::optional<int64_t> value = reader.Integer(key);
  if (!value) return;
  if (*value < 0 || *value > 65536) {
    reader.Error(key, fmt::format("is {}; use 0 to 65536", *value));
    return;
  }
  target = static_cast<int>(*value);
}

// Reads a number of columns, or "classes".
void ReadWidth(TableReader& reader, int64_t& target) {
  const TomlNode* node = reader.Take("width");
  if (node == nullptr) {
    reader.Missing("width", "give the number of columns, or \"classes\"");
  } else if (node->kind == TomlNode::Kind::kString && node->string == kClasses) {
    target = kClassWidth;
  } else if (node->kind != TomlNode::Kind::kInteger) {
    reader.WrongKind("width", *node, "an integer or \"classes\"");
  } else if (node->integer < 1) {
    reader.Error("width", fmt::format("is {}; use 1 and up, or \"classes\"", node->integer));
  } else {
    target = node->integer;
  }
}

// Reads a dropout site: a name, or a number from 128 to 255.
void ReadSite(TableReader& reader, int& target) {
  const TomlNode* node = reader.Take("site");
  if (node == nullptr) return;
  if (node->kind == TomlNode::Kind::kString) {
    const auto found = std::find(kSiteNames.begin(), kSiteNames.end(), node->string);
    if (found == kSiteNames.end()) {
      reader.Error("site", fmt::format("'{}' is not one of {} or 128 to 255", node->string, SiteWords()));
      return;
    }
    target = static_cast<int>(found - kSiteNames.begin());
  } else if (node->kind != TomlNode::Kind::kInteger) {
    reader.WrongKind("site", *node, "a site's name or 128 to 255");
  } else if (node->integer < kFirstFreeSite || node->integer > 255) {
    reader.Error("site", fmt::format("is {}; use {} or 128 to 255", node->integer, SiteWords()));
  } else {
    target = static_cast<int>(node->integer);
  }
}

void ReadBool(TableReader& reader, std::string_view key, bool& target) {
  target = reader.Boolean(key).value_or(target);
}

// Reads the operation of a value. `kind_is_known` becomes true if there is such an operation. If there is none, the
// caller must not report unknown fields, because all fields would be.
OperationSpec ReadOperation(TableReader& reader, bool& kind_is_known) {
  std::vector<std::string> names(kOperationNames.begin(), kOperationNames.end());
  for (const OpKind* kind : RegisteredOps()) names.emplace_back(kind->name());
  const std::optional<std::string> name = reader.Word("op", names);
  if (!name) {
    if (!reader.Has("op")) reader.Missing("op", "say which operation makes the value: op = \"linear\" for example");
    return {};
  }
  kind_is_known = true;
  if (*name == "aggregate") {
    AggregateSpec o;
    ReadWord(reader, "how", kHowNames, o.how);
    ReadWord(reader, "scale", kScaleNames, o.scale);
    return o;
  }
  if (*name == "attention") {
    AttentionSpec o;
    ReadWidth(reader, o.width);
    ReadInteger(reader, "heads", o.heads);
    ReadBool(reader, "concatenate", o.concatenate);
    o.negative_slope = reader.Number("negative_slope").value_or(o.negative_slope);
    ReadBool(reader, "bias", o.bias);
    return o;
  }
  if (*name == "linear") {
    LinearSpec o;
    ReadWidth(reader, o.width);
    ReadBool(reader, "bias", o.bias);
    ReadWord(reader, "init", kInitNames, o.init);
    return o;
  }
  if (*name == "norm") {
    NormSpec o;
    ReadWord(reader, "over", kNormNames, o.over);
    return o;
  }
  if (*name == "activate") {
    ActivateSpec o;
    ReadWord(reader, "function", kFunctionNames, o.function);
    return o;
  }
  if (*name == "drop") {
    DropSpec o;
    o.probability = reader.Number("probability").value_or(o.probability);
    ReadInteger(reader, "layer", o.layer);
    ReadSite(reader, o.site);
    o.after = reader.String("after").value_or("");
    return o;
  }
  if (*name == "add") {
    AddSpec o;
    ReadBool(reader, "eps", o.eps);
    return o;
  }
  if (*name == "concat") return ConcatSpec{};
  if (*name == "collect") return CollectSpec{};
  if (const OpKind* const kind = FindOp(*name)) {
    OwnSpec o{.kind = *name};
    if (reader.Has("width")) ReadWidth(reader, o.width);
    for (const OpOption& option : kind->options()) {
      if (const std::optional<double> number = reader.Number(option.name)) o.options[option.name] = *number;
    }
    return o;
  }
  HeadSpec o;
  ReadBool(reader, "bias", o.bias);
  return o;
}

// Reads the names of a value's operands: a text, or a list of texts.
std::vector<std::string> ReadOperands(TableReader& reader) {
  const TomlNode* node = reader.Take("of");
  if (node == nullptr) {
    reader.Missing("of", "name the value that it reads, \"x\" being the features");
    return {};
  }
  if (node->kind == TomlNode::Kind::kString) return {node->string};
  return reader.Strings("of").value_or(std::vector<std::string>{});
}

// Returns `text` as a TOML string in quotes. A value's name needs no escapes, but a model's name may.
std::string TomlString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

template <typename Enum, size_t n>
std::string WordOf(const std::array<std::string_view, n>& enum_words, Enum value) {
  return TomlString(enum_words.at(static_cast<size_t>(value)));
}

std::string WidthText(int64_t width) { return width == kClassWidth ? TomlString(kClasses) : std::to_string(width); }

// Collects the fields of an operation that differ from their defaults, each as "key = value".
struct FieldsOf {
  std::vector<std::string> fields;
  void Add(std::string_view key, std::string_view value) { fields.push_back(fmt::format("{} = {}", key, value)); }
  void AddBool(std::string_view key, bool value, bool usual) {
    if (value != usual) Add(key, value ? "true" : "false");
  }

  void operator()(const AggregateSpec& o) {
    Add("how", WordOf(kHowNames, o.how));
    if (o.scale != AggregateSpec{}.scale) Add("scale", WordOf(kScaleNames, o.scale));
  }
  void operator()(const AttentionSpec& o) {
    Add("width", WidthText(o.width));
    if (o.heads != 1) Add("heads", std::to_string(o.heads));
    AddBool("concatenate", o.concatenate, true);
    if (o.negative_slope != AttentionSpec{}.negative_slope) Add("negative_slope", fmt::format("{}", o.negative_slope));
    AddBool("bias", o.bias, false);
  }
  void operator()(const LinearSpec& o) {
    Add("width", WidthText(o.width));
    AddBool("bias", o.bias, true);
    if (o.init != LinearSpec{}.init) Add("init", WordOf(kInitNames, o.init));
  }
  void operator()(const NormSpec& o) { Add("over", WordOf(kNormNames, o.over)); }
  void operator()(const ActivateSpec& o) { Add("function", WordOf(kFunctionNames, o.function)); }
  void operator()(const DropSpec& o) {
    Add("probability", fmt::format("{}", o.probability));
    if (o.layer >= 0) Add("layer", std::to_string(o.layer));
    if (o.site >= 0) {
      Add("site", o.site < static_cast<int>(kSiteNames.size()) ? TomlString(kSiteNames.at(static_cast<size_t>(o.site)))
                                                               : std::to_string(o.site));
    }
    if (!o.after.empty()) Add("after", TomlString(o.after));
  }
  void operator()(const AddSpec& o) { AddBool("eps", o.eps, false); }
  void operator()(const ConcatSpec&) {}
  void operator()(const CollectSpec&) {}
  void operator()(const HeadSpec& o) { AddBool("bias", o.bias, true); }
  void operator()(const OwnSpec& o) {
    if (o.width != 0) Add("width", WidthText(o.width));
    for (const auto& [name, value] : o.options) Add(name, fmt::format("{}", value));
  }
};

// Returns the fields of a value's TOML, each "key = value".
std::vector<std::string> TextFields(const ValueSpec& value) {
  FieldsOf visitor;
  visitor.Add("name", TomlString(value.name));
  visitor.Add("op", TomlString(OperationName(value.operation)));
  if (value.of.size() == 1) {
    visitor.Add("of", TomlString(value.of[0]));
  } else {
    std::vector<std::string> names;
    for (const std::string& name : value.of) names.push_back(TomlString(name));
    visitor.Add("of", fmt::format("[{}]", fmt::join(names, ", ")));
  }
  std::visit(visitor, value.operation);
  if (!value.parameters.empty()) visitor.Add("parameters", TomlString(value.parameters));
  if (value.stream >= 0) visitor.Add("stream", std::to_string(value.stream));
  return std::move(visitor.fields);
}

}  // namespace

std::string_view OperationName(const OperationSpec& operation) {
  static_assert(std::variant_size_v<OperationSpec> == kOperationNames.size() + 1);
  const auto* own = std::get_if<OwnSpec>(&operation);
  return own != nullptr ? std::string_view(own->kind) : kOperationNames.at(operation.index());
}

bool HasParameters(const OperationSpec& operation) {
  const auto* add = std::get_if<AddSpec>(&operation);
  return std::holds_alternative<AttentionSpec>(operation) || std::holds_alternative<LinearSpec>(operation) ||
         std::holds_alternative<NormSpec>(operation) || std::holds_alternative<HeadSpec>(operation) ||
         std::holds_alternative<OwnSpec>(operation) || (add != nullptr && add->eps);
}

const std::string& ParametersOf(const ValueSpec& value) {
  return value.parameters.empty() ? value.name : value.parameters;
}

Result<ModelSpec> ParseModelSpec(std::string_view text, std::string_view file) {
  HONE_ASSIGN_OR_RETURN(const TomlNode root, ParseToml(text, file));
  constexpr size_t kMostErrors = 8;  // that one message lists
  TomlErrors errors(file, kMostErrors);
  TableReader document(root, "", errors);
  ModelSpec spec;
  spec.name = document.RequiredString("name");
  if (spec.name.size() > 64) document.Error("name", "has more than 64 bytes: give the model a shorter name");
  const std::vector<const TomlNode*> tables = document.Tables("values");
  if (!document.Has("values"))
    document.Missing("values",
                     "list the model's values, as in values = [{name = \"a\", op = \"aggregate\", of = \"x\"}, …]");
  for (size_t i = 0; i < tables.size(); ++i) {
    TableReader reader(*tables[i], fmt::format("values #{}", i + 1), errors);
    ValueSpec value;
    value.name = reader.RequiredString("name");
    bool kind_is_known = false;
    value.operation = ReadOperation(reader, kind_is_known);
    value.of = ReadOperands(reader);
    value.parameters = reader.String("parameters").value_or("");
    ReadInteger(reader, "stream", value.stream);
    if (kind_is_known) reader.Finish();
    spec.values.push_back(std::move(value));
  }
  document.Finish();
  HONE_RETURN_IF_ERROR(errors.status());
  HONE_RETURN_IF_ERROR(LayersOf(spec).status().WithContext(std::string(file)));
  return spec;
}

Result<ModelSpec> ReadModelSpec(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseModelSpec(text, path);
}

std::string ModelSpecText(const ModelSpec& spec) {
  std::string text = fmt::format("name = {}\nvalues = [\n", TomlString(spec.name));
  for (const ValueSpec& value : spec.values) text += fmt::format("  {{{}}},\n", fmt::join(TextFields(value), ", "));
  return text + "]\n";
}

std::string SpecDifference(const ModelSpec& a, const ModelSpec& b) {
  const size_t common = std::min(a.values.size(), b.values.size());
  for (size_t i = 0; i < common; ++i) {
    if (a.values[i] == b.values[i]) continue;
    const std::vector<std::string> left = TextFields(a.values[i]), right = TextFields(b.values[i]);
    const size_t fields = std::min(left.size(), right.size());
    size_t at = 0;
    while (at < fields && left[at] == right[at]) ++at;
    return fmt::format("value {} ('{}'): {} in the one, {} in the other", i + 1, a.values[i].name,
                       at < left.size() ? left[at] : "nothing more", at < right.size() ? right[at] : "nothing more");
  }
  if (a.values.size() != b.values.size()) {
    const ModelSpec& longer = a.values.size() > b.values.size() ? a : b;
    return fmt::format("{} values in the one and {} in the other: '{}' is in one alone", a.values.size(),
                       b.values.size(), longer.values[common].name);
  }
  return a.name == b.name ? "" : fmt::format("the names '{}' and '{}'", a.name, b.name);
}

}  // namespace hone::gnn
