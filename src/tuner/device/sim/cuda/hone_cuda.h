// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA C++ device code, as far as the simulated GPU speaks it, for the host's C++ compiler (g++ 12 or newer, C++17 or
// newer). A candidate is compiled behind this header, so nothing in it may be slow to parse; it is precompiled in
// practice. What the language has and this folder has not (thread-block clusters, tensor maps, wgmma, cuda::std)
// fails to compile or ends a launch as `unsupported`: it is never guessed.
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
