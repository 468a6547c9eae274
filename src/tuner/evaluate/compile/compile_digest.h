// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A digest is the part of a compiler's log that a person or an agent needs: the first errors, each with its source
// line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct DigestOptions {
  size_t max_errors = 12;
  size_t max_lines_per_error = 5;   // headline, source line, caret, first lines of an instantiation trace
  size_t max_line_length = 240;
  size_t max_bytes = 6000;
  std::vector<std::string> strip_prefixes;  // folders whose paths are removed from file names, such as temporary ones
};

// Shortens a log to its first errors. It understands the formats of NVRTC and nvcc ("file(12): error: …"), ptxas,
// and g++ ("file:12:5: error: …"), and writes all of them as "file:12: error: …". The digest says if errors were left
// out. A log without a recognised error gives its first lines; an empty log gives an empty digest.
std::string DigestCompilerLog(std::string_view log, const DigestOptions& options = {});

}  // namespace hone
