// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA sources include this file by name; its contents are in hone_cuda.h.
#pragma once

#include "hone_cuda.h"
