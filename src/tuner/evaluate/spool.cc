// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/spool.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "base/numbers/hash.h"
#include "tuner/evaluate/check_request.h"

namespace hone {
namespace fs = std::filesystem;
namespace {

// Limit on a file's size, because a spool is shared and anybody may write into it. A bundle contains two sources of 4
// MiB at most, a task and an oracle.
constexpr int64_t kMostFileBytes = int64_t{64} << 20;

class SpoolEvaluator : public Evaluator {
 public:
  SpoolEvaluator(const std::string& directory, JudgeStatement statement)
      : spool_(directory),
        facts_(std::move(statement.facts)),
        tools_(std::move(statement.tools)),
        judge_("the worker that last judged in " + directory),
        assumed_(AssumedText(tools_, !facts_.name.empty(), "spool:" + directory)) {
    if (facts_.name.empty()) facts_.name = "a device not seen yet";
  }
  const DeviceFacts& facts() const override { return facts_; }
  JudgeTools Tools() const override { return tools_; }
  Status CanInclude(std::string_view include_set) const override {
    return CanIncludeThere(include_set, tools_, judge_);
  }
  std::string Assumed() const override { return assumed_; }
  Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request,
                              const EvaluationProgress& progress) override {
    HONE_RETURN_IF_ERROR(CheckRequest(task, request));
    const std::string id = Spool::BundleId(task, request);
    Result<Evaluation> stored_answer = spool_.Answer(id);
    if (stored_answer.ok() || stored_answer.status().code() != StatusCode::kPending) return stored_answer;
    if (progress) progress("spool", id);
    HONE_RETURN_IF_ERROR(spool_.Submit(task, request));
    return stored_answer.status();
  }

 private:
  Spool spool_;
  DeviceFacts facts_;
  const JudgeTools tools_;
  const std::string judge_, assumed_;
};

}  // namespace

std::string Spool::Path(const char* state, const std::string& id) const {
  return directory_ + "/" + state + "/" + id + ".json";
}

std::string Spool::BundleId(const Task& task, const EvaluationRequest& request) {
  return Sha256Hex(EncodeBundle(task, request)).substr(0, 32);
}

Result<Evaluation> Spool::Answer(const std::string& id) const {
  const std::string path = Path("done", id);
  if (!FileExists(path)) {
    std::string before;
    if (const Result<std::string> failed = ReadFile(Path("failed", id), kMostFileBytes); failed.ok()) {
      if (const std::string error = ErrorOfAnswer(*failed); !error.empty()) {
        before = fmt::format("; the last worker could not judge it: {}", error);
      }
    }
    return Status::Pending(fmt::format("evaluation {} waits in {}; run `hone worker --spool {} --once` where the device is{}",
                                       id, directory_, directory_, before));
  }
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(path, kMostFileBytes));
  return DecodeAnswer(text, fmt::format("delete {} to ask again", path));
}

Status Spool::Submit(const Task& task, const EvaluationRequest& request) {
  const std::string id = BundleId(task, request);
  for (const char* state : {"done", "running", "pending"}) {
    if (FileExists(Path(state, id))) return Status::Ok();
  }
  return WriteFileAtomically(Path("pending", id), EncodeBundle(task, request, 1));
}

bool Spool::Hold(const std::string& id) {
  const std::string path = Path("running", id);
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return false;
  // Another process that runs Release holds the lock for a moment, and may be moving this bundle just after it was
  // claimed. On a file system without locks, the rename alone decides who owns the bundle.
  for (int attempt = 0; fd.valid() && TryLock(fd.get()) == LockOutcome::kAnothers; ++attempt) {
    if (attempt == 100) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (fd.valid() && !IsFileAt(fd.get(), path)) return false;
  held_[id] = std::move(fd);
  return true;
}

Result<std::vector<std::string>> Spool::Pending(const std::set<std::string>& except) const {
  std::error_code error;
  HONE_RETURN_IF_ERROR(MakeDirectories(directory_ + "/pending"));
  std::vector<std::pair<fs::file_time_type, std::string>> bundles_by_time;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_ + "/pending", error)) {
    if (entry.path().extension() != ".json" || except.contains(entry.path().stem().string())) continue;
    bundles_by_time.emplace_back(entry.last_write_time(error), entry.path().stem().string());
  }
  if (error) return Status::Io(fmt::format("cannot list {}/pending: {}", directory_, error.message()));
  std::sort(bundles_by_time.begin(), bundles_by_time.end());
  std::vector<std::string> ids;
  for (auto& [time, id] : bundles_by_time) ids.push_back(std::move(id));
  return ids;
}

Result<bool> Spool::Claim(const std::string& id) {
  HONE_RETURN_IF_ERROR(MakeDirectories(directory_ + "/running"));
  HONE_RETURN_IF_ERROR(MakeDirectories(directory_ + "/done"));
  const std::lock_guard lock(mutex_);
  std::error_code error;
  fs::rename(Path("pending", id), Path("running", id), error);
  if (error == std::errc::no_such_file_or_directory) return false;  // another worker has claimed it
  if (error) return Status::Io(fmt::format("cannot move bundle {} to {}/running: {}", id, directory_, error.message()));
  // Release goes by the file's age, which must be the time since the claim and not since the submission.
  fs::last_write_time(Path("running", id), fs::file_time_type::clock::now(), error);
  return Hold(id);
}

Result<SpoolBundle> Spool::Load(const std::string& id) const {
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(Path("running", id), kMostFileBytes));
  return DecodeBundle(text, id);
}

Status Spool::Finish(const std::string& id, const Result<Evaluation>& evaluation) {
  const std::lock_guard lock(mutex_);
  HONE_RETURN_IF_ERROR(WriteFileAtomically(Path("done", id), EncodeAnswer(id, evaluation, 1)));
  std::error_code error;
  fs::remove(Path("running", id), error);
  fs::remove(Path("failed", id), error);
  held_.erase(id);
  return Status::Ok();
}

Status Spool::PutBack(const std::string& id, const Status& reason) {
  const std::lock_guard lock(mutex_);
  // The bundle is put back even if the note cannot be written, because the reason may be a full disk.
  const Status noted = WriteFileAtomically(Path("failed", id), EncodeAnswer(id, reason, 1));
  HONE_RETURN_IF_ERROR(Return(id));
  return noted;
}

void Spool::GiveUp() {
  mutex_.lock();  // is never unlocked: other threads wait here until the process ends
  while (!held_.empty()) (void)Return(std::string(held_.begin()->first)).ok();
}

Status Spool::Return(const std::string& id) {
  // Drop the file lock before the rename, because the next worker that claims the bundle must be able to lock it.
  held_.erase(id);
  std::error_code error;
  fs::rename(Path("running", id), Path("pending", id), error);
  // If the bundle is in pending/ already, another process has just released it as a dead worker's.
  if (!error || FileExists(Path("pending", id))) return Status::Ok();
  return Status::Io(fmt::format("cannot put bundle {} back into {}/pending: {}", id, directory_, error.message()));
}

Status Spool::Release(double older_than_seconds) {
  std::error_code error;
  if (!fs::exists(directory_ + "/running", error)) return Status::Ok();
  const auto now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_ + "/running", error)) {
    const double age = std::chrono::duration<double>(now - entry.last_write_time(error)).count();
    if (entry.path().extension() != ".json" || age < older_than_seconds) continue;
    const UniqueFd fd(open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
    if (fd.valid() && TryLock(fd.get()) == LockOutcome::kAnothers) continue;
    if (fd.valid() && !IsFileAt(fd.get(), entry.path().string())) continue;
    fs::rename(entry.path(), Path("pending", entry.path().stem().string()), error);
  }
  return Status::Ok();
}

Status Spool::WriteStatement(const JudgeStatement& statement) {
  return WriteFileAtomically(directory_ + "/device.json", EncodeStatement(statement));
}

Result<JudgeStatement> Spool::ReadStatement() const {
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(directory_ + "/device.json", kMostFileBytes));
  return DecodeStatement(text);
}

Result<std::unique_ptr<Evaluator>> MakeSpoolEvaluator(const std::string& directory) {
  if (directory.empty()) return Status::InvalidArgument("--device spool: needs a folder, such as spool:/data/spool");
  // Make the spool's folder, so that a spool need not be prepared. If the folder above it does not exist, the path was
  // probably mistyped.
  std::error_code error;
  const fs::path above = fs::absolute(fs::path(directory + "/x"), error).parent_path().parent_path();
  if (!fs::is_directory(above, error)) {
    return Status::InvalidArgument(
        fmt::format("--device spool:{}: there is no folder {}, in which the spool would be made; correct the path, or "
                    "make that folder first",
                    directory, above.string()));
  }
  HONE_RETURN_IF_ERROR(MakeDirectories(directory + "/pending"));
  JudgeStatement known_statement;
  if (Result<JudgeStatement> statement = Spool(directory).ReadStatement(); statement.ok())
    known_statement = *std::move(statement);
  known_statement.facts.id = "spool:" + directory;
  return std::unique_ptr<Evaluator>(new SpoolEvaluator(directory, std::move(known_statement)));
}

}  // namespace hone
