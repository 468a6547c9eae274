// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides the pipeline primitives under their other name.
#pragma once

#include "cuda_pipeline.h"
