// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes bytes as base64 text and back: the alphabet of RFC 4648, padded.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Returns one line, without line breaks. Any thread.
std::string EncodeBase64(std::string_view bytes);

// Decodes base64. kInvalidArgument for a character outside the alphabet, for white space, and for a length or padding
// that no encoder writes. Any thread.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace hone
