// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A SassLine counts, by opcode, the instructions that the compiler made of a source line. The counts come from
// nvdisasm, where the toolkit has it, over a cubin that was compiled with line information.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/profile.h"

namespace hone {

// Parses the output of `nvdisasm -c --print-line-info`. `kernels` gives names by symbol; other functions keep their
// symbols. Code of an inlined function counts at the line where it was inlined. Padding is left out.
std::vector<SassLine> ParseSass(std::string_view text, const std::map<std::string, std::string>& kernels);

// Puts the text of `source`, the file `name`, beside the lines that lie in it.
void AddSourceText(std::string_view source, std::string_view name, std::vector<SassLine>* lines);

// Disassembles a cubin. kUnavailable, with the remedy, where there is no nvdisasm in `directories`.
Result<std::vector<SassLine>> DisassembleLines(std::string_view cubin, const std::map<std::string, std::string>& kernels,
                                               const std::vector<std::string>& directories);

}  // namespace hone
