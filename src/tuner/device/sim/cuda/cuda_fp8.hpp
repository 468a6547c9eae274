// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Some candidates include the implementation header by name; here there is one header.
#pragma once

#include "cuda_fp8.h"
