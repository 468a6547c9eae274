// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/sse.h"

namespace hone {

bool SseParser::Feed(std::string_view bytes, const SseSink& sink) {
  while (!bytes.empty()) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const size_t end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    if (line_.size() + event_.data.size() > max_bytes_) return false;
    if (end == std::string_view::npos) return true;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    HandleLine(line_, sink);
    line_.clear();
  }
  return true;
}

void SseParser::Finish(const SseSink& sink) {
  if (!line_.empty()) HandleLine(line_, sink);
  line_.clear();
  Dispatch(sink);
}

// Takes one line of a stream: a field of the current event, or the empty line that ends it.
void SseParser::HandleLine(std::string_view line, const SseSink& sink) {
  if (first_line_) {
    first_line_ = false;
    if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  }
  if (line.empty()) return Dispatch(sink);
  const size_t colon = line.find(':');
  if (colon == 0) return;  // a comment, which servers send to keep the connection open
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  } else if (field == "event") {
    event_.event = value;
  }
}

void SseParser::Dispatch(const SseSink& sink) {
  if (has_data_) sink(event_);
  event_ = {};
  has_data_ = false;
}

}  // namespace hone
