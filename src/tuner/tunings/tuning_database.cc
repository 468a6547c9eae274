// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/tunings/tuning_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/numbers/hash.h"
#include "base/text/json_fields.h"
#include "base/text/json_numbers.h"
#include "base/text/json_text.h"
#include "tuner/store/database.h"

namespace hone {
namespace {

using nlohmann::json;

constexpr int kSchemaVersion = 1;  // of the tables, stored as SQLite's user_version
constexpr int kApplicationId = 0x484f5455;  // "HOTU"
constexpr size_t kIdDigits = 12;
constexpr double kLockSeconds = 10;  // how long to wait for another process

constexpr char kSchema[] = R"sql(
CREATE TABLE texts (
  sha256 TEXT PRIMARY KEY,
  text   TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE entries (
  id             TEXT PRIMARY KEY,
  task           TEXT NOT NULL,
  task_text      TEXT NOT NULL REFERENCES texts(sha256),
  candidate      TEXT NOT NULL REFERENCES texts(sha256),
  candidate_name TEXT NOT NULL,
  incumbent      TEXT NOT NULL REFERENCES texts(sha256),
  incumbent_name TEXT NOT NULL,
  device         TEXT NOT NULL,
  driver         TEXT NOT NULL,
  sm_count       INTEGER NOT NULL,
  modelled       INTEGER NOT NULL,
  judge          TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE points (
  entry      TEXT NOT NULL REFERENCES entries(id),
  sitting    TEXT NOT NULL,
  binding    TEXT NOT NULL,
  time       REAL NOT NULL,
  trials     INTEGER NOT NULL,
  quads      INTEGER NOT NULL,
  gates      INTEGER NOT NULL,
  verdict    TEXT NOT NULL,
  evaluation TEXT NOT NULL,
  PRIMARY KEY (entry, sitting, binding)
) WITHOUT ROWID;
)sql";

constexpr char kEntryColumns[] =
    "SELECT e.id, e.task, t.text, c.text, e.candidate_name, i.text, e.incumbent_name, e.device, e.driver, e.sm_count, "
    "e.modelled, e.judge, "
    "(SELECT count(DISTINCT binding) FROM points WHERE entry = e.id), "
    "(SELECT count(*) FROM points p WHERE entry = e.id AND verdict = 'ok' AND NOT EXISTS (SELECT 1 FROM points later "
    "WHERE "
    " later.entry = p.entry AND later.binding = p.binding AND (later.time, later.sitting) > (p.time, p.sitting))), "
    "(SELECT count(DISTINCT sitting) FROM points WHERE entry = e.id), "
    "coalesce((SELECT max(time) FROM points WHERE entry = e.id), 0) AS newest "
    "FROM entries e JOIN texts t ON t.sha256 = e.task_text JOIN texts c ON c.sha256 = e.candidate "
    "JOIN texts i ON i.sha256 = e.incumbent ";

// Reads a row of the query that joins an entry with its texts and counts.
TuningRow RowOf(const Statement& s) {
  TuningRow row;
  row.id = s.Text(0);
  row.entry = {.task = s.Text(1),
               .task_text = s.Text(2),
               .candidate = s.Text(3),
               .candidate_name = s.Text(4),
               .incumbent = s.Text(5),
               .incumbent_name = s.Text(6),
               .device = s.Text(7),
               .driver = s.Text(8),
               .sm_count = static_cast<int>(s.Integer(9)),
               .modelled = s.Integer(10) != 0,
               .judge = s.Text(11)};
  row.points = s.Integer(12);
  row.right = s.Integer(13);
  row.sittings = s.Integer(14);
  row.newest = s.Real(15);
  return row;
}

Status InsertText(Database& database, const std::string& text) {
  HONE_ASSIGN_OR_RETURN(Statement insert, database.Prepare("INSERT OR IGNORE INTO texts (sha256, text) VALUES (?, ?)"));
  insert.Bind(1, Sha256Hex(text)).Bind(2, text);
  return insert.Run();
}

Result<bool> WasInserted(Database& database) {
  HONE_ASSIGN_OR_RETURN(const int64_t changes, database.Scalar("SELECT changes()"));
  return changes > 0;
}

// Stores an entry with its texts; returns false if it was there already.
Result<bool> InsertEntry(Database& database, const TuningEntry& entry) {
  for (const std::string* text : {&entry.task_text, &entry.candidate, &entry.incumbent}) {
    HONE_RETURN_IF_ERROR(InsertText(database, *text));
  }
  HONE_ASSIGN_OR_RETURN(Statement insert,
                        database.Prepare("INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.Bind(1, entry.Id())
      .Bind(2, entry.task)
      .Bind(3, Sha256Hex(entry.task_text))
      .Bind(4, Sha256Hex(entry.candidate));
  insert.Bind(5, entry.candidate_name)
      .Bind(6, Sha256Hex(entry.incumbent))
      .Bind(7, entry.incumbent_name)
      .Bind(8, entry.device);
  insert.Bind(9, entry.driver)
      .Bind(10, int64_t{entry.sm_count})
      .Bind(11, int64_t{entry.modelled})
      .Bind(12, entry.judge);
  HONE_RETURN_IF_ERROR(insert.Run());
  return WasInserted(database);
}

// Stores a point; returns false if one of the same sitting and binding was there already.
Result<bool> InsertPoint(Database& database, const std::string& id, const MeasuredPoint& point) {
  HONE_ASSIGN_OR_RETURN(Statement insert,
                        database.Prepare("INSERT OR IGNORE INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.Bind(1, id).Bind(2, point.sitting).Bind(3, DumpJson(json(point.binding), -1)).Bind(4, point.time);
  insert.Bind(5, int64_t{point.trials}).Bind(6, int64_t{point.quads}).Bind(7, int64_t{point.evaluation.gates});
  insert.Bind(8, VerdictName(point.evaluation.verdict)).Bind(9, EvaluationToJson(point.evaluation, -1));
  HONE_RETURN_IF_ERROR(insert.Run());
  return WasInserted(database);
}

}  // namespace

struct TuningDatabase::State {
  std::unique_ptr<Database> database;
  std::mutex mutex;
};

std::string TuningEntry::Id() const {
  // Each text follows its length, so that no two different entries give the same bytes.
  std::string all;
  for (const std::string* text : {&task, &task_text, &candidate, &incumbent, &device, &driver, &judge}) {
    all += fmt::format("{}:{}", text->size(), *text);
  }
  all += fmt::format("{} {}", sm_count, modelled);
  return Sha256Hex(all).substr(0, kIdDigits);
}

std::string TaskText(const Task& task) {
  return DumpJson(
      json{{"name", task.name}, {"toml", task.toml}, {"oracle", task.oracle_source}, {"seed", task.seed_source}}, -1);
}

Result<Task> TaskFromText(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const json fields, ParseJson(text, "the stored task"));
  for (const char* name : {"name", "toml", "oracle", "seed"}) {
    if (!fields.is_object() || !fields.contains(name) || !fields[name].is_string()) {
      return Status::InvalidArgument(fmt::format("the stored task has no text `{}`", name));
    }
  }
  HONE_ASSIGN_OR_RETURN(Task task,
                        ParseTask(fields["toml"].get<std::string>(), fields["name"].get<std::string>() + "/task.toml"));
  task.oracle_source = fields["oracle"];
  task.seed_source = fields["seed"];
  return task;
}

std::map<std::string, Evaluation> KnownPoints(const std::vector<MeasuredPoint>& points, int trials, int quads) {
  const auto as_many = [](int has, int needed) { return has == 0 || (needed != 0 && has >= needed); };
  std::map<std::string, Evaluation> evaluation_by_binding;
  for (const MeasuredPoint& point : points) {  // in the order measured: the newest of a binding replaces the others
    const Verdict verdict = point.evaluation.verdict;
    if (verdict == Verdict::kTimedOut || verdict == Verdict::kDeviceLost || verdict == Verdict::kInvalidTask) continue;
    if (point.trials < trials || !as_many(point.quads, quads)) continue;
    evaluation_by_binding.insert_or_assign(BindingKey(point.binding), point.evaluation);
  }
  return evaluation_by_binding;
}

TuningDatabase::TuningDatabase(std::unique_ptr<State> state) : state_(std::move(state)) {}
TuningDatabase::~TuningDatabase() = default;
const std::string& TuningDatabase::path() const { return state_->database->path(); }

Result<std::unique_ptr<TuningDatabase>> TuningDatabase::Open(const std::string& path, bool read_only) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!read_only && !folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return Status::Io(fmt::format("create {}: {}", folder.string(), error.message()));
  auto state = std::make_unique<State>();
  HONE_ASSIGN_OR_RETURN(state->database, Database::Open(path, kLockSeconds, read_only, "tuning database"));
  Database& database = *state->database;
  // One transaction reads both numbers. Otherwise, a file that another process prepares between the two reads would
  // look like another program's: no application id, but a version.
  Transaction look(database);
  HONE_RETURN_IF_ERROR(look.BeginReading());
  HONE_ASSIGN_OR_RETURN(const int64_t application, database.Scalar("PRAGMA application_id"));
  HONE_ASSIGN_OR_RETURN(const int64_t version, database.Scalar("PRAGMA user_version"));
  HONE_RETURN_IF_ERROR(look.Commit());
  if (application == kApplicationId && version > kSchemaVersion) {
    return Status::InvalidArgument(fmt::format(
        "{}: written by a newer hone (version {} of its tables, this one knows {})", path, version, kSchemaVersion));
  }
  const auto not_ours = [&] {
    return Status::InvalidArgument(fmt::format("{}: this is no tuning database; name another file", path));
  };
  if (application == kApplicationId && version == kSchemaVersion)
    return std::unique_ptr<TuningDatabase>(new TuningDatabase(std::move(state)));
  if (application != 0 || version != 0 || read_only) return not_ours();
  HONE_RETURN_IF_ERROR(database.WriteAhead(kLockSeconds));
  {
    Transaction transaction(database);
    HONE_RETURN_IF_ERROR(transaction.Begin());
    // Another process may have made the tables in the meantime.
    HONE_ASSIGN_OR_RETURN(const int64_t meanwhile, database.Scalar("PRAGMA application_id"));
    if (meanwhile != kApplicationId) {
      HONE_ASSIGN_OR_RETURN(const int64_t tables, database.Scalar("SELECT count(*) FROM sqlite_schema"));
      if (tables > 0) return not_ours();
      HONE_RETURN_IF_ERROR(database.Execute(kSchema));
      HONE_RETURN_IF_ERROR(database.Execute(
          fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion).c_str()));
    }
    HONE_RETURN_IF_ERROR(transaction.Commit());
  }
  return std::unique_ptr<TuningDatabase>(new TuningDatabase(std::move(state)));
}

Status TuningDatabase::Add(const TuningEntry& entry, const MeasuredPoint& point) {
  std::lock_guard lock(state_->mutex);
  Transaction transaction(*state_->database);
  HONE_RETURN_IF_ERROR(transaction.Begin());
  HONE_RETURN_IF_ERROR(InsertEntry(*state_->database, entry).status());
  HONE_RETURN_IF_ERROR(InsertPoint(*state_->database, entry.Id(), point).status());
  return transaction.Commit();
}

Result<std::vector<TuningRow>> TuningDatabase::Entries() {
  std::lock_guard lock(state_->mutex);
  HONE_ASSIGN_OR_RETURN(Statement select,
                        state_->database->Prepare(std::string(kEntryColumns) + "ORDER BY newest DESC, e.id"));
  std::vector<TuningRow> rows;
  while (true) {
    HONE_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return rows;
    rows.push_back(RowOf(select));
  }
}

Result<TuningRow> TuningDatabase::Find(std::string_view name) {
  HONE_ASSIGN_OR_RETURN(const std::vector<TuningRow> rows, Entries());
  std::vector<const TuningRow*> matches;
  for (const TuningRow& row : rows) {
    if (row.id == name) return row;
    if (row.entry.task == name || (!name.empty() && row.id.starts_with(name))) matches.push_back(&row);
  }
  if (matches.size() == 1) return *matches.front();
  std::string list;
  size_t listed = 0;
  const auto tell = [&](const TuningRow& row) {
    if (++listed <= 8)
      list += fmt::format("\n  {}  {}  {}  {}", row.id, row.entry.task, row.entry.candidate_name, row.entry.device);
  };
  if (matches.empty()) {
    for (const TuningRow& row : rows) tell(row);
    if (rows.empty()) return Status::NotFound(fmt::format("{} holds no entry: `hone tune` writes them", path()));
    return Status::NotFound(fmt::format("{} holds no entry {}; it has:{}", path(), name, list));
  }
  for (const TuningRow* row : matches) tell(*row);
  return Status::InvalidArgument(fmt::format("{} names {} entries; name one by its id:{}", name, matches.size(), list));
}

Result<std::vector<MeasuredPoint>> TuningDatabase::Points(const std::string& id) {
  std::lock_guard lock(state_->mutex);
  HONE_ASSIGN_OR_RETURN(Statement select, state_->database->Prepare(
                                              "SELECT sitting, time, trials, quads, binding, evaluation FROM points "
                                              "WHERE entry = ? ORDER BY time, sitting, binding"));
  select.Bind(1, id);
  std::vector<MeasuredPoint> points;
  while (true) {
    HONE_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return points;
    MeasuredPoint point;
    point.sitting = select.Text(0);
    point.time = select.Real(1);
    point.trials = static_cast<int>(select.Integer(2));
    point.quads = static_cast<int>(select.Integer(3));
    const auto damaged = [&](const std::string& why) {
      return Status::InvalidArgument(fmt::format(
          "{}: a point of entry {} cannot be read ({}); `hone db prune --task TASK` removes entries", path(), id, why));
    };
    const Result<json> binding = ParseJson(select.Text(4), "its binding");
    if (!binding.ok()) return damaged(binding.status().message());
    if (HoldsFloatFrom(*binding, 0)) return damaged("its binding has a number that is no integer of 64 bits");
    try {
      point.binding = binding->get<Binding>();
    } catch (const json::exception& error) {
      return damaged(error.what());
    }
    Result<Evaluation> evaluation = EvaluationFromJson(select.Text(5));
    if (!evaluation.ok()) return damaged(evaluation.status().message());
    point.evaluation = std::move(*evaluation);
    points.push_back(std::move(point));
  }
}

Result<TuningDatabase::Merged> TuningDatabase::Merge(TuningDatabase& other) {
  HONE_ASSIGN_OR_RETURN(const std::vector<TuningRow> rows, other.Entries());
  std::vector<std::vector<MeasuredPoint>> points;
  for (const TuningRow& row : rows) {
    HONE_ASSIGN_OR_RETURN(std::vector<MeasuredPoint> of_row, other.Points(row.id));
    points.push_back(std::move(of_row));
  }
  std::lock_guard lock(state_->mutex);
  Transaction transaction(*state_->database);
  HONE_RETURN_IF_ERROR(transaction.Begin());
  Merged merged;
  for (size_t i = 0; i < rows.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const bool entry_is_new, InsertEntry(*state_->database, rows[i].entry));
    merged.entries += entry_is_new;
    // The id is computed from the fields; the other file's own id is not trusted.
    const std::string id = rows[i].entry.Id();
    for (const MeasuredPoint& point : points[i]) {
      HONE_ASSIGN_OR_RETURN(const bool point_is_new, InsertPoint(*state_->database, id, point));
      merged.points += point_is_new;
    }
  }
  HONE_RETURN_IF_ERROR(transaction.Commit());
  return merged;
}

Result<std::vector<TuningRow>> TuningDatabase::Prune(const PruneRule& rule, bool only_look) {
  HONE_ASSIGN_OR_RETURN(std::vector<TuningRow> rows, Entries());
  std::lock_guard lock(state_->mutex);
  Transaction transaction(*state_->database);
  HONE_RETURN_IF_ERROR(only_look ? transaction.BeginReading() : transaction.Begin());
  std::vector<TuningRow> pruned;
  for (TuningRow& row : rows) {
    if (!rule.task.empty() && row.entry.task != rule.task) continue;
    if (!rule.device.empty() && row.entry.device != rule.device) continue;
    if (rule.before > 0 && row.newest >= rule.before) continue;
    if (rule.gates_below > 0) {
      HONE_ASSIGN_OR_RETURN(Statement gates,
                            state_->database->Prepare("SELECT coalesce(max(gates), 0) FROM points WHERE entry = ?"));
      gates.Bind(1, row.id);
      HONE_ASSIGN_OR_RETURN(const bool has_row, gates.Step());
      if (has_row && gates.Integer(0) >= rule.gates_below) continue;
    }
    if (!only_look) {
      for (const char* remove : {"DELETE FROM points WHERE entry = ?", "DELETE FROM entries WHERE id = ?"}) {
        HONE_ASSIGN_OR_RETURN(Statement statement, state_->database->Prepare(remove));
        statement.Bind(1, row.id);
        HONE_RETURN_IF_ERROR(statement.Run());
      }
    }
    pruned.push_back(std::move(row));
  }
  if (!only_look) {
    HONE_RETURN_IF_ERROR(state_->database->Execute(
        "DELETE FROM texts WHERE sha256 NOT IN (SELECT task_text FROM entries UNION SELECT candidate "
        "FROM entries UNION SELECT incumbent FROM entries)"));
  }
  HONE_RETURN_IF_ERROR(transaction.Commit());
  return pruned;
}

}  // namespace hone
