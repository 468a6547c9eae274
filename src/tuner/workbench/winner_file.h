// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A winner file is what `hone tune` found, without the kernel: a small JSON file that names the candidate's file and
// its hash, and has a binding for each timed shape with its measured speedup. It stands beside the candidate and is
// taken in place of a .cu file; the engine of `hone-gnn` reads it too (gnn/tune/tuned_kernels.h).
//
//   {"hone_winner": 1, "task": "relu", "candidate": "relu.cu", "candidate_sha256": "…", "baseline": "the task's seed",
//    "device": {"name": "NVIDIA H200", "driver": "…", "sm_count": 132, "modelled": false, "judge": "gates 5"},
//    "binding": {"BLOCK": 256}, "verdict": "ok", "geomean_speedup": 1.3,
//    "shapes": [{"dims": {"n": 4096}, "binding": {"BLOCK": 128}, "speedup": {"median": 1.3, "low": 1.2, "high": 1.4}}]}
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "hone/base/status.h"
#include "tuner/workbench/tune_and_judge.h"

namespace hone {

// Returns whether the path names a winner file: whether it ends in .json.
bool IsWinnerPath(const std::string& path);

// Returns the contents of a winner file that is written to `path`. `candidate_path` is the candidate's own file, and
// `baseline` says what it was timed against. The sweep must have a best binding.
nlohmann::json WinnerJson(const Task& task, const std::string& path, const std::string& candidate_path,
                          const std::string& baseline, const DeviceFacts& device, const SweptCandidate& swept,
                          const std::string& source);

// Reads a winner file and returns the tuned candidate's text: the candidate with its winners in its plan.
// kInvalidArgument, naming the file and the field: it is no winner file, it is of another task, or the candidate's file
// has changed. kNotFound: the candidate's file is not there.
Result<std::string> ReadWinner(const Task& task, const std::string& path);

}  // namespace hone
