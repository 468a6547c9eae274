// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Profiling runs in a process of its own, because profilers hook the driver, and a worker with hooks must not be used
// for timing. CUPTI counts within that process; if CUPTI cannot count, the process is run again under `ncu`.
//
// Job and answer are passed in files, because `ncu` starts the program and does not reliably pass on descriptors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/profile.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/worker/job.h"

namespace hone {

struct ProfileProcessOptions {
  std::vector<std::string> argv;  // program and first arguments; "--job FILE --out FILE" is appended, and
                                  // "--by-ncu" under ncu
  std::vector<std::string> environment;
  std::vector<std::string> ncu_directories;  // folders in which `ncu` is looked for
  double limit_seconds = 300;                // wall-clock limit of one run
};

// Profiles a job in a new process. Counters that cannot be read are no failure: the profile's note says so, with the
// remedy. A Status means that the process could not be started.
Result<Profile> ProfileInProcess(const JudgeJob& job, const ProfileProcessOptions& options);

// Is the profiling process's main function: reads the job, profiles, writes the answer. Ends the process with status 0,
// or with 3 after a line on standard error.
int ProfileMain(const std::string& job_file, const std::string& out_file, Result<std::unique_ptr<DeviceSession>> session);

}  // namespace hone
