// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists what the graph engine finds and misses on this machine. The engine computes on any CPU, so nothing that is
// missing stops it: the diagnosis is always `able`.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"
#include "hone/base/status.h"

namespace hone::gnn {

struct EngineSurroundings {
  // One line for each GPU, or the reason why none can be used. The application finds this out, because only it links
  // the GPU engine.
  Result<std::vector<std::string>> gpus = std::vector<std::string>();
  Status products;                // OK if cuBLASLt can be loaded, else why not
  std::string folder;             // folder in which commands are run, and into which they write unless another is named
  std::string nccl_library;       // empty: libnccl.so.2 as the system finds it
};

Diagnosis DiagnoseEngine(const EngineSurroundings& surroundings);

}  // namespace hone::gnn
