// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names a text in the run store. The store keeps each kernel, prompt, reply and task file once, under the SHA-256 of
// its bytes. A SourceHash has a type of its own so that a text is never mistaken for a hash.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

namespace hone {

class SourceHash {
 public:
  SourceHash() = default;  // empty: names no text
  // Wraps a hash from a log, a table or a user. Only the store knows whether it holds a text of this hash.
  explicit SourceHash(std::string hex) : hex_(std::move(hex)) {}
  // Returns the hash of this text.
  static SourceHash Of(std::string_view text);

  const std::string& hex() const { return hex_; }  // 64 lower-case hexadecimal digits
  bool empty() const { return hex_.empty(); }

  friend auto operator<=>(const SourceHash&, const SourceHash&) = default;

 private:
  std::string hex_;
};

}  // namespace hone
