// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Stores optimisation runs: everything that happened in each run, in the order in which it happened.
//
// A run is a log of events. Every choice, request, reply and evaluation is appended, and is durable, before it is acted
// on. The state of a run at any moment is a pure fold over its events (run_view.h), so a run that was killed continues
// where its log ends. docs/formats/run-store.md describes the tables and the payloads.
//
// There are two implementations: SQLite (one file holds all runs; safe against `kill -9` and a full disk) and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/source_hash.h"

namespace hone {

enum class EventKind {
  kStarted,     // first event: task, options, hash of the seed
  kChoice,      // the strategy's decision on what to do next
  kRequest,     // a question to the model, before it is sent
  kReply,       // a model's answer, or why there is none
  kMemo,        // the result of a reply that is not a candidate: a plan, a diagnosis, findings, cases, or a problem
  kProposal,    // the result of an attempt's replies: a candidate, or the reason why there is none
  kVetting,     // a proposed case, run on the seed: accepted or refused
  kSweepPoint,  // the verdict on one binding (choice of tunables) of a sweep
  kEvaluation,  // the verdict on a node (a version of the kernel)
  kProfile,     // profile of a node, taken because a prompt will show it
  kFinal,       // the best node, timed against the seed once more as the run's last measurement
  kResumed,     // the run was continued; requests in flight are repeated after this
  kNote,        // a remark for the reader (a provider's first attempt failed, say)
  kEnded,       // the run stopped, for good or until it is resumed: the reason
};
std::string_view EventKindName(EventKind kind);
std::optional<EventKind> EventKindFromName(std::string_view name);

struct Event {
  int64_t sequence = 0;  // 0, 1, 2, … within the run, without gaps
  double time = 0;       // seconds since 1970
  EventKind kind = EventKind::kNote;
  int64_t node = -1;       // the node that the event is about; -1: the run
  std::string payload;     // a JSON object; fields by kind in docs/formats/run-store.md
  std::string evaluation;  // JSON of an Evaluation (docs/evaluation-json.md); empty where there is none
};

// An event to be appended, with the texts of the sources that it names. Event and sources are written in one
// transaction, so a stored event never names a source that is missing.
struct EventDraft {
  EventKind kind = EventKind::kNote;
  double time = 0;
  int64_t node = -1;
  std::string payload = "{}";
  std::string evaluation;
  std::vector<std::string> sources;  // texts; stored under their SHA-256
};

// Describes one run in a store's list of runs.
struct RunInfo {
  std::string id;  // "20261121-064512-3fa9"
  std::string task;
  std::string device;  // "sim", "cuda:0": as the evaluator names it
  bool modelled = false;
  std::string strategy;
  std::string model;   // provider specification: "builtin", "mailbox:DIR"
  double started = 0;  // seconds since 1970
  // The store sets the fields below when it is read:
  int64_t events = 0;
  std::string state;  // "open", or the reason in the last kEnded event
};

// Exclusive right of a process to write to a run. Destroying the claim, or the end of the process, lets another process
// continue the run.
class RunClaim {
 public:
  virtual ~RunClaim() = default;
};

// A store is thread-safe; several processes may use one SQLite store. Every error names the file, what was tried and
// the system's own words; a failed write leaves everything stored before it as it was.
class RunStore {
 public:
  virtual ~RunStore() = default;
  virtual std::string Location() const = 0;  // path, or "memory"

  // Adds a run, which has no events yet.
  virtual Status CreateRun(const RunInfo& info) = 0;
  // Lists runs, newest first.
  virtual Result<std::vector<RunInfo>> Runs() = 0;
  // Finds a run by its full id, an unambiguous prefix or suffix, or "last". kNotFound lists the newest runs.
  virtual Result<RunInfo> FindRun(std::string_view name) = 0;

  // Claims a run for writing. kUnavailable when another living process holds it.
  virtual Result<std::unique_ptr<RunClaim>> Claim(const std::string& run) = 0;

  // Appends an event, which is durable on return; returns its sequence number.
  virtual Result<int64_t> Append(const std::string& run, const EventDraft& event) = 0;
  // Returns events with a sequence number of at least `from`, in order.
  virtual Result<std::vector<Event>> Events(const std::string& run, int64_t from = 0) = 0;

  // Stores a text, if the store does not hold it yet; returns its hash.
  virtual Result<SourceHash> PutSource(std::string_view text) = 0;
  // Returns the text with this hash. kNotFound when the store does not hold it.
  virtual Result<std::string> Source(const SourceHash& hash) = 0;
};

// Options of OpenSqliteRunStore.
struct SqliteStoreOptions {
  double lock_seconds = 10;  // limit on waiting for another process's write
  int64_t max_pages = 0;   // limit on the file's size, in SQLite pages; 0: none. Tests simulate a full disk with this.
  bool read_only = false;  // true: writes fail and nothing is changed; set by itself if the file may not be written
};

// Opens or creates a store; makes missing parent folders. An existing file that may not be written (a colleague's, or
// on a disk mounted read-only) is opened for reading. kInvalidArgument when the file is not a run store or is from a
// newer Hone.
Result<std::unique_ptr<RunStore>> OpenSqliteRunStore(const std::string& path, const SqliteStoreOptions& options = {});
std::unique_ptr<RunStore> MakeMemoryRunStore();

// Writes a run as JSON lines: a header, the sources, the events (docs/formats/run-store.md, "Exported runs").
Result<std::string> ExportRun(RunStore& store, const std::string& run);
// Puts an exported run into `store` under its own id; returns the id. kInvalidArgument names line and fault.
Result<std::string> ImportRun(RunStore& store, std::string_view text);

// Makes a new id from the time (seconds since 1970) and 16 bits of `random`.
std::string MakeRunId(double time, uint64_t random);

}  // namespace hone
