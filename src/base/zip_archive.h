// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a small zip archive that comes from anybody, in memory. Nothing is written anywhere, so no name in it can leave
// a folder; sizes are bounded before anything is unpacked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

struct ZipLimits {
  size_t entries = 64;
  size_t bytes = size_t{4} << 20;  // of all entries together, unpacked
};

// The files of the archive by name. kInvalidArgument for what is no zip archive, is damaged (each entry has a
// checksum), outgrows `limits`, names one file twice, holds a folder, or needs what is not read: encryption, several
// volumes, zip64, a compression other than deflate.
Result<std::map<std::string, std::string>> ReadZip(std::string_view bytes, const ZipLimits& limits);

}  // namespace hone
