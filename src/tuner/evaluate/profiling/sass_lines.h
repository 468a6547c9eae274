// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine code beside the source: how many instructions the compiler made of each line, by opcode. From nvdisasm, where
// the toolkit has it, over a cubin that was compiled with line information.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/profile.h"

namespace hone {

// What `nvdisasm -c --print-line-info` wrote. `kernels`: names by symbol; other functions go by their symbols. Code of a
// function that was inlined counts at the line it was inlined at. Padding is left out.
std::vector<SassLine> ParseSass(std::string_view text, const std::map<std::string, std::string>& kernels);

// Puts the text of `source`, the file `name`, beside the lines that lie in it.
void AddSourceText(std::string_view source, std::string_view name, std::vector<SassLine>* lines);

// kUnavailable, with the remedy, where there is no nvdisasm in `directories`.
Result<std::vector<SassLine>> DisassembleLines(std::string_view cubin, const std::map<std::string, std::string>& kernels,
                                               const std::vector<std::string>& directories);

}  // namespace hone
