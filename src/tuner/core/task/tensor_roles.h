// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file says what a tensor's role means for checking results.
#pragma once

#include "hone/tuner/task.h"

namespace hone {

// Returns whether a launch writes the tensor, wholly or in place: it is compared with the oracle's.
inline bool IsOutput(const TensorSpec& tensor) { return tensor.role != TensorRole::kIn; }

}  // namespace hone
