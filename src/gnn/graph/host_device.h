// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Marks functions that host and device code share: plain C++ for the host compiler, both sides for nvcc.
#pragma once

#if defined(__CUDACC__)
#define HONE_HOST_DEVICE __host__ __device__
#else
#define HONE_HOST_DEVICE
#endif
