// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses server-sent events from a byte stream in pieces of any size. Follows the WHATWG HTML standard, section
// "Interpreting an event stream": lines end with LF, CRLF or CR; a blank line ends an event; a line that begins with a
// colon is a comment; a byte order mark at the start is skipped.
//
// A piece may end inside a character, a line end or a field name. Not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace hone {

struct SseEvent {
  std::string event;  // from the "event:" field; empty: not given
  std::string data;   // from the "data:" fields, joined by LF
};
using SseSink = std::function<void(const SseEvent&)>;

class SseParser {
 public:
  // `max_bytes`: limit for one event, so that a server cannot fill memory with an endless line.
  explicit SseParser(size_t max_bytes = size_t{64} << 20) : max_bytes_(max_bytes) {}

  // Reads the next piece and calls `sink` for every event that it completes. Returns false once an event exceeds the
  // limit; later pieces are ignored.
  bool Feed(std::string_view bytes, const SseSink& sink);
  // Ends the stream. The standard drops an event that no blank line ended, but many servers end with their last line,
  // so the event is delivered, and its receiver checks whether the data is complete.
  void Finish(const SseSink& sink);

 private:
  // Takes one line of a stream: a field of the current event, or the empty line that ends it.
  void HandleLine(std::string_view line, const SseSink& sink);
  void Dispatch(const SseSink& sink);

  const size_t max_bytes_;
  std::string line_;  // the current line, as far as it has been read
  SseEvent event_;    // the event that is being read
  bool has_data_ = false;  // event_ has a "data:" field
  bool after_cr_ = false;  // the last byte was a CR: an LF that follows belongs to it
  bool first_line_ = true;  // a byte order mark may come
};

}  // namespace hone
