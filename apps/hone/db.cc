// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone db works on the measurements of sweeps, which are kept beside the run store. It lists them, explains a choice,
// writes a candidate with its winners, imports another machine's, and removes old ones.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/text/json_text.h"
#include "common/build_facts.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/interop/write/kernel_package.h"
#include "tuner/tunings/tuning_analysis.h"
#include "tuner/tunings/tuning_database.h"
#include "tuner/tunings/tuning_text.h"
#include "tuner/workbench/write_package.h"

namespace hone {
namespace {

struct DbFlags {
  std::string file, task, device, entry, other, out, candidate;
  double older_than_days = 0;
  int gates_below = 0;
  bool json = false, really = false;
};

// Opens the database, which must exist.
Result<std::unique_ptr<TuningDatabase>> OpenToRead(const CommandContext& context, const DbFlags& flags) {
  const std::string path = flags.file.empty() ? TuningDatabasePath(context) : flags.file;
  if (!FileExists(path)) {
    return Status::NotFound(fmt::format("there is no tuning database {}; `hone tune TASK CANDIDATE.cu{}` makes one",
                                        path, flags.file.empty() ? "" : " --db " + flags.file));
  }
  return TuningDatabase::Open(path, true);
}

// Opens the database, which is made if it does not exist.
Result<std::unique_ptr<TuningDatabase>> OpenToChange(const CommandContext& context, const DbFlags& flags) {
  return TuningDatabase::Open(flags.file.empty() ? TuningDatabasePath(context) : flags.file);
}

// Returns whether --task and --device choose this row.
bool IsSelected(const DbFlags& flags, const TuningRow& row) {
  return (flags.task.empty() || row.entry.task == flags.task) &&
         (flags.device.empty() || row.entry.device == flags.device);
}

// Prints the entries that --task and --device choose.
Status List(const CommandContext& context, const DbFlags& flags) {
  std::vector<TuningRow> rows;
  if (!flags.file.empty() || FileExists(TuningDatabasePath(context))) {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<TuningDatabase> database, OpenToRead(context, flags));
    HONE_ASSIGN_OR_RETURN(rows, database->Entries());
  }
  std::erase_if(rows, [&](const TuningRow& row) { return !IsSelected(flags, row); });
  if (flags.json)
    Print("{}\n", DumpJson(TuningRowsJson(rows), 2));
  else
    Print("{}", TuningRowsText(rows));
  return Status::Ok();
}

// Explains an entry's choice of bindings, beside all entries with comparable times.
Status Show(const CommandContext& context, const DbFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<TuningDatabase> database, OpenToRead(context, flags));
  HONE_ASSIGN_OR_RETURN(const TuningRow row, database->Find(flags.entry));
  HONE_ASSIGN_OR_RETURN(std::vector<TuningRow> rows, database->Entries());
  std::vector<RowPoints> others;
  for (TuningRow& other : rows) {
    if (other.id == row.id || !AreComparable(other.entry, row.entry)) continue;
    HONE_ASSIGN_OR_RETURN(std::vector<MeasuredPoint> points, database->Points(other.id));
    others.push_back({std::move(other), std::move(points)});
  }
  HONE_ASSIGN_OR_RETURN(std::vector<MeasuredPoint> points, database->Points(row.id));
  const Explanation explanation = ExplainEntry({row, std::move(points)}, others);
  if (flags.json)
    Print("{}\n", DumpJson(ExplanationJson(row, explanation), 2));
  else
    Print("{}", ExplanationText(row, explanation));
  return Status::Ok();
}

// Writes an entry's candidate with the winners that its points show, as a file, as a package, or both.
Status Export(const CommandContext& context, const DbFlags& flags) {
  if (flags.out.empty() && flags.candidate.empty()) {
    return Status::InvalidArgument(
        "nothing to write: name a candidate's file by --candidate FILE.cu, a folder for a header by --out DIR, or "
        "both");
  }
  HONE_RETURN_IF_ERROR(CheckOutput(flags.candidate));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<TuningDatabase> database, OpenToRead(context, flags));
  HONE_ASSIGN_OR_RETURN(const TuningRow row, database->Find(flags.entry));
  HONE_ASSIGN_OR_RETURN(const Task task, TaskFromText(row.entry.task_text));
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, ParseCandidate(row.entry.candidate, row.entry.candidate_name, task));
  HONE_ASSIGN_OR_RETURN(const std::vector<MeasuredPoint> points, database->Points(row.id));
  const TuneResult result =
      ConcludeSweep(task, candidate, NewestPoints(points), kShapeMargin, /*drop_unreachable=*/true);
  const std::string source = result.needs_no_change ? candidate.source : result.source;
  if (source.empty()) return Status::InvalidArgument(fmt::format("entry {}: {}", row.id, result.summary));
  std::vector<std::string> written_files;
  if (!flags.candidate.empty()) {
    HONE_RETURN_IF_ERROR(WriteFileAtomically(flags.candidate, source));
    written_files.push_back(flags.candidate);
  }
  if (!flags.out.empty()) {
    HONE_ASSIGN_OR_RETURN(const KernelPackage package, MakeFilePackage(task, source, row.entry.candidate_name));
    HONE_ASSIGN_OR_RETURN(const std::vector<GeneratedFile> files, WritePackage(package, flags.out));
    for (const GeneratedFile& file : files) written_files.push_back(flags.out + "/" + file.name);
  }
  if (flags.json) {
    Print("{}\n", DumpJson(nlohmann::json{{"id", row.id}, {"summary", result.summary}, {"written", written_files}}, 2));
    return Status::Ok();
  }
  Print("{}.\n", result.summary);
  for (const std::string& file : written_files) Print("Written: {}\n", file);
  Print(
      "This joins points that were measured apart, and was NOT JUDGED as a whole; `hone eval {} FILE.cu` judges it.\n",
      task.name);
  return Status::Ok();
}

// Adds another file's entries and points.
Status Merge(const CommandContext& context, const DbFlags& flags) {
  if (!FileExists(flags.other)) return Status::NotFound(fmt::format("{}: there is no such file", flags.other));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<TuningDatabase> other,
                        TuningDatabase::Open(flags.other, /*read_only=*/true));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<TuningDatabase> database, OpenToChange(context, flags));
  HONE_ASSIGN_OR_RETURN(const TuningDatabase::Merged merged, database->Merge(*other));
  if (flags.json)
    Print(
        "{}\n",
        DumpJson(nlohmann::json{{"database", database->path()}, {"entries", merged.entries}, {"points", merged.points}},
                 2));
  else
    Print("{} new entr{} and {} new point{} {} now in {}.\n", merged.entries, merged.entries == 1 ? "y" : "ies",
          merged.points, merged.points == 1 ? "" : "s", merged.entries == 1 && merged.points == 0 ? "is" : "are",
          database->path());
  return Status::Ok();
}

// Removes the entries that a rule selects; without flags.really, only lists them.
Status Prune(const CommandContext& context, const DbFlags& flags) {
  if (flags.task.empty() && flags.device.empty() && flags.older_than_days <= 0 && flags.gates_below <= 0) {
    return Status::InvalidArgument(
        "nothing says what to remove: give --older-than DAYS, --task, --device or --gates-below VERSION");
  }
  PruneRule rule{.task = flags.task, .device = flags.device, .before = 0, .gates_below = flags.gates_below};
  if (flags.older_than_days > 0) rule.before = UnixSeconds() - flags.older_than_days * 86400;
  std::unique_ptr<TuningDatabase> database;
  if (flags.really) {
    HONE_ASSIGN_OR_RETURN(database, OpenToChange(context, flags));
  } else {
    HONE_ASSIGN_OR_RETURN(database, OpenToRead(context, flags));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<TuningRow> rows, database->Prune(rule, !flags.really));
  if (flags.json) {
    Print("{}\n", DumpJson(nlohmann::json{{"removed", flags.really}, {"entries", TuningRowsJson(rows)}}, 2));
    return Status::Ok();
  }
  if (rows.empty()) {
    Print("No entry of {} is meant by that.\n", database->path());
    return Status::Ok();
  }
  Print("{}", TuningRowsText(rows));
  Print("{} of these entries {}\n", rows.size(),
        flags.really ? "are removed." : "would be removed; --yes removes them.");
  return Status::Ok();
}

}  // namespace

std::string SweepBuild() {
  const BuildFacts build = ThisBuild();
  return build.version + " " + build.commit.substr(0, 12) + (build.uncommitted_changes ? ", changed" : "");
}

std::string TuningDatabasePath(const CommandContext& context) { return context.state_directory + "/tunings.sqlite"; }

void RegisterDbCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<DbFlags>();
  CLI::App* command = app.add_subcommand("db", "list, explain, write out, merge and prune what hone tune has measured");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, Status (*run)(const CommandContext&, const DbFlags&)) {
    CLI::App* sub = command->add_subcommand(name, what);
    sub->add_option(
        "--db", flags->file,
        "the tuning database's file; by default tunings.sqlite in Hone's state folder (~/.local/state/hone)");
    sub->add_flag("--json", flags->json, "write JSON (docs/evaluation-json.md)");
    sub->callback([flags, &context, run] {
      if (Status status = run(context, *flags); !status.ok()) context.Fail(status);
    });
    return sub;
  };
  const auto add_filters = [&](CLI::App* sub) {
    sub->add_option("--task", flags->task, "only entries of this task");
    sub->add_option("--device", flags->device, "only entries of this kind of device, such as 'NVIDIA H200'");
  };
  const auto add_entry = [&](CLI::App* sub) {
    sub->add_option("entry", flags->entry, "an entry's id or its beginning, or a task that has only one entry")
        ->required();
  };
  add_filters(add("list", "list the entries, one for each candidate, kind of device and baseline", List));
  add_entry(add("show", "explain which binding is chosen for each shape, and how sure that is", Show));
  CLI::App* write_command = add(
      "export",
      "write the tuned kernel, or a C++ header that picks the binding for a shape, without measuring anything", Export);
  add_entry(write_command);
  write_command->add_option("--candidate", flags->candidate, "write the candidate to this file");
  write_command->add_option("--out", flags->out, "write a C++ header and a PyTorch extension to this folder");
  CLI::App* merged = add("merge", "copy another database's entries into this one", Merge);
  merged->add_option("other", flags->other, "the other database's file; it stays as it is")->required();
  CLI::App* pruned = add("prune", "list the entries that would be removed, and remove them with --yes", Prune);
  add_filters(pruned);
  pruned
      ->add_option("--older-than", flags->older_than_days,
                   "only entries for which nothing was measured in the last so many days")
      ->check(kAboveZero);
  pruned
      ->add_option("--gates-below", flags->gates_below,
                   "only entries that an older judge measured, whose checks (gates) have a lower version than this")
      ->check(kAboveZero);
  pruned->add_flag("--yes", flags->really, "remove them; without this option they are only listed");
}

}  // namespace hone
