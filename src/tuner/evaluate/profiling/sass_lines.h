// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A SassLine counts, by opcode, the machine instructions (SASS) that the compiler made of a source line. nvdisasm,
// where the toolkit has it, lists them from a cubin that was compiled with line information.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/profile.h"

namespace hone {

// Parses the output of `nvdisasm -c --print-line-info`. `kernel_names` maps a kernel's symbol to its name; other
// functions keep their symbols. Code of an inlined function counts at the line where it was inlined. Padding is left
// out.
std::vector<SassLine> ParseSass(std::string_view text, const std::map<std::string, std::string>& kernel_names);

// Adds the source text to the lines that lie in the file `name`, whose text is `source`.
void AddSourceText(std::string_view source, std::string_view name, std::vector<SassLine>* lines);

// Disassembles a cubin. Returns kUnavailable, with the remedy, if there is no nvdisasm in `nvdisasm_directories`.
Result<std::vector<SassLine>> DisassembleLines(std::string_view cubin,
                                               const std::map<std::string, std::string>& kernel_names,
                                               const std::vector<std::string>& nvdisasm_directories);

}  // namespace hone
