// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Content hashes: how sources, compiled modules and bundles are named.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// SHA-256 of `bytes` (FIPS 180-4) as 64 lower-case hexadecimal digits. Any thread.
std::string Sha256Hex(std::string_view bytes);

}  // namespace hone
