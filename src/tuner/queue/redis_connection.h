// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Connects to a Redis (or Valkey) server, and sends commands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// A RedisAddress has the parts of redis://[USER@]HOST[:PORT]/QUEUE[?password_file=FILE], or of rediss://… for TLS,
// which may add &ca_file=FILE. A submitter may add &reuse=NAME (queue_evaluator.h). A password is never part of an
// address, because others can read addresses in the list of processes.
struct RedisAddress {
  std::string host;
  int port = 6379;
  bool tls = false;
  std::string ca_file;        // with TLS: file of trusted authorities (PEM); empty: the system's
  std::string user;           // empty: the server's default user
  std::string password_file;  // file whose first line is the password; empty: no password
  std::string queue;          // name of the queue: 1 to 64 of A-Z a-z 0-9 . _ -
  std::string reuse;          // of the same form; empty: every evaluation is a new job
};
bool IsRedisAddress(std::string_view text);
// Returns whether `name` may name a queue or a user: 1 to 64 of A-Z a-z 0-9 . _ -, which are safe in keys and addresses.
bool IsQueueName(std::string_view name);
// Returns the first line of a password file. Returns kInvalidArgument if that is empty.
Result<std::string> ReadPassword(const std::string& file);
// Parses an address. kInvalidArgument says which part is wrong.
Result<RedisAddress> ParseRedisAddress(const std::string& text);

// Returns whether a server refused a command because its memory is full. `error` is the server's text, or a status
// message that contains it.
bool IsMemoryFull(std::string_view error);

// Returns whether a server refused user and password, or asks for them. If they were accepted before, the server may
// have been restarted and have no users yet, so it makes sense to try again.
bool IsLoginRefused(std::string_view error);

struct RedisReply {
  enum class Kind { kNull, kInteger, kText, kList } kind = Kind::kNull;
  int64_t integer = 0;
  std::string text;
  std::vector<RedisReply> list;
};

// A RedisConnection is one connection; one thread may use it at a time. After a failure, the next command reconnects.
class RedisConnection {
 public:
  virtual ~RedisConnection() = default;
  // Sends a command and returns the reply. Returns kUnavailable if the server cannot be reached, if it did not answer
  // within `seconds` (it may or may not have executed the command), or if it refuses commands for a while, because it
  // is starting or its memory or disk is full. Returns kInvalidArgument, with the server's text, if it refused the
  // command.
  virtual Result<RedisReply> Command(const std::vector<std::string>& command, double seconds = 10) = 0;
};

// Connects and authenticates. Returns kUnavailable or kInvalidArgument, with the server's text and a remedy.
Result<std::unique_ptr<RedisConnection>> ConnectRedis(const RedisAddress& address);

}  // namespace hone
