// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A Database owns an SQLite connection and its statements. Errors become Statuses with the file, the operation and
// SQLite's own text; for a full disk and a locked file, a sentence tells the user what to do.
//
// The classes are not thread-safe: the run store that uses them holds a lock.
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

// A Statement is a prepared statement. Bind its parameters, then call Step until it returns false. It borrows the
// Database.
class Statement {
 public:
  Statement(Statement&& other) noexcept
      : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  Statement& Bind(int index, std::string_view text);  // index from 1; the text is copied
  Statement& Bind(int index, int64_t value);
  Statement& Bind(int index, double value);

  // Advances to the next row. Returns true if there is one, false at the end.
  Result<bool> Step();
  Status Run();  // runs a statement that returns no rows

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
  // Opens a file. `lock_seconds`: how long to wait for another process's lock. `read_only`: the file must exist, and
  // its folder need not be writable. `what` names the kind of file in errors, and is borrowed.
  static Result<std::unique_ptr<Database>> Open(const std::string& path, double lock_seconds, bool read_only = false,
                                                const char* what = "run store");
  ~Database() { sqlite3_close_v2(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Status Execute(const char* sql);  // runs one or more statements without parameters
  Result<Statement> Prepare(std::string_view sql);
  // Returns the first column of the first row of a query, or 0 if there is no row.
  Result<int64_t> Scalar(std::string_view sql);
  // Switches the file to a write-ahead log. That needs exclusive access, for which SQLite does not wait by itself; this
  // waits up to `lock_seconds`.
  Status WriteAhead(double lock_seconds);
  // Returns the Status for SQLite's result `code`; `doing` is the operation that failed.
  Status Error(int code, std::string_view doing) const;
  const std::string& path() const { return path_; }

 private:
  Database(std::string path, sqlite3* handle, const char* what)
      : path_(std::move(path)), handle_(handle), what_(what) {}
  std::string path_;
  sqlite3* handle_;
  const char* what_;  // what the file holds, for error messages
};

// A Transaction is rolled back when it is destroyed, unless it was committed. It borrows the Database.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) {}
  ~Transaction();
  // Begins a transaction that holds the write lock from the start (BEGIN IMMEDIATE).
  Status Begin();
  // Begins a read-only transaction: all reads until its end see the same state.
  Status BeginReading();
  Status Commit();

 private:
  Database& database_;
  bool open_ = false;  // a transaction has begun and is not committed
};

}  // namespace hone
