// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Removes secrets from text that is shown or stored: services repeat keys in their errors, whole or in part, and
// commands print their environment. All text from outside passes through here before it becomes a message or a reply.
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

  // Returns the text with every run of at least 8 bytes that is part of a secret replaced by "[redacted]". Its time is
  // proportional to the text's length times the secrets': for messages only.
  std::string Message(std::string_view text) const;
  // Returns the text with whole secrets replaced; fast enough for replies of megabytes.
  std::string Text(std::string text) const;

 private:
  std::vector<std::string> secrets_;
};

// Returns the values of variables in `environment` ("NAME=value") whose names suggest a secret: …KEY, …TOKEN, …SECRET,
// …PASSWORD.
std::vector<std::string> SecretsOf(const std::vector<std::string>& environment);

}  // namespace hone
