// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The name of a text in the run store: kernels, prompts, replies and task files are kept once each, under the SHA-256
// of their bytes. A type of its own, so that a text is never taken for the name of one.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

namespace hone {

class SourceHash {
 public:
  SourceHash() = default;  // empty: names nothing
  // What a log, a table or a user gives. Whether a text of this name is there, only the store can say.
  explicit SourceHash(std::string hex) : hex_(std::move(hex)) {}
  // The name of this text.
  static SourceHash Of(std::string_view text);

  const std::string& hex() const { return hex_; }  // 64 lower-case hexadecimal digits
  bool empty() const { return hex_.empty(); }

  friend auto operator<=>(const SourceHash&, const SourceHash&) = default;

 private:
  std::string hex_;
};

}  // namespace hone
