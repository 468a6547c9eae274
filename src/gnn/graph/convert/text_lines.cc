// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See text_lines.h.
#include "gnn/graph/convert/text_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace hone::gnn {
namespace {
constexpr size_t kFirstBuffer = 1 << 20, kLongestLine = 64 << 20;  // bytes; the buffer grows up to the longest line
constexpr bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
}  // namespace

TextLines::TextLines(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)), buffer_(kFirstBuffer) {}

std::string TextLines::Place() const { return fmt::format("'{}' line {}", name(), line_number_); }

Result<bool> TextLines::Next(std::string_view& line) {
  for (size_t searched = begin_;;) {
    const void* newline = end_ > searched ? std::memchr(buffer_.data() + searched, '\n', end_ - searched) : nullptr;
    if (newline != nullptr || (at_end_ && begin_ < end_)) {
      const size_t stop = newline != nullptr ? static_cast<size_t>(static_cast<const char*>(newline) - buffer_.data()) : end_;
      line = std::string_view(buffer_.data() + begin_, stop - begin_);
      begin_ = std::min(end_, stop + 1);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      // A byte order mark, as Windows programs write it, would make the first edge look like a heading.
      if (line_number_ == 0 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
      ++line_number_;
      return true;
    }
    if (at_end_) return false;
    searched = end_ - begin_;
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == buffer_.size()) {
      if (buffer_.size() >= kLongestLine) {
        return Status::InvalidArgument(
            fmt::format("'{}' line {} is longer than {} MiB: is it a text file?", name(), line_number_ + 1, kLongestLine >> 20));
      }
      buffer_.resize(buffer_.size() * 2);
    }
    HONE_ASSIGN_OR_RETURN(
        const size_t read_bytes,
        stream_->Read(std::as_writable_bytes(std::span(buffer_.data() + end_, buffer_.size() - end_))));
    end_ += read_bytes;
    at_end_ = read_bytes == 0;
  }
}

bool TakeField(std::string_view& unparsed, std::string_view& field) {
  size_t i = 0;
  while (i < unparsed.size() && IsBlank(unparsed[i])) ++i;
  if (i == unparsed.size()) return false;
  size_t stop = i;
  while (stop < unparsed.size() && !IsBlank(unparsed[stop]) && unparsed[stop] != ',' && unparsed[stop] != ';') ++stop;
  field = unparsed.substr(i, stop - i);
  while (stop < unparsed.size() && IsBlank(unparsed[stop])) ++stop;
  if (stop < unparsed.size() && (unparsed[stop] == ',' || unparsed[stop] == ';')) ++stop;
  unparsed.remove_prefix(stop);
  return true;
}

bool IsComment(std::string_view line) {
  const size_t i = line.find_first_not_of(" \t\r");
  return i == std::string_view::npos || line[i] == '#' || line[i] == '%';
}

bool ParseInteger(std::string_view field, int64_t& value) {
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end == field.data() + field.size();
}

bool ParseFloat(std::string_view field, float& value) {
  if (!field.empty() && field[0] == '+') field.remove_prefix(1);
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc::result_out_of_range) {
    value = static_cast<float>(std::strtod(std::string(field).c_str(), nullptr));  // becomes 0 or infinity
    return end == field.data() + field.size();
  }
  return error == std::errc() && end == field.data() + field.size();
}

std::vector<std::string> CsvFields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"') fields.back() += c;
      else if (i + 1 < line.size() && line[i + 1] == '"') fields.back() += line[++i];
      else quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace hone::gnn
