// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes the place of the toolkit's header of this name, which CUTLASS's headers include.
#pragma once

#include "../cuda_fp8.h"
