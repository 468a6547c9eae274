// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes content hashes, which name sources, compiled modules and bundles.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Returns the SHA-256 of `bytes` (FIPS 180-4) as 64 lower-case hexadecimal digits. Any thread.
std::string Sha256Hex(std::string_view bytes);

}  // namespace hone
