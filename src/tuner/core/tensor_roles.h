// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a tensor's role means to those who check results.
#pragma once

#include "hone/tuner/task.h"

namespace hone {

// A launch writes it, wholly or in place: it is compared with the oracle's.
inline bool IsOutput(const TensorSpec& tensor) { return tensor.role != TensorRole::kIn; }

}  // namespace hone
