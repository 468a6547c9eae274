// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file counts what lies in a spool's folder, and removes files that nobody waits for any more.
#pragma once

#include <cstdint>
#include <string>

#include "hone/base/status.h"

namespace hone {

struct SpoolContents {
  int64_t answers = 0;       // files in done/
  int64_t answer_bytes = 0;  // their size
  int64_t failures = 0;      // files in failed/: notes on why a worker could not judge a bundle
  int64_t waiting = 0;       // bundles in pending/, which no worker has claimed
};

// SpoolCleanOptions select what is to be removed.
struct SpoolCleanOptions {
  bool answers = false, failures = false;
  bool waiting = false;      // also waiting bundles; whoever submitted them must submit them again
  bool all = false;          // all three kinds, and device.json
  double older_seconds = 0;  // selects only files of at least this age; `all` ignores it
  bool really = false;       // false: count, and remove nothing
};

struct SpoolCleanReport {
  SpoolContents there;  // all contents, before anything was removed
  SpoolContents meant;  // the part that SpoolCleanOptions selects; removed if `really`
  int64_t running = 0;  // bundles that a worker has claimed; they are never removed
};

// Counts the spool's files, and removes those that `options` selects. Returns kNotFound if `directory` is no spool,
// kInvalidArgument for `all` with `really` while bundles are being judged, and kIo if a file cannot be removed. A
// bundle that a worker claims meanwhile is left to that worker.
Result<SpoolCleanReport> CleanSpool(const std::string& directory, const SpoolCleanOptions& options);

}  // namespace hone
