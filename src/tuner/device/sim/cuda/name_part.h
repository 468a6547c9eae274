// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Says which characters C++ names consist of, for the scanners of device code.
#pragma once

#include <cctype>

namespace hone {

inline bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace hone
