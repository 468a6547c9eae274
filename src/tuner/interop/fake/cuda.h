// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Included by name in generated headers; everything it would bring is in the stand-in's cuda_runtime.h.
#pragma once

#include "cuda_runtime.h"
