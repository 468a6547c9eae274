// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the toolkit's 8-bit floats, as far as CUTLASS's headers name them: its own types do the arithmetic.
#pragma once

struct __nv_fp8_e4m3 {
  unsigned char __x;
};
struct __nv_fp8_e5m2 {
  unsigned char __x;
};
