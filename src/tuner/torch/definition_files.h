// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A benchmark's definition and its workloads as they lie on disk: what describe.py needs of them, read before it is
// confined.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// The names of exact copies of both in a task's folder.
inline constexpr const char* kDefinitionFile = "definition.json";
inline constexpr const char* kWorkloadFile = "workload.jsonl";

struct DefinitionFiles {
  std::string text;           // the definition, JSON
  std::string workloads;      // lines of JSON; empty: there are none
  std::string workload_file;  // how their file is called in messages
  std::map<std::string, std::string>
      files;                          // safetensors files as workloads name them, and where they lie (empty: nowhere)
  std::vector<std::string> readable;  // where they lie, once each: what describe.py must be able to read
};

// Reads `path` and the workloads. An empty `workload_path` looks where the two benchmarks keep them: NAME.jsonl, workload.jsonl or
// workloads.jsonl beside the definition (SOL-ExecBench), workloads/OP_TYPE/NAME.jsonl for definitions/OP_TYPE/NAME.json
// (FlashInfer-Bench). Safetensors files are looked for from the workloads' folder upwards. kInvalidArgument names the
// file and the remedy; what the JSON says is for describe.py to judge.
Result<DefinitionFiles> ReadDefinitionFiles(const std::string& path, const std::string& workload_path);

}  // namespace hone
