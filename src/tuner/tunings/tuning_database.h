// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tuning database: every point that a sweep has measured, kept so that the next sweep measures only what is new.
//
// Points belong to an entry. An entry is what must be equal for two points to be comparable: the task's text, the
// candidate, what it is timed against, the device with its driver, and the version of the judge. A sitting is one
// sweep; the same binding may be measured in several sittings. One SQLite file holds all entries.
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
  std::string task_text;       // as TaskText gives it
  std::string candidate;       // the text
  std::string candidate_name;  // a file's name; not compared
  std::string incumbent;       // the text
  std::string incumbent_name;  // not compared
  std::string device;          // "NVIDIA H200": the kind, not the number of the card
  std::string driver;
  int sm_count = 0;  // part of a card (MIG) is another device
  bool modelled = false;
  std::string judge;  // version of what judged: times of another one are not compared

  // 12 hexadecimal digits of a SHA-256 over all that is compared: the same on every machine.
  std::string Id() const;
};

struct TuningRow {
  std::string id;
  TuningEntry entry;
  int64_t points = 0;  // bindings with at least one measurement
  int64_t right = 0;   // of these, bindings whose newest verdict is ok
  int64_t sittings = 0;
  double newest = 0;  // seconds since 1970
};

struct MeasuredPoint {
  std::string sitting;
  double time = 0;  // seconds since 1970
  int trials = 0;   // random input sets at each timed case
  int quads = 0;    // requested number; 0: the protocol's own
  Binding binding;
  Evaluation evaluation;
};

struct PruneRule {
  std::string task, device;  // empty: any
  double before = 0;         // entries whose newest point is older than this (seconds since 1970); 0: any age
  int gates_below = 0;       // entries judged by gates of a lower version; 0: any
};

// The task as the database keeps it: JSON of its name, task.toml, oracle and seed.
std::string TaskText(const Task& task);
// kInvalidArgument where it is not what TaskText writes.
Result<Task> TaskFromText(const std::string& text);

// The points of `all` that a sweep need not measure again, by BindingKey: of each binding the newest, measured with at
// least as many trials and quads as asked for (quads 0 counts as most). What a time limit ended is not among them.
std::map<std::string, Evaluation> KnownPoints(const std::vector<MeasuredPoint>& all, int trials, int quads);

// Thread-safe; several processes may use one file. Errors name the file and the remedy; what was stored stays.
class TuningDatabase {
 public:
  // Makes the file and its folder where they are missing, unless `read_only`. kInvalidArgument when the file is
  // something else, or was written by a newer version.
  static Result<std::unique_ptr<TuningDatabase>> Open(const std::string& path, bool read_only = false);
  ~TuningDatabase();

  const std::string& path() const;

  // Durable when it returns. A point that is there already (the same sitting and binding) is left as it is.
  Status Add(const TuningEntry& entry, const MeasuredPoint& point);
  // Returns all entries, newest first.
  Result<std::vector<TuningRow>> Entries();
  // Finds an entry by its id, by an unambiguous beginning of the id, or by the name of a task that has only one entry.
  // kNotFound and kInvalidArgument list the entries.
  Result<TuningRow> Find(std::string_view name);
  // In the order measured; empty where there is no such entry.
  Result<std::vector<MeasuredPoint>> Points(const std::string& id);

  struct Merged {
    int64_t entries = 0, points = 0;  // new ones
  };
  // Takes over what `other` has and this one lacks, in one transaction. `other` is only read.
  Result<Merged> Merge(TuningDatabase& other);

  // The entries that the rule names, newest first; they and their points are removed unless `only_look`.
  Result<std::vector<TuningRow>> Prune(const PruneRule& rule, bool only_look);

 private:
  struct State;
  explicit TuningDatabase(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone
