// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the guarantees of both run stores, and those of SQLite's: nothing stored is lost to a full disk, a lock, or a
// process killed in the middle.
#include "hone/tuner/run_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "tuner/store/database.h"
#include "tuner/run/log/open_run.h"

namespace hone {
namespace {

RunInfo Info(std::string id, double started = 1000) {
  RunInfo info;
  info.id = std::move(id);
  info.task = "relu";
  info.device = "sim";
  info.modelled = true;
  info.strategy = "refine";
  info.model = "builtin";
  info.started = started;
  return info;
}

EventDraft Draft(EventKind kind, std::string payload = "{}") {
  EventDraft draft;
  draft.kind = kind;
  draft.time = 1001.5;
  draft.payload = std::move(payload);
  return draft;
}

struct Opened {
  TemporaryDirectory directory;
  std::string path;
  std::unique_ptr<RunStore> store;
};

Opened OpenSqlite(const SqliteStoreOptions& options = {}) {
  Opened opened;
  opened.directory = MakeTemporaryDirectory("", "hone-store-").value();
  opened.path = opened.directory / "state/runs.sqlite";
  opened.store = OpenSqliteRunStore(opened.path, options).value();
  return opened;
}

class AnyStore : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam())
      opened_ = OpenSqlite();
    else
      opened_.store = MakeMemoryRunStore();
  }
  RunStore& store() { return *opened_.store; }
  Opened opened_;
};

INSTANTIATE_TEST_SUITE_P(Both, AnyStore, testing::Values(true, false),
                         [](const auto& parameter) { return parameter.param ? "Sqlite" : "Memory"; });

TEST_P(AnyStore, EventsComeBackInOrderWithTheirEvaluations) {
  ASSERT_TRUE(store().CreateRun(Info("r1")).ok());
  EXPECT_EQ(store().Append("r1", Draft(EventKind::kStarted, R"({"a":1})")).value(), 0);
  EventDraft evaluated = Draft(EventKind::kEvaluation);
  evaluated.node = 3;
  evaluated.evaluation = R"({"verdict":"ok"})";
  EXPECT_EQ(store().Append("r1", evaluated).value(), 1);
  const std::vector<Event> events = store().Events("r1").value();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::kStarted);
  EXPECT_EQ(events[0].payload, R"({"a":1})");
  EXPECT_EQ(events[0].evaluation, "");
  EXPECT_EQ(events[1].sequence, 1);
  EXPECT_EQ(events[1].node, 3);
  EXPECT_EQ(events[1].time, 1001.5);
  EXPECT_EQ(events[1].evaluation, R"({"verdict":"ok"})");
  EXPECT_EQ(store().Events("r1", 1).value().size(), 1u);
}

TEST_P(AnyStore, SourcesAreNamedByTheirContent) {
  const std::string text("__global__ void f() {}\n\0\xff after a zero and a bad byte", 50);
  const SourceHash hash = store().PutSource(text).value();
  EXPECT_EQ(hash.hex(), Sha256Hex(text));
  EXPECT_EQ(store().PutSource(text).value(), hash);
  EXPECT_EQ(store().Source(hash).value(), text);
  EXPECT_EQ(store().Source(SourceHash(std::string(64, '0'))).status().code(), StatusCode::kNotFound);
}

TEST_P(AnyStore, AnEventBringsItsSources) {
  ASSERT_TRUE(store().CreateRun(Info("r1")).ok());
  EventDraft draft = Draft(EventKind::kStarted);
  draft.sources = {"one", "two"};
  ASSERT_TRUE(store().Append("r1", draft).ok());
  EXPECT_EQ(store().Source(SourceHash::Of("two")).value(), "two");
}

TEST_P(AnyStore, RunsAreFoundByIdPrefixSuffixAndLast) {
  ASSERT_TRUE(store().CreateRun(Info("20260101-000000-aaaa", 1)).ok());
  ASSERT_TRUE(store().CreateRun(Info("20260102-000000-bbbb", 2)).ok());
  EXPECT_EQ(store().FindRun("last").value().id, "20260102-000000-bbbb");
  EXPECT_EQ(store().FindRun("aaaa").value().id, "20260101-000000-aaaa");
  EXPECT_EQ(store().FindRun("20260102").value().id, "20260102-000000-bbbb");
  EXPECT_EQ(store().FindRun("2026").status().code(), StatusCode::kInvalidArgument);
  const Status none = store().FindRun("cccc").status();
  EXPECT_EQ(none.code(), StatusCode::kNotFound);
  EXPECT_NE(none.message().find("20260102-000000-bbbb"), std::string::npos);
}

TEST_P(AnyStore, ARunIsOpenUntilItsLastEventSaysWhyItEnded) {
  ASSERT_TRUE(store().CreateRun(Info("r1")).ok());
  ASSERT_TRUE(store().Append("r1", Draft(EventKind::kStarted)).ok());
  EXPECT_EQ(store().Runs().value()[0].state, "open");
  ASSERT_TRUE(store().Append("r1", Draft(EventKind::kEnded, R"({"reason":"floor_reached"})")).ok());
  EXPECT_EQ(store().Runs().value()[0].state, "floor_reached");
  EXPECT_EQ(store().Runs().value()[0].events, 2);
  ASSERT_TRUE(store().Append("r1", Draft(EventKind::kResumed)).ok());
  EXPECT_EQ(store().Runs().value()[0].state, "open");
}

TEST_P(AnyStore, OnlyOneMayContinueARun) {
  ASSERT_TRUE(store().CreateRun(Info("r1")).ok());
  std::unique_ptr<RunClaim> claim = store().Claim("r1").value();
  EXPECT_EQ(store().Claim("r1").status().code(), StatusCode::kUnavailable);
  claim.reset();
  EXPECT_TRUE(store().Claim("r1").ok());
}

TEST(SqliteStore, AClaimGivenBackLeavesNoFile) {
  const Opened opened = OpenSqlite();
  ASSERT_TRUE(opened.store->CreateRun(Info("r1")).ok());
  const auto locks = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(opened.directory / "state")) {
      count += entry.path().extension() == ".lock";
    }
    return count;
  };
  std::unique_ptr<RunClaim> claim = opened.store->Claim("r1").value();
  EXPECT_EQ(locks(), 1);
  claim.reset();
  EXPECT_EQ(locks(), 0);
}

TEST_P(AnyStore, ARunCannotBeMadeTwice) {
  ASSERT_TRUE(store().CreateRun(Info("r1")).ok());
  EXPECT_FALSE(store().CreateRun(Info("r1")).ok());
}

TEST_P(AnyStore, AnExportedRunReadsBackAsItWas) {
  ASSERT_TRUE(store().CreateRun(Info("r1")).ok());
  EventDraft draft = Draft(EventKind::kStarted);
  const std::string broken_text = "a reply of broken UTF-8: \xc3\x28 \x80";
  draft.sources = {"plain", broken_text};
  draft.payload = fmt::format(R"({{"seed":"{}","text":"{}"}})", Sha256Hex("plain"), Sha256Hex(broken_text));
  draft.evaluation = R"({"verdict":"ok"})";
  ASSERT_TRUE(store().Append("r1", draft).ok());
  const std::string exported = ExportRun(store(), "r1").value();

  std::unique_ptr<RunStore> other = MakeMemoryRunStore();
  EXPECT_EQ(ImportRun(*other, exported).value(), "r1");
  EXPECT_EQ(other->Source(SourceHash::Of(broken_text)).value(), broken_text);
  const std::vector<Event> events = other->Events("r1").value();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].evaluation, R"({"verdict":"ok"})");
  EXPECT_EQ(ExportRun(*other, "r1").value(), exported);
}

TEST(ExportedRun, DamageIsNamedByItsLine) {
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  EXPECT_NE(ImportRun(*store, "").status().message().find("empty"), std::string::npos);
  EXPECT_NE(ImportRun(*store, "{}\n").status().message().find("line 1"), std::string::npos);
  const std::string head = R"({"format":"hone-run","version":1,"id":"x","task":"t"})"
                           "\n";
  EXPECT_NE(ImportRun(*store, head + "{\"source\":\"00\",\"text\":\"t\"}\n").status().message().find("line 2"),
            std::string::npos);
}

TEST(SqliteStore, SurvivesReopening) {
  Opened opened = OpenSqlite();
  ASSERT_TRUE(opened.store->CreateRun(Info("r1")).ok());
  ASSERT_TRUE(opened.store->Append("r1", Draft(EventKind::kStarted)).ok());
  opened.store.reset();
  opened.store = OpenSqliteRunStore(opened.path).value();
  EXPECT_EQ(opened.store->Events("r1").value().size(), 1u);
}

TEST(SqliteStore, RefusesAFileThatIsNotItsOwn) {
  TemporaryDirectory directory = MakeTemporaryDirectory().value();
  const std::string text_file = directory / "notes.txt";
  std::ofstream(text_file) << std::string(4096, 'x');
  EXPECT_EQ(OpenSqliteRunStore(text_file).status().code(), StatusCode::kInvalidArgument);

  const std::string foreign = directory / "foreign.sqlite";
  {
    std::unique_ptr<Database> database = Database::Open(foreign, 1).value();
    ASSERT_TRUE(database->Execute("CREATE TABLE other (x)").ok());
  }
  EXPECT_EQ(OpenSqliteRunStore(foreign).status().code(), StatusCode::kInvalidArgument);
}

// A store of another user, or on a read-only disk, can be read.
TEST(SqliteStore, OneThatMayNotBeWrittenIsReadAndStays) {
  Opened opened = OpenSqlite();
  ASSERT_TRUE(opened.store->CreateRun(Info("r1")).ok());
  ASSERT_TRUE(opened.store->Append("r1", Draft(EventKind::kNote)).ok());
  for (const bool beside_its_writer : {true, false}) {  // while a writer has it open, with a log, and without
    if (!beside_its_writer) opened.store.reset();
    const Result<std::unique_ptr<RunStore>> read_only_store = OpenSqliteRunStore(opened.path, {.read_only = true});
    ASSERT_TRUE(read_only_store.ok()) << read_only_store.status().message();
    EXPECT_EQ((*read_only_store)->Runs()->size(), 1u);
    EXPECT_EQ((*read_only_store)->Events("r1", 0)->size(), 1u);
    EXPECT_NE((*read_only_store)->CreateRun(Info("r2")).message().find("cannot be opened for writing"),
              std::string::npos);
  }
  EXPECT_FALSE(OpenSqliteRunStore(opened.path + ".absent", {.read_only = true}).ok());
  EXPECT_FALSE(std::filesystem::exists(opened.path + ".absent"));
}

TEST(SqliteStore, ARunOfWhichNothingWasStoredIsNotTheLast) {
  Opened opened = OpenSqlite();
  ASSERT_TRUE(opened.store->CreateRun(Info("r1")).ok());
  ASSERT_TRUE(opened.store->Append("r1", Draft(EventKind::kNote)).ok());
  RunInfo entered = Info("r2");
  entered.started += 1;
  ASSERT_TRUE(opened.store->CreateRun(entered).ok());
  EXPECT_EQ(opened.store->FindRun("last")->id, "r1");
}

TEST(SqliteStore, RefusesANewerSchema) {
  Opened opened = OpenSqlite();
  opened.store.reset();
  {
    std::unique_ptr<Database> database = Database::Open(opened.path, 1).value();
    ASSERT_TRUE(database->Execute("PRAGMA user_version = 99").ok());
  }
  const Status status = OpenSqliteRunStore(opened.path).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("newer Hone"), std::string::npos);
}

TEST(SqliteStore, AFullDiskLosesNothingStoredAndHalfStoresNothing) {
  Opened opened = OpenSqlite({.max_pages = 40});
  ASSERT_TRUE(opened.store->CreateRun(Info("r1")).ok());
  int stored = 0;
  Status full;
  for (int i = 0; i < 1000 && full.ok(); ++i) {
    EventDraft draft = Draft(EventKind::kNote);
    draft.sources = {fmt::format("{} {}", i, std::string(3000, 'x'))};
    full = opened.store->Append("r1", draft).status();
    stored += full.ok();
  }
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.code(), StatusCode::kIo);
  EXPECT_NE(full.message().find("no space left"), std::string::npos) << full.message();
  EXPECT_NE(full.message().find("--resume"), std::string::npos);
  EXPECT_GT(stored, 5);
  EXPECT_EQ(opened.store->Events("r1").value().size(), static_cast<size_t>(stored));
  // The source of the failed append is gone too.
  EXPECT_FALSE(opened.store->Source(SourceHash::Of(fmt::format("{} {}", stored, std::string(3000, 'x')))).ok());

  // With space again, the log continues where it was.
  opened.store.reset();
  opened.store = OpenSqliteRunStore(opened.path).value();
  EXPECT_EQ(opened.store->Append("r1", Draft(EventKind::kNote)).value(), stored);
}

// SQLite makes files next to a store even for reading. Reading must work where it cannot make them.
TEST(SqliteStore, IsReadWhereNothingCanBeWrittenForWantOfSpace) {
  Opened opened = OpenSqlite();
  ASSERT_TRUE(opened.store->CreateRun(Info("r1")).ok());
  ASSERT_TRUE(opened.store->Append("r1", Draft(EventKind::kNote)).ok());
  opened.store.reset();
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{0, 0};
    setrlimit(RLIMIT_FSIZE, &limit);
    if (OpenSqliteRunStore(opened.path).status().code() != StatusCode::kIo) _exit(10);
    Result<std::unique_ptr<RunStore>> store = OpenStoreToRead(opened.path);
    if (!store.ok()) _exit(11);
    _exit((*store)->Events("r1").value().size() == 1 && !(*store)->Append("r1", Draft(EventKind::kNote)).ok() ? 0 : 12);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFEXITED(state));
  EXPECT_EQ(WEXITSTATUS(state), 0);
  EXPECT_EQ(OpenStoreToRead(opened.path + ".absent").status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(opened.path + ".absent"));
}

TEST(SqliteStore, AFileSizeLimitOfTheSystemIsAStatusToo) {
  // In a child process, RLIMIT_FSIZE with SIGXFSZ ignored stands in for a full disk.
  Opened opened = OpenSqlite();
  ASSERT_TRUE(opened.store->CreateRun(Info("r1")).ok());
  opened.store.reset();
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{256 * 1024, 256 * 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    Result<std::unique_ptr<RunStore>> store = OpenSqliteRunStore(opened.path);
    if (!store.ok()) _exit(10);
    for (int i = 0; i < 1000; ++i) {
      EventDraft draft = Draft(EventKind::kNote);
      draft.sources = {fmt::format("{} {}", i, std::string(3000, 'x'))};
      Result<int64_t> appended = (*store)->Append("r1", draft);
      if (!appended.ok()) _exit(appended.status().code() == StatusCode::kIo && i > 5 ? 0 : 11);
    }
    _exit(12);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << WEXITSTATUS(state);
  opened.store = OpenSqliteRunStore(opened.path).value();
  EXPECT_GT(opened.store->Events("r1").value().size(), 5u);
}

TEST(SqliteStore, AForeignLockIsAStatusAfterTheWait) {
  Opened opened = OpenSqlite({.lock_seconds = 0.2});
  ASSERT_TRUE(opened.store->CreateRun(Info("r1")).ok());
  std::unique_ptr<Database> other = Database::Open(opened.path, 1).value();
  ASSERT_TRUE(other->Execute("BEGIN IMMEDIATE").ok());
  EXPECT_EQ(opened.store->Append("r1", Draft(EventKind::kNote)).status().code(), StatusCode::kUnavailable);
  ASSERT_TRUE(other->Execute("ROLLBACK").ok());
  EXPECT_TRUE(opened.store->Append("r1", Draft(EventKind::kNote)).ok());
}

TEST(SqliteStore, ProcessesMayMakeItAtOnce) {
  for (int round = 0; round < 8; ++round) {
    const TemporaryDirectory directory = MakeTemporaryDirectory().value();
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      children.push_back(fork());
      if (children.back() != 0) continue;
      close(go[1]);
      char byte;
      (void)!read(go[0], &byte, 1);  // returns when the parent closes its end, in all children at once
      const Result<std::unique_ptr<RunStore>> store = OpenSqliteRunStore(directory / "runs.sqlite");
      if (!store.ok()) std::cerr << store.status().message() << "\n";
      _exit(store.ok() ? 0 : 1);
    }
    close(go[0]);
    close(go[1]);
    for (const pid_t child : children) {
      int state = 0;
      ASSERT_EQ(waitpid(child, &state, 0), child);
      EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    }
  }
}

TEST(SqliteStore, OneThatAnotherProcessIsMakingIsWaitedFor) {
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  std::unique_ptr<Database> other = Database::Open(directory / "runs.sqlite", 1).value();
  ASSERT_TRUE(other->Execute("BEGIN IMMEDIATE").ok());
  std::thread later([&] {
    usleep(100'000);
    EXPECT_TRUE(other->Execute("ROLLBACK").ok());
  });
  const Result<std::unique_ptr<RunStore>> store = OpenSqliteRunStore(directory / "runs.sqlite", {.lock_seconds = 300});
  EXPECT_TRUE(store.ok()) << store.status().message();
  later.join();
}

TEST(SqliteStore, TwoProcessesMayWriteTwoRunsAtOnce) {
  Opened opened = OpenSqlite({.lock_seconds = 300});
  std::unique_ptr<RunStore> second = OpenSqliteRunStore(opened.path, {.lock_seconds = 300}).value();
  ASSERT_TRUE(opened.store->CreateRun(Info("a")).ok());
  ASSERT_TRUE(second->CreateRun(Info("b")).ok());
  const auto write = [](RunStore& store, const char* run) {
    for (int i = 0; i < 30; ++i) EXPECT_EQ(store.Append(run, Draft(EventKind::kNote)).value(), i);
  };
  std::thread thread([&] { write(*second, "b"); });
  write(*opened.store, "a");
  thread.join();
  EXPECT_EQ(opened.store->Events("b").value().size(), 30u);
}

TEST(SqliteStore, KilledWhileWritingItKeepsEveryAcknowledgedEvent) {
  for (int round = 0; round < 8; ++round) {
    Opened opened = OpenSqlite();
    ASSERT_TRUE(opened.store->CreateRun(Info("r1")).ok());
    opened.store.reset();
    int pipe_fds[2];
    ASSERT_EQ(pipe(pipe_fds), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(pipe_fds[0]);
      std::unique_ptr<RunStore> store = OpenSqliteRunStore(opened.path).value();
      std::unique_ptr<RunClaim> claim = store->Claim("r1").value();
      while (true) {
        EventDraft draft = Draft(EventKind::kNote);
        draft.sources = {std::string(20000, 'y')};
        if (!store->Append("r1", draft).ok()) _exit(1);
        const char acknowledged = '.';
        if (write(pipe_fds[1], &acknowledged, 1) != 1) _exit(1);
      }
    }
    close(pipe_fds[1]);
    int acknowledged = 0;
    char byte;
    while (acknowledged < 3 + round && read(pipe_fds[0], &byte, 1) == 1) ++acknowledged;
    usleep(static_cast<useconds_t>(700 * round));
    kill(child, SIGKILL);
    while (read(pipe_fds[0], &byte, 1) == 1) ++acknowledged;
    close(pipe_fds[0]);
    int state = 0;
    waitpid(child, &state, 0);
    ASSERT_TRUE(WIFSIGNALED(state));

    opened.store = OpenSqliteRunStore(opened.path).value();
    const auto events = opened.store->Events("r1").value();
    EXPECT_GE(static_cast<int>(events.size()), acknowledged);
    EXPECT_LE(static_cast<int>(events.size()), acknowledged + 1);
    // The claim ended with its holder.
    EXPECT_TRUE(opened.store->Claim("r1").ok());
  }
}

}  // namespace
}  // namespace hone
