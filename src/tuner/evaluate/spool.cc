// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/spool.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/hash.h"
#include "base/json_fields.h"
#include "base/json_text.h"
#include "tuner/evaluate/check_request.h"
#include "tuner/evaluate/worker/job.h"
#include "tuner/evaluate/worker/worker_main.h"

namespace hone {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

json BundleJson(const Task& task, const EvaluationRequest& request) {
  json bundle = {{"protocol", kSpoolProtocol},
                 {"task",
                  {{"toml", task.toml},
                   {"oracle", task.oracle_source},
                   {"seed", task.seed_source},
                   {"name", task.name}}},
                 {"source", request.source},
                 {"incumbent_source", request.incumbent_source},
                 {"options", ReadJsonText(EncodeRequestOptions(request))}};
  // Only then, so that other bundles are found again when a library is added.
  if (request.libraries) bundle["task"]["baseline"] = task.baseline_toml;
  return bundle;
}

// A spool is shared: what lies in it may be anybody's. A bundle holds two sources of 4 MiB at most, a task and an oracle.
constexpr int64_t kMostFileBytes = int64_t{64} << 20;

// What a failure says in "error": {"message": …, "code": …}; empty where the file says none.
std::string ErrorText(const json& j) {
  if (!j.is_object() || !j.contains("error") || !j["error"].is_object()) return "";
  const json& error = j["error"];
  const bool told = error.contains("message") && error["message"].is_string() && !error["message"].empty();
  return told ? error["message"].get<std::string>() : "(it gave no reason)";
}
StatusCode ErrorCode(const json& j) {
  const json& error = j["error"];
  const int64_t code = error.contains("code") && error["code"].is_number_integer() ? error["code"].get<int64_t>() : 0;
  const bool known = code > static_cast<int64_t>(StatusCode::kOk) && code <= static_cast<int64_t>(StatusCode::kInternal);
  return known ? static_cast<StatusCode>(code) : StatusCode::kInternal;
}

class SpoolEvaluator : public Evaluator {
 public:
  SpoolEvaluator(std::string directory, DeviceFacts facts) : spool_(std::move(directory)), facts_(std::move(facts)) {}
  const DeviceFacts& facts() const override { return facts_; }
  Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request,
                              const EvaluationProgress& progress) override {
    HONE_RETURN_IF_ERROR(CheckRequest(task, request));
    const std::string id = Spool::BundleId(task, request);
    Result<Evaluation> known = spool_.Answer(id);
    if (known.ok() || known.status().code() != StatusCode::kPending) return known;
    if (progress) progress("spool", id);
    HONE_RETURN_IF_ERROR(spool_.Submit(task, request));
    return known.status();
  }

 private:
  Spool spool_;
  DeviceFacts facts_;
};

}  // namespace

std::string Spool::Path(const char* state, const std::string& id) const {
  return directory_ + "/" + state + "/" + id + ".json";
}

std::string Spool::BundleId(const Task& task, const EvaluationRequest& request) {
  return Sha256Hex(DumpJson(BundleJson(task, request))).substr(0, 32);
}

Result<Evaluation> Spool::Answer(const std::string& id) const {
  const std::string path = Path("done", id);
  if (!FileExists(path)) {
    std::string before;
    if (const Result<std::string> failed = ReadFile(Path("failed", id), kMostFileBytes); failed.ok()) {
      const json j = ReadJsonText(*failed);
      if (!ErrorText(j).empty()) before = fmt::format("; the last worker could not judge it: {}", ErrorText(j));
    }
    return Status::Pending(fmt::format("evaluation {} waits in {}; run `hone worker --spool {} --once` where the device is{}",
                                       id, directory_, directory_, before));
  }
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(path, kMostFileBytes));
  const json j = ReadJsonText(text);
  if (j.is_object() && j.contains("evaluation")) return EvaluationFromJson(DumpJson(j["evaluation"], -1));
  if (const std::string error = ErrorText(j); !error.empty()) {
    return Status(ErrorCode(j), fmt::format("the worker could not judge it: {} (delete {} to ask again)", error, path));
  }
  return Status::Internal(fmt::format("{} is not a spool result; delete it to ask again", path));
}

Status Spool::Submit(const Task& task, const EvaluationRequest& request) {
  const std::string id = BundleId(task, request);
  for (const char* state : {"done", "running", "pending"}) {
    if (FileExists(Path(state, id))) return Status::Ok();
  }
  return WriteFileAtomically(Path("pending", id), DumpJson(BundleJson(task, request), 1));
}

bool Spool::Hold(const std::string& id) {
  const std::string path = Path("running", id);
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return false;
  // Whoever takes back what the dead left has the lock for a moment, and may have taken this just when we claimed it.
  // Where there are no locks, the rename has to do.
  for (int attempt = 0; fd.valid() && TryLock(fd.get()) == LockOutcome::kAnothers; ++attempt) {
    if (attempt == 100) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (fd.valid() && !IsFileAt(fd.get(), path)) return false;
  held_[id] = std::move(fd);
  return true;
}

Result<std::vector<std::string>> Spool::Claim(const std::set<std::string>& except) {
  std::error_code error;
  HONE_RETURN_IF_ERROR(MakeDirectories(directory_ + "/pending"));
  HONE_RETURN_IF_ERROR(MakeDirectories(directory_ + "/running"));
  HONE_RETURN_IF_ERROR(MakeDirectories(directory_ + "/done"));
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_ + "/pending", error)) {
    if (entry.path().extension() != ".json" || except.contains(entry.path().stem().string())) continue;
    found.emplace_back(entry.last_write_time(error), entry.path().stem().string());
  }
  if (error) return Status::Io(fmt::format("cannot list {}/pending: {}", directory_, error.message()));
  std::sort(found.begin(), found.end());
  std::vector<std::string> claimed;
  for (const auto& [time, id] : found) {
    const std::lock_guard lock(mutex_);
    fs::rename(Path("pending", id), Path("running", id), error);
    if (error) continue;  // another worker was faster
    // Release goes by how long it has been running, not by when it was submitted.
    fs::last_write_time(Path("running", id), fs::file_time_type::clock::now(), error);
    if (Hold(id)) claimed.push_back(id);
  }
  return claimed;
}

Result<SpoolBundle> Spool::Load(const std::string& id) const {
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(Path("running", id), kMostFileBytes));
  try {
    HONE_ASSIGN_OR_RETURN(const json j, ParseJson(text, fmt::format("bundle {}", id)));
    if (j.at("protocol").get<int>() != kSpoolProtocol) {
      return Status::InvalidArgument(
          fmt::format("bundle {} has protocol {}; this hone speaks {}: use the same version on both sides", id,
                      j.at("protocol").get<int>(), kSpoolProtocol));
    }
    SpoolBundle bundle;
    const json& task = j.at("task");
    HONE_ASSIGN_OR_RETURN(bundle.task, ParseTask(task.at("toml").get<std::string>(),
                                                 task.at("name").get<std::string>() + "/task.toml"));
    bundle.task.oracle_source = task.at("oracle");
    bundle.task.seed_source = task.at("seed");
    bundle.task.baseline_toml = task.value("baseline", "");
    HONE_ASSIGN_OR_RETURN(bundle.request, DecodeRequestOptions(DumpJson(j.at("options"))));
    if (const Status sense = CheckRequest(bundle.task, bundle.request); !sense.ok()) {
      return Status::InvalidArgument(fmt::format("bundle {}: {}", id, sense.message()));
    }
    bundle.request.source = j.at("source");
    bundle.request.incumbent_source = j.at("incumbent_source");
    return bundle;
  } catch (const json::exception& error) {
    return Status::InvalidArgument(fmt::format("bundle {}: {}", id, error.what()));
  }
}

Status Spool::Finish(const std::string& id, const Result<Evaluation>& evaluation) {
  json j = {{"protocol", kSpoolProtocol}, {"id", id}};
  if (evaluation.ok()) {
    j["evaluation"] = ReadJsonText(EvaluationToJson(*evaluation, -1));
  } else {
    j["error"] = {{"code", static_cast<int>(evaluation.status().code())}, {"message", evaluation.status().message()}};
  }
  const std::lock_guard lock(mutex_);
  HONE_RETURN_IF_ERROR(WriteFileAtomically(Path("done", id), DumpJson(j, 1)));
  std::error_code error;
  fs::remove(Path("running", id), error);
  fs::remove(Path("failed", id), error);
  held_.erase(id);
  return Status::Ok();
}

Status Spool::PutBack(const std::string& id, const Status& reason) {
  const json j = {{"protocol", kSpoolProtocol},
                  {"id", id},
                  {"error", {{"code", static_cast<int>(reason.code())}, {"message", reason.message()}}}};
  const std::lock_guard lock(mutex_);
  // The reason may be a full disk: the bundle goes back whether or not the note can be written.
  const Status noted = WriteFileAtomically(Path("failed", id), DumpJson(j, 1));
  HONE_RETURN_IF_ERROR(Return(id));
  return noted;
}

Status Spool::Unclaim(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return Return(id);
}

void Spool::GiveUp() {
  mutex_.lock();  // and never given back
  while (!held_.empty()) (void)Return(std::string(held_.begin()->first)).ok();
}

Status Spool::Return(const std::string& id) {
  // First: whoever claims it next must find no lock on it.
  held_.erase(id);
  std::error_code error;
  fs::rename(Path("running", id), Path("pending", id), error);
  // Where it is back already, another worker took it for a dead one's just now.
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

Status Spool::WriteFacts(const DeviceFacts& facts) {
  return WriteFileAtomically(directory_ + "/device.json", EncodeFacts(facts));
}

Result<DeviceFacts> Spool::ReadFacts() const {
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(directory_ + "/device.json", kMostFileBytes));
  return DecodeFacts(text);
}

Result<std::unique_ptr<Evaluator>> MakeSpoolEvaluator(const std::string& directory) {
  if (directory.empty()) return Status::InvalidArgument("--device spool: needs a folder, such as spool:/data/spool");
  HONE_RETURN_IF_ERROR(MakeDirectories(directory + "/pending"));
  Result<DeviceFacts> facts = Spool(directory).ReadFacts();
  DeviceFacts known;
  if (facts.ok()) known = *facts;
  known.id = "spool:" + directory;
  if (known.name.empty()) known.name = "a device not seen yet";
  return std::unique_ptr<Evaluator>(new SpoolEvaluator(directory, std::move(known)));
}

}  // namespace hone
