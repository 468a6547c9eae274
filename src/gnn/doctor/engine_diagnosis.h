// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the graph engine finds and misses on this machine. It computes on any CPU, so that nothing that is missing stops
// it: the diagnosis is always `able`.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"
#include "hone/base/status.h"

namespace hone::gnn {

struct EngineSurroundings {
  // One line for each GPU, or why there is none that can be used. Asked by the application, which has the GPU engine.
  Result<std::vector<std::string>> gpus = std::vector<std::string>();
  Status products;                // OK if cuBLASLt can be loaded, else why not
  std::string folder;             // where commands are run: what they write lies there unless another is named
  std::string nccl_library;       // empty: libnccl.so.2 as the system finds it
};

Diagnosis DiagnoseEngine(const EngineSurroundings& surroundings);

}  // namespace hone::gnn
