// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/program/machine_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text/base64.h"

namespace hone {
namespace {

constexpr std::string_view kMarker = "//hone-image ";
constexpr size_t kLineDigits = 128;  // base64 digits on a line

struct Marker {
  std::string_view name;
  size_t bytes = 0;
};

// Parses a line "//hone-image NAME BYTES".
bool ReadMarker(std::string_view line, Marker& marker) {
  if (!line.starts_with(kMarker)) return false;
  line.remove_prefix(kMarker.size());
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return false;
  marker.name = line.substr(0, space);
  const std::string_view number = line.substr(space + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), marker.bytes);
  return error == std::errc() && end == number.data() + number.size() && IsImageName(marker.name);
}

}  // namespace

bool IsImageName(std::string_view name) { return !BadImageName(name); }

std::optional<std::string> BadImageName(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  const bool ends = (name.ends_with(".cubin") && name.size() > 6) || (name.ends_with(".ptx") && name.size() > 4);
  if (name.starts_with('.') || !ends || !std::all_of(name.begin(), name.end(), allowed)) {
    return "is not the name of an image: write letters, digits, '_', '-' and '.', ending in .cubin or .ptx";
  }
  if (name.size() <= kMostImageNameBytes) return std::nullopt;
  return fmt::format("has {} characters, and the name of an image has at most {}: shorten it", name.size(), kMostImageNameBytes);
}

Result<std::string> JoinMachineCode(std::string_view plan, const std::map<std::string, std::string>& images) {
  if (plan.find("*/") != std::string_view::npos) {
    return Status::InvalidArgument(
        "the launch plan holds '*/', which ends it where it stands in a comment; write it otherwise");
  }
  if (images.empty())
    return Status::InvalidArgument("there is no image: a candidate of machine code has a kernel.cubin or kernel.ptx");
  if (images.size() > kMostImages) {
    return Status::InvalidArgument(
        fmt::format("there are {} images; a candidate may have {}", images.size(), kMostImages));
  }
  size_t total = plan.size();
  for (const auto& [name, bytes] : images) {
    if (const std::optional<std::string> bad = BadImageName(name)) {
      return Status::InvalidArgument(fmt::format("'{}' {}", name, *bad));
    }
    total += bytes.size();
  }
  if (total > kMostImageBytes) {
    return Status::InvalidArgument(
        fmt::format("the images have {} bytes together; at most {} are read: strip them of debug information, or leave "
                    "variants out",
                    total, kMostImageBytes));
  }
  std::string text = fmt::format("/*hone\n{}{}*/\n", plan, plan.ends_with('\n') ? "" : "\n");
  for (const auto& [name, bytes] : images) {
    text += fmt::format("{}{} {}\n", kMarker, name, bytes.size());
    const std::string digits = EncodeBase64(bytes);
    for (size_t at = 0; at < digits.size(); at += kLineDigits) {
      text += "//";
      text.append(digits, at, kLineDigits);
      text += '\n';
    }
  }
  return text;
}

Result<std::string> ImageIn(std::string_view text, std::string_view name) {
  std::string digits, others;
  size_t bytes = 0;
  bool found = false, inside = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    Marker marker;
    if (ReadMarker(line, marker)) {
      if (inside) break;
      inside = found = marker.name == name;
      bytes = marker.bytes;
      if (!inside) others += fmt::format("{}{}", others.empty() ? "" : ", ", marker.name);
    } else if (inside && line.starts_with("//")) {
      digits += line.substr(2);
    } else if (inside && !line.empty()) {
      return Status::InvalidArgument(fmt::format("the image {} is damaged: a line of it does not begin with //", name));
    }
  }
  if (!found) {
    return Status::InvalidArgument(others.empty()
                                       ? fmt::format("there is no image {} behind the launch plan, and no other", name)
                                       : fmt::format("there is no image {}; there are {}", name, others));
  }
  const Result<std::string> image = DecodeBase64(digits);
  if (!image.ok())
    return Status::InvalidArgument(fmt::format("the image {} is damaged: {}", name, image.status().message()));
  if (image->size() != bytes) {
    return Status::InvalidArgument(
        fmt::format("the image {} is damaged: it has {} bytes and should have {}", name, image->size(), bytes));
  }
  return image;
}

}  // namespace hone
