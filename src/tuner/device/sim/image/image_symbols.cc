// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Classifies an image's symbols.
#include "tuner/device/sim/image/image_symbols.h"

#include <algorithm>

#include "tuner/device/sim/image/elf_symbols.h"

namespace hone::sim {

bool IsGuardSymbol(std::string_view name) { return name.rfind("_ZGV", 0) == 0 || name == "__tls_guard"; }

Result<ImageSymbols> ReadImageSymbols(std::string_view image) {
  HONE_ASSIGN_OR_RETURN(const std::vector<ElfSymbol> symbols, ReadElfSymbols(image));
  ImageSymbols result;
  uint64_t static_end = 0, dynamic = 0;
  for (const ElfSymbol& symbol : symbols) {
    if (symbol.thread_local_data && symbol.defined) {
      if (symbol.name == kDynamicShared) {
        result.has_dynamic = true;
        dynamic = symbol.value;
      }
    }
  }
  for (const ElfSymbol& symbol : symbols) {
    if (symbol.thread_local_data && symbol.defined && symbol.name != kSharedAnchor) {
      if (IsGuardSymbol(symbol.name)) {
        result.guards.emplace_back(static_cast<uint32_t>(symbol.value), static_cast<uint32_t>(symbol.value + symbol.size));
      }
      if (!result.has_dynamic || symbol.value < dynamic) static_end = std::max(static_end, symbol.value + symbol.size);
    }
    if (symbol.constant && symbol.defined && symbol.size > 0) {
      result.constants.emplace_back(symbol.value, symbol.value + symbol.size);
    }
    if (symbol.data && symbol.defined && symbol.size > 0) {
      result.globals.push_back({symbol.name, static_cast<int64_t>(symbol.size), /*writable=*/true, /*reachable=*/true});
    }
  }
  if (static_end > UINT32_MAX || dynamic > UINT32_MAX) {
    return Status::InvalidArgument("the image's shared memory is larger than 4 GiB");
  }
  result.static_shared = static_cast<uint32_t>(static_end);
  result.dynamic_offset = result.has_dynamic ? static_cast<uint32_t>(dynamic) : result.static_shared;
  return result;
}

}  // namespace hone::sim
