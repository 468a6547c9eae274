// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

namespace hone {
namespace {

bool InAlphabet(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  HONE_CHECK(bytes.size() < static_cast<size_t>(std::numeric_limits<int>::max() / 2),
             "too many bytes for one base64 text");
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL ends it with a NUL
  const int output_bytes =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(output_bytes));
  return text;
}

Result<std::string> DecodeBase64(std::string_view text) {
  if (text.empty()) return std::string();
  if (text.size() % 4 != 0 || text.size() > static_cast<size_t>(std::numeric_limits<int>::max() / 2)) {
    return Status::InvalidArgument("base64 text has a length that is a multiple of 4");
  }
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  const std::string_view digits = text.substr(0, text.size() - padding);
  // OpenSSL accepts white space and padding in the middle, so they are refused here.
  if (!std::all_of(digits.begin(), digits.end(), InAlphabet)) {
    return Status::InvalidArgument("base64 text holds letters, digits, '+' and '/', and '=' at its end only");
  }
  std::string bytes(3 * (text.size() / 4), '\0');
  const int output_bytes =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (output_bytes < 0) return Status::InvalidArgument("the base64 text is damaged");
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace hone
