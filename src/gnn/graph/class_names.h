// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes the names of classes: a line each, in the order of the class numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn {

inline constexpr int64_t kMostClassNameBytes = int64_t{16} << 20;

// Returns the content of a container's section class_names: each name and a line feed. The names hold no line ends.
std::string ClassNamesText(std::span<const std::string> names);

// Parses such a text; bytes that are not UTF-8 become U+FFFD. kInvalidArgument (the caller adds the file's name) for an
// empty line, or for more than `most` names.
Result<std::vector<std::string>> ParseClassNames(std::string_view text, int64_t most);

// Reads a text file with a name on each line; lines end with LF or CR LF. kInvalidArgument names the file and a line
// that is empty, or a name that occurs twice. kIo and kNotFound refer to the file.
Result<std::vector<std::string>> ReadClassNames(const std::string& path);

}  // namespace hone::gnn
