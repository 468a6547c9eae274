// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A spool passes evaluations to other machines: it is a folder on a shared disk, or one that is copied to a machine
// with a GPU and back.
//
//   DIR/pending/ID.json   a bundle, complete in itself: task, sources, incumbent, seed, protocol version
//   DIR/running/ID.json   a bundle that a worker has claimed (by a rename, so that two workers never judge one bundle)
//   DIR/done/ID.json      the answer: the evaluation, or why there can be none
//   DIR/failed/ID.json    why the last worker put this bundle back; removed once the bundle is answered
//   DIR/device.json       device and tools of the worker that last judged here
//
// Every file is written to a temporary name and renamed. ID is a hash of the bundle, so that asking again finds the
// answer instead of a second bundle. docs/formats/spool.md describes the fields.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/bundle.h"
#include "tuner/evaluate/judge_statement.h"

namespace hone {

class Spool {
 public:
  explicit Spool(std::string directory) : directory_(std::move(directory)) {}

  static std::string BundleId(const Task& task, const EvaluationRequest& request);

  // Returns the stored answer, or the error of a worker that could not read the bundle. Returns kPending while the
  // bundle is pending or running; the message then says why the last worker put it back, if one did.
  Result<Evaluation> Answer(const std::string& id) const;
  // Writes the bundle unless it is pending, running or done already.
  Status Submit(const Task& task, const EvaluationRequest& request);

  // Returns the IDs of the pending bundles except those in `except`, oldest first.
  Result<std::vector<std::string>> Pending(const std::set<std::string>& except = {}) const;
  // Claims a pending bundle and returns whether this worker has it now: another worker may have been faster. A worker
  // claims one when it begins to judge it, so that several workers share what waits.
  Result<bool> Claim(const std::string& id);
  Result<SpoolBundle> Load(const std::string& id) const;
  Status Finish(const std::string& id, const Result<Evaluation>& evaluation);
  // Puts a bundle back into pending/ unanswered, because the environment failed with `reason`, which is noted in
  // failed/. Later claims find it again.
  Status PutBack(const std::string& id, const Status& reason);
  // Puts back, without a reason, all bundles that this process has claimed and not answered. A process that is about to
  // end calls it, from any thread. It never unlocks the spool: threads that would claim or answer afterwards wait until
  // the process ends, so that no bundle is left half done.
  void GiveUp();
  // Moves bundles that a dead worker left in running/ back to pending/: those that were claimed at least
  // `older_than_seconds` ago and that no process has locked. A worker locks the bundles it has claimed (flock). On a
  // file system that keeps locks to one machine, a worker on another machine looks like a dead one.
  Status Release(double older_than_seconds);

  // Write and read what the worker that last judged here states about its machine.
  Status WriteStatement(const JudgeStatement& statement);
  Result<JudgeStatement> ReadStatement() const;

 private:
  std::string Path(const char* state, const std::string& id) const;
  // Hold locks a bundle that was renamed into running/ and returns whether this worker now owns it; Return moves a
  // bundle back to pending/. Call both with mutex_ held.
  bool Hold(const std::string& id);
  Status Return(const std::string& id);

  std::string directory_;
  std::mutex mutex_;                      // held while a bundle moves from one folder to another
  std::map<std::string, UniqueFd> held_;  // claimed and unanswered bundles, locked where locks work
};

// Makes an Evaluator that submits to a spool and answers kPending until the result is there.
Result<std::unique_ptr<Evaluator>> MakeSpoolEvaluator(const std::string& directory);

}  // namespace hone
