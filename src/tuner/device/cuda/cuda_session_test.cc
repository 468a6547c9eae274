// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the CUDA session with the plain host operations: drawing, digests, comparison, gathering, guard zones,
// launches, globals, graphs. Built twice: with the fake driver, which needs no GPU, and with the real one
// (cuda_session_gpu_test.cc adds what only hardware shows).
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "tuner/core/task/packed_numbers.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/cuda_driver.h"
#include "tuner/device/cuda/harness/harness.h"
#include "tuner/device/cuda/session_test_support.h"
#include "tuner/device/host_tensor_ops.h"
#include "tuner/values/draw.h"

extern "C" {
extern const unsigned char hone_session_test_fatbin[];
extern const unsigned long hone_session_test_fatbin_size;
}

namespace hone::test {
namespace {

using testing::HasSubstr;

constexpr DType kDTypes[] = {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kInt64,
                             DType::kInt32,   DType::kUInt32,  DType::kInt16,   DType::kInt8,     DType::kUInt8,
                             DType::kFloat8E4M3, DType::kFloat8E5M2, DType::kFloat8E8M0,
                             DType::kFloat4Pair, DType::kInt4Pair};

const std::vector<std::string> kKernels = {"add_one",         "scale",       "copy16",             "increment",
                                           "count_in_global", "count_in_two_globals", "write_ends_of_table", "read_global", "write_large_global", "write_past_end"};

std::string Image() {
  return std::string(reinterpret_cast<const char*>(hone_session_test_fatbin), hone_session_test_fatbin_size);
}

// Returns shapes that use every path: whole vectors and single elements; slices first, in the middle, last and none;
// rows short and long; strides with gaps, transposed.
std::vector<TensorView> Shapes(DType dtype) {
  return {
      View(dtype, {6, 64}, 0),
      View(dtype, {6, 63}, 0),
      View(dtype, {3, 5, 32}, 1),
      View(dtype, {40, 48}, 1),
      View(dtype, {1000}, 0),
      View(dtype, {4096}, -1),
      View(dtype, {}, -1),
      View(dtype, {3, 1024}, 0),
      View(dtype, {2, 3, 700}, 1),
      View(dtype, {5, 32}, 0, {48, 1}),
      View(dtype, {5, 31}, 0, {37, 1}),
      View(dtype, {8, 9, 10}, 2, {1, 8, 72}),
      View(dtype, {3, 12, 48}, 0, {768, 64, 1}),   // long rows that are not contiguous
      View(dtype, {12, 3, 41}, 1, {129, 43, 1}),
  };
}

std::string Describe(const TensorView& view) {
  std::string text(DTypeName(view.dtype));
  for (int64_t extent : view.shape) text.append(" ").append(std::to_string(extent));
  return text.append(", slice axis ").append(std::to_string(view.slice_axis));
}

void ExpectSameDraw(DeviceSession& session, DrawRequest request) {
  std::vector<uint8_t> memory;
  DrawRequest on_host = request;
  on_host.view = OnHost(request.view, memory);
  std::unique_ptr<Arena> arena = Place(session, {&request.view});
  ASSERT_NE(arena, nullptr);
  HONE_ASSERT_OK(session.Fill(request.view.address, request.view.span_bytes, 0x11));
  std::memset(reinterpret_cast<void*>(on_host.view.address), 0x11, static_cast<size_t>(request.view.span_bytes));
  HONE_ASSERT_OK(session.Draw(request));
  HONE_ASSERT_OK(host::Draw(on_host));
  const std::vector<uint8_t> drawn = Read<uint8_t>(session, request.view);
  const auto* expected = reinterpret_cast<const uint8_t*>(on_host.view.address);
  for (size_t i = 0; i < drawn.size(); ++i) {
    ASSERT_EQ(drawn[i], expected[i]) << "byte " << i << " of " << Describe(request.view) << ", distribution "
                                     << DistributionName(request.values.distribution);
  }
}

TEST(CudaSession, DrawsTheBitsTheHostDraws) {
  HONE_REQUIRE_SESSION();
  constexpr Distribution kAll[] = {Distribution::kNormal,      Distribution::kUniform, Distribution::kZero,
                                   Distribution::kConstant,    Distribution::kHeavyTailed, Distribution::kSorted,
                                   Distribution::kCancelling,  Distribution::kLogUniform,  Distribution::kIndex,
                                   Distribution::kOffsets};
  for (DType dtype : kDTypes) {
    for (Distribution distribution : kAll) {
      for (const TensorView& view : Shapes(dtype)) {
        DrawRequest request;
        request.view = view;
        request.values.distribution = distribution;
        request.values.low = distribution == Distribution::kLogUniform ? 0.125 : -3.0;
        request.values.high = 100.0;
        request.values.scale = IsFloating(dtype) ? 1.5 : 9.0;
        request.values.offset = 0.25;
        request.index_bound = 101;
        request.key = 0x1234567890abcdefULL;
        ASSERT_NO_FATAL_FAILURE(ExpectSameDraw(session, request));
        if (view.slice_axis < 0) continue;
        request.permutation_key = 77;
        ASSERT_NO_FATAL_FAILURE(ExpectSameDraw(session, request));
        request.redraw_key = 99;
        request.redrawn = {0, 2, 3};
        ASSERT_NO_FATAL_FAILURE(ExpectSameDraw(session, request));
      }
    }
  }
}

// Under a memory checker every byte that a candidate has not written must look unwritten, and every byte beside a tensor
// must belong to nothing.
TEST(CudaSession, WatchedMemoryIsLeftUnwrittenAndInputsAreTheSame) {
  HONE_REQUIRE_SESSION();
  Result<std::unique_ptr<DeviceSession>> watched = MakeCudaSession({.watched = true});
  ASSERT_TRUE(watched.ok()) << watched.status().message();
  DrawRequest request;
  request.view = View(DType::kFloat16, {7, 33}, 0, {40, 1});
  request.key = 99;
  TensorView out = View(DType::kFloat32, {5}, -1);
  std::unique_ptr<Arena> arena = Place(**watched, {&request.view, &out});
  ASSERT_NE(arena, nullptr);
  HONE_ASSERT_OK((*watched)->Fill(out.address, out.span_bytes, 0x11));
  HONE_ASSERT_OK((*watched)->FillWith(out, {FillKind::kNan, 1}));
  HONE_ASSERT_OK((*watched)->Poison(out));
  EXPECT_EQ(Read<uint8_t>(**watched, out), std::vector<uint8_t>(static_cast<size_t>(out.span_bytes), 0x11));
  HONE_ASSERT_OK((*watched)->Draw(request));
  const std::vector<uint16_t> drawn = Read<uint16_t>(**watched, request.view);
  std::unique_ptr<Arena> other = Place(session, {&request.view});
  HONE_ASSERT_OK(session.Fill(request.view.address, request.view.span_bytes, 0));
  HONE_ASSERT_OK(session.Draw(request));
  EXPECT_EQ(drawn, Read<uint16_t>(session, request.view));
  EXPECT_FALSE((*watched)->Allocate({{.bytes = 4, .align = 256, .exact_align = true}}, 1).ok());
}

TEST(CudaSession, DrawsTheSpecialValuesTheHostDraws) {
  HONE_REQUIRE_SESSION();
  for (const DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3,
                            DType::kFloat8E5M2}) {
    for (const TensorView& view : Shapes(dtype)) {
      for (const unsigned special : {0u, kUsualSpecials, kUsualSpecials | kSpecialNan}) {
        DrawRequest request;
        request.view = view;
        request.values.distribution = Distribution::kSpecial;
        request.values.scale = 1.5;
        request.values.offset = 0.25;
        request.values.special = special;
        request.key = 0x1234567890abcdefULL;
        request.pattern_key = 0x77 + special;
        ASSERT_NO_FATAL_FAILURE(ExpectSameDraw(session, request));
        if (view.slice_axis < 0) continue;
        request.permutation_key = 77;
        ASSERT_NO_FATAL_FAILURE(ExpectSameDraw(session, request));
      }
    }
  }
}

TEST(CudaSession, FillsAsTheHostFills) {
  HONE_REQUIRE_SESSION();
  for (DType dtype : kDTypes) {
    for (TensorView view : {View(dtype, {5, 31}, 0, {37, 1}), View(dtype, {77}, -1)}) {
      for (const FillKind kind : {FillKind::kNan, FillKind::kBytes, FillKind::kPlausible}) {
        std::vector<uint8_t> memory;
        const TensorView on_host = OnHost(view, memory);
        std::unique_ptr<Arena> arena = Place(session, {&view});
        ASSERT_NE(arena, nullptr);
        HONE_ASSERT_OK(session.Fill(view.address, view.span_bytes, 0x11));
        std::memset(reinterpret_cast<void*>(on_host.address), 0x11, static_cast<size_t>(view.span_bytes));
        HONE_ASSERT_OK(session.FillWith(view, {kind, 0xfeed}));
        host::FillWith(on_host, {kind, 0xfeed});
        const std::vector<uint8_t> filled = Read<uint8_t>(session, view);
        EXPECT_EQ(std::memcmp(filled.data(), reinterpret_cast<void*>(on_host.address), filled.size()), 0) << Describe(view);
      }
    }
  }
}

TEST(CudaSession, DrawsTheIndicesTheHostDraws) {
  HONE_REQUIRE_SESSION();
  for (const DType dtype : {DType::kInt64, DType::kInt32, DType::kInt16}) {
    for (const IndexOrder order : {IndexOrder::kDistinct, IndexOrder::kDistinctRows, IndexOrder::kAscending}) {
      for (const TensorView& view : Shapes(dtype)) {
        DrawRequest request;
        request.view = view;
        request.values.distribution = Distribution::kIndex;
        request.values.index_order = order;
        request.values.padding = order == IndexOrder::kAscending ? 0.0 : 0.125;
        request.index_bound = std::max<int64_t>(view.elements, 1) + 5;
        request.key = 0x1234567890abcdefULL;
        ASSERT_NO_FATAL_FAILURE(ExpectSameDraw(session, request));
        if (view.slice_axis < 0) continue;
        request.permutation_key = 77;
        ASSERT_NO_FATAL_FAILURE(ExpectSameDraw(session, request));
      }
    }
  }
}

TEST(CudaSession, PermutedSlicesAreTheSameSlicesElsewhere) {
  HONE_REQUIRE_SESSION();
  TensorView plain = View(DType::kFloat32, {33, 128}, 0), permuted = plain;
  std::unique_ptr<Arena> arena = Place(session, {&plain, &permuted});
  ASSERT_NE(arena, nullptr);
  DrawRequest request;
  request.key = 5;
  request.view = plain;
  HONE_ASSERT_OK(session.Draw(request));
  request.view = permuted;
  request.permutation_key = 6;
  HONE_ASSERT_OK(session.Draw(request));
  Result<std::vector<uint64_t>> a = session.Digest(plain, 1), b = session.Digest(permuted, 1);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(*a, *b);
  for (uint64_t slice = 0; slice < 33; ++slice) EXPECT_EQ((*b)[slice], (*a)[draw::Permute(slice, 33, 6)]);
}

TEST(CudaSession, PoisonsTheWholeSpan) {
  HONE_REQUIRE_SESSION();
  for (DType dtype : kDTypes) {
    for (TensorView view : {View(dtype, {5, 31}, 0, {37, 1}), View(dtype, {77}, -1)}) {
      std::vector<uint8_t> memory;
      const TensorView on_host = OnHost(view, memory);
      std::unique_ptr<Arena> arena = Place(session, {&view});
      ASSERT_NE(arena, nullptr);
      HONE_ASSERT_OK(session.Poison(view));
      host::Poison(on_host);
      const std::vector<uint8_t> poisoned = Read<uint8_t>(session, view);
      EXPECT_EQ(std::memcmp(poisoned.data(), reinterpret_cast<void*>(on_host.address), poisoned.size()), 0) << Describe(view);
    }
  }
}

TEST(CudaSession, DigestsAreTheHosts) {
  HONE_REQUIRE_SESSION();
  for (DType dtype : kDTypes) {
    for (TensorView view : Shapes(dtype)) {
      std::vector<uint8_t> memory;
      const TensorView on_host = OnHost(view, memory);
      std::unique_ptr<Arena> arena = Place(session, {&view});
      ASSERT_NE(arena, nullptr);
      std::mt19937 random(7);
      std::vector<uint8_t> bytes(static_cast<size_t>(view.span_bytes));
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
      HONE_ASSERT_OK(session.CopyFromHost(view.address, bytes.data(), view.span_bytes));
      std::memcpy(reinterpret_cast<void*>(on_host.address), bytes.data(), bytes.size());
      Result<std::vector<uint64_t>> digests = session.Digest(view, 0xfeedULL);
      ASSERT_TRUE(digests.ok()) << digests.status().message();
      EXPECT_EQ(*digests, host::Digest(on_host, 0xfeedULL)) << Describe(view);
    }
  }
}

TEST(CudaSession, ManyDigestsAreEachTheirOwn) {
  HONE_REQUIRE_SESSION();
  TensorView a = View(DType::kFloat32, {6, 64}, 0), b = View(DType::kInt8, {3, 5, 32}, 1), c = View(DType::kFloat32, {0, 4}, 0);
  std::unique_ptr<Arena> arena = Place(session, {&a, &b, &c});
  ASSERT_NE(arena, nullptr);
  for (const TensorView& view : {a, b}) {
    DrawRequest draw;
    draw.view = view;
    draw.key = 8;
    draw.values.scale = 30;
    HONE_ASSERT_OK(session.Draw(draw));
  }
  Result<std::vector<std::vector<uint64_t>>> many = session.DigestMany({a, c, b, a}, 17);
  ASSERT_TRUE(many.ok()) << many.status().message();
  EXPECT_EQ(*many, (std::vector<std::vector<uint64_t>>{*session.Digest(a, 17), {}, *session.Digest(b, 17), *session.Digest(a, 17)}));
}

TEST(CudaSession, ADigestSeesOneBitAndOneSwap) {
  HONE_REQUIRE_SESSION();
  TensorView view = View(DType::kFloat32, {4, 100}, 0);
  std::unique_ptr<Arena> arena = Place(session, {&view});
  ASSERT_NE(arena, nullptr);
  std::vector<float> values(400);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  values[130] = 0.0f;
  Write(session, view, values);
  const std::vector<uint64_t> before = *session.Digest(view, 3);
  values[130] = -0.0f;
  Write(session, view, values);
  const std::vector<uint64_t> sign = *session.Digest(view, 3);
  EXPECT_EQ(before[0], sign[0]);
  EXPECT_NE(before[1], sign[1]) << "the sign of zero counts";
  values[130] = 0.0f;
  std::swap(values[201], values[202]);
  Write(session, view, values);
  const std::vector<uint64_t> swapped = *session.Digest(view, 3);
  EXPECT_EQ(before[1], swapped[1]);
  EXPECT_NE(before[2], swapped[2]) << "the place counts";
}

// The outputs are near their references, and errors of every kind are planted among them.
TEST(CudaSession, ComparesAsTheHostDoes) {
  HONE_REQUIRE_SESSION();
  const Tolerance tolerance{.c_max = 0.02, .c_rms = 0.01, .absolute = 0.001};
  for (DType dtype : kDTypes) {
    const int64_t numbers = NumbersPerElement(dtype);
    for (TensorView view : Shapes(dtype)) {
      std::vector<uint8_t> memory;
      const TensorView on_host = OnHost(view, memory);
      TensorView reference = View(DType::kFloat64, {view.elements * numbers}, -1);
      std::unique_ptr<Arena> arena = Place(session, {&view, &reference});
      ASSERT_NE(arena, nullptr);
      DrawRequest draw;
      draw.view = on_host;
      draw.key = 12;
      draw.values.scale = IsFloating(dtype) ? 1.0 : 40.0;
      HONE_ASSERT_OK(host::Draw(draw));

      // The reference is the output's own value, off by up to 3 %.
      std::mt19937 random(99);
      std::vector<double> expected(static_cast<size_t>(view.elements * numbers));
      std::vector<int64_t> index(view.shape.size(), 0);
      const auto size = static_cast<size_t>(DTypeBytes(dtype));
      std::vector<uint8_t*> elements;
      for (size_t at = 0; at < expected.size(); at += static_cast<size_t>(numbers)) {
        int64_t offset = 0;
        for (size_t i = 0; i < index.size(); ++i) offset += index[i] * view.strides[i];
        elements.push_back(reinterpret_cast<uint8_t*>(on_host.address) + static_cast<size_t>(offset) * size);
        for (int64_t part = 0; part < numbers; ++part) {
          expected[at + static_cast<size_t>(part)] =
              host::ReadNumber(dtype, elements.back(), part) * (1.0 + 0.03 * (static_cast<double>(random() % 2001) / 1000 - 1));
        }
        for (size_t i = index.size(); i-- > 0;) {
          if (++index[i] < view.shape[i]) break;
          index[i] = 0;
        }
      }
      if (view.elements > 100) {
        const uint64_t poison = host::PoisonBits(dtype);
        std::memcpy(elements[17], &poison, size);
        expected[23] = std::numeric_limits<double>::infinity();
        expected[24] = std::nan("");
        if (IsPacked(dtype)) {
          host::WriteNumber(dtype, elements[31], 1, expected[63] > 0 ? -6 : 6);
        } else if (IsFloating(dtype)) {
          host::WriteElement(dtype, elements[31], std::nan(""));
          host::WriteElement(dtype, elements[23], std::numeric_limits<double>::infinity());
        }
      }
      HONE_ASSERT_OK(session.CopyFromHost(view.address, reinterpret_cast<void*>(on_host.address), view.span_bytes));
      Write(session, reference, expected);

      Result<Comparison> comparison = session.Compare(view, reference.address, tolerance);
      ASSERT_TRUE(comparison.ok()) << comparison.status().message();
      const Comparison want = host::Compare(on_host, expected.data(), tolerance);
      EXPECT_EQ(comparison->total, want.total) << Describe(view);
      EXPECT_EQ(comparison->wrong, want.wrong) << Describe(view);
      EXPECT_EQ(comparison->unwritten, want.unwritten) << Describe(view);
      EXPECT_EQ(comparison->non_finite, want.non_finite) << Describe(view);
      EXPECT_EQ(comparison->first_wrong, want.first_wrong) << Describe(view);
      if (want.first_wrong) {
        EXPECT_THAT(comparison->first_expected, testing::NanSensitiveDoubleEq(want.first_expected));
        EXPECT_THAT(comparison->first_actual, testing::NanSensitiveDoubleEq(want.first_actual));
      }
      // Device and host add in different orders: a few thousand terms, each rounded once.
      const auto near = [](double a, double b) { return a == b || std::abs(a - b) <= 1e-12 * std::abs(b); };
      EXPECT_PRED2(near, comparison->max_scaled, want.max_scaled) << Describe(view);
      EXPECT_PRED2(near, comparison->rms_error, want.rms_error) << Describe(view);
      EXPECT_PRED2(near, comparison->max_ulp, want.max_ulp) << Describe(view);
      EXPECT_PRED2(near, comparison->mean_ulp, want.mean_ulp) << Describe(view);
      if (view.elements > 100) {
        EXPECT_GE(want.wrong, 2) << "the planted errors were not seen: " << Describe(view);
      }
    }
  }
}

TEST(CudaSession, AnEmptyTensorCompares) {
  HONE_REQUIRE_SESSION();
  const TensorView view = View(DType::kFloat32, {0, 8}, 0);
  Result<Comparison> comparison = session.Compare(view, 0, {0.1, 0.1});
  ASSERT_TRUE(comparison.ok());
  EXPECT_EQ(comparison->total, 0);
  EXPECT_EQ(comparison->wrong, 0);
  EXPECT_EQ(session.Digest(view, 1)->size(), 0u);
  HONE_ASSERT_OK(session.Poison(view));
  DrawRequest request;
  request.view = view;
  HONE_ASSERT_OK(session.Draw(request));
}

TEST(CudaSession, GathersSlicesAsTheHostDoes) {
  HONE_REQUIRE_SESSION();
  for (DType dtype : kDTypes) {
    for (TensorView source : Shapes(dtype)) {
      const std::vector<int64_t> slices = source.slice_axis < 0 ? std::vector<int64_t>{} : std::vector<int64_t>{4, 1, 1, 2};
      if (source.slice_axis >= 0 && source.slices() < 5) continue;
      std::vector<int64_t> shape = source.shape;
      if (source.slice_axis >= 0) shape[static_cast<size_t>(source.slice_axis)] = 4;
      TensorView destination = View(dtype, shape, source.slice_axis);
      std::vector<uint8_t> source_memory, destination_memory;
      const TensorView host_source = OnHost(source, source_memory), host_destination = OnHost(destination, destination_memory);
      DrawRequest draw;
      draw.view = host_source;
      draw.key = 3;
      draw.values.scale = 50;
      HONE_ASSERT_OK(host::Draw(draw));
      std::unique_ptr<Arena> arena = Place(session, {&source, &destination});
      ASSERT_NE(arena, nullptr);
      HONE_ASSERT_OK(session.CopyFromHost(source.address, reinterpret_cast<void*>(host_source.address), source.span_bytes));
      HONE_ASSERT_OK(session.GatherSlices(source, destination, slices));
      HONE_ASSERT_OK(host::GatherSlices(host_source, host_destination, slices));
      const std::vector<uint8_t> copied = Read<uint8_t>(session, destination);
      EXPECT_EQ(std::memcmp(copied.data(), reinterpret_cast<void*>(host_destination.address), copied.size()), 0)
          << Describe(source);
    }
  }
}

TEST(CudaSession, RefusesSlicesThatAreNotThere) {
  HONE_REQUIRE_SESSION();
  TensorView source = View(DType::kFloat32, {5, 8}, 0), destination = View(DType::kFloat32, {1, 8}, 0);
  std::unique_ptr<Arena> arena = Place(session, {&source, &destination});
  ASSERT_NE(arena, nullptr);
  EXPECT_EQ(session.GatherSlices(source, destination, {5}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.GatherSlices(source, destination, {-1}).code(), StatusCode::kInvalidArgument);
}

TEST(CudaSession, FindsOneByteThatIsNotZeroWhereverItLies) {
  HONE_REQUIRE_SESSION();
  TensorView view = View(DType::kUInt8, {1000}, -1);
  std::unique_ptr<Arena> arena = Place(session, {&view});
  ASSERT_NE(arena, nullptr);
  HONE_ASSERT_OK(session.Fill(view.address, view.span_bytes, 0));
  const uint8_t one = 1, zero = 0;
  for (int64_t begin : {0, 1, 5, 15, 16}) {
    for (int64_t bytes : {1, 3, 16, 17, 100, 900}) {
      EXPECT_TRUE(*session.IsZero(view.address + static_cast<uint64_t>(begin), bytes));
      for (int64_t at : {int64_t{0}, bytes / 2, bytes - 1}) {
        const uint64_t address = view.address + static_cast<uint64_t>(begin + at);
        HONE_ASSERT_OK(session.CopyFromHost(address, &one, 1));
        EXPECT_FALSE(*session.IsZero(view.address + static_cast<uint64_t>(begin), bytes)) << begin << " " << bytes << " " << at;
        HONE_ASSERT_OK(session.CopyFromHost(address, &zero, 1));
      }
      const uint64_t after = view.address + static_cast<uint64_t>(begin + bytes);
      HONE_ASSERT_OK(session.CopyFromHost(after, &one, 1));
      EXPECT_TRUE(*session.IsZero(view.address + static_cast<uint64_t>(begin), bytes)) << "looked past the end";
      HONE_ASSERT_OK(session.CopyFromHost(after, &zero, 1));
    }
  }
}

// Every stray byte next to a block is found, reported with its position, and repaired.
TEST(CudaSession, GuardZonesShowStrayWrites) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(Image(), kKernels));
  ASSERT_NE(program, nullptr);
  for (int64_t offset : {int64_t{-1}, int64_t{-256}, int64_t{1000}, int64_t{1040}, int64_t{1255}}) {
    Result<std::unique_ptr<Arena>> arena = session.Allocate({{64, 256, false}, {1000, 16, true}, {64, 256, false}}, 31);
    ASSERT_TRUE(arena.ok());
    EXPECT_EQ(*session.CheckGaps(**arena), std::nullopt);
    Bindings bindings;
    TensorView out = View(DType::kUInt8, {1000}, -1);
    out.address = (*arena)->address(1);
    EXPECT_EQ(out.address % 32, 16u) << "aligned to 16 bytes and no better";
    bindings.tensors["out"] = out;
    const ResolvedPlan plan = Plan({Step("write_past_end", {Tensor("out"), Value<int64_t>(offset), Value<int32_t>(1)})});
    ASSERT_EQ(Launch(session, *program, plan, bindings).status, LaunchStatus::kOk);
    Result<std::optional<std::string>> damage = session.CheckGaps(**arena);
    ASSERT_TRUE(damage.ok() && damage->has_value()) << offset;
    EXPECT_THAT(**damage, HasSubstr("1 byte written"));
    if (offset == 1040) {
      EXPECT_THAT(**damage, HasSubstr("40 bytes past block 1"));
    }
    if (offset == -1) {
      EXPECT_THAT(**damage, HasSubstr("1 bytes before block 1"));
    }
    EXPECT_EQ(*session.CheckGaps(**arena), std::nullopt) << "repaired";
  }
}

TEST(CudaSession, MoreMemoryThanThereIsIsRefusedAndForgotten) {
  HONE_REQUIRE_SESSION();
  const int64_t two_terabytes = int64_t{2} << 40;
  Result<std::unique_ptr<Arena>> arena = session.Allocate({{two_terabytes, 256, false}}, 1);
  EXPECT_EQ(arena.status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(session.lost());
  EXPECT_LT(session.FreeBytes(), two_terabytes);
  EXPECT_TRUE(session.Allocate({{1 << 20, 256, false}}, 1).ok());
}

TEST(CudaSession, FreedMemoryCanBeHadAgain) {
  HONE_REQUIRE_SESSION();
  { auto warm_up = session.Allocate({{64 << 20, 256, false}}, 1); }
  const int64_t before = session.FreeBytes();
  for (int i = 0; i < 20; ++i) {
    Result<std::unique_ptr<Arena>> arena = session.Allocate({{(i % 5 + 1) * int64_t{16 << 20}, 256, false}}, 1);
    ASSERT_TRUE(arena.ok());
    EXPECT_LT(session.FreeBytes(), before);
  }
  // The driver takes a little memory for itself at times; a leak of these blocks would be 960 MiB.
  EXPECT_NEAR(static_cast<double>(session.FreeBytes()), static_cast<double>(before), 64 << 20);
}

struct AddOne {
  TensorView x = View(DType::kFloat32, {1000}, 0), out = x;
  std::unique_ptr<Arena> arena;
  Bindings bindings;
  ResolvedPlan plan = Plan({Step("add_one", {Tensor("x"), Tensor("out"), Value<int32_t>(1000)}, 4, 256)});

  explicit AddOne(DeviceSession& session, float first = 0) {
    arena = Place(session, {&x, &out});
    std::vector<float> values(1000);
    for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
    Write(session, x, values);
    EXPECT_TRUE(session.Poison(out).ok());
    bindings.tensors = {{"x", x}, {"out", out}};
  }
};

TEST(CudaSession, LaunchesAPlan) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(Image(), kKernels));
  ASSERT_NE(program, nullptr);
  AddOne add(session);
  add.plan.steps.push_back(Step("increment", {Tensor("out", 4), Value<int32_t>(999)}));
  const LaunchOutcome outcome = Launch(session, *program, add.plan, add.bindings);
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
  const std::vector<float> out = Read<float>(session, add.out);
  EXPECT_EQ(out[0], 1.0f) << "the second step starts one element further on";
  for (size_t i = 1; i < out.size(); ++i) ASSERT_EQ(out[i], static_cast<float>(i) + 2);
}

TEST(CudaSession, PassesStructsByValue) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(Image(), kKernels));
  ASSERT_NE(program, nullptr);
  AddOne data(session);
  ResolvedArgument scale;
  scale.kind = ArgumentKind::kStruct;
  scale.fields = {Value<int32_t>(1000), Tensor("x"), Value<float>(3.0f)};
  ASSERT_EQ(Launch(session, *program, Plan({Step("scale", {scale, Tensor("out")})}), data.bindings).status, LaunchStatus::kOk);
  EXPECT_EQ(Read<float>(session, data.out)[999], 2997.0f);
}

TEST(CudaSession, MemsetStepsRunInOrder) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(Image(), kKernels));
  ASSERT_NE(program, nullptr);
  AddOne data(session);
  data.plan = Plan({Memset("out", 0, 2000), Step("increment", {Tensor("out"), Value<int32_t>(500)}),
                    Step("increment", {Tensor("out"), Value<int32_t>(500)})});
  ASSERT_EQ(Launch(session, *program, data.plan, data.bindings).status, LaunchStatus::kOk);
  EXPECT_EQ(Read<float>(session, data.out)[499], 2.0f);
  data.plan = Plan({Memset("out", 0, 4001)});
  const LaunchOutcome outcome = Launch(session, *program, data.plan, data.bindings);
  EXPECT_EQ(outcome.status, LaunchStatus::kLaunchError);
  EXPECT_THAT(outcome.detail, HasSubstr("memset of 4001 bytes; out has 4000"));
}

TEST(CudaSession, WhatCannotBeLaunchedIsAnOutcome) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(Image(), kKernels));
  ASSERT_NE(program, nullptr);
  AddOne add(session);
  const auto refused = [&](auto change, LaunchStatus status, const char* says) {
    ResolvedPlan plan = add.plan;
    change(plan.steps[0]);
    const LaunchOutcome outcome = Launch(session, *program, plan, add.bindings);
    EXPECT_EQ(outcome.status, status) << outcome.detail;
    EXPECT_THAT(outcome.detail, HasSubstr(says));
    EXPECT_FALSE(session.lost());
  };
  refused([](ResolvedStep& s) { s.kernel = "nothing"; }, LaunchStatus::kLaunchError, "kernel nothing is not in");
  refused([](ResolvedStep& s) { s.block = {4096, 1, 1}; }, LaunchStatus::kLaunchError, "4096x1x1");
  refused([](ResolvedStep& s) { s.block = {64, 64, 1}; }, LaunchStatus::kLaunchError, "64x64x1");
  refused([](ResolvedStep& s) { s.grid = {0, 1, 1}; }, LaunchStatus::kLaunchError, "out of range");
  refused([](ResolvedStep& s) { s.grid = {int64_t{1} << 40, 1, 1}; }, LaunchStatus::kLaunchError, "out of range");
  refused([](ResolvedStep& s) { s.shared_bytes = 1 << 20; }, LaunchStatus::kResourceLimit, "shared memory");
  refused([](ResolvedStep& s) { s.args.pop_back(); }, LaunchStatus::kLaunchError, "passes 2 arguments, the kernel takes 3");
  refused([](ResolvedStep& s) { s.args[2] = Value<int64_t>(1); }, LaunchStatus::kLaunchError, "argument 3 (an integer) has 8 bytes");
  refused([](ResolvedStep& s) { s.args[0] = Tensor("z"); }, LaunchStatus::kLaunchError, "argument 1 (z)");
  EXPECT_EQ(Launch(session, *program, add.plan, add.bindings).status, LaunchStatus::kOk) << "and the next one runs";
}

TEST(CudaSession, WhatDoesNotLoadIsAnOutcome) {
  HONE_REQUIRE_SESSION();
  Result<DeviceSession::LoadOutcome> loaded = session.Load(Program("broken image", {"add_one"}));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->program, nullptr);
  EXPECT_EQ(loaded->launch.status, LaunchStatus::kLaunchError);
  loaded = session.Load(Program(Image(), {"absent"}));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->program, nullptr);
  EXPECT_THAT(loaded->launch.detail, HasSubstr("absent"));
  EXPECT_FALSE(session.lost());
}

TEST(CudaSession, TellsResourcesAndOccupancy) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(Image(), {"add_one"}));
  ASSERT_NE(program, nullptr);
  ASSERT_EQ(program->Resources().size(), 1u);
  EXPECT_EQ(program->Resources()[0].kernel, "add_one");
  EXPECT_GT(program->Resources()[0].registers, 0);
  EXPECT_GE(*program->Occupancy("add_one", "", 256, 0), 1);
  EXPECT_EQ(program->Occupancy("absent", "", 256, 0).status().code(), StatusCode::kInvalidArgument);
}

// The initial value is restored before every launch, and a change is reported.
TEST(CudaSession, GlobalsDoNotSurviveALaunch) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(Image(), kKernels, {{"kept_counter", 4, true, true}}));
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->WritableGlobalBytes(), 4);
  AddOne data(session);
  const ResolvedPlan count = Plan({Step("count_in_global", {Tensor("out")}, 1, 1)});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Launch(session, *program, count, data.bindings).status, LaunchStatus::kOk);
    EXPECT_EQ(Read<float>(session, data.out)[0], 5.0f) << "launch " << i;
    EXPECT_TRUE(*session.GlobalsChanged(*program));
  }
  ASSERT_EQ(Launch(session, *program, Plan({Step("read_global", {Tensor("out")}, 1, 1)}), data.bindings).status, LaunchStatus::kOk);
  EXPECT_EQ(Read<float>(session, data.out)[0], 5.0f);
  EXPECT_FALSE(*session.GlobalsChanged(*program));
  SampleRequest sample;
  sample.program = program.get();
  sample.plan = &count;
  sample.sets = {&data.bindings};
  ASSERT_TRUE(session.TimeSample(sample).ok());
  EXPECT_EQ(Read<float>(session, data.out)[0], 5.0f) << "before a timed sample too";
}

// A watched session loads the harness's kernels only when it needs one: here, to restore a global.
TEST(CudaSession, GlobalsDoNotSurviveAWatchedLaunchEither) {
  HONE_REQUIRE_SESSION();
  Result<std::unique_ptr<DeviceSession>> watched = MakeCudaSession({.watched = true});
  ASSERT_TRUE(watched.ok()) << watched.status().message();
  std::unique_ptr<LoadedProgram> program = Load(**watched, Program(Image(), kKernels, {{"kept_counter", 4, true, true}}));
  ASSERT_NE(program, nullptr);
  AddOne data(**watched);
  float first = 0;  // the fake driver's module begins with what the test before has left
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Launch(**watched, *program, Plan({Step("count_in_global", {Tensor("out")}, 1, 1)}), data.bindings).status, LaunchStatus::kOk);
    const float counted = Read<float>(**watched, data.out)[0];
    if (i == 0) first = counted;
    EXPECT_EQ(counted, first) << "launch " << i;
  }
}

TEST(CudaSession, NeighbouringGlobalsAreAllRestored) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(
      session, Program(Image(), kKernels, {{"kept_second", 4, true, true}, {"kept_first", 4, true, true}, {"kept_counter", 4, true, true}}));
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->WritableGlobalBytes(), 12);
  AddOne data(session);
  const ResolvedPlan count = Plan({Step("count_in_two_globals", {Tensor("out")}, 1, 1)});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Launch(session, *program, count, data.bindings).status, LaunchStatus::kOk);
    const std::vector<float> out = Read<float>(session, data.out);
    EXPECT_EQ(out[0], 1.0f) << "launch " << i;
    EXPECT_EQ(out[1], 2.0f) << "launch " << i;
    EXPECT_TRUE(*session.GlobalsChanged(*program));
  }
}

// The test's globals are copied in several pieces each, the last of which is short.
TEST(CudaSession, AGlobalOfManyPiecesIsRestoredToItsEnd) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program =
      Load(session, Program(Image(), kKernels, {{"kept_counter", 4, true, true}, {"kept_table", 10001, true, true}}));
  ASSERT_NE(program, nullptr);
  AddOne data(session);
  const ResolvedPlan write = Plan({Step("write_ends_of_table", {Tensor("out")}, 1, 1)});
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(Launch(session, *program, write, data.bindings).status, LaunchStatus::kOk);
    const std::vector<float> out = Read<float>(session, data.out);
    for (int end = 0; end < 4; ++end) EXPECT_EQ(out[end], 0.0f) << "launch " << i << ", end " << end;
    EXPECT_TRUE(*session.GlobalsChanged(*program));
  }
  ASSERT_EQ(Launch(session, *program, data.plan, data.bindings).status, LaunchStatus::kOk);
  EXPECT_FALSE(*session.GlobalsChanged(*program));
}

TEST(CudaSession, WritableMemoryWithoutANameIsRefused) {
  HONE_REQUIRE_SESSION();
  Result<DeviceSession::LoadOutcome> loaded = session.Load(Program(Image(), kKernels, {{".nv.global", 64, true, false}}));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->program, nullptr);
  EXPECT_EQ(loaded->launch.status, LaunchStatus::kRuleViolation);
  EXPECT_NE(loaded->launch.detail.find("64 bytes"), std::string::npos) << loaded->launch.detail;
}

TEST(CudaSession, LargeGlobalsAreRestoredFromACopyOnTheDevice) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(
      session, Program(Image(), kKernels, {{"kept_large", 12 << 20, true, true}, {"kept_counter", 4, true, true}}));
  ASSERT_NE(program, nullptr);
  AddOne data(session);
  for (int i = 0; i < 2; ++i) {
    const ResolvedPlan plan = Plan({Step("write_large_global", {Tensor("out")}, 1, 1)});
    ASSERT_EQ(Launch(session, *program, plan, data.bindings).status, LaunchStatus::kOk);
    EXPECT_EQ(Read<float>(session, data.out)[0], 0.0f) << "launch " << i;
    EXPECT_TRUE(*session.GlobalsChanged(*program));
  }
  ASSERT_EQ(Launch(session, *program, data.plan, data.bindings).status, LaunchStatus::kOk);
  EXPECT_FALSE(*session.GlobalsChanged(*program));
}

// A graph of many executions runs each of them once, on its own buffers, in any order, sample after sample.
TEST(CudaSession, SamplesOfManySetsExecuteEachSetOnce) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(Image(), kKernels));
  ASSERT_NE(program, nullptr);
  constexpr int kSets = 7;
  std::vector<std::unique_ptr<AddOne>> sets;
  for (int i = 0; i < kSets; ++i) sets.push_back(std::make_unique<AddOne>(session, 100.0f * static_cast<float>(i)));
  ResolvedPlan plan = sets[0]->plan;
  plan.steps.insert(plan.steps.begin(), Memset("out", 0, 4000));
  plan.steps.push_back(Step("increment", {Tensor("out"), Value<int32_t>(1000)}));

  std::mt19937 random(5);
  for (int sample = 0; sample < 8; ++sample) {
    std::vector<int> order{0, 1, 2, 3, 4, 5, 6};
    std::shuffle(order.begin(), order.end(), random);
    // From the fourth sample on, fewer sets are used, in another order: the unused ones must stay as they were.
    const size_t asked = sample >= 3 ? 4 : order.size();
    for (const auto& set : sets) HONE_ASSERT_OK(session.Fill(set->out.address, set->out.span_bytes, 0));
    SampleRequest request;
    request.program = program.get();
    request.plan = &plan;
    request.cache = sample % 2 == 0 ? CacheState::kCold : CacheState::kWarm;
    for (size_t i = 0; i < asked; ++i) request.sets.push_back(&sets[static_cast<size_t>(order[i])]->bindings);
    for (const auto& set : sets) request.watched.push_back(set->out);
    Result<SampleOutcome> outcome = session.TimeSample(request);
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_FALSE(outcome->changed_after_end);
    ASSERT_EQ(outcome->launch.status, LaunchStatus::kOk) << outcome->launch.detail;
    EXPECT_GT(outcome->us_per_plan, 0);
    for (size_t i = 0; i < order.size(); ++i) {
      const std::vector<float> out = Read<float>(session, sets[static_cast<size_t>(order[i])]->out);
      const float first = i < asked ? 100.0f * static_cast<float>(order[i]) + 2.0f : 0.0f;
      const float last = i < asked ? first + 999.0f : 0.0f;
      EXPECT_EQ(out[0], first) << "sample " << sample << ", place " << i;
      EXPECT_EQ(out[999], last) << "sample " << sample << ", place " << i;
    }
  }
}

// SampleOutcome::changed_after_end rests on this: one byte written between two readings shows, at any length and
// alignment.
TEST(Harness, ReadingsOfWatchedViewsDifferByAByte) {
  HONE_REQUIRE_SESSION();
  (void)session;
  const Result<const CudaDriver*> driver = LoadCudaDriver();
  ASSERT_TRUE(driver.ok());
  const Result<std::shared_ptr<CudaContext>> context = CudaContext::Make(**driver, 0, 0);
  ASSERT_TRUE(context.ok()) << context.status().message();
  const Result<std::unique_ptr<Harness>> harness = Harness::Make(*context, {.sm_count = 2, .l2_bytes = 1 << 16, .shared_bytes = 1 << 10, .key = 7});
  ASSERT_TRUE(harness.ok()) << harness.status().message();
  const Result<DeviceBlock> memory = (*context)->Allocate(1 << 14);
  ASSERT_TRUE(memory.ok());
  HONE_ASSERT_OK((*harness)->Fill(memory->address(), 1 << 14, 3));
  for (const int64_t bytes : {1, 2, 15, 16, 17, 64, 1000, 9001}) {
    for (const uint64_t offset : {0, 1, 2, 8, 15}) {
      TensorView view = View(DType::kUInt8, {bytes}, -1);
      view.address = memory->address() + offset;
      const auto changed = [&](uint64_t at) {
        EXPECT_TRUE((*harness)->BeginWatch(2).ok() && (*harness)->Watch({view, view}, 0).ok());
        if (at != UINT64_MAX) {
          EXPECT_TRUE((*harness)->Fill(view.address + at, 1, 4).ok());
        }
        EXPECT_TRUE((*harness)->Watch({view, view}, 1).ok());
        const Result<bool> differ = (*harness)->WatchedChanged(2);
        EXPECT_TRUE(differ.ok());
        EXPECT_TRUE((*harness)->Fill(memory->address(), 1 << 14, 3).ok());
        return differ.ok() && *differ;
      };
      EXPECT_FALSE(changed(UINT64_MAX)) << bytes << " bytes at " << offset;
      for (const uint64_t at : {uint64_t{0}, static_cast<uint64_t>(bytes) / 2, static_cast<uint64_t>(bytes) - 1}) {
        EXPECT_TRUE(changed(at)) << bytes << " bytes at " << offset << ", the byte " << at;
      }
      EXPECT_FALSE(changed(static_cast<uint64_t>(bytes))) << "the byte behind";
    }
  }
}

TEST(CudaSession, TwoProgramsTakeTurnsAndOneMayGo) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> first = Load(session, Program(Image(), kKernels));
  std::unique_ptr<LoadedProgram> second = Load(session, Program(Image(), kKernels));
  ASSERT_TRUE(first != nullptr && second != nullptr);
  AddOne a(session), b(session, 50);
  const ResolvedPlan increment = Plan({Step("increment", {Tensor("out"), Value<int32_t>(1000)})});
  const auto time = [&](LoadedProgram& program) {
    SampleRequest request;
    request.program = &program;
    request.plan = &increment;
    request.sets = {&a.bindings, &b.bindings, &a.bindings};
    Result<SampleOutcome> outcome = session.TimeSample(request);
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    ASSERT_EQ(outcome->launch.status, LaunchStatus::kOk) << outcome->launch.detail;
  };
  for (const AddOne* data : {&a, &b}) HONE_ASSERT_OK(session.Fill(data->out.address, data->out.span_bytes, 0));
  for (LoadedProgram* program : {first.get(), second.get(), second.get(), first.get()}) time(*program);
  first.reset();
  time(*second);
  EXPECT_EQ(Read<float>(session, a.out)[999], 10.0f);
  EXPECT_EQ(Read<float>(session, b.out)[999], 5.0f);
}

TEST(CudaSession, SamplesReportWhatCannotBeLaunched) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(Image(), kKernels));
  ASSERT_NE(program, nullptr);
  AddOne add(session);
  add.plan.steps[0].block = {4096, 1, 1};
  SampleRequest request;
  request.program = program.get();
  request.plan = &add.plan;
  request.sets = {&add.bindings, &add.bindings};
  Result<SampleOutcome> outcome = session.TimeSample(request);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->launch.status, LaunchStatus::kLaunchError);
}

TEST(CudaSession, APlanWithoutStepsCanBeTimed) {
  HONE_REQUIRE_SESSION();
  std::unique_ptr<LoadedProgram> program = Load(session, Program(Image(), kKernels));
  ASSERT_NE(program, nullptr);
  AddOne add(session);
  const ResolvedPlan nothing;
  SampleRequest request;
  request.program = program.get();
  request.plan = &nothing;
  request.sets = {&add.bindings, &add.bindings};
  Result<SampleOutcome> outcome = session.TimeSample(request);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->launch.status, LaunchStatus::kOk);
}

TEST(CudaSession, FloorsExistForEveryShapeOfTraffic) {
  HONE_REQUIRE_SESSION();
  for (const Traffic& traffic : {Traffic{1 << 20, 1 << 20}, Traffic{1 << 20, 4}, Traffic{16, 1 << 20}, Traffic{1000, 0}, Traffic{0, 1000}}) {
    for (int sets : {1, 5}) {
      for (CacheState cache : {CacheState::kCold, CacheState::kWarm}) {
        Result<double> floor = session.TimeFloor(traffic, sets, cache);
        ASSERT_TRUE(floor.ok()) << floor.status().message();
        EXPECT_GT(*floor, 0);
        EXPECT_LT(*floor, 1e6);
      }
    }
  }
}

TEST(CudaSession, ConditionAnswers) {
  HONE_REQUIRE_SESSION();
  Result<DeviceCondition> condition = session.Condition();
  ASSERT_TRUE(condition.ok());
  EXPECT_GE(condition->sm_clock_mhz, 0);
}

}  // namespace
}  // namespace hone::test
