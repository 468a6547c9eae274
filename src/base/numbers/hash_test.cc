// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests SHA-256 with the published examples of FIPS 180-4.
#include "base/numbers/hash.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Sha256Hex, GivesThePublishedDigests) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Hex, ReadsBytesPastANul) {
  EXPECT_NE(Sha256Hex(std::string_view("a\0b", 3)), Sha256Hex(std::string_view("a\0c", 3)));
}

}  // namespace
}  // namespace hone
