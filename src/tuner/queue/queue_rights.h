// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file makes the server's access rules (ACL) for a queue's users. The rules follow from the keys that JobQueue
// uses (job_queue.h) and need Redis 7 or Valkey.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

enum class QueueRole {
  kSubmitter,  // submits jobs under its own name, and reads only its own answers
  kWorker,     // claims, answers and passes on jobs that others submitted; submits none
};

// Returns the words of the rule, without name and password: "resetkeys", "~hone:{h200}:jobs", …, "+eval", …
std::vector<std::string> QueueRights(QueueRole role, const std::string& queue, const std::string& user);

// Returns a line for an ACL file or redis.conf: "user NAME reset on #HASH ~… +…". It contains the password's hash, not
// the password. Returns kInvalidArgument if the name is not 1 to 64 of A-Z a-z 0-9 . _ -, which are safe in keys and
// addresses.
Result<std::string> AclLine(QueueRole role, const std::string& queue, const std::string& user,
                            std::string_view password);
// Returns such a line for the server's user `default`, who may do everything and is the user of addresses that name
// none.
std::string AdministratorAclLine(std::string_view password);

}  // namespace hone
