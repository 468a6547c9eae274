// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/queue_rights.h"

#include <fmt/format.h>

#include "base/numbers/hash.h"
#include "tuner/queue/job_queue.h"

namespace hone {

std::vector<std::string> QueueRights(QueueRole role, const std::string& queue, const std::string& user) {
  const std::string prefix = QueueKeyPrefix(queue);
  std::vector<std::string> rule_words;
  const auto keys = [&](const char* access, std::initializer_list<std::string> names) {
    for (const std::string& name : names) rule_words.push_back(access + prefix + name);
  };
  const auto commands = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) rule_words.push_back(std::string("+") + name);
  };
  if (role == QueueRole::kSubmitter) {
    keys("~", {"jobs", "job:" + user + ":*", "state:" + user + ":*", "said:" + user + ":*"});
    keys("%R~", {"sieved", "answer:" + user + ":*", "device", "dead", "workers", "counts"});
    commands({"eval", "exists", "get", "set", "hget", "hset", "hgetall", "expire", "unlink", "xadd", "xrange", "xlen",
              "xpending", "brpoplpush", "time", "info", "ping"});
  } else {
    keys("~", {"jobs", "sieved", "state:*", "answer:*", "said:*", "dead", "device", "workers", "counts"});
    keys("%R~", {"job:*"});
    commands({"eval",     "exists",  "get",        "set",        "del",    "hget", "hset", "hdel",
              "hgetall",  "hincrby", "expire",     "rpush",      "xadd",   "xdel", "xack", "xlen",
              "xpending", "xclaim",  "xautoclaim", "xreadgroup", "xgroup", "time", "info", "ping"});
  }
  return rule_words;
}

Result<std::string> AclLine(QueueRole role, const std::string& queue, const std::string& user,
                            std::string_view password) {
  if (!IsQueueName(user) || user == "default")
    return Status::InvalidArgument(
        fmt::format("user '{}': a name is 1 to 64 letters, digits, '.', '_' and '-', and not default", user));
  if (!IsQueueName(queue))
    return Status::InvalidArgument(
        fmt::format("queue '{}': a name is 1 to 64 letters, digits, '.', '_' and '-'", queue));
  std::string line = fmt::format("user {} reset on #{}", user, Sha256Hex(password));
  for (const std::string& word : QueueRights(role, queue, user)) line += " " + word;
  return line;
}

std::string AdministratorAclLine(std::string_view password) {
  return fmt::format("user default reset on #{} ~* &* +@all", Sha256Hex(password));
}

}  // namespace hone
