// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The server's access rules (ACL) for those who use a queue. They follow from the keys that JobQueue touches
// (job_queue.h) and need Redis 7 or Valkey.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

enum class QueueRole {
  kSubmitter,  // submits under its own name, and reads no answer but its own
  kWorker,     // claims, answers and passes on jobs that are there; submits nothing
};

// The words of the rule, without name and password: "resetkeys", "~hone:{h200}:jobs", …, "+eval", …
std::vector<std::string> QueueRights(QueueRole role, const std::string& queue, const std::string& user);

// A line of an ACL file or of redis.conf: "user NAME reset on #HASH ~… +…". Only the password's hash stands in it.
// kInvalidArgument: the name is not 1 to 64 of A-Z a-z 0-9 . _ -, which are safe in keys and addresses.
Result<std::string> AclLine(QueueRole role, const std::string& queue, const std::string& user,
                            std::string_view password);
// The same for the server's user `default`, who may do everything: an administrator's address names no user.
std::string AdministratorAclLine(std::string_view password);

}  // namespace hone
