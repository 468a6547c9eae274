// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/simt/fiber_jump.h"

#include <gtest/gtest.h>
#include <unwind.h>

#include <array>
#include <cstdio>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace hone::simt {
namespace {

// Runs functions as fibers, each until it calls Leave.
class Fibers {
 public:
  explicit Fibers(size_t stack_bytes) : stack_bytes_(stack_bytes) {}

  void Add(std::function<void()> function) {
    all_.push_back({std::make_unique_for_overwrite<char[]>(stack_bytes_), nullptr, std::move(function), false});
    One& one = all_.back();
    one.point = MakeFiber<&Fibers::Main>(one.stack.get() + stack_bytes_, stack_bytes_);
  }
  // Goes round the fibers until all have ended. Returns how many times it resumed one.
  int64_t Run() {
    int64_t resumed = 0;
    for (bool ran = true; ran;) {
      ran = false;
      for (current_ = 0; current_ < all_.size(); ++current_) {
        if (all_[current_].ended) continue;
        ran = true;
        ++resumed;
        const FiberTransfer back = FiberJump(all_[current_].point, this);
        EXPECT_EQ(back.data, &all_[current_]);
        all_[current_].point = back.from;
      }
    }
    return resumed;
  }
  void Leave() {
    const FiberTransfer back = FiberJump(scheduler_, &all_[current_]);
    EXPECT_EQ(back.data, this);
    scheduler_ = back.from;
  }
  const char* stack(size_t fiber) const { return all_[fiber].stack.get(); }

 private:
  struct One {
    std::unique_ptr<char[]> stack;
    FiberPoint* point;
    std::function<void()> function;
    bool ended;
  };
  static void Main(FiberTransfer transfer) {
    Fibers& fibers = *static_cast<Fibers*>(transfer.data);
    fibers.scheduler_ = transfer.from;
    fibers.all_[fibers.current_].function();
    One& one = fibers.all_[fibers.current_];
    one.ended = true;
    FiberJump(fibers.scheduler_, &one);
    __builtin_unreachable();
  }

  size_t stack_bytes_;
  size_t current_ = 0;
  std::vector<One> all_;
  FiberPoint* scheduler_ = nullptr;
};

TEST(FiberJump, ThousandsOfFibersKeepTheirVariables) {
  constexpr int kFibers = 5000, kTurns = 7;
  Fibers fibers(16 << 10);
  std::vector<std::string> results(kFibers);
  for (int i = 0; i < kFibers; ++i) {
    fibers.Add([&fibers, &results, i] {
      // More values than a processor has registers, of each kind of register.
      int64_t whole[20];
      double fractions[20];
      long double extended = 1.0L + static_cast<long double>(i);
      for (int k = 0; k < 20; ++k) whole[k] = i + k, fractions[k] = i * 0.5 + k;
      for (int turn = 0; turn < kTurns; ++turn) {
        fibers.Leave();
        for (int k = 0; k < 20; ++k) whole[k] = whole[k] * 3 + turn, fractions[k] = fractions[k] * 0.5 + turn;
        extended = extended * 2 + turn;
      }
      int64_t whole_expected = i;
      double fraction_expected = i * 0.5;
      long double extended_expected = 1.0L + static_cast<long double>(i);
      for (int turn = 0; turn < kTurns; ++turn) {
        whole_expected = whole_expected * 3 + turn;
        fraction_expected = fraction_expected * 0.5 + turn;
        extended_expected = extended_expected * 2 + turn;
      }
      for (int k = 0; k < 20; ++k) {
        if (whole[k] != whole_expected + k * 2187) results[static_cast<size_t>(i)] += "whole ";
        if (fractions[k] != fraction_expected + k / 128.0) results[static_cast<size_t>(i)] += "fraction ";
      }
      if (extended != extended_expected) results[static_cast<size_t>(i)] += "extended ";
    });
  }
  EXPECT_EQ(fibers.Run(), int64_t{kFibers} * (kTurns + 1));
  for (int i = 0; i < kFibers; ++i) ASSERT_EQ(results[static_cast<size_t>(i)], "") << "fiber " << i;
}

TEST(FiberJump, AnExceptionIsCaughtInItsFiberAfterAJump) {
  Fibers fibers(64 << 10);
  std::vector<std::string> caught(3);
  int destroyed = 0;
  struct Counts {
    int& count;
    ~Counts() { ++count; }
  };
  for (size_t i = 0; i < caught.size(); ++i) {
    fibers.Add([&, i] {
      try {
        const Counts counts{destroyed};
        fibers.Leave();
        [&] {
          const Counts inner{destroyed};
          fibers.Leave();
          throw std::runtime_error("fiber " + std::to_string(i));
        }();
      } catch (const std::runtime_error& error) {
        caught[i] = error.what();
      }
      fibers.Leave();
    });
  }
  fibers.Run();
  EXPECT_EQ(caught, (std::vector<std::string>{"fiber 0", "fiber 1", "fiber 2"}));
  EXPECT_EQ(destroyed, 6);
}

TEST(FiberJump, AWalkOverTheStackEndsWhereTheFiberBegins) {
  Fibers fibers(256 << 10);
  std::array<int, 2> depth{};
  _Unwind_Reason_Code result{};
  const auto walk = [&result](int* frames) {
    result = _Unwind_Backtrace(
        [](_Unwind_Context*, void* count) {
          return ++*static_cast<int*>(count) < 1000 ? _URC_NO_REASON : _URC_NORMAL_STOP;
        },
        frames);
  };
  fibers.Add([&] {
    walk(&depth[0]);
    fibers.Leave();
    walk(&depth[1]);
  });
  fibers.Run();
  EXPECT_EQ(result, _URC_END_OF_STACK);
  EXPECT_GT(depth[0], 1);
  EXPECT_LT(depth[0], 30);
  EXPECT_EQ(depth[1], depth[0]);
}

// Adds up 1 to `depth` with a frame for each, and leaves the fiber at the deepest.
int64_t Deep(Fibers& fibers, int depth) {
  volatile char frame[512];
  frame[0] = 1;
  if (depth == 0) {
    fibers.Leave();
    return 0;
  }
  return Deep(fibers, depth - 1) + depth * frame[0];
}

TEST(FiberJump, AFiberLeavesFromDeepWithinItsStackAndReturns) {
  Fibers fibers(8 << 20);
  std::array<int64_t, 2> sums{};
  for (size_t i = 0; i < 2; ++i) fibers.Add([&, i] { sums[i] = Deep(fibers, 5000); });
  EXPECT_EQ(fibers.Run(), 4);
  EXPECT_EQ(sums, (std::array<int64_t, 2>{12502500, 12502500}));
}

TEST(FiberJump, AFiberBeginsWithItsStackAlignedAndWithinItsBounds) {
  Fibers fibers(64 << 10);
  for (size_t i = 0; i < 2; ++i) {
    fibers.Add([&, i] {
      alignas(16) volatile char local = 0;
      const auto address = reinterpret_cast<uintptr_t>(&local);
      const auto begin = reinterpret_cast<uintptr_t>(fibers.stack(i));
      EXPECT_EQ(address % 16, 0u);
      EXPECT_GT(address, begin);
      EXPECT_LT(address, begin + (64 << 10));
      char text[32];  // formatted with aligned moves of vector registers in the C library
      EXPECT_EQ(std::snprintf(text, sizeof text, "%.3f", 1.5 + static_cast<double>(i)), 5);
    });
  }
  fibers.Run();
}

}  // namespace
}  // namespace hone::simt
