// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Removes secrets from text that is shown or stored. Services echo keys in their errors, whole or in part; commands
// print their environment. All text from outside passes through here before it becomes a message or a reply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

class Redactor {
 public:
  Redactor() = default;
  // Secrets shorter than 8 bytes are ignored: removing them would remove ordinary words.
  explicit Redactor(std::vector<std::string> secrets);

  // Replaces every stretch of 8 bytes or more that is part of a secret by "[redacted]". For messages: takes time
  // proportional to the text's length times the secrets'.
  std::string Message(std::string_view text) const;
  // Replaces whole secrets; fast enough for replies of megabytes.
  std::string Text(std::string text) const;

 private:
  std::vector<std::string> secrets_;
};

// Returns the values of variables in `environment` ("NAME=value") whose names suggest a secret: …KEY, …TOKEN, …SECRET,
// …PASSWORD.
std::vector<std::string> SecretsOf(const std::vector<std::string>& environment);

}  // namespace hone
