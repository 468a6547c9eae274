// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the run store in one SQLite file with a write-ahead log. Every append is one transaction, which is flushed
// to disk before Append returns (synchronous = FULL), so that neither `kill -9` nor a power failure undoes an event on
// which a run has already acted.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>

#include "base/files/file_lock.h"
#include "base/numbers/hash.h"
#include "hone/tuner/run_store.h"
#include "tuner/store/database.h"
#include "tuner/store/run_names.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr int kSchemaVersion = 1;  // of the tables, stored as SQLite's user_version
constexpr int kApplicationId = 0x484f4e45;  // "HONE": SQLite's application_id, by which this program recognizes a store

constexpr char kSchema[] = R"sql(
CREATE TABLE sources (
  sha256 TEXT PRIMARY KEY,
  text   TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
  id       TEXT PRIMARY KEY,
  task     TEXT NOT NULL,
  device   TEXT NOT NULL,
  modelled INTEGER NOT NULL,
  strategy TEXT NOT NULL,
  model    TEXT NOT NULL,
  started  REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE events (
  run      TEXT NOT NULL REFERENCES runs(id),
  sequence INTEGER NOT NULL,
  time     REAL NOT NULL,
  kind     TEXT NOT NULL,
  node     INTEGER NOT NULL,
  payload  TEXT NOT NULL,
  PRIMARY KEY (run, sequence)
) WITHOUT ROWID;
CREATE TABLE evaluations (
  run      TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  json     TEXT NOT NULL,
  PRIMARY KEY (run, sequence),
  FOREIGN KEY (run, sequence) REFERENCES events(run, sequence)
) WITHOUT ROWID;
)sql";

class FileClaim : public RunClaim {
 public:
  FileClaim(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~FileClaim() override {
    // Remove the file while its lock is held, so that no other process can have locked a file that is then removed.
    ::unlink(path_.c_str());
    ::close(fd_);
  }

 private:
  int fd_;
  std::string path_;
};

class SqliteRunStore : public RunStore {
 public:
  explicit SqliteRunStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  std::string Location() const override { return database_->path(); }

  Status CreateRun(const RunInfo& info) override {
    std::lock_guard lock(mutex_);
    HONE_ASSIGN_OR_RETURN(Statement insert,
                          database_->Prepare("INSERT INTO runs (id, task, device, modelled, strategy, model, started) "
                                             "VALUES (?, ?, ?, ?, ?, ?, ?)"));
    insert.Bind(1, info.id).Bind(2, info.task).Bind(3, info.device).Bind(4, int64_t{info.modelled});
    insert.Bind(5, info.strategy).Bind(6, info.model).Bind(7, info.started);
    return insert.Run();
  }

  Result<std::vector<RunInfo>> Runs() override {
    std::lock_guard lock(mutex_);
    HONE_ASSIGN_OR_RETURN(
        Statement select,
        database_->Prepare(
            "SELECT id, task, device, modelled, strategy, model, started, "
            "(SELECT count(*) FROM events WHERE run = id), "
            "(SELECT CASE kind WHEN 'ended' THEN json_extract(payload, '$.reason') END FROM events WHERE run = id "
            " ORDER BY sequence DESC LIMIT 1) FROM runs ORDER BY started DESC, id DESC"));
    std::vector<RunInfo> runs;
    while (true) {
      HONE_ASSIGN_OR_RETURN(bool row, select.Step());
      if (!row) return runs;
      RunInfo info;
      info.id = select.Text(0);
      info.task = select.Text(1);
      info.device = select.Text(2);
      info.modelled = select.Integer(3) != 0;
      info.strategy = select.Text(4);
      info.model = select.Text(5);
      info.started = select.Real(6);
      info.events = select.Integer(7);
      info.state = select.Text(8);
      if (info.state.empty()) info.state = "open";
      runs.push_back(std::move(info));
    }
  }

  Result<RunInfo> FindRun(std::string_view name) override {
    HONE_ASSIGN_OR_RETURN(std::vector<RunInfo> runs, Runs());
    return MatchRun(runs, name, Location());
  }

  Result<std::unique_ptr<RunClaim>> Claim(const std::string& run) override {
    const std::string path = fmt::format("{}-{}.lock", database_->path(), run);
    while (true) {
      const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
      if (fd < 0) return Status::Io(fmt::format("create {}: {}", path, strerror(errno)));
      if (const LockOutcome lock_outcome = TryLock(fd); lock_outcome != LockOutcome::kOurs) {
        const int error = errno;
        ::close(fd);
        if (lock_outcome == LockOutcome::kImpossible)
          return Status::Io(fmt::format("lock {}: {}", path, strerror(error)));
        return Status::Unavailable(fmt::format("run {} is being continued by another process", run));
      }
      // The previous holder may have removed the file between open() and the lock. The lock is then on a removed file,
      // and does not count.
      if (IsFileAt(fd, path)) {
        return std::unique_ptr<RunClaim>(std::make_unique<FileClaim>(fd, path));
      }
      ::close(fd);
    }
  }

  Result<int64_t> Append(const std::string& run, const EventDraft& event) override {
    std::lock_guard lock(mutex_);
    Transaction transaction(*database_);
    HONE_RETURN_IF_ERROR(transaction.Begin());
    for (const std::string& source : event.sources) HONE_RETURN_IF_ERROR(InsertSource(source, Sha256Hex(source)));
    int64_t sequence = 0;
    {
      HONE_ASSIGN_OR_RETURN(Statement next_number,
                            database_->Prepare("SELECT coalesce(max(sequence) + 1, 0) FROM events WHERE run = ?"));
      next_number.Bind(1, run);
      HONE_ASSIGN_OR_RETURN(bool row, next_number.Step());
      HONE_CHECK(row, "an aggregate gave no row");
      sequence = next_number.Integer(0);
    }
    {
      HONE_ASSIGN_OR_RETURN(Statement insert,
                            database_->Prepare("INSERT INTO events (run, sequence, time, kind, node, payload) "
                                               "VALUES (?, ?, ?, ?, ?, ?)"));
      insert.Bind(1, run).Bind(2, sequence).Bind(3, event.time).Bind(4, EventKindName(event.kind));
      insert.Bind(5, event.node).Bind(6, event.payload);
      HONE_RETURN_IF_ERROR(insert.Run());
    }
    if (!event.evaluation.empty()) {
      HONE_ASSIGN_OR_RETURN(Statement insert,
                            database_->Prepare("INSERT INTO evaluations (run, sequence, json) VALUES (?, ?, ?)"));
      insert.Bind(1, run).Bind(2, sequence).Bind(3, event.evaluation);
      HONE_RETURN_IF_ERROR(insert.Run());
    }
    HONE_RETURN_IF_ERROR(transaction.Commit());
    return sequence;
  }

  Result<std::vector<Event>> Events(const std::string& run, int64_t from) override {
    std::lock_guard lock(mutex_);
    HONE_ASSIGN_OR_RETURN(
        Statement select,
        database_->Prepare("SELECT e.sequence, e.time, e.kind, e.node, e.payload, v.json FROM events e "
                           "LEFT JOIN evaluations v ON v.run = e.run AND v.sequence = e.sequence "
                           "WHERE e.run = ? AND e.sequence >= ? ORDER BY e.sequence"));
    select.Bind(1, run).Bind(2, from);
    std::vector<Event> events;
    while (true) {
      HONE_ASSIGN_OR_RETURN(bool row, select.Step());
      if (!row) return events;
      Event event;
      event.sequence = select.Integer(0);
      event.time = select.Real(1);
      const std::string kind = select.Text(2);
      std::optional<EventKind> event_kind = EventKindFromName(kind);
      if (!event_kind) {
        return Status::InvalidArgument(
            fmt::format("run store {}: run {} has an event of unknown kind '{}' at {}; a "
                        "newer Hone may have written it",
                        Location(), run, kind, event.sequence));
      }
      event.kind = *event_kind;
      event.node = select.Integer(3);
      event.payload = select.Text(4);
      event.evaluation = select.Text(5);
      events.push_back(std::move(event));
    }
  }

  Result<SourceHash> PutSource(std::string_view text) override {
    std::lock_guard lock(mutex_);
    SourceHash hash = SourceHash::Of(text);
    HONE_RETURN_IF_ERROR(InsertSource(text, hash.hex()));
    return hash;
  }

  Result<std::string> Source(const SourceHash& hash) override {
    std::lock_guard lock(mutex_);
    HONE_ASSIGN_OR_RETURN(Statement select, database_->Prepare("SELECT text FROM sources WHERE sha256 = ?"));
    select.Bind(1, hash.hex());
    HONE_ASSIGN_OR_RETURN(bool row, select.Step());
    if (!row) return Status::NotFound(fmt::format("run store {}: no source with SHA-256 {}", Location(), hash.hex()));
    return select.Text(0);
  }

  // Makes the tables of a new file, or checks those of an existing one.
  Status Prepare(const SqliteStoreOptions& options) {
    // Read everything in one transaction. Otherwise, tables that another process has just made, before it sets the
    // application id, would look like those of another program.
    Transaction look(*database_);
    HONE_RETURN_IF_ERROR(look.BeginReading());
    HONE_ASSIGN_OR_RETURN(int64_t application, database_->Scalar("PRAGMA application_id"));
    HONE_ASSIGN_OR_RETURN(int64_t version, database_->Scalar("PRAGMA user_version"));
    HONE_ASSIGN_OR_RETURN(int64_t tables, database_->Scalar("SELECT count(*) FROM sqlite_master"));
    HONE_RETURN_IF_ERROR(look.Commit());
    if (application != kApplicationId && tables > 0) {
      return Status::InvalidArgument(fmt::format("{} is an SQLite file, but not a run store of Hone", Location()));
    }
    if (version > kSchemaVersion) {
      return Status::InvalidArgument(
          fmt::format("run store {} has schema version {}; this Hone knows up to {}. Use "
                      "the newer Hone that wrote it",
                      Location(), version, kSchemaVersion));
    }
    if (options.read_only) {
      return tables > 0 ? Status::Ok() : Status::InvalidArgument(fmt::format("{} holds no runs", Location()));
    }
    HONE_RETURN_IF_ERROR(database_->WriteAhead(options.lock_seconds));
    HONE_RETURN_IF_ERROR(database_->Execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"));
    if (options.max_pages > 0) {
      HONE_RETURN_IF_ERROR(database_->Execute(fmt::format("PRAGMA max_page_count = {}", options.max_pages).c_str()));
    }
    Transaction transaction(*database_);
    HONE_RETURN_IF_ERROR(transaction.Begin());
    // Another process may have made the tables since the first check.
    HONE_ASSIGN_OR_RETURN(version, database_->Scalar("PRAGMA user_version"));
    if (version < 1) {
      HONE_RETURN_IF_ERROR(database_->Execute(kSchema));
      HONE_RETURN_IF_ERROR(database_->Execute(
          fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion).c_str()));
    }
    return transaction.Commit();
  }

 private:
  Status InsertSource(std::string_view text, const std::string& hash) {
    HONE_ASSIGN_OR_RETURN(Statement insert, database_->Prepare("INSERT INTO sources (sha256, text) VALUES (?, ?) "
                                                               "ON CONFLICT (sha256) DO NOTHING"));
    insert.Bind(1, hash).Bind(2, text);
    return insert.Run();
  }

  std::mutex mutex_;
  std::unique_ptr<Database> database_;
};

}  // namespace

Result<std::unique_ptr<RunStore>> OpenSqliteRunStore(const std::string& path, const SqliteStoreOptions& given_options) {
  std::error_code error;
  SqliteStoreOptions options = given_options;
  const std::string folder = fs::path(path).parent_path().string();  // SQLite would make the log there
  options.read_only |= fs::exists(path, error) && (::access(path.c_str(), W_OK) != 0 ||
                                                   ::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0);
  if (const fs::path parent = fs::path(path).parent_path(); !parent.empty() && !options.read_only) {
    fs::create_directories(parent, error);
    if (error) return Status::Io(fmt::format("create folder {}: {}", parent.string(), error.message()));
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                        Database::Open(path, options.lock_seconds, options.read_only));
  auto store = std::make_unique<SqliteRunStore>(std::move(database));
  HONE_RETURN_IF_ERROR(store->Prepare(options));
  return std::unique_ptr<RunStore>(std::move(store));
}

}  // namespace hone
