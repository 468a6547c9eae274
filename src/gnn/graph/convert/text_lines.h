// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the lines of a text stream, with their numbers, and splits lines into fields.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gnn/graph/container/byte_stream.h"
#include "hone/base/status.h"

namespace hone::gnn {

class TextLines {
 public:
  explicit TextLines(std::unique_ptr<ByteStream> stream);
  // Sets `line` to the next line without its end (LF or CR LF), valid until the next call; returns false at the end. A
  // line longer than 64 MiB is kInvalidArgument.
  Result<bool> Next(std::string_view& line);
  int64_t line_number() const { return line_number_; }  // number of the line read last, counted from 1
  const std::string& name() const { return stream_->name(); }
  // Returns the place for messages: "'edges.csv' line 17".
  std::string Place() const;

 private:
  std::unique_ptr<ByteStream> stream_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool at_end_ = false;
  int64_t line_number_ = 0;
};

// Removes the next field from `unparsed`. A separator is a comma, semicolon or tab with any blanks around it, or a run
// of blanks. Returns false when nothing is left.
bool TakeField(std::string_view& unparsed, std::string_view& field);
bool IsComment(std::string_view line);  // empty, or begins with # or %
// Parse a whole field as a number. NaN in any spelling is accepted as a float.
bool ParseInteger(std::string_view field, int64_t& value);
bool ParseFloat(std::string_view field, float& value);

// Splits one CSV line by RFC 4180: comma-separated, double quotes around fields that hold commas, doubled quotes
// inside. Line breaks inside quotes are not supported (no format read here has them).
std::vector<std::string> CsvFields(std::string_view line);

}  // namespace hone::gnn
