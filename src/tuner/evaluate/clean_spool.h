// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts what lies in a spool's folder, and removes what nobody waits for any more.
#pragma once

#include <cstdint>
#include <string>

#include "hone/base/status.h"

namespace hone {

struct SpoolContents {
  int64_t answers = 0;
  int64_t answer_bytes = 0;
  int64_t failures = 0;  // notes on why a worker could not judge a bundle
  int64_t waiting = 0;
};

struct SpoolCleanWish {
  bool answers = false, failures = false;
  bool waiting = false;      // removes jobs whose submitters must then submit them again
  bool all = false;          // everything, with the device's facts
  double older_seconds = 0;  // only files that are at least this old; `all` does not heed it
  bool really = false;       // false: only count
};

struct SpoolCleanReport {
  SpoolContents there;  // before
  SpoolContents meant;  // what the options select; removed if `really`
  int64_t running = 0;  // bundles that a worker has claimed; they are never removed
};

// kNotFound: `directory` is no spool. kInvalidArgument: `all` and `really` while bundles are being judged. kIo: a file
// cannot be removed. A bundle that a worker claims meanwhile is left to it.
Result<SpoolCleanReport> CleanSpool(const std::string& directory, const SpoolCleanWish& wish);

}  // namespace hone
