// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that struct arguments are packed as the compiler of this test packs them.
#include "tuner/core/plan/argument_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace hone {
namespace {

using testing::ElementsAre;

ResolvedArgument Number(std::vector<uint8_t> bytes) {
  ResolvedArgument argument;
  argument.bytes = std::move(bytes);
  return argument;
}

ResolvedArgument Pointer(ArgumentKind kind, const std::string& name, int64_t offset) {
  ResolvedArgument argument;
  argument.kind = kind;
  argument.name = name;
  argument.byte_offset = offset;
  return argument;
}

uint64_t Address(const ResolvedArgument& argument) { return argument.name == "x" ? 0x1000 : 0x2000; }

TEST(ArgumentLayout, MatchesTheHostCompilersStruct) {
  struct Reference {
    bool flag;
    uint16_t half;
    const void* x;
    int n;
  };
  ResolvedArgument argument;
  argument.kind = ArgumentKind::kStruct;
  argument.fields = {Number({1}), Number({0x34, 0x12}), Pointer(ArgumentKind::kTensor, "x", 16), Number({7, 0, 0, 0})};
  const ArgumentLayout layout = LayoutOf(argument);
  EXPECT_EQ(layout.size, static_cast<int64_t>(sizeof(Reference)));
  EXPECT_EQ(layout.align, static_cast<int64_t>(alignof(Reference)));
  EXPECT_THAT(layout.field_offsets, ElementsAre(offsetof(Reference, flag), offsetof(Reference, half),
                                                offsetof(Reference, x), offsetof(Reference, n)));
  const std::vector<uint8_t> bytes = PackArgument(argument, Address);
  Reference packed;
  ASSERT_EQ(bytes.size(), sizeof packed);
  std::memcpy(&packed, bytes.data(), sizeof packed);
  EXPECT_TRUE(packed.flag);
  EXPECT_EQ(packed.half, 0x1234);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(packed.x), 0x1010u);
  EXPECT_EQ(packed.n, 7);
  for (size_t padding = offsetof(Reference, n) + 4; padding < bytes.size(); ++padding) EXPECT_EQ(bytes[padding], 0);
}

TEST(ArgumentLayout, PlainArguments) {
  EXPECT_EQ(LayoutOf(Number({1, 2, 3, 4})).size, 4);
  EXPECT_EQ(LayoutOf(Pointer(ArgumentKind::kWorkspace, "w", 0)).size, 8);
  EXPECT_EQ(LayoutOf(Pointer(ArgumentKind::kTensorMap, "m", 0)).size, 128);
  EXPECT_EQ(LayoutOf(Pointer(ArgumentKind::kTensorMap, "m", 0)).align, 64);
  EXPECT_THAT(PackArgument(Number({9, 8}), Address), ElementsAre(9, 8));
  EXPECT_THAT(PackArgument(Pointer(ArgumentKind::kWorkspace, "w", 3), Address), ElementsAre(3, 0x20, 0, 0, 0, 0, 0, 0));
}

TEST(ArgumentLayout, AnEmptyStructHasOneByte) {
  ResolvedArgument argument;
  argument.kind = ArgumentKind::kStruct;
  EXPECT_EQ(LayoutOf(argument).size, 1);
}

}  // namespace
}  // namespace hone
