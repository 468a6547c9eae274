// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports failures of the environment: `Status` and `Result<T>`.
//
// Hone has three kinds of failure. An expected outcome (a candidate that does not compile) is a value such as
// `Evaluation`. A failing environment (a full disk, a missing driver) is a `Status` that carries what was tried, on
// what, and the system's own words.
// A bug in Hone is a HONE_CHECK, which ends the process with a sentence.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace hone {

enum class StatusCode {
  kOk,
  kInvalidArgument,  // the caller, or a file the user wrote, is wrong: exit status 2
  kNotFound,         // a named file, task or run is not there: exit status 2
  kUnavailable,      // a device, driver, compiler or service is missing or lost: exit status 3
  kIo,               // a read or write failed: exit status 3
  kDevice,           // the device reported an error: exit status 3
  kResourceExhausted,  // a plan asks for more threads, shared memory or grid than the device has
  kTimedOut,         // the environment (not a candidate) did not answer in time: exit status 3
  kCancelled,        // the user asked to stop
  kPending,          // the answer waits in a spool and is not there yet: exit status 4
  kInternal,         // a broken promise between Hone's own processes: exit status 3
};

std::string_view StatusCodeName(StatusCode code);

// Holds a code and a message; the default is OK. A value type, cheap to move. `message()` is a whole sentence that can
// be shown to a user as it is.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Ok() { return {}; }
  static Status InvalidArgument(std::string m) { return {StatusCode::kInvalidArgument, std::move(m)}; }
  static Status NotFound(std::string m) { return {StatusCode::kNotFound, std::move(m)}; }
  static Status Unavailable(std::string m) { return {StatusCode::kUnavailable, std::move(m)}; }
  static Status Io(std::string m) { return {StatusCode::kIo, std::move(m)}; }
  static Status ResourceExhausted(std::string m) { return {StatusCode::kResourceExhausted, std::move(m)}; }
  static Status Device(std::string m) { return {StatusCode::kDevice, std::move(m)}; }
  static Status TimedOut(std::string m) { return {StatusCode::kTimedOut, std::move(m)}; }
  static Status Cancelled(std::string m) { return {StatusCode::kCancelled, std::move(m)}; }
  static Status Pending(std::string m) { return {StatusCode::kPending, std::move(m)}; }
  static Status Internal(std::string m) { return {StatusCode::kInternal, std::move(m)}; }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // Returns the same status with `context` and a colon put before the message.
  Status WithContext(std::string_view context) const {
    if (ok()) return *this;
    return {code_, std::string(context) + ": " + message_};
  }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const std::string& message);

// Checks an invariant of Hone. Never use it for anything a user, a candidate or the system can cause.
#define HONE_CHECK(condition, message)                                          \
  do {                                                                          \
    if (!(condition)) ::hone::CheckFailed(__FILE__, __LINE__, #condition, (message)); \
  } while (false)

// Holds either a T or the Status that explains why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}                // NOLINT: implicit by design
  Result(Status status) : state_(std::move(status)) {          // NOLINT: implicit by design
    HONE_CHECK(!std::get<Status>(state_).ok(), "a Result was built from an OK Status");
  }

  bool ok() const { return std::holds_alternative<T>(state_); }
  Status status() const { return ok() ? Status() : std::get<Status>(state_); }

  T& value() & { RequireOk(); return std::get<T>(state_); }
  const T& value() const& { RequireOk(); return std::get<T>(state_); }
  T&& value() && { RequireOk(); return std::get<T>(std::move(state_)); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void RequireOk() const {
    HONE_CHECK(ok(), "value() of a failed Result: " + std::get<Status>(state_).message());
  }
  std::variant<T, Status> state_;
};

#define HONE_CONCAT_(a, b) a##b
#define HONE_CONCAT(a, b) HONE_CONCAT_(a, b)

// Returns from the enclosing function when `expr` (a Status) is not OK.
#define HONE_RETURN_IF_ERROR(expr)             \
  do {                                         \
    ::hone::Status hone_status_ = (expr);      \
    if (!hone_status_.ok()) return hone_status_; \
  } while (false)

// HONE_ASSIGN_OR_RETURN(auto x, MakeX()) unwraps a Result or returns its Status.
#define HONE_ASSIGN_OR_RETURN(lhs, expr) \
  HONE_ASSIGN_OR_RETURN_IMPL_(HONE_CONCAT(hone_result_, __LINE__), lhs, expr)
#define HONE_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                                \
  if (!tmp.ok()) return tmp.status();               \
  lhs = std::move(tmp).value()

}  // namespace hone
