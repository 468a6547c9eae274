// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the toolkit's header of this name when the harness kernels are compiled for the host.
#pragma once
#include "host_cuda.h"
