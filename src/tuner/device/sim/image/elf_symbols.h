// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the symbols of an object file or shared library compiled from untrusted code. Every offset is checked: the
// bytes are not trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone::sim {

struct ElfSymbol {
  std::string name;
  uint64_t value = 0, size = 0;
  bool defined = false;
  bool thread_local_data = false;
  bool data = false;         // an object in a section that is writable at run time
  bool constant = false;     // in a section that holds __constant__ variables
  bool local = false;        // internal linkage
  bool weak = false;
};

// Returns the symbol table. A shared library without a symbol table gives its dynamic symbols. 64-bit little-endian ELF only:
// kInvalidArgument for anything else and for offsets out of bounds.
Result<std::vector<ElfSymbol>> ReadElfSymbols(std::string_view file);
// Returns the dynamic symbols of a shared library.
Result<std::vector<ElfSymbol>> ReadElfDynamicSymbols(std::string_view file);

}  // namespace hone::sim
