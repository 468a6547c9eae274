// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Included by name in CUDA sources; everything it would bring is in hone_cuda.h.
#pragma once

#include "hone_cuda.h"
