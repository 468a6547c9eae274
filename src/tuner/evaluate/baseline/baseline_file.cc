// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/baseline/baseline_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/toml_document.h"
#include "tuner/core/task/torch_module.h"

namespace hone {
namespace {

// Reads a name that must be one of `known`, the names that the task declares.
std::string KnownName(TableReader& reader, const char* key, const std::vector<std::string>& known, const char* what) {
  std::string name = reader.RequiredString(key);
  if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end()) {
    reader.Error(key, fmt::format("'{}' is no {} of the task{}", name, what, Suggestion(name, known)));
  }
  return name;
}

}  // namespace

Result<std::vector<LibrarySpec>> ParseBaselines(std::string_view toml, std::string_view file, const Task& task) {
  HONE_ASSIGN_OR_RETURN(const TomlNode root, ParseToml(toml, file));
  TomlErrors errors(file);
  TableReader top(root, "", errors);
  std::vector<std::string> tensors, dims;
  for (const TensorSpec& tensor : task.tensors) tensors.push_back(tensor.name);
  for (const auto& [name, description] : task.dims) dims.push_back(name);
  std::vector<LibrarySpec> specs;
  for (const TomlNode* table : top.Tables("library")) {
    TableReader reader(*table, fmt::format("[[library]] #{}", specs.size() + 1), errors);
    LibrarySpec& spec = specs.emplace_back();
    const std::optional<std::string> kind = reader.Word("kind", {"cublaslt", "torch"});
    if (!kind) reader.Missing("kind", "write kind = \"cublaslt\" or \"torch\"");
    if (kind == "torch") {
      spec.expression = reader.RequiredString("expression");
      if (reader.Has("name")) spec.name = reader.RequiredString("name");
      if (!IsIdentifier(spec.name))
        reader.Error("name", fmt::format("'{}' is no name of letters, digits and _: rename it", spec.name));
      if (const TomlNode* prepare = reader.Table("prepare")) {
        TableReader names(*prepare, reader.context() + ".prepare", errors);
        for (const auto& [key, value] : prepare->entries) {
          const bool name_is_taken = std::find(tensors.begin(), tensors.end(), key) != tensors.end() ||
                                     std::find(dims.begin(), dims.end(), key) != dims.end() ||
                                     task.FindScalar(key) != nullptr;
          if (!IsIdentifier(key) || name_is_taken)
            names.Error(
                key, "a prepared tensor needs a name of letters, digits and _ that the task does not have: rename it");
          spec.prepare.emplace_back(key, names.RequiredString(key));
        }
        names.Finish();
      }
    } else if (kind == "cublaslt") {
      spec.kind = LibraryKind::kCublasLt;
      spec.a = KnownName(reader, "a", tensors, "tensor");
      spec.b = KnownName(reader, "b", tensors, "tensor");
      spec.c = KnownName(reader, "c", tensors, "tensor");
      spec.m = KnownName(reader, "m", dims, "dimension");
      spec.n = KnownName(reader, "n", dims, "dimension");
      spec.k = KnownName(reader, "k", dims, "dimension");
      spec.transpose_a = reader.Boolean("transpose_a").value_or(false);
      spec.transpose_b = reader.Boolean("transpose_b").value_or(false);
      if (reader.Has("epilogue")) spec.epilogue = reader.Word("epilogue", {"none", "relu", "gelu"}).value_or("none");
      spec.algorithms = reader.Integer("algorithms").value_or(16);
      if (spec.algorithms < 1 || spec.algorithms > 64) reader.Error("algorithms", "1 to 64 may be tried");
      if (errors.ok()) {
        const DType in = task.FindTensor(spec.a)->dtype, out = task.FindTensor(spec.c)->dtype;
        const bool is_supported = in == DType::kFloat32 || in == DType::kFloat16 || in == DType::kBFloat16;
        if (!is_supported || in != task.FindTensor(spec.b)->dtype || in != out) {
          reader.Error("c", "a, b and c must all be float32, float16 or bfloat16");
        }
      }
    }
    reader.Finish();
  }
  top.Finish();
  if (!errors.ok()) return errors.status();
  return specs;
}

Result<std::vector<LibrarySpec>> LoadBaselines(const Task& task) {
  std::vector<LibrarySpec> specs;
  if (!task.baseline_toml.empty()) {
    const std::string file = (task.directory.empty() ? task.name : task.directory) + "/baseline.toml";
    HONE_ASSIGN_OR_RETURN(specs, ParseBaselines(task.baseline_toml, file, task));
  }
  const bool torch =
      std::any_of(specs.begin(), specs.end(), [](const LibrarySpec& one) { return one.kind == LibraryKind::kTorch; });
  if (!torch && HasTorchModule(task)) specs.emplace_back().module = true;
  return specs;
}

}  // namespace hone
