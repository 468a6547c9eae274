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

// An address redis://[USER@]HOST[:PORT]/QUEUE[?password_file=FILE], or rediss:// for TLS, which may add &ca_file=FILE.
// A submitter may add &reuse=NAME (queue_evaluator.h).
// A password is never part of an address, because others can read it in the list of processes.
struct RedisAddress {
  std::string host;
  int port = 6379;
  bool tls = false;
  std::string ca_file;        // with TLS: authorities in PEM; empty: the system's
  std::string user;           // empty: the server's default user
  std::string password_file;  // its first line is the password; empty: none
  std::string queue;          // 1 to 64 of A-Z a-z 0-9 . _ -
  std::string reuse;          // likewise; empty: every evaluation is a new job
};
bool IsRedisAddress(std::string_view text);
// Returns whether `name` may name a queue or a user: 1 to 64 of A-Z a-z 0-9 . _ -, which are safe in keys and addresses.
bool IsQueueName(std::string_view name);
// Reads a password file. kInvalidArgument: its first line is empty.
Result<std::string> ReadPassword(const std::string& file);
// Parses an address. kInvalidArgument says which part is wrong.
Result<RedisAddress> ParseRedisAddress(const std::string& text);

// Tells whether a server refused a command because its memory is full; `error` may be a status message that holds the
// server's text.
bool IsMemoryFull(std::string_view error);

// Tells whether a server refused user and password, or asks for them. After they were right once, the server may have
// been started again before its users were made, so that trying again is worth while.
bool IsLoginRefused(std::string_view error);

struct RedisReply {
  enum class Kind { kNull, kInteger, kText, kList } kind = Kind::kNull;
  int64_t integer = 0;
  std::string text;
  std::vector<RedisReply> list;
};

// One connection, used by one thread at a time. After a failure the next command reconnects.
class RedisConnection {
 public:
  virtual ~RedisConnection() = default;
  // Sends a command. kUnavailable: the server cannot be reached, or did not answer within `seconds` (whether it executed
  // the command is unknown then), or it refuses commands for a while: it starts, or its memory or disk is full.
  // kInvalidArgument: the server refused the command, with its text.
  virtual Result<RedisReply> Command(const std::vector<std::string>& words, double seconds = 10) = 0;
};

// Connects and authenticates. kUnavailable and kInvalidArgument with the server's text and a remedy.
Result<std::unique_ptr<RedisConnection>> ConnectRedis(const RedisAddress& address);

}  // namespace hone
