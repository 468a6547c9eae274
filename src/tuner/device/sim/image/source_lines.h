// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps positions in an image's machine code to lines of the candidate, by addr2line and the image's line table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone::sim {

class SourceLines {
 public:
  // `image` is copied to a file in `scratch_directory` (empty: /tmp) while addr2line runs.
  SourceLines(std::string image, std::string scratch_directory)
      : image_(std::move(image)), scratch_directory_(std::move(scratch_directory)) {}

  // Returns "candidate.cu:41" for each return address (offsets from the image's start, of the byte after a call); empty
  // if nothing is known. For code inlined from the simulator's headers, this is the candidate's line that calls it.
  // Results are cached. Without addr2line (package binutils) there are no lines, but never an error.
  std::vector<std::string> Find(const std::vector<uint64_t>& pcs);

 private:
  std::string image_, scratch_directory_;
  std::map<uint64_t, std::string> known_;  // position by program counter; empty text: unknown
};

}  // namespace hone::sim
