// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/database.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/clock.h"

namespace hone {

Statement& Statement::Bind(int index, std::string_view text) {
  const int code = sqlite3_bind_text64(statement_, index, text.data() == nullptr ? "" : text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  HONE_CHECK(code == SQLITE_OK || code == SQLITE_NOMEM || code == SQLITE_TOOBIG, "a statement has no such parameter");
  return *this;
}

Statement& Statement::Bind(int index, int64_t value) {
  HONE_CHECK(sqlite3_bind_int64(statement_, index, value) == SQLITE_OK, "a statement has no such parameter");
  return *this;
}

Statement& Statement::Bind(int index, double value) {
  HONE_CHECK(sqlite3_bind_double(statement_, index, value) == SQLITE_OK, "a statement has no such parameter");
  return *this;
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const char* sql = sqlite3_sql(statement_);
  return database_->Error(code, sql == nullptr ? "a statement" : sql);
}

Status Statement::Run() {
  HONE_ASSIGN_OR_RETURN(bool row, Step());
  HONE_CHECK(!row, "a statement without results gave a row");
  return Status::Ok();
}

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}

namespace {

// Returns the name by which SQLite opens a file for reading. A file with a write-ahead log is read through files next
// to it, which cannot be made in a folder without write permission. If there is no log, SQLite is told that the file
// does not change.
std::string ReadOnlyName(const std::string& path) {
  std::string name = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      name += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      name += c;
    }
  }
  std::error_code none;
  const bool log = std::filesystem::file_size(path + "-wal", none) > 0 && !none;
  return name + (log ? "?mode=ro" : "?mode=ro&immutable=1");
}

}  // namespace

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, double lock_seconds, bool read_only,
                                                 const char* what) {
  sqlite3* handle = nullptr;
  const int code = read_only
                       ? sqlite3_open_v2(ReadOnlyName(path).c_str(), &handle,
                                         SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr)
                       : sqlite3_open_v2(path.c_str(), &handle,
                                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(path, handle, what));
  if (code != SQLITE_OK) return database->Error(code, "open it");
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, static_cast<int>(lock_seconds * 1000));
  return database;
}

Status Database::Execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status::Ok() : Error(code, sql);
}

Result<int64_t> Database::Scalar(std::string_view sql) {
  HONE_ASSIGN_OR_RETURN(Statement select, Prepare(sql));
  HONE_ASSIGN_OR_RETURN(const bool row, select.Step());
  return row ? select.Integer(0) : 0;
}

Status Database::WriteAhead(double lock_seconds) {
  const Stopwatch watch;
  for (;;) {
    const Status status = Execute("PRAGMA journal_mode = WAL");
    if (status.code() != StatusCode::kUnavailable || watch.Seconds() >= lock_seconds) return status;
    ::usleep(5000);
  }
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return Error(code, sql);
  return Statement(this, statement);
}

Status Database::Error(int code, std::string_view doing) const {
  const char* sqlite_message = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  const std::string where = fmt::format("{} {}", what_, path_);
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Status::Io(
          fmt::format("{}: no space left ({}); everything stored so far is safe. Free some space, then "
                      "continue with --resume",
                      where, sqlite_message));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Status::Unavailable(
          fmt::format("{}: another process kept it locked for too long ({}); everything stored "
                      "so far is safe",
                      where, sqlite_message));
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return Status::InvalidArgument(fmt::format("{}: not an intact SQLite file ({})", where, sqlite_message));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Status::Io(fmt::format("{}: cannot be opened for writing ({})", where, sqlite_message));
    case SQLITE_IOERR:
      // On a full file system the write-ahead log may fail with an I/O error instead of SQLITE_FULL.
      return Status::Io(fmt::format(
          "{}: reading or writing failed ({}: {}); everything stored so far "
          "is safe",
          where, sqlite_message, std::error_code(sqlite3_system_errno(handle_), std::generic_category()).message()));
    default:
      return Status::Io(fmt::format("{}: {} (while trying: {})", where, sqlite_message, doing.substr(0, 200)));
  }
}

Transaction::~Transaction() {
  if (open_) (void)database_.Execute("ROLLBACK");
}

Status Transaction::Begin() {
  HONE_RETURN_IF_ERROR(database_.Execute("BEGIN IMMEDIATE"));
  open_ = true;
  return Status::Ok();
}

Status Transaction::BeginReading() {
  HONE_RETURN_IF_ERROR(database_.Execute("BEGIN"));
  open_ = true;
  return Status::Ok();
}

Status Transaction::Commit() {
  HONE_RETURN_IF_ERROR(database_.Execute("COMMIT"));
  open_ = false;
  return Status::Ok();
}

}  // namespace hone
