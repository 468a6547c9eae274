// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps secrets out of what is shown or stored. Services echo keys in their errors, whole or in part; commands print
// their environment. Whatever comes from outside passes through here before it becomes a message or a reply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

class Redactor {
 public:
  Redactor() = default;
  // Secrets shorter than 8 bytes are not looked for: they would blot out ordinary words.
  explicit Redactor(std::vector<std::string> secrets);

  // `text` with every stretch of 8 bytes or more that is part of a secret replaced by "[redacted]". For messages:
  // takes time in proportion to the text's length times the secrets'.
  std::string Message(std::string_view text) const;
  // `text` with whole secrets replaced: fast enough for replies of megabytes.
  std::string Text(std::string text) const;

 private:
  std::vector<std::string> secrets_;
};

// Values of the variables in `environment` ("NAME=value") whose names say that they are secret: …KEY, …TOKEN,
// …SECRET, …PASSWORD.
std::vector<std::string> SecretsOf(const std::vector<std::string>& environment);

}  // namespace hone
