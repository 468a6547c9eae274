// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests serve a spool on a machine that fails: no bundle is answered because of that, none is lost, and the
// reason is kept.
#include "tuner/evaluate/serve_spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/files/file.h"
#include "tuner/evaluate/clean_spool.h"

namespace hone {
namespace {

using testing::HasSubstr;

constexpr char kTask[] = R"(
name = "copy"
summary = "out = x"
class = "elementwise"
slice = "n"
[dims]
n = "elements"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["n"]
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["n"]
[tolerance.out]
c_max = 1e-6
c_rms = 1e-6
[[case]]
role = "time"
dims = { n = 4096 }
[[case]]
role = "check"
dims = { n = 5 }
)";

// This evaluator fails a given number of times, then judges.
class FailingEvaluator : public Evaluator {
 public:
  const DeviceFacts& facts() const override { return facts_; }
  Result<Evaluation> Evaluate(const Task&, const EvaluationRequest& request, const EvaluationProgress&) override {
    if (++calls <= failures) {
      if (loses_device) {
        Evaluation lost;
        lost.verdict = Verdict::kDeviceLost;
        lost.detail = "Xid 79";
        return lost;
      }
      return Status::Unavailable("failed to confine with Landlock: File descriptor in bad state");
    }
    profiled += request.profile;
    gains_only += request.profile_gains;
    Evaluation evaluation;
    evaluation.task = "copy";
    evaluation.candidate = request.name;
    evaluation.verdict = Verdict::kCompileError;
    return evaluation;
  }
  std::atomic<int> calls{0}, profiled{0}, gains_only{0};
  int failures = 0;
  bool loses_device = false;

 private:
  DeviceFacts facts_;
};

class ServeSpool : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> folder_or_error = MakeTemporaryDirectory();
    ASSERT_TRUE(folder_or_error.ok());
    folder_ = std::move(*folder_or_error);
    spool_.emplace(folder_.path());
    task_ = ParseTask(kTask, "task.toml").value();
    request_.source = "a candidate";
    request_.name = "candidate.cu";
    ASSERT_TRUE(spool_->Submit(task_, request_).ok());
    id_ = Spool::BundleId(task_, request_);
  }
  ServeOptions Quick(int tries = 3, int max_looks = 3) {
    ServeOptions options;
    options.threads = 2;
    options.tries = tries;
    options.pause_seconds = 0;
    options.max_looks = max_looks;
    return options;
  }
  bool In(const char* state) const { return FileExists(folder_ / (std::string(state) + "/" + id_ + ".json")); }

  TemporaryDirectory folder_;
  std::optional<Spool> spool_;
  Task task_;
  EvaluationRequest request_;
  std::string id_;
  FailingEvaluator evaluator_;
};

TEST_F(ServeSpool, AFailureOfTheMachineThatPassesIsTriedAgain) {
  evaluator_.failures = 2;
  SpoolServer server(evaluator_, *spool_, Quick());
  const Served served = server.JudgeClaimable().value();
  EXPECT_EQ(served.judged, 1);
  EXPECT_EQ(served.put_back, 0);
  EXPECT_EQ(evaluator_.calls, 3);
  EXPECT_EQ(spool_->Answer(id_).value().verdict, Verdict::kCompileError);
  EXPECT_FALSE(In("failed") || In("pending") || In("running"));
}

// A batch system signals a job's compilers too, and a compiler that a signal ended looks like one that refuses a
// source.
TEST_F(ServeSpool, AVerdictThatASignalMayHaveCausedIsNoAnswer) {
  class Signalled : public FailingEvaluator {
   public:
    Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request, const EvaluationProgress& progress) override {
      stop.request_stop();
      Result<Evaluation> evaluation = FailingEvaluator::Evaluate(task, request, progress);
      evaluation->verdict = verdict;
      return evaluation;
    }
    std::stop_source stop;
    Verdict verdict = Verdict::kOk;
  };
  const struct {
    Verdict verdict;
    bool answered;
  } cases[] = {{Verdict::kCompileError, false}, {Verdict::kCrashed, false},   {Verdict::kInvalidTask, false},
               {Verdict::kOk, true},            {Verdict::kWrongOutput, true}, {Verdict::kRuleViolation, true}};
  for (const auto& one : cases) {
    Signalled signalled;
    signalled.verdict = one.verdict;
    ServeOptions options = Quick();
    options.stop = signalled.stop.get_token();
    const Result<Evaluation> judged = JudgeBundle(signalled, {.task = task_, .request = request_}, options);
    EXPECT_EQ(judged.ok(), one.answered) << VerdictName(one.verdict);
    EXPECT_EQ(signalled.calls, 1);
    EXPECT_EQ(judged.status().message().find("another worker judges anew") != std::string::npos, !one.answered);
  }
}

TEST_F(ServeSpool, ProfilesAreLeftOutWhereTheWorkerIsToldTo) {
  using Profiles = ServeOptions::Profiles;
  for (const Profiles profiles : {Profiles::kNone, Profiles::kGains, Profiles::kAll}) {
    request_.profile = true;
    request_.source = std::to_string(static_cast<int>(profiles));
    ASSERT_TRUE(spool_->Submit(task_, request_).ok());
    evaluator_.profiled = evaluator_.gains_only = 0;
    ServeOptions options = Quick();
    options.profiles = profiles;
    SpoolServer server(evaluator_, *spool_, options);
    EXPECT_GE(server.JudgeClaimable().value().judged, 1);
    EXPECT_EQ(evaluator_.profiled, profiles == Profiles::kNone ? 0 : 1);
    EXPECT_EQ(evaluator_.gains_only, profiles == Profiles::kGains ? 1 : 0);
  }
}

TEST_F(ServeSpool, NobodyAsksForAProfileInTheWorkersPlace) {
  ServeOptions options = Quick();
  options.profiles = ServeOptions::Profiles::kAll;
  SpoolServer server(evaluator_, *spool_, options);
  EXPECT_EQ(server.JudgeClaimable().value().judged, 1);
  EXPECT_EQ(evaluator_.profiled, 0);
}

TEST_F(ServeSpool, ABundleThatIsBeingJudgedIsNotSubmittedAgain) {
  ASSERT_TRUE(spool_->Claim(id_).value());
  ASSERT_TRUE(spool_->Submit(task_, request_).ok());
  EXPECT_TRUE(In("running"));
  EXPECT_FALSE(In("pending"));
}

TEST_F(ServeSpool, BundlesAreListedInTheOrderOfTheirSubmission) {
  std::vector<std::string> ids{id_};
  for (const char* source : {"one", "two", "three"}) {
    request_.source = source;
    ASSERT_TRUE(spool_->Submit(task_, request_).ok());
    ids.push_back(Spool::BundleId(task_, request_));
  }
  // The files get times an hour apart, which any file system can store. The bundle submitted first gets the newest
  // time.
  auto time = std::filesystem::file_time_type::clock::now();
  for (const std::string& id : ids) {
    time -= std::chrono::hours(1);
    std::filesystem::last_write_time(folder_ / ("pending/" + id + ".json"), time);
  }
  std::reverse(ids.begin(), ids.end());
  EXPECT_EQ(spool_->Pending().value(), ids);
}

// A bundle that waited for a day and was claimed a moment ago does not belong to a dead worker.
TEST_F(ServeSpool, OnlyWhatHasBeenRunningForLongIsReleased) {
  const auto day_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24);
  std::filesystem::last_write_time(folder_ / ("pending/" + id_ + ".json"), day_ago);
  ASSERT_TRUE(Spool(folder_.path()).Claim(id_).value());  // the claiming Spool is destroyed, like a dead worker's
  ASSERT_TRUE(spool_->Release(3600).ok());
  EXPECT_TRUE(In("running"));
  std::filesystem::last_write_time(folder_ / ("running/" + id_ + ".json"), day_ago);
  ASSERT_TRUE(spool_->Release(3600).ok());
  EXPECT_FALSE(In("running"));
  EXPECT_TRUE(In("pending"));
}

TEST_F(ServeSpool, WhatALivingWorkerHoldsIsNotReleased) {
  ASSERT_TRUE(spool_->Claim(id_).value());
  Spool another(folder_.path());
  ASSERT_TRUE(another.Release(0).ok());
  EXPECT_TRUE(In("running"));
  EXPECT_FALSE(another.Claim(id_).value());
  // A bundle that was put back can be claimed by any worker.
  ASSERT_TRUE(spool_->PutBack(id_, Status::Unavailable("the device was lost")).ok());
  EXPECT_TRUE(another.Claim(id_).value());
  ASSERT_TRUE(spool_->Release(0).ok());
  EXPECT_TRUE(In("running"));
}

TEST_F(ServeSpool, AWorkerThatIsStoppedPutsBackItsOwnClaimsAndNoOthers) {
  Spool another(folder_.path());
  ASSERT_TRUE(another.Claim(id_).value());
  std::vector<std::string> ids;
  for (const char* source : {"one", "two", "three"}) {
    request_.source = source;
    ASSERT_TRUE(spool_->Submit(task_, request_).ok());
    ids.push_back(Spool::BundleId(task_, request_));
  }
  std::stop_source stop;
  ServeOptions options = Quick();
  options.threads = 1;
  options.stop = stop.get_token();
  options.on_bundle = [&](const std::string&, const Result<Evaluation>&) { stop.request_stop(); };
  SpoolServer server(evaluator_, *spool_, options);
  EXPECT_EQ(server.JudgeClaimable().value().judged, 1);
  EXPECT_TRUE(In("running")) << "the other worker's";
  int pending = 0, done = 0;
  for (const std::string& id : ids) {
    pending += FileExists(folder_ / ("pending/" + id + ".json"));
    done += FileExists(folder_ / ("done/" + id + ".json"));
  }
  EXPECT_EQ(done, 1);
  EXPECT_EQ(pending, 2);
}

// The second worker starts while the first one judges, and finds what the first one has not begun.
TEST_F(ServeSpool, TwoWorkersShareWhatWaits) {
  for (const char* source : {"one", "two", "three"}) {
    request_.source = source;
    ASSERT_TRUE(spool_->Submit(task_, request_).ok());
  }
  Spool second_spool(folder_.path());
  FailingEvaluator second_evaluator;
  ServeOptions options = Quick();
  options.threads = 1;
  SpoolServer second(second_evaluator, second_spool, options);
  int64_t judged_by_second = -1;
  options.on_bundle = [&](const std::string&, const Result<Evaluation>&) {
    if (judged_by_second < 0) judged_by_second = second.JudgeClaimable().value().judged;
  };
  SpoolServer first(evaluator_, *spool_, options);
  EXPECT_EQ(first.JudgeClaimable().value().judged, 1);
  EXPECT_EQ(judged_by_second, 3);
  EXPECT_TRUE(spool_->Pending().value().empty());
}

TEST_F(ServeSpool, AFailureOfTheMachineThatStaysIsNobodysAnswer) {
  evaluator_.failures = 1000;
  SpoolServer server(evaluator_, *spool_, Quick());
  const Served served = server.JudgeClaimable().value();
  EXPECT_EQ(served.judged, 0);
  EXPECT_EQ(served.put_back, 1);
  EXPECT_TRUE(In("pending") && In("failed"));
  EXPECT_FALSE(In("done") || In("running"));
  const Status answer = spool_->Answer(id_).status();
  EXPECT_EQ(answer.code(), StatusCode::kPending);
  EXPECT_THAT(answer.message(), HasSubstr("confine with Landlock"));
  // The machine works again: the same bundle is judged, and the reason is removed.
  evaluator_.failures = 0;
  EXPECT_EQ(server.JudgeClaimable().value().judged, 1);
  EXPECT_EQ(spool_->Answer(id_).value().verdict, Verdict::kCompileError);
  EXPECT_FALSE(In("pending") || In("failed"));
}

TEST_F(ServeSpool, ALostDeviceIsNoVerdictEither) {
  evaluator_.failures = 1000;
  evaluator_.loses_device = true;
  SpoolServer server(evaluator_, *spool_, Quick(2));
  EXPECT_EQ(server.JudgeClaimable().value().put_back, 1);
  EXPECT_EQ(evaluator_.calls, 2);
  EXPECT_THAT(spool_->Answer(id_).status().message(), HasSubstr("Xid 79"));
}

TEST_F(ServeSpool, AWorkerThatKeepsFailingLeavesTheBundleToOthers) {
  evaluator_.failures = 1000;
  SpoolServer server(evaluator_, *spool_, Quick(1, 2));
  EXPECT_EQ(server.JudgeClaimable().value().put_back, 1);
  EXPECT_EQ(server.JudgeClaimable().value().put_back, 1);
  EXPECT_EQ(server.JudgeClaimable().value().put_back, 0);
  EXPECT_EQ(evaluator_.calls, 2);
  EXPECT_TRUE(In("pending"));
  evaluator_.failures = 0;
  SpoolServer another(evaluator_, *spool_, Quick());
  EXPECT_EQ(another.JudgeClaimable().value().judged, 1);
}

TEST_F(ServeSpool, ABundleThatNobodyCanReadIsAnsweredWithTheReason) {
  std::ofstream(folder_ / ("pending/" + id_ + ".json")) << "{\"protocol\": 99}";
  SpoolServer server(evaluator_, *spool_, Quick());
  const Served served = server.JudgeClaimable().value();
  EXPECT_EQ(served.unreadable, 1);
  EXPECT_EQ(evaluator_.calls, 0);
  EXPECT_TRUE(In("done"));
  EXPECT_THAT(spool_->Answer(id_).status().message(), HasSubstr("protocol 99"));
}

TEST_F(ServeSpool, ARequestWhoseNumbersCannotBeMeantIsAnsweredWithTheField) {
  const struct {
    const char* field;
    std::function<void(EvaluationRequest&)> spoil;
  } spoilt[] = {{"max_quads = 4", [](EvaluationRequest& r) { r.max_quads = 4; }},
                {"max_quads = -1", [](EvaluationRequest& r) { r.max_quads = -1; }},
                {"correctness_trials = 0", [](EvaluationRequest& r) { r.correctness_trials = 0; }},
                {"time case 1", [](EvaluationRequest& r) { r.only_time_cases = {0, 1}; }}};
  SpoolServer server(evaluator_, *spool_, Quick());
  EXPECT_EQ(server.JudgeClaimable().value().judged, 1);  // the bundle was not changed
  evaluator_.calls = 0;
  for (const auto& [field, spoil] : spoilt) {
    EvaluationRequest request = request_;
    spoil(request);
    const std::string id = Spool::BundleId(task_, request);
    ASSERT_TRUE(spool_->Submit(task_, request).ok());
    const Served served = server.JudgeClaimable().value();
    EXPECT_EQ(served.unreadable, 1) << field;
    EXPECT_THAT(spool_->Answer(id).status().message(), HasSubstr(field));
    EXPECT_FALSE(FileExists(folder_ / ("pending/" + id + ".json"))) << field;
    // The submitting side refuses such a request too, so that it does not leave a bundle.
    const Result<Evaluation> sent = MakeSpoolEvaluator(folder_ / "sent").value()->Evaluate(task_, request);
    EXPECT_EQ(sent.status().code(), StatusCode::kInvalidArgument) << field;
    EXPECT_THAT(sent.status().message(), HasSubstr(field));
  }
  EXPECT_EQ(evaluator_.calls, 0);
}

TEST(SpoolEvaluator, RefusesTextThatJsonCannotHoldByTheFileThatHoldsIt) {
  const TemporaryDirectory folder = MakeTemporaryDirectory().value();
  const std::unique_ptr<Evaluator> evaluator = MakeSpoolEvaluator(folder / "spool").value();
  const Task task = ParseTask(kTask, "copy/task.toml").value();
  const auto submit = [&](const EvaluationRequest& request, const Task& of) {
    const Result<Evaluation> answer = evaluator->Evaluate(of, request, {});
    EXPECT_EQ(answer.status().code(), StatusCode::kInvalidArgument);
    return answer.status().message();
  };
  EvaluationRequest request;
  request.source = "// caf\xe9\n";
  request.name = "mine.cu";
  EXPECT_THAT(submit(request, task), HasSubstr("mine.cu:1: the byte 0xe9"));
  request.source = "";
  request.incumbent_source = "\n\xff";
  request.incumbent_name = "old.cu";
  EXPECT_THAT(submit(request, task), HasSubstr("old.cu:2"));
  request.incumbent_source = "";
  request.name = "caf\xe9.cu";
  EXPECT_THAT(submit(request, task), HasSubstr("rename"));
  request.name = "mine.cu";
  Task latin = task;
  latin.oracle_source = "\xe9";
  EXPECT_THAT(submit(request, latin), HasSubstr("oracle.cu:1"));
}

TEST_F(ServeSpool, TheTasksLibrariesTravelWithARequestThatAsksForThem) {
  const std::string without = Spool::BundleId(task_, request_);
  task_.baseline_toml = "[[library]]\nkind = \"torch\"\nexpression = \"x.clone()\"\n";
  EXPECT_EQ(Spool::BundleId(task_, request_), without);
  request_.libraries = true;
  const std::string id = Spool::BundleId(task_, request_);
  ASSERT_TRUE(spool_->Submit(task_, request_).ok());
  ASSERT_TRUE(spool_->Claim(id).value());
  const Result<SpoolBundle> bundle = spool_->Load(id);
  ASSERT_TRUE(bundle.ok()) << bundle.status().message();
  EXPECT_EQ(bundle->task.baseline_toml, task_.baseline_toml);
  EXPECT_TRUE(bundle->request.libraries);
}

TEST_F(ServeSpool, AnOptionOfTheWrongTypeIsAnsweredAtOnce) {
  const std::string path = folder_ / ("pending/" + id_ + ".json");
  std::string text = ReadFile(path).value();
  const std::string integer_field = "\"max_quads\": 0";
  ASSERT_NE(text.find(integer_field), std::string::npos);
  std::ofstream(path) << text.replace(text.find(integer_field), integer_field.size(), "\"max_quads\": \"many\"");
  SpoolServer server(evaluator_, *spool_, Quick());
  EXPECT_EQ(server.JudgeClaimable().value().unreadable, 1);
  EXPECT_THAT(spool_->Answer(id_).status().message(), HasSubstr("evaluation options"));
}

// A spool is a folder that others write to. Fields of a wrong type in an answer once crashed every process that read
// it.
TEST_F(ServeSpool, AForgedAnswerIsAnErrorAndNoMore) {
  const std::string done = folder_ / ("done/" + id_ + ".json");
  std::filesystem::create_directories(folder_ / "done");
  std::string deep = "{\"evaluation\":";
  for (int i = 0; i < 200000; ++i) deep += "[";
  for (const std::string& text :
       {std::string(R"({"error": {"message": 5, "code": "x"}})"), std::string(R"({"error": {"message": [], "code": 1e300}})"),
        std::string(R"({"error": {"message": "no", "code": -7}})"), std::string(R"({"error": 3})"), std::string(R"({"evaluation": 3})"),
        std::string("[1, 2]"), deep}) {
    std::ofstream(done) << text;
    const Result<Evaluation> answer = spool_->Answer(id_);
    ASSERT_FALSE(answer.ok()) << text.substr(0, 60);
    EXPECT_FALSE(answer.status().message().empty());
    EXPECT_NE(answer.status().code(), StatusCode::kOk);
  }
}

TEST(CleanSpool, RemovesWhatIsMeantAndNeverWhatAWorkerHolds) {
  namespace fs = std::filesystem;
  const TemporaryDirectory folder = MakeTemporaryDirectory().value();
  const std::string directory = folder.path();
  EXPECT_THAT(CleanSpool(directory, {}).status().message(), HasSubstr("this is no spool"));
  for (const char* name : {"done/a", "done/old", "failed/b", "pending/c", "running/d"}) {
    fs::create_directories(fs::path(folder / name).parent_path());
    std::ofstream(folder / (std::string(name) + ".json")) << "{}";
  }
  fs::last_write_time(folder / "done/old.json", fs::file_time_type::clock::now() - std::chrono::hours(2));
  const SpoolCleanReport counted = CleanSpool(directory, {.answers = true, .waiting = true, .older_seconds = 3600}).value();
  EXPECT_EQ(counted.there.answers, 2);
  EXPECT_EQ(counted.there.answer_bytes, 4);
  EXPECT_EQ(counted.there.failures, 1);
  EXPECT_EQ(counted.there.waiting, 1);
  EXPECT_EQ(counted.running, 1);
  EXPECT_EQ(counted.meant.answers, 1);
  EXPECT_EQ(counted.meant.waiting, 0);
  EXPECT_TRUE(FileExists(folder / "done/old.json")) << "counting removes nothing";
  ASSERT_TRUE(CleanSpool(directory, {.answers = true, .older_seconds = 3600, .really = true}).ok());
  EXPECT_FALSE(FileExists(folder / "done/old.json"));
  EXPECT_TRUE(FileExists(folder / "done/a.json"));
  EXPECT_THAT(CleanSpool(directory, {.all = true, .really = true}).status().message(), HasSubstr("1 bundle is being judged"));
  fs::remove(folder / "running/d.json");
  std::ofstream(folder / "device.json") << "{}";
  ASSERT_TRUE(CleanSpool(directory, {.all = true, .really = true}).ok());
  for (const char* name : {"done/a.json", "failed/b.json", "pending/c.json", "device.json"}) EXPECT_FALSE(FileExists(folder / name));
}

TEST(SpoolTools, WorkersStateWhatTheyHaveAndSubmittersReadIt) {
  const TemporaryDirectory folder = MakeTemporaryDirectory().value();
  const std::string jobs = folder / "jobs";
  std::unique_ptr<Evaluator> evaluator = MakeSpoolEvaluator(jobs).value();
  EXPECT_FALSE(evaluator->Tools().stated);
  EXPECT_TRUE(evaluator->CanInclude("cute").ok()) << "it is assumed, and said";
  EXPECT_THAT(evaluator->Assumed(),
              HasSubstr("no worker has judged there yet; a current data-centre GPU with CuTe's headers is assumed"));
  EXPECT_EQ(evaluator->facts().name, "a device not seen yet");

  JudgeStatement statement;
  statement.facts.id = "cuda:0";
  statement.facts.name = "NVIDIA H200";
  statement.tools = {.stated = true, .toolkit = "NVRTC 12.8", .cutlass = "", .no_cutlass = "unpack CUTLASS"};
  ASSERT_TRUE(Spool(jobs).WriteStatement(statement).ok());
  evaluator = MakeSpoolEvaluator(jobs).value();
  EXPECT_EQ(evaluator->facts().name, "NVIDIA H200");
  EXPECT_EQ(evaluator->Tools().toolkit, "NVRTC 12.8");
  EXPECT_EQ(evaluator->Assumed(), "");
  EXPECT_EQ(evaluator->CanInclude("cute").code(), StatusCode::kUnavailable);
  EXPECT_EQ(evaluator->CanInclude("cute").message(),
            "the worker that last judged in " + jobs + " has no headers for CuTe: unpack CUTLASS");
  EXPECT_TRUE(evaluator->CanInclude("").ok());

  statement.tools.cutlass = "4.2.1";
  ASSERT_TRUE(Spool(jobs).WriteStatement(statement).ok());
  evaluator = MakeSpoolEvaluator(jobs).value();
  EXPECT_TRUE(evaluator->CanInclude("cute").ok());
  EXPECT_EQ(evaluator->Tools().cutlass, "4.2.1");

  statement.tools = {};  // an older worker states its device alone
  ASSERT_TRUE(Spool(jobs).WriteStatement(statement).ok());
  evaluator = MakeSpoolEvaluator(jobs).value();
  EXPECT_TRUE(evaluator->CanInclude("cute").ok());
  EXPECT_THAT(evaluator->Assumed(), HasSubstr("did not state its tools; CuTe's headers are assumed"));
}

TEST(SpoolTools, ADamagedStatementIsRefusedByField) {
  const auto error = [](const std::string& text) { return DecodeStatement(text).status().message(); };
  EXPECT_THAT(error("{"), HasSubstr("is not JSON"));
  EXPECT_THAT(error(R"({"id": "sim", "tools": 3})"), HasSubstr("device facts.tools"));
  EXPECT_THAT(error(R"({"id": "sim", "tools": {"cutlass": 4}})"), HasSubstr("cutlass"));
  EXPECT_TRUE(DecodeStatement(R"({"id": "sim", "tools": {"cutlass": "4.0.0", "later": 1}})").value().tools.stated);
}

}  // namespace
}  // namespace hone
