// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/redact.h"

#include <algorithm>
#include <cctype>

namespace hone {
namespace {

constexpr size_t kShortest = 8;  // shorter values are not hidden: they occur in ordinary text
constexpr std::string_view kMark = "[redacted]";

// Returns the length of the longest prefix of `text` that occurs anywhere in `secret`.
size_t LongestStretch(std::string_view text, std::string_view secret) {
  size_t longest_match = 0;
  for (size_t i = 0; i < secret.size(); ++i) {
    size_t n = 0;
    while (n < text.size() && i + n < secret.size() && text[n] == secret[i + n]) ++n;
    longest_match = std::max(longest_match, n);
  }
  return longest_match;
}

}  // namespace

Redactor::Redactor(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {
  std::erase_if(secrets_, [](const std::string& s) { return s.size() < kShortest; });
}

std::string Redactor::Message(std::string_view text) const {
  std::string out;
  while (!text.empty()) {
    size_t longest = 0;
    for (const std::string& secret : secrets_) longest = std::max(longest, LongestStretch(text, secret));
    if (longest >= kShortest) {
      out += kMark;
      text.remove_prefix(longest);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string Redactor::Text(std::string text) const {
  for (const std::string& secret : secrets_) {
    for (size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += kMark.size()) {
      text.replace(at, secret.size(), kMark);
    }
  }
  return text;
}

std::vector<std::string> SecretsOf(const std::vector<std::string>& environment) {
  std::vector<std::string> secrets;
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    std::string name = entry.substr(0, equals);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    for (const char* ending : {"KEY", "TOKEN", "SECRET", "PASSWORD"}) {
      if (name.ends_with(ending)) {
        secrets.push_back(entry.substr(equals + 1));
        break;
      }
    }
  }
  return secrets;
}

}  // namespace hone
