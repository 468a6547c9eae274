// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The pieces of a prompt that are made from values: the device, a kernel's times and where it stands on the roofline,
// why it failed, what was tried. Each is Markdown; empty means that there is nothing to say.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "hone/tuner/run_view.h"

namespace hone {

// Multiprocessors, memories, peaks, and what follows from them: bytes in flight for full bandwidth, ridge points.
std::string DeviceText(const DeviceFacts& facts);

// Time, floor, share of the floor, and speedup over what it was timed against, for each timed shape. `is_start`: the
// version is what the run began with, and a factor over itself says nothing.
std::string TimesText(const Evaluation& evaluation, bool is_start);

// A source or a task as a prompt shows it: without the licence lines at its head; a task without its [[hand]] sections
// too, which hold hand-worked results for the judge.
std::string WithoutLicence(std::string_view source);
std::string ShownTask(std::string_view toml);

// Roofline position by shape, resources by kernel, rules of thumb that apply, findings of simulator or profiler.
std::string ProfileText(const Task& task, const DeviceFacts& facts, const Evaluation& evaluation);

// Verdict, compiler or checker text (its first 10000 bytes, CuTeGen's bound), first mismatch, findings.
std::string FailureText(const Evaluation& evaluation);

// Every idea of the nodes below `known`, with its outcome.
std::string LedgerText(const RunView& view, int64_t known);
// Only that of the newest attempt among them, and of a sweep of it.
std::string LastOutcomeText(const RunView& view, int64_t known);

// Nodes beside the parent, `nodes` in their order: idea, outcome, times by shape, error. Their code follows as long as
// `tokens` of it last: of the fastest, when it is faster than the parent, what differs from the parent; of what the run
// started with, the whole; of the others, the regions that they changed against their own parents. Room goes to the
// fastest first, then to the start, then to right versions, then to failed ones, the newest first; whose code is left out
// is said at the end.
using SourceOfNode = std::function<Result<std::string>(int64_t)>;
std::string ShownText(const RunView& view, const std::vector<int64_t>& nodes, int64_t parent, int64_t known,
                      const SourceOfNode& source, int64_t tokens);

std::string DimsLine(const Dims& dims);  // "d=128 rows=4"

}  // namespace hone
