// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/argument_pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tuner/device/cuda/plan_launch.h"

namespace hone {
namespace {

using testing::HasSubstr;

ResolvedArgument IntegerArgument(int32_t value) {
  ResolvedArgument argument;
  argument.kind = ArgumentKind::kInteger;
  argument.bytes.resize(sizeof value);
  std::memcpy(argument.bytes.data(), &value, sizeof value);
  return argument;
}

ResolvedArgument NamedArgument(ArgumentKind kind, std::string name, int64_t offset = 0) {
  ResolvedArgument argument;
  argument.kind = kind;
  argument.name = std::move(name);
  argument.byte_offset = offset;
  return argument;
}

Bindings TestBindings() {
  Bindings bindings;
  bindings.tensors["x"].address = 0x1000;
  bindings.workspaces["w"] = 0x2000;
  bindings.references["ref:y"] = 0x3000;
  return bindings;
}

uint64_t AsPointer(const PackedArgument& argument) {
  uint64_t value = 0;
  EXPECT_EQ(argument.bytes.size(), sizeof value);
  std::memcpy(&value, argument.bytes.data(), sizeof value);
  return value;
}

TEST(PackArguments, NamesBecomeAddressesPlusOffset) {
  Result<std::vector<PackedArgument>> packed =
      PackArguments({NamedArgument(ArgumentKind::kTensor, "x", 8), NamedArgument(ArgumentKind::kWorkspace, "w", 16),
                     NamedArgument(ArgumentKind::kReference, "ref:y"), NamedArgument(ArgumentKind::kReference, "y")},
                    TestBindings(), {});
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  EXPECT_EQ(AsPointer((*packed)[0]), 0x1008u);
  EXPECT_EQ(AsPointer((*packed)[1]), 0x2010u);
  EXPECT_EQ(AsPointer((*packed)[2]), 0x3000u);
  EXPECT_EQ(AsPointer((*packed)[3]), 0x3000u);
}

TEST(PackArguments, StructsAreLaidOutAsInC) {
  struct Expected {
    int32_t n;
    uint64_t x;
    int32_t m;
  };
  ResolvedArgument argument;
  argument.kind = ArgumentKind::kStruct;
  argument.fields = {IntegerArgument(7), NamedArgument(ArgumentKind::kTensor, "x"), IntegerArgument(9)};
  Result<std::vector<PackedArgument>> packed = PackArguments({argument}, TestBindings(), {});
  ASSERT_TRUE(packed.ok());
  Expected packed_argument{};
  ASSERT_EQ((*packed)[0].bytes.size(), sizeof packed_argument);
  std::memcpy(&packed_argument, (*packed)[0].bytes.data(), sizeof packed_argument);
  EXPECT_EQ(packed_argument.n, 7);
  EXPECT_EQ(packed_argument.x, 0x1000u);
  EXPECT_EQ(packed_argument.m, 9);
}

TEST(PackArguments, WhatIsNotBoundIsNamed) {
  EXPECT_THAT(PackArguments({IntegerArgument(1), NamedArgument(ArgumentKind::kTensor, "z")}, TestBindings(), {})
                  .status()
                  .message(),
              HasSubstr("argument 2 (z)"));
  EXPECT_THAT(PackArguments({NamedArgument(ArgumentKind::kTensorMap, "tiles")}, TestBindings(), {}).status().message(),
              HasSubstr("argument 1 (tiles)"));
}

TEST(ParameterMismatch, ComparesCountAndSizes) {
  const std::vector<PackedArgument> arguments{{"argument 1 (x)", std::vector<uint8_t>(8)},
                                              {"argument 2 (n)", std::vector<uint8_t>(4)}};
  EXPECT_EQ(ParameterMismatch("k", arguments, {8, 4}), std::nullopt);
  EXPECT_THAT(ParameterMismatch("k", arguments, {8}).value_or(""), HasSubstr("passes 2 arguments, the kernel takes 1"));
  EXPECT_THAT(ParameterMismatch("k", arguments, {8, 8}).value_or(""), HasSubstr("argument 2 (n) has 4 bytes"));
}

}  // namespace
}  // namespace hone
