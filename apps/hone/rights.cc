// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone rights QUEUE --submitter NAME=FILE --worker NAME=FILE prints the access rules of a queue's server.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/queue/queue_rights.h"
#include "tuner/queue/redis_connection.h"

namespace hone {
namespace {

struct RightsFlags {
  std::string queue, administrator;
  std::vector<std::string> submitters, workers;
  bool json = false;
};

// Prints an ACL line for each user that the flags name.
Status Run(const RightsFlags& flags) {
  if (flags.submitters.empty() && flags.workers.empty() && flags.administrator.empty())
    return Status::InvalidArgument(
        "name somebody: --submitter NAME=FILE, --worker NAME=FILE or --administrator FILE, with files that hold "
        "passwords");
  std::vector<std::string> lines;
  if (!flags.administrator.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string password, ReadPassword(flags.administrator));
    lines.push_back(AdministratorAclLine(password));
  }
  for (const auto& [role, option, people] : {std::tuple{QueueRole::kSubmitter, "--submitter", &flags.submitters},
                                             {QueueRole::kWorker, "--worker", &flags.workers}}) {
    for (const std::string& one : *people) {
      const size_t equals = one.find('=');
      if (equals == std::string::npos || equals + 1 == one.size())
        return Status::InvalidArgument(
            fmt::format("{} {}: write NAME=FILE, with a file whose first line is the password", option, one));
      HONE_ASSIGN_OR_RETURN(const std::string password, ReadPassword(one.substr(equals + 1)));
      HONE_ASSIGN_OR_RETURN(std::string line, AclLine(role, flags.queue, one.substr(0, equals), password));
      lines.push_back(std::move(line));
    }
  }
  if (flags.json) {
    Print("{}\n", DumpJson(nlohmann::json{{"queue", flags.queue}, {"lines", lines}}, 2));
    return Status::Ok();
  }
  for (const std::string& line : lines) Print("{}\n", line);
  return Status::Ok();
}

}  // namespace

void RegisterRightsCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<RightsFlags>();
  CLI::App* command = app.add_subcommand(
      "rights", "print the users' rules for a queue's Redis server (an ACL file), with hashes of their passwords");
  command->add_option("queue", flags->queue, "the queue's name: QUEUE of redis://HOST/QUEUE")->required();
  command->add_option("--submitter", flags->submitters,
                      "let the user NAME submit jobs, with the password in FILE's first line; may be repeated");
  command->add_option("--worker", flags->workers,
                      "let the user NAME judge jobs, with the password in FILE's first line; may be repeated");
  command->add_option(
      "--administrator", flags->administrator,
      "the file whose first line is the password of the server's user `default`, who may do everything");
  command->add_flag("--json", flags->json, "write JSON");
  command->callback([flags, &context] {
    if (Status status = Run(*flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
