// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines a fake bfloat16 with the right size and no arithmetic.
#pragma once

#include "cuda_fp16.h"

struct __nv_bfloat16 {
  unsigned short bits;
};
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return {__float2half_rn(value).bits}; }
