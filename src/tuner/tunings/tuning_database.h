// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps every point that a sweep has measured (the tuning database), so that the next sweep measures only new ones.
//
// Points belong to an entry. An entry names everything that must be equal for two points to be comparable: the task's
// text, the candidate, the incumbent that it is timed against, the device with its driver, and the version of the
// judge. A sitting is one sweep; the same binding may be measured in several sittings. One SQLite file holds all
// entries.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"

namespace hone {

class Database;

struct TuningEntry {
  std::string task;            // name of the task
  std::string task_text;       // the task's contents, as TaskText writes them
  std::string candidate;       // the candidate's text
  std::string candidate_name;  // the candidate's file name; not part of the id
  std::string incumbent;       // the incumbent's text
  std::string incumbent_name;  // the incumbent's file name; not part of the id
  std::string device;          // the kind of card, as "NVIDIA H200", and not its number
  std::string driver;
  int sm_count = 0;  // number of SMs: a part of a card (MIG) is another device
  bool modelled = false;
  std::string judge;  // the judge's version

  // Returns 12 hexadecimal digits of a SHA-256 over all fields that are part of the id: the same on every machine.
  std::string Id() const;
};

// An entry with the counts that a list of entries shows.
struct TuningRow {
  std::string id;
  TuningEntry entry;
  int64_t points = 0;  // bindings with at least one measurement
  int64_t right = 0;   // of these, bindings whose newest verdict is ok
  int64_t sittings = 0;
  double newest = 0;  // seconds since 1970
};

// One measurement of one binding.
struct MeasuredPoint {
  std::string sitting;  // id of the sweep that measured it
  double time = 0;  // seconds since 1970
  int trials = 0;   // random input sets at each timed case
  int quads = 0;    // requested number of paired measurements (quads) for each timed case; 0: the protocol's own
  Binding binding;
  Evaluation evaluation;
};

// Says which entries are old: those that meet every condition given.
struct PruneRule {
  std::string task, device;  // empty: any
  double before = 0;         // entries whose newest point is older than this (seconds since 1970); 0: any age
  int gates_below = 0;       // entries judged by gates of a lower version; 0: any
};

// Returns the task as the database keeps it: JSON of its name, task.toml, oracle and seed.
std::string TaskText(const Task& task);
// Makes a task from the text that TaskText wrote; kInvalidArgument for any other text.
Result<Task> TaskFromText(const std::string& text);

// Returns, by BindingKey, the evaluations that a sweep need not repeat: the newest of each binding in `points` that was
// measured with at least `trials` trials and `quads` quads (0 is more than any number). Evaluations that a time limit
// ended are left out.
std::map<std::string, Evaluation> KnownPoints(const std::vector<MeasuredPoint>& points, int trials, int quads);

// A file of entries and their points. Thread-safe; several processes may use one file. Errors name the file and the
// remedy; stored data stays.
class TuningDatabase {
 public:
  // Makes the file and its folder where they are missing, unless `read_only`. kInvalidArgument when the file is
  // something else, or was written by a newer version.
  static Result<std::unique_ptr<TuningDatabase>> Open(const std::string& path, bool read_only = false);
  ~TuningDatabase();

  const std::string& path() const;

  // Stores a point durably. A point with the same sitting and binding that is there already stays as it is.
  Status Add(const TuningEntry& entry, const MeasuredPoint& point);
  // Returns all entries, newest first.
  Result<std::vector<TuningRow>> Entries();
  // Finds an entry by its id, by an unambiguous beginning of the id, or by the name of a task that has only one entry.
  // kNotFound and kInvalidArgument list the entries.
  Result<TuningRow> Find(std::string_view name);
  // Returns an entry's points in the order measured; none if there is no such entry.
  Result<std::vector<MeasuredPoint>> Points(const std::string& id);

  struct Merged {
    int64_t entries = 0, points = 0;  // numbers of entries and points that were added
  };
  // Adds the entries and points of `other` that this database lacks, in one transaction. `other` is only read.
  Result<Merged> Merge(TuningDatabase& other);

  // Returns the entries that the rule selects, newest first. They and their points are removed, unless `only_look`.
  Result<std::vector<TuningRow>> Prune(const PruneRule& rule, bool only_look);

 private:
  struct State;
  explicit TuningDatabase(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone
