// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone clean redis://HOST/QUEUE | spool:DIR says what a queue or a spool keeps, and removes what the options name.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/evaluate/clean_spool.h"
#include "tuner/queue/clean_queue.h"

namespace hone {
namespace {

struct CleanFlags {
  std::string place;
  bool answers = false, dead = false, waiting = false, all = false, really = false, json = false;
  double older_than_days = 0;
};

// Contents lists what a queue or a spool holds, in terms that fit both.
struct Contents {
  int64_t answers = 0, answer_bytes = 0, lost = 0, dead = 0, waiting = 0;
};
struct Cleaned {
  Contents there, meant;
  int64_t judging = 0;
};

std::string Bytes(int64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  return bytes < 10'000'000 ? fmt::format("{:.0f} kB", static_cast<double>(bytes) / 1e3)
                            : fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6);
}

// Describes the contents in one line.
std::string DescribeContents(const Contents& c) {
  std::string line = fmt::format("{} answer{} ({}), {} waiting, {} given up", c.answers, c.answers == 1 ? "" : "s",
                                 Bytes(c.answer_bytes), c.waiting, c.dead);
  if (c.lost > 0) line += fmt::format(", {} that nobody will judge", c.lost);
  return line;
}

nlohmann::json ContentsJson(const Contents& c) {
  return {{"answers", c.answers},
          {"answer_bytes", c.answer_bytes},
          {"lost", c.lost},
          {"dead", c.dead},
          {"waiting", c.waiting}};
}

// Counts, and with flags.really removes, what the flags mean, in a queue or a spool.
Result<Cleaned> Clean(const CleanFlags& flags) {
  const double older = flags.older_than_days * 86400;
  if (IsRedisAddress(flags.place)) {
    HONE_ASSIGN_OR_RETURN(const RedisAddress address, ParseRedisAddress(flags.place));
    HONE_ASSIGN_OR_RETURN(const CleanReport report, CleanQueue(address, {.answers = flags.answers,
                                                                         .dead = flags.dead,
                                                                         .waiting = flags.waiting,
                                                                         .all = flags.all,
                                                                         .older_seconds = older,
                                                                         .really = flags.really}));
    const auto describe = [](const QueueContents& c) {
      return Contents{c.answers, c.answer_bytes, c.lost, c.dead, c.waiting};
    };
    return Cleaned{describe(report.there), describe(report.meant), report.claimed};
  }
  constexpr std::string_view kSpool = "spool:";
  if (flags.place.rfind(kSpool, 0) != 0) {
    return Status::InvalidArgument(
        fmt::format("{}: name a queue by redis://HOST/QUEUE, or a spool by spool:DIR", flags.place));
  }
  HONE_ASSIGN_OR_RETURN(const SpoolCleanReport report,
                        CleanSpool(flags.place.substr(kSpool.size()), {.answers = flags.answers,
                                                                       .failures = flags.dead,
                                                                       .waiting = flags.waiting,
                                                                       .all = flags.all,
                                                                       .older_seconds = older,
                                                                       .really = flags.really}));
  const auto describe = [](const SpoolContents& c) {
    return Contents{c.answers, c.answer_bytes, 0, c.failures, c.waiting};
  };
  return Cleaned{describe(report.there), describe(report.meant), report.running};
}

Status Run(const CleanFlags& flags) {
  const bool selects_entries = flags.answers || flags.dead || flags.waiting || flags.all;
  if (!selects_entries && (flags.really || flags.older_than_days > 0)) {
    return Status::InvalidArgument("nothing says what to remove: give --answers, --dead, --waiting or --all");
  }
  if (flags.all && flags.older_than_days > 0) {
    return Status::InvalidArgument("--all removes everything, whatever its age: leave out --older-than, or name kinds");
  }
  HONE_ASSIGN_OR_RETURN(const Cleaned cleaned, Clean(flags));
  if (flags.json) {
    nlohmann::json json = {
        {"place", flags.place}, {"there", ContentsJson(cleaned.there)}, {"judging", cleaned.judging}};
    if (selects_entries) {
      json["meant"] = ContentsJson(cleaned.meant);
      json["removed"] = flags.really;
    }
    Print("{}\n", DumpJson(json, 2));
    return Status::Ok();
  }
  Print("There: {}, {} being judged.\n", DescribeContents(cleaned.there), cleaned.judging);
  if (selects_entries)
    Print("{}: {}.{}\n", flags.really ? "Removed" : "Meant", DescribeContents(cleaned.meant),
          !flags.really ? " --yes removes them."
          : flags.all
              ? " Nothing else is left of it either: the device's name, the counts and the list of workers are gone."
              : "");
  return Status::Ok();
}

}  // namespace

void RegisterCleanCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<CleanFlags>();
  CLI::App* command =
      app.add_subcommand("clean", "show what a queue or a spool holds, and remove what is no longer needed");
  command
      ->add_option("place", flags->place,
                   "the queue, redis://[USER@]HOST[:PORT]/QUEUE[?password_file=FILE], or the spool, spool:DIR")
      ->required();
  command->add_flag(
      "--answers", flags->answers,
      "select the verdicts that workers have given; in a queue also the data of lost jobs, which no worker "
      "will ever judge");
  command->add_flag(
      "--dead", flags->dead,
      "select the records of jobs that failed for good; in a spool, the notes on why a job could not be judged");
  command->add_flag(
      "--waiting", flags->waiting,
      "select jobs that no worker has taken; a hone command that still waits for such a job submits it again");
  command->add_flag(
      "--all", flags->all,
      "select everything, and forget the kind of device that the queue is for: it can then serve another kind");
  command
      ->add_option("--older-than", flags->older_than_days,
                   "select only what is at least so many days old; 0.5 is half a day")
      ->check(kAboveZero);
  command->add_flag("--yes", flags->really,
                    "remove what --answers, --dead, --waiting or --all select; without this option nothing is removed");
  command->add_flag("--json", flags->json, "write JSON");
  command->callback([flags, &context] {
    if (Status status = Run(*flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
