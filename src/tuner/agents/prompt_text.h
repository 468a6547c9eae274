// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the pieces of a prompt from values: the device, a kernel's times and its place on the roofline, why it failed,
// what was tried. Each piece is Markdown; an empty one means that there is nothing to say.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "hone/tuner/run_view.h"

namespace hone {

// Describes multiprocessors, memories, peaks, and what follows from them: bytes in flight for full bandwidth, ridge
// points.
std::string DeviceText(const DeviceFacts& facts);

// Shows time, floor, share of the floor, and speedup over the version it was timed against, for each timed shape.
// `is_start`: the version is the run's start, whose speedup over itself is meaningless.
std::string TimesText(const Evaluation& evaluation, bool is_start);

// Return a source or a task as a prompt shows it: without the licence lines at its head; a task also without its
// [[hand]] sections, which hold hand-worked results for the judge.
std::string WithoutLicence(std::string_view source);
std::string ShownTask(std::string_view toml);

// Shows roofline position by shape, resources by kernel, applicable rules of thumb, and findings of simulator or
// profiler.
std::string ProfileText(const Task& task, const DeviceFacts& facts, const Evaluation& evaluation);

// Shows verdict, compiler or checker text (its first 10000 bytes, CuTeGen's bound), first mismatch, findings.
std::string FailureText(const Evaluation& evaluation);

// Lists every idea of the nodes below `known_nodes`, with its outcome.
std::string LedgerText(const RunView& view, int64_t known_nodes);
// Shows the outcome of the newest attempt among the nodes below `known_nodes`, and of a sweep of it.
std::string LastOutcomeText(const RunView& view, int64_t known_nodes);

// Shows the nodes `nodes` except the parent, in their order: idea, outcome, times by shape, error, and code.
// Code is shown as long as it fits into `tokens`. The fastest node, if it is faster than the parent, shows its difference
// to the parent; the run's start shows its whole source; other nodes show the regions that they changed against their own
// parents. Space goes to the fastest first, then to the start, correct versions and failed ones, of each the newest first.
// A final line names the nodes whose code is left out.
using SourceOfNode = std::function<Result<std::string>(int64_t)>;
std::string ShownText(const RunView& view, const std::vector<int64_t>& nodes, int64_t parent, int64_t known_nodes,
                      const SourceOfNode& source, int64_t tokens);

std::string DimsLine(const Dims& dims);  // "d=128 rows=4"

}  // namespace hone
