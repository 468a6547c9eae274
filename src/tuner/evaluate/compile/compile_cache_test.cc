// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run the compile cache over a compiler that counts its calls: which outcomes are kept, which are not, and
// which damage to the folder the cache survives.
#include "tuner/evaluate/compile/compile_cache.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

class CountingCompiler : public Compiler {
 public:
  explicit CountingCompiler(std::atomic<int>* count, std::string fingerprint = "fake 1")
      : count_(count), fingerprint_(std::move(fingerprint)) {}
  Result<CompiledModule> Compile(const TranslationUnit& unit) override {
    ++*count_;
    if (unit.body == "status") return Status::Unavailable("no compiler");
    CompiledModule module;
    if (unit.body == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (unit.body == "bad") {
      module.verdict = Verdict::kCompileError;
      module.digest = "a.cu:1: error";
      module.log = std::string("a.cu(1): error \xff\xfe\0", 18);
    } else if (unit.body == "lacking") {
      module.verdict = Verdict::kUnsupported;
      module.digest = "'/one/folder' holds no CUTLASS headers";
    } else if (unit.body == "bomb") {
      module.verdict = Verdict::kCompileError;
      module.digest = "compilation timed out";
    } else if (unit.body == "huge") {
      module.verdict = Verdict::kCompileError;
      module.digest = "the compiler ran out of memory: it was stopped at 250 MiB";
      module.log = "a.cu(1): as far as it came";
    } else {
      module.image = unit.body + std::string("\0\xff image", 8) + std::string(padding, 'x');
      module.lowered = {{"k<1>", "_Z1k"}};
      module.resources = {{.kernel = "k<1>", .registers = 32, .spill_bytes = 8, .static_shared_bytes = 400}};
      module.globals = {{"state", 4, true, true}};
      module.labels = {"tensor_cores"};
      module.pch_used = true;
    }
    return module;
  }
  std::string Fingerprint() const override { return fingerprint_; }
  size_t padding = 0;

 private:
  std::atomic<int>* count_;
  std::string fingerprint_;
};

TranslationUnit Unit(const std::string& body) {
  TranslationUnit unit;
  unit.file = "a.cu";
  unit.body = body;
  unit.kernels = {"k<1>"};
  return unit;
}

class CompileCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder_or_error = MakeTemporaryDirectory();
    ASSERT_TRUE(folder_or_error.ok());
    directory_ = std::move(*folder_or_error);
  }
  std::unique_ptr<CachedCompiler> Open(int64_t max_bytes = 1 << 20, size_t padding = 0, std::string fingerprint = "fake 1") {
    auto inner = std::make_unique<CountingCompiler>(&compiles_, std::move(fingerprint));
    inner->padding = padding;
    auto cache = MakeCachedCompiler(std::move(inner), {.directory = directory_ / "cache", .max_bytes = max_bytes});
    EXPECT_TRUE(cache.ok());
    return std::move(*cache);
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory_ / "cache")) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    return files;
  }
  TemporaryDirectory directory_;
  std::atomic<int> compiles_{0};
};

TEST_F(CompileCacheTest, TheSecondAnswerIsTheFirstFromDisk) {
  const CompiledModule first = Open()->Compile(Unit("x")).value();
  EXPECT_FALSE(first.from_cache);
  const auto cache = Open();  // as another process would open the folder
  const CompiledModule second = cache->Compile(Unit("x")).value();
  EXPECT_EQ(compiles_, 1);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.image, first.image);
  EXPECT_EQ(second.lowered, first.lowered);
  EXPECT_EQ(second.labels, first.labels);
  EXPECT_TRUE(second.pch_used);
  ASSERT_EQ(second.resources.size(), 1u);
  EXPECT_EQ(second.resources[0].registers, 32);
  EXPECT_EQ(second.resources[0].static_shared_bytes, 400);
  ASSERT_EQ(second.globals.size(), 1u);
  EXPECT_EQ(second.globals[0].symbol, "state");
  EXPECT_EQ(cache->counters().hits, 1);
}

TEST_F(CompileCacheTest, RejectionsAreRememberedAndAccidentsAreNot) {
  const auto cache = Open();
  for (int i = 0; i < 2; ++i) {
    const CompiledModule module = cache->Compile(Unit("bad")).value();
    EXPECT_EQ(module.verdict, Verdict::kCompileError);
    EXPECT_EQ(module.log.size(), 18u);
  }
  EXPECT_EQ(compiles_, 1);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cache->Compile(Unit("bomb")).value().digest, "compilation timed out");
  EXPECT_EQ(compiles_, 3);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(cache->Compile(Unit("status")).ok());
  EXPECT_EQ(compiles_, 5);
  // Not kept: the next compile may find CUTLASS.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cache->Compile(Unit("lacking")).value().verdict, Verdict::kUnsupported);
  EXPECT_EQ(compiles_, 7);
  // Not kept: another machine may have more memory.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cache->Compile(Unit("huge")).value().verdict, Verdict::kCompileError);
  EXPECT_EQ(compiles_, 9);
}

TEST_F(CompileCacheTest, EverythingThatGoesInIsInTheKey) {
  const TranslationUnit base = Unit("x");
  TranslationUnit file = base, body = base, set = base, kernels = base, options = base, moved = base;
  file.file = "b.cu";
  body.body = "y";
  set.include_set = "full";
  kernels.kernels = {"k<1>", "k<2>"};
  options.options = {"--use_fast_math"};
  moved.kernels = {};
  moved.options = {"k<1>"};
  std::vector<std::string> keys = {CompileCacheKey(base, "f"), CompileCacheKey(base, "g")};
  for (const TranslationUnit& unit : {file, body, set, kernels, options, moved}) keys.push_back(CompileCacheKey(unit, "f"));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
  Open()->Compile(base).value();
  Open(1 << 20, 0, "fake 2")->Compile(base).value();
  EXPECT_EQ(compiles_, 2);
}

TEST_F(CompileCacheTest, DamageOfAnyByteIsNoticedRemovedAndRepaired) {
  const std::string image = Open()->Compile(Unit("x")).value().image;
  ASSERT_EQ(Files().size(), 1u);
  const std::string path = Files()[0], whole = ReadFile(path).value();
  int expected = 1;
  for (size_t at = 0; at < whole.size() + 3; at += 7) {
    std::string damaged = whole;
    if (at < whole.size()) {
      damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    } else {
      damaged.resize(at == whole.size() ? 0 : whole.size() - 1);
    }
    ASSERT_TRUE(WriteFileAtomically(path, damaged).ok());
    const auto cache = Open();
    const CompiledModule module = cache->Compile(Unit("x")).value();
    EXPECT_EQ(module.image, image) << "byte " << at;
    EXPECT_FALSE(module.from_cache) << "byte " << at;
    EXPECT_EQ(cache->counters().corrupt, 1) << "byte " << at;
    EXPECT_EQ(compiles_, ++expected);
  }
  EXPECT_TRUE(Open()->Compile(Unit("x")).value().from_cache);
}

TEST_F(CompileCacheTest, TheLeastRecentlyUsedGoFirst) {
  const auto cache = Open(100000, 9000);
  // The entries are given times a minute apart, because files written together may have the same time, and chance would
  // decide which is removed first.
  const auto now = fs::file_time_type::clock::now();
  std::set<std::string> known_keys;
  for (int i = 0; i < 10; ++i) {
    cache->Compile(Unit("unit" + std::to_string(i))).value();
    for (const std::string& path : Files()) {
      if (known_keys.insert(path).second) fs::last_write_time(path, now - std::chrono::minutes(20 - i));
    }
  }
  EXPECT_EQ(Files().size(), 10u);
  EXPECT_TRUE(cache->Compile(Unit("unit0")).value().from_cache);
  for (int i = 10; i < 12; ++i) cache->Compile(Unit("unit" + std::to_string(i))).value();
  EXPECT_GT(cache->counters().evicted, 0);
  EXPECT_LE(Files().size(), 10u);
  EXPECT_TRUE(cache->Compile(Unit("unit0")).value().from_cache);
  EXPECT_TRUE(cache->Compile(Unit("unit9")).value().from_cache);
  EXPECT_FALSE(cache->Compile(Unit("unit1")).value().from_cache);
}

TEST_F(CompileCacheTest, LeftoversOfADeadProcessAreRemoved) {
  Open()->Compile(Unit("x")).value();
  const std::string leftover = Files()[0] + ".aside-AbCdEf";
  ASSERT_TRUE(WriteFileAtomically(leftover, "half").ok());
  Open();
  EXPECT_TRUE(FileExists(leftover)) << "it may still be being written";
  fs::last_write_time(leftover, fs::file_time_type::clock::now() - std::chrono::hours(2));
  Open();
  EXPECT_FALSE(FileExists(leftover));
}

TEST_F(CompileCacheTest, AFullDiskCostsNoVerdict) {
  const auto cache = Open(1 << 20, 9000);
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto module = cache->Compile(Unit("x"));
    _exit(module.ok() && module->verdict == Verdict::kOk && cache->counters().failed_writes == 1 ? 0 : 1);
  }
  int raw = 0;
  ASSERT_EQ(waitpid(pid, &raw, 0), pid);
  EXPECT_TRUE(WIFEXITED(raw) && WEXITSTATUS(raw) == 0);
  EXPECT_TRUE(Files().empty());
}

TEST_F(CompileCacheTest, ThreadsThatAskForOneUnitShareOneCompile) {
  const auto cache = Open();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { good += cache->Compile(Unit("slow")).value().image.empty() ? 0 : 1; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
  EXPECT_EQ(compiles_, 1);
}

TEST(CompileCache, AnImpossibleFolderIsSaid) {
  std::atomic<int> count{0};
  const auto cache = MakeCachedCompiler(std::make_unique<CountingCompiler>(&count), {.directory = "/proc/nowhere"});
  ASSERT_FALSE(cache.ok());
  EXPECT_THAT(cache.status().message(), ::testing::HasSubstr("/proc/nowhere"));
}

}  // namespace
}  // namespace hone
