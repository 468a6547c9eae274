// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Says whether this machine's processor converts half-precision numbers (the F16C instructions).
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hone {

// Returns whether F16C instructions can run. A caller also asks for AVX2 by __builtin_cpu_supports, which looks at the
// operating system too; older clangs do not know F16C by name there. Any thread.
inline bool CpuHasF16c() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
#else
  return false;
#endif
}

}  // namespace hone
