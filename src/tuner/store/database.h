// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Owns an SQLite connection and its statements: errors become Status with the file, what was tried and SQLite's own
// text; for a full disk and a locked file a sentence tells the user what to do.
//
// Not thread-safe: the store above it holds a lock.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "hone/base/status.h"

namespace hone {

class Database;

// A prepared statement. Bind, then Step until it returns false. Resets when destroyed.
class Statement {
 public:
  Statement(Statement&& other) noexcept
      : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  Statement& Bind(int index, std::string_view text);  // index from 1; the text is copied
  Statement& Bind(int index, int64_t value);
  Statement& Bind(int index, double value);

  // Returns true if there is a row, false if done.
  Result<bool> Step();
  Status Run();  // for statements without rows

  std::string Text(int column) const;  // column from 0
  int64_t Integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double Real(int column) const { return sqlite3_column_double(statement_, column); }

 private:
  friend class Database;
  Statement(Database* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  Database* database_;
  sqlite3_stmt* statement_;
};

class Database {
 public:
  // `read_only`: the file must exist, and its folder need not be writable. `what` names the kind of file in errors.
  static Result<std::unique_ptr<Database>> Open(const std::string& path, double lock_seconds, bool read_only = false,
                                                const char* what = "run store");
  ~Database() { sqlite3_close_v2(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Status Execute(const char* sql);  // one or more statements without parameters
  Result<Statement> Prepare(std::string_view sql);
  Status Error(int code, std::string_view doing) const;
  const std::string& path() const { return path_; }

 private:
  Database(std::string path, sqlite3* handle, const char* what) : path_(std::move(path)), handle_(handle), what_(what) {}
  std::string path_;
  sqlite3* handle_;
  const char* what_;
};

// Begins an immediate transaction; rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) {}
  ~Transaction();
  Status Begin();
  // Begins a read-only transaction: all reads until its end see the same state.
  Status BeginReading();
  Status Commit();

 private:
  Database& database_;
  bool open_ = false;
};

}  // namespace hone
