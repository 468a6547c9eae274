// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated headers include this file by name; its contents are in the fake cuda_runtime.h.
#pragma once

#include "cuda_runtime.h"
