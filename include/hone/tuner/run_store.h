// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The run store: everything that happened in an optimisation run, in the order in which it happened.
//
// A run is a log of events. Every choice, request, reply and evaluation is appended, and is durable, before
// anyone acts on it; what a run knows at any moment is a pure fold over its events (run_view.h), so a run that
// was killed continues where its log ends. docs/formats/run-store.md describes the tables and the payloads.
//
// Two implementations: SQLite (one file holds all runs; safe against `kill -9` and a full disk) and memory.
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
  kStarted,     // first event: task, options, where the seed lies
  kChoice,      // what the strategy decided to do next
  kRequest,     // a question to the model, before it is sent
  kReply,       // its answer, or why there is none
  kMemo,        // what a reply became that is no candidate: a plan, a diagnosis, findings, cases, or a problem
  kProposal,    // what the replies of an attempt became: a candidate, or the reason why it is none
  kVetting,     // a proposed case, run on the seed: accepted or refused
  kSweepPoint,  // one binding of a sweep, evaluated
  kEvaluation,  // a node, evaluated
  kProfile,     // a node that is to be shown with its profile, profiled
  kFinal,       // the last paired run of the best against the seed
  kResumed,     // the run was taken up again; what was in flight is asked again after this
  kNote,        // something a reader should know (a provider that had to be asked twice)
  kEnded,       // last event of a sitting: why it ended
};
std::string_view EventKindName(EventKind kind);
std::optional<EventKind> EventKindFromName(std::string_view name);

struct Event {
  int64_t sequence = 0;  // 0, 1, 2, … within the run, without gaps
  double time = 0;       // seconds since 1970
  EventKind kind = EventKind::kNote;
  int64_t node = -1;       // the node it is about; -1: the run
  std::string payload;     // a JSON object; fields by kind in docs/formats/run-store.md
  std::string evaluation;  // JSON of an Evaluation (docs/evaluation-json.md); empty where there is none
};

// An event to be appended, with the sources it names: one transaction, so that no event ever names a source
// or an evaluation that is not there.
struct EventDraft {
  EventKind kind = EventKind::kNote;
  double time = 0;
  int64_t node = -1;
  std::string payload = "{}";
  std::string evaluation;
  std::vector<std::string> sources;  // texts; stored under their SHA-256
};

struct RunInfo {
  std::string id;  // "20261121-064512-3fa9"
  std::string task;
  std::string device;  // "sim", "cuda:0": as the evaluator names it
  bool modelled = false;
  std::string strategy;
  std::string model;   // provider specification: "builtin", "mailbox:DIR"
  double started = 0;  // seconds since 1970
  // Filled by reading:
  int64_t events = 0;
  std::string state;  // "open", or the reason in the last kEnded event
};

// Held while a process writes to a run; releasing it (or dying) lets another take the run up.
class RunClaim {
 public:
  virtual ~RunClaim() = default;
};

// Thread-safe; several processes may use one SQLite store. Every error names the file, what was tried and the
// system's own words; a failed write leaves everything stored before it as it was.
class RunStore {
 public:
  virtual ~RunStore() = default;
  virtual std::string Location() const = 0;  // path, or "memory"

  virtual Status CreateRun(const RunInfo& info) = 0;
  // Newest first.
  virtual Result<std::vector<RunInfo>> Runs() = 0;
  // A full id, an unambiguous prefix or suffix of one, or "last". kNotFound lists the newest runs.
  virtual Result<RunInfo> FindRun(std::string_view name) = 0;

  // kUnavailable when another living process holds the run.
  virtual Result<std::unique_ptr<RunClaim>> Claim(const std::string& run) = 0;

  // Durable when it returns; gives the event's sequence number.
  virtual Result<int64_t> Append(const std::string& run, const EventDraft& event) = 0;
  // Events with a sequence of at least `from`, in order.
  virtual Result<std::vector<Event>> Events(const std::string& run, int64_t from = 0) = 0;

  virtual Result<SourceHash> PutSource(std::string_view text) = 0;
  // kNotFound when the store holds no text of this name.
  virtual Result<std::string> Source(const SourceHash& hash) = 0;
};

struct SqliteStoreOptions {
  double lock_seconds = 10;  // how long to wait for another process's write
  int64_t max_pages = 0;     // 0: no bound. Tests make the "disk" full with it.
  bool read_only = false;    // nothing is made or changed; what would write fails. So too where nothing may be written.
};

// Opens or creates; makes missing parent folders. A file that is there and may not be written (a colleague's, or on a disk
// mounted read-only) is opened to be read. kInvalidArgument when the file is no run store or is from a
// newer Hone.
Result<std::unique_ptr<RunStore>> OpenSqliteRunStore(const std::string& path, const SqliteStoreOptions& options = {});
std::unique_ptr<RunStore> MakeMemoryRunStore();

// A run as JSON lines: a header, the sources, the events (docs/formats/run-store.md, "Exported runs").
Result<std::string> ExportRun(RunStore& store, const std::string& run);
// Puts an exported run into `store` under its own id; gives the id. kInvalidArgument names line and fault.
Result<std::string> ImportRun(RunStore& store, std::string_view text);

// A fresh id from the time (seconds since 1970) and 16 bits of `random`.
std::string MakeRunId(double time, uint64_t random);

}  // namespace hone
