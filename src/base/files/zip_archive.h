// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads small, untrusted zip archives in memory. Nothing is written to disk, so no entry's name can lead out of a
// folder; sizes are checked before anything is unpacked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

struct ZipLimits {
  size_t entries = 64;             // most entries
  size_t bytes = size_t{4} << 20;  // most bytes of all entries together, unpacked
};

// Returns the archive's files by name. kInvalidArgument if the bytes are not a zip archive, are damaged (each entry has
// a checksum), exceed `limits`, name one file twice, hold a folder, or need an unsupported feature: encryption, several
// volumes, zip64, a compression other than deflate.
Result<std::map<std::string, std::string>> ReadZip(std::string_view bytes, const ZipLimits& limits);

}  // namespace hone
