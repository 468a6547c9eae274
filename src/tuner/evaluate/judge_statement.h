// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes what a worker states about its machine to those who submit jobs: the facts of its device, and its tools. A
// spool holds the statement in device.json, a queue under its key `device`.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"

namespace hone {

struct JudgeStatement {
  DeviceFacts facts;
  JudgeTools tools;  // not stated: an older worker wrote it
};

// Encode and decode a statement as a JSON object: the fields of the facts, and an object `tools` with `toolkit`,
// `cutlass` and `no_cutlass`. kInvalidArgument for a damaged text; unknown fields are ignored.
std::string EncodeStatement(const JudgeStatement& statement);
Result<JudgeStatement> DecodeStatement(const std::string& text);

// Checks the include set "cute" against the tools of `judge`, such as "the worker that last judged in jobs":
// kUnavailable with its reason if they state that CuTe's headers are missing; Ok otherwise.
Status CanIncludeThere(std::string_view include_set, const JudgeTools& tools, std::string_view judge);

// Returns a sentence on what has to be assumed of the judges at `place` ("spool:jobs"), because none of them has
// stated its tools; empty if one has. `worker_seen`: facts of the device are known, so a worker has judged there.
std::string AssumedText(const JudgeTools& tools, bool worker_seen, std::string_view place);

}  // namespace hone
