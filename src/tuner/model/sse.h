// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Server-sent events, as they stream in: bytes in pieces of any size to events. Follows the WHATWG HTML standard,
// section "Interpreting an event stream": lines end with LF, CRLF or CR; a blank line ends an event; a line that
// begins with a colon is a comment; a byte order mark at the start is skipped.
//
// Works on bytes: a piece may end inside a character, a line end or a field name. Not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace hone {

struct SseEvent {
  std::string event;  // of the "event:" field; empty: none was given
  std::string data;   // of the "data:" fields, joined by LF
};
using SseSink = std::function<void(const SseEvent&)>;

class SseParser {
 public:
  // `max_bytes` bounds one event, so that a server cannot fill memory with a line that never ends.
  explicit SseParser(size_t max_bytes = size_t{64} << 20) : max_bytes_(max_bytes) {}

  // False when an event outgrew the bound; nothing is read from then on.
  bool Feed(std::string_view bytes, const SseSink& sink);
  // The stream is over. The standard drops an event that no blank line ended; servers that end with their last
  // line are common, so it is handed out, and whoever reads its data sees whether it is whole.
  void Finish(const SseSink& sink);

 private:
  void Line(std::string_view line, const SseSink& sink);
  void Dispatch(const SseSink& sink);

  const size_t max_bytes_;
  std::string line_;  // the part of a line that has come
  SseEvent event_;
  bool has_data_ = false;
  bool after_cr_ = false;  // the LF of a CRLF may follow
  bool first_line_ = true;
};

}  // namespace hone
