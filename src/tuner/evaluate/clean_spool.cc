// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/clean_spool.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <vector>

namespace hone {
namespace fs = std::filesystem;
namespace {

struct SpoolFile {
  fs::path path;
  int64_t bytes = 0;
  double age = 0;  // seconds
};

// Returns the .json files of one of the spool's folders; none if the folder is not there.
std::vector<SpoolFile> FilesOf(const fs::path& folder) {
  std::vector<SpoolFile> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;  // another process may take a file away at any time
    const auto write_time = entry->last_write_time(gone);
    const auto bytes = gone ? 0 : entry->file_size(gone);
    if (gone || entry->path().extension() != ".json") continue;
    files.push_back({entry->path(), static_cast<int64_t>(bytes),
                     std::chrono::duration<double>(fs::file_time_type::clock::now() - write_time).count()});
  }
  return files;
}

Status RemoveFile(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  return error ? Status::Io(fmt::format("{} cannot be removed: {}", path.string(), error.message())) : Status::Ok();
}

}  // namespace

Result<SpoolCleanReport> CleanSpool(const std::string& directory, const SpoolCleanOptions& options) {
  const fs::path spool(directory);
  std::error_code error;
  bool is_spool = fs::exists(spool / "device.json", error);
  for (const char* folder : {"pending", "running", "done", "failed"})
    is_spool = is_spool || fs::is_directory(spool / folder, error);
  if (!is_spool) {
    return Status::NotFound(fmt::format(
        "{}: this is no spool; one has a folder pending, running, done or failed, or a file device.json", directory));
  }
  SpoolCleanReport report;
  report.running = static_cast<int64_t>(FilesOf(spool / "running").size());
  if (options.all && options.really && report.running > 0) {
    return Status::InvalidArgument(
        fmt::format("{}: {} bundle{} being judged; stop the workers first (`hone worker --spool {} --once` finishes "
                    "what a dead one left)",
                    directory, report.running, report.running == 1 ? " is" : "s are", directory));
  }
  const struct {
    const char* folder;
    bool meant;
    int64_t SpoolContents::*count;
  } kinds[] = {{"done", options.answers, &SpoolContents::answers},
               {"failed", options.failures, &SpoolContents::failures},
               {"pending", options.waiting, &SpoolContents::waiting}};
  for (const auto& kind : kinds) {
    const bool answers = kind.count == &SpoolContents::answers;
    for (const SpoolFile& file : FilesOf(spool / kind.folder)) {
      ++(report.there.*kind.count);
      if (answers) report.there.answer_bytes += file.bytes;
      if (!options.all && !(kind.meant && file.age >= options.older_seconds)) continue;
      ++(report.meant.*kind.count);
      if (answers) report.meant.answer_bytes += file.bytes;
      if (options.really) HONE_RETURN_IF_ERROR(RemoveFile(file.path));
    }
  }
  if (options.all && options.really) HONE_RETURN_IF_ERROR(RemoveFile(spool / "device.json"));
  return report;
}

}  // namespace hone
