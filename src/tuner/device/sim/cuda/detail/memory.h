// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores with cache hints, address-space queries and conversions.
//
// A hint changes neither the value nor the legality of an access, so each is the plain access, inlined, and the
// compiler's hook reports it at the candidate's line.
#pragma once

#include <cstring>

#include "qualifiers.h"
#include "sim_abi.h"

namespace hone_sim {
template <typename T>
struct Same {
  typedef T Type;
};
}  // namespace hone_sim

// A copy of the size of a word is a load and a store, as in device code. Any other copy is a call of memcpy, whose
// accesses the runtime announces. Without this declaration g++ would expand the call in place, where no hook sees it.
namespace hone_sim {
extern "C" void* CalledMemcpy(void* to, const void* from, size_t bytes) __asm__("memcpy");
}
extern "C" inline __attribute__((gnu_inline, always_inline, artificial)) void* memcpy(void* to, const void* from,
                                                                                     size_t bytes) noexcept {
  if (__builtin_constant_p(bytes) && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16)) {
    return __builtin_memcpy(to, from, bytes);
  }
  return hone_sim::CalledMemcpy(to, from, bytes);
}

#define HONE_SIM_LOAD(NAME)                  \
  template <typename T>                      \
  HONE_SIM_INLINE T NAME(const T* address) { \
    return *address;                         \
  }
HONE_SIM_LOAD(__ldg)
HONE_SIM_LOAD(__ldcg)
HONE_SIM_LOAD(__ldca)
HONE_SIM_LOAD(__ldcs)
HONE_SIM_LOAD(__ldlu)
HONE_SIM_LOAD(__ldcv)
#undef HONE_SIM_LOAD
#define HONE_SIM_STORE(NAME)                                                      \
  template <typename T>                                                           \
  HONE_SIM_INLINE void NAME(T* address, typename hone_sim::Same<T>::Type value) { \
    *address = value;                                                             \
  }
HONE_SIM_STORE(__stcg)
HONE_SIM_STORE(__stcs)
HONE_SIM_STORE(__stwb)
HONE_SIM_STORE(__stwt)
#undef HONE_SIM_STORE

HONE_SIM_INLINE size_t __cvta_generic_to_shared(const void* address) { return hone_sim_to_shared(address); }
HONE_SIM_INLINE void* __cvta_shared_to_generic(size_t address) {
  return hone_sim_from_shared(static_cast<uint32_t>(address));
}
HONE_SIM_INLINE size_t __cvta_generic_to_global(const void* address) { return reinterpret_cast<size_t>(address); }
HONE_SIM_INLINE void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
HONE_SIM_INLINE size_t __cvta_generic_to_constant(const void* address) { return reinterpret_cast<size_t>(address); }
HONE_SIM_INLINE size_t __cvta_generic_to_local(const void* address) { return reinterpret_cast<size_t>(address); }
HONE_SIM_INLINE unsigned __isShared(const void* address) { return hone_sim_is_shared(address) != 0; }
HONE_SIM_INLINE unsigned __isGlobal(const void* address) { return hone_sim_is_global(address) != 0; }
HONE_SIM_INLINE unsigned __isLocal(const void* address) { return !__isShared(address) && !__isGlobal(address); }
HONE_SIM_INLINE unsigned __isConstant(const void*) { return 0; }
