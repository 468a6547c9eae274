// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file runs the small cases of a candidate under NVIDIA's compute-sanitizer, in place of the simulated GPU, which
// cannot run machine code. The tools of compute-sanitizer (SanitizerTool) run side by side, each over a process of its
// own, because the tool instruments all code that the process loads.
//
// Job and record are passed in files, because compute-sanitizer starts the process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/process/sandbox.h"
#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/worker/job.h"

namespace hone {

inline constexpr char kSanitizedLabel[] = "sanitized";

struct SanitizerOptions {
  std::vector<std::string> argv;  // program and first arguments of the watched process; "--job FILE --out FILE" is appended
  std::vector<std::string> environment;
  std::vector<std::string> directories;  // folders in which `compute-sanitizer` is looked for
  std::string cache_directory;  // keeps the tool's help text for other processes; empty: not kept
  double limit_seconds = 60;  // wall-clock limit of all tools together
  std::stop_token stop;  // ends the tools
};

// Runs the job's small cases under each tool. The evaluation has what the simulated GPU's would have: the verdict
// (crashed, rule_violation, or ok), its detail, and findings. Its label is kSanitizedLabel, its stage "sanitize", and a
// finding of the kind "not_sanitized" says which tools failed. Its metrics "sanitize_seconds.TOOL" and
// "sanitize_seconds.TOOL.PART" say where the time went, and "sanitize_launches" how many launches were watched.
// kUnavailable, with the reason, if no tool has looked.
Result<Evaluation> SanitizeInProcess(const JudgeJob& job, const SanitizerOptions& options);

// Is the watched process's main function: makes the session, reads the job, launches its small cases, and writes the
// record, a line before each launch. `confined`:
// the calling thread enters this sandbox before it loads the candidate; by then the tool and the driver have made their
// connections. The threads that these two have started stay as they are. nullopt: no sandbox. Ends the process with
// status 0, or with 3 after a line on standard error.
int SanitizeMain(const std::string& job_file, const std::string& out_file,
                 const std::function<Result<std::unique_ptr<DeviceSession>>()>& make_session,
                 const std::optional<SandboxPolicy>& confined);

}  // namespace hone
