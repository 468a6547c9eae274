// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a benchmark's definition and its workloads from disk. describe.py runs in a sandbox and cannot look for them
// itself.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// The file names, in a task's folder, of exact copies of the definition and of the workloads.
inline constexpr const char* kDefinitionFile = "definition.json";
inline constexpr const char* kWorkloadFile = "workload.jsonl";

struct DefinitionFiles {
  std::string text;           // of the definition, JSON
  std::string workloads;      // text of the workloads' file, lines of JSON; empty: there is no such file
  std::string workload_file;  // name of the workloads' file in messages
  std::map<std::string, std::string> files;  // safetensors files: name in the workloads -> path; empty: not found
  std::vector<std::string> readable;         // the paths that were found, once each, for describe.py to read
};

// Reads the definition at `path`, and the workloads at `workload_path`. If that is empty, the workloads are looked for
// where the two benchmarks keep them: NAME.jsonl, workload.jsonl or workloads.jsonl beside the definition
// (SOL-ExecBench), or workloads/OP_TYPE/NAME.jsonl for definitions/OP_TYPE/NAME.json (FlashInfer-Bench). Safetensors
// files are looked for in the workloads' folder and in the folders above it. kInvalidArgument names a file that cannot
// be read, and the remedy; describe.py checks the JSON.
Result<DefinitionFiles> ReadDefinitionFiles(const std::string& path, const std::string& workload_path);

}  // namespace hone
