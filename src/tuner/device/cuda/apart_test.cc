// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests tensors that lie apart: the memory that a candidate's launch may use, and accesses that end it. Runs on the
// fake driver, whose memory is protected by the host's own pages, and on a GPU. A fault ends the fake's process and a
// GPU's context, so each has a process of its own (a death test).
#include <gmock/gmock.h>

#include <csignal>
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tuner/device/cuda/session_test_support.h"

extern "C" {
extern const unsigned char hone_session_test_fatbin[];
extern const unsigned long hone_session_test_fatbin_size;
}

namespace hone::test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kKernels = {"add_one", "increment", "read_at", "write_at"};

// Returns whether a forbidden access of a launch ended the process: by the host's own protection under the fake driver,
// and on a GPU by an outcome, which the test has checked.
bool Faulted(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

// An input x and an output out that lie apart, and a program.
struct Apart {
  TensorView x = View(DType::kFloat32, {1024}, 0), out = x;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<LoadedProgram> program;
  Bindings bindings;

  explicit Apart(DeviceSession& session, uint64_t key = 4711, bool mapped_neighbors = false) {
    const std::string image(reinterpret_cast<const char*>(hone_session_test_fatbin), hone_session_test_fatbin_size);
    program = Load(session, Program(image, kKernels));
    arena = PlaceApart(session, {&x, &out}, {true, false}, key, mapped_neighbors);
    Fill(session);
  }
  void Fill(DeviceSession& session) {
    std::vector<float> values(1024);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    Write(session, x, values);
    EXPECT_TRUE(session.Poison(out).ok());
    bindings.tensors = {{"x", x}, {"out", out}};
  }
  LaunchOutcome Read(DeviceSession& session, const char* tensor, int64_t offset) {
    return Launch(session, *program, Plan({Step("read_at", {Tensor(tensor), Tensor("out"), Value<int64_t>(offset)})}), bindings);
  }
  LaunchOutcome Write8(DeviceSession& session, const char* tensor, int64_t offset) {
    return Launch(session, *program, Plan({Step("write_at", {Tensor(tensor), Value<int64_t>(offset), Value<int32_t>(7)})}), bindings);
  }
  static void Write(DeviceSession& session, const TensorView& view, const std::vector<float>& values) {
    test::Write(session, view, values);
  }
};

// Finds a key for which x ends where its memory ends, or one for which it does not. The granule is taken to be 2 MiB,
// as it was on every device tried.
uint64_t KeyWhere(DeviceSession& session, bool at_the_end) {
  for (uint64_t key = 1; key < 100; ++key) {
    TensorView x = View(DType::kFloat32, {1024}, 0), out = x;
    const std::unique_ptr<Arena> arena = PlaceApart(session, {&x, &out}, {true, false}, key);
    if (((x.address + 4096) % (2 << 20) == 0) == at_the_end) return key;
  }
  ADD_FAILURE() << "no key puts x there";
  return 0;
}

// Finds a key for which `out` has gaps of some pages on both sides.
uint64_t KeyOfTheMiddle(DeviceSession& session) {
  for (uint64_t key = 1; key < 100; ++key) {
    TensorView x = View(DType::kFloat32, {1024}, 0), out = x;
    const std::unique_ptr<Arena> arena = PlaceApart(session, {&x, &out}, {true, false}, key);
    const uint64_t offset = out.address % (2 << 20);
    if (offset >= 8192 && offset + 16384 <= (2 << 20)) return key;
  }
  ADD_FAILURE() << "no key puts out there";
  return 0;
}

[[noreturn]] void EndWith(DeviceSession& session, const LaunchOutcome& outcome) {
  std::fprintf(stderr, "%s\n", outcome.detail.c_str());
  std::_Exit(outcome.status == LaunchStatus::kCrashed && session.lost() ? 0 : 2);
}

class CudaApart : public testing::Test {
 protected:
  CudaApart() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CudaApart, LaunchesReadInputsAndWriteOutputs) {
  HONE_REQUIRE_SESSION();
  Apart apart(session);
  EXPECT_NE(session.LaunchAddress(apart.x.address), apart.x.address) << "a candidate is shown another mapping";
  EXPECT_EQ(session.LaunchAddress(apart.x.address + 100), session.LaunchAddress(apart.x.address) + 100);
  const ResolvedPlan plan = Plan({Step("add_one", {Tensor("x"), Tensor("out"), Value<int32_t>(1024)}, 4, 256)});
  ASSERT_EQ(Launch(session, *apart.program, plan, apart.bindings).status, LaunchStatus::kOk);
  EXPECT_EQ(Read<float>(session, apart.out)[1023], 1024.0f);
  EXPECT_EQ(*session.CheckGaps(*apart.arena), std::nullopt);
}

TEST_F(CudaApart, EachTensorIsFarFromTheOthers) {
  HONE_REQUIRE_SESSION();
  std::vector<TensorView> views(8, View(DType::kFloat32, {1024}, 0));
  std::vector<TensorView*> all_views;
  for (TensorView& view : views) all_views.push_back(&view);
  const std::unique_ptr<Arena> arena = PlaceApart(session, all_views, std::vector<bool>(8, false));
  std::vector<uint64_t> addresses;
  for (const TensorView& view : views) {
    addresses.push_back(view.address);
    addresses.push_back(session.LaunchAddress(view.address));
  }
  std::sort(addresses.begin(), addresses.end());
  for (size_t i = 1; i < addresses.size(); ++i) EXPECT_GT(addresses[i] - addresses[i - 1], uint64_t{32} << 20);
}

TEST_F(CudaApart, SamplesRunOnWhatLiesApart) {
  HONE_REQUIRE_SESSION();
  Apart a(session, 1), b(session, 2);
  const ResolvedPlan plan = Plan({Step("increment", {Tensor("out"), Value<int32_t>(1024)})});
  for (const Apart* data : {&a, &b}) HONE_ASSERT_OK(session.Fill(data->out.address, 4096, 0));
  for (const CacheState cache : {CacheState::kCold, CacheState::kWarm}) {
    SampleRequest request{.program = a.program.get(), .plan = &plan, .sets = {&a.bindings, &b.bindings}, .cache = cache};
    Result<SampleOutcome> outcome = session.TimeSample(request);
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    ASSERT_EQ(outcome->launch.status, LaunchStatus::kOk) << outcome->launch.detail;
  }
  EXPECT_EQ(Read<float>(session, a.out)[1023], 2.0f);
  EXPECT_EQ(Read<float>(session, b.out)[0], 2.0f);
}

TEST_F(CudaApart, StrayWritesBesideATensorShow) {
  HONE_REQUIRE_SESSION();
  const uint64_t key = KeyOfTheMiddle(session);
  for (const int64_t offset : {int64_t{-1}, int64_t{4096}, int64_t{4096 + 255}}) {
    Apart apart(session, key);
    ASSERT_EQ(apart.Write8(session, "out", offset).status, LaunchStatus::kOk);
    Result<std::optional<std::string>> damage = session.CheckGaps(*apart.arena);
    ASSERT_TRUE(damage.ok() && damage->has_value()) << offset;
    EXPECT_THAT(**damage, HasSubstr("1 byte written"));
    EXPECT_THAT(**damage, HasSubstr(offset < 0 ? "1 bytes before block 1" : "past block 1, which has 4096 bytes"));
    EXPECT_EQ(*session.CheckGaps(*apart.arena), std::nullopt) << "repaired";
  }
}

TEST_F(CudaApart, RearrangedTensorsLieElsewhereAndStillWork) {
  HONE_REQUIRE_SESSION();
  Apart apart(session);
  std::set<uint64_t> addresses, offsets;
  for (uint64_t key = 1; key <= 12; ++key) {
    Result<bool> rearranged = session.Rearrange(*apart.arena, key);
    ASSERT_TRUE(rearranged.ok()) << rearranged.status().message();
    EXPECT_TRUE(*rearranged);
    apart.x.address = apart.arena->address(0);
    apart.out.address = apart.arena->address(1);
    apart.Fill(session);
    EXPECT_EQ(*session.CheckGaps(*apart.arena), std::nullopt);
    addresses.insert(session.LaunchAddress(apart.x.address) >> 21);
    offsets.insert(apart.x.address % (2 << 20));
    const ResolvedPlan plan = Plan({Step("add_one", {Tensor("x"), Tensor("out"), Value<int32_t>(1024)})});
    ASSERT_EQ(Launch(session, *apart.program, plan, apart.bindings).status, LaunchStatus::kOk);
    EXPECT_EQ(Read<float>(session, apart.out)[1023], 1024.0f);
  }
  EXPECT_GT(addresses.size(), 2u) << "x and out take turns by a secret, at an address of its own each time";
  EXPECT_GT(offsets.size(), 3u);
}

TEST_F(CudaApart, AReadPastTheEndFaults) {
  HONE_REQUIRE_SESSION();
  const uint64_t key = KeyWhere(session, /*at_the_end=*/true);
  EXPECT_EXIT(EndWith(session, Apart(session, key).Read(session, "x", 4096)), Faulted, "");
}

TEST_F(CudaApart, AReadOfTheLastByteDoesNot) {
  HONE_REQUIRE_SESSION();
  Apart apart(session, KeyWhere(session, /*at_the_end=*/true));
  EXPECT_EQ(apart.Read(session, "x", 4095).status, LaunchStatus::kOk);
}

TEST_F(CudaApart, AReadBeforeTheMemoryFaults) {
  HONE_REQUIRE_SESSION();
  EXPECT_EXIT(EndWith(session, Apart(session).Read(session, "x", -(int64_t{2} << 20))), Faulted, "");
}

TEST_F(CudaApart, MappedNeighborsTakeSuchReads) {
  HONE_REQUIRE_SESSION();
  Apart apart(session, KeyWhere(session, /*at_the_end=*/true), /*mapped_neighbors=*/true);
  EXPECT_EQ(apart.Read(session, "x", 4096).status, LaunchStatus::kOk);
  EXPECT_EQ(apart.Write8(session, "out", 4096 + 5000).status, LaunchStatus::kOk);
  EXPECT_TRUE(session.CheckGaps(*apart.arena)->has_value());
}

TEST_F(CudaApart, AWriteToAnInputFaultsEvenWithWhatItHeld) {
  HONE_REQUIRE_SESSION();
  Apart apart(session);
  EXPECT_EXIT(EndWith(session, Apart(session).Write8(session, "x", 7)), Faulted, "");
}

TEST_F(CudaApart, TheJudgeMayStillWriteIt) {
  HONE_REQUIRE_SESSION();
  Apart apart(session);
  HONE_ASSERT_OK(session.Fill(apart.x.address, 4096, 0));
  ASSERT_EQ(apart.Read(session, "x", 77).status, LaunchStatus::kOk);
  EXPECT_EQ(Read<float>(session, apart.out)[0], 0.0f) << "and a launch sees it";
}

TEST_F(CudaApart, ASharedBlockLiesApartFromAllOtherMemory) {
  HONE_REQUIRE_SESSION();
  Apart apart(session);
  std::set<uint64_t> places;
  for (int i = 0; i < 4; ++i) {
    Result<std::unique_ptr<SharedBlock>> block = session.Share(1000);
    ASSERT_TRUE(block.ok()) << block.status().message();
    const uint64_t begin = (*block)->address(), end = begin + static_cast<uint64_t>((*block)->bytes());
    EXPECT_EQ((*block)->bytes() % (2 << 20), 0);
    EXPECT_TRUE(session.Shares(**block));
    for (const uint64_t other : {apart.x.address, session.LaunchAddress(apart.x.address), apart.out.address}) {
      EXPECT_GT(other < begin ? begin - other : other - end, uint64_t{2} << 20);
    }
    places.insert(begin);
  }
  EXPECT_EQ(places.size(), 4u) << "each block is at a new secret address";
}

TEST_F(CudaApart, ASharedBlockIsCopiedToAndFromAndFreed) {
  HONE_REQUIRE_SESSION();
  Apart apart(session);
  const int64_t before = session.FreeBytes();
  Result<std::unique_ptr<SharedBlock>> block = session.Share(64 << 20);
  ASSERT_TRUE(block.ok()) << block.status().message();
  EXPECT_LE(session.FreeBytes(), before - (64 << 20));
  HONE_ASSERT_OK(session.CopyOnDevice((*block)->address() + 4096, apart.x.address, 4096));
  HONE_ASSERT_OK(session.WaitForCopies());
#ifdef HONE_FAKE_DRIVER  // whose memory another process maps as a file
  void* theirs = mmap(nullptr, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, (*block)->descriptor(), 0);
  ASSERT_NE(theirs, MAP_FAILED);
  float& last = static_cast<float*>(theirs)[1024 + 1023];
  EXPECT_EQ(last, 1023.0f);
  last = -7.0f;
#endif
  HONE_ASSERT_OK(session.CopyOnDevice(apart.out.address, (*block)->address() + 4096, 4096));
#ifdef HONE_FAKE_DRIVER
  EXPECT_EQ(Read<float>(session, apart.out)[1023], -7.0f);
#endif
  EXPECT_EQ(Read<float>(session, apart.out)[1022], 1022.0f);
  HONE_ASSERT_OK(session.Fill((*block)->address(), (*block)->bytes(), 0xee));
  HONE_ASSERT_OK(session.WaitForCopies());
#ifdef HONE_FAKE_DRIVER
  EXPECT_EQ(static_cast<const uint8_t*>(theirs)[(64 << 20) - 1], 0xee);
#endif
  block->reset();
  EXPECT_GE(session.FreeBytes(), before);
#ifdef HONE_FAKE_DRIVER
  EXPECT_EQ(static_cast<const uint8_t*>(theirs)[0], 0xee) << "what the other process has mapped stays";
  munmap(theirs, 64 << 20);
#endif
}

TEST_F(CudaApart, MoreThanThereIsCannotBeShared) {
  HONE_REQUIRE_SESSION();
  const Result<std::unique_ptr<SharedBlock>> block = session.Share(session.facts().memory_bytes + (int64_t{1} << 30));
  ASSERT_FALSE(block.ok());
  EXPECT_EQ(block.status().code(), StatusCode::kResourceExhausted) << block.status().message();
}

}  // namespace
}  // namespace hone::test
