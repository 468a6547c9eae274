// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the CUDA C++ device code that the simulated GPU supports, for the host's C++ compiler (g++ 12 or newer, C++17
// or newer). Every candidate is compiled after this header, so nothing in it may be slow to parse; it is precompiled in
// practice. Missing features (thread-block clusters, tensor maps, mbarriers, cuda::std) fail to compile or end a launch as
// `unsupported`: their effect is never guessed.
//
// All names that are not CUDA's live in namespace hone_sim or begin with HONE_SIM_.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "detail/atomics.h"
#include "detail/bits.h"
#include "detail/fast_math.h"
#include "detail/math.h"
#include "detail/memory.h"
#include "detail/qualifiers.h"
#include "detail/sync.h"
#include "detail/thread.h"
#include "detail/vector_types.h"
#include "detail/warp.h"
#include "ptx_ops.h"
