// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Interprets driver errors as outcomes of a candidate.
//
// An error is the candidate's fault (an outcome with a status), a failure of the device (no outcome), or neither. The
// mapping is a table so that it can be read and tested without a GPU.
#pragma once

#include <cuda.h>

#include <optional>

#include "tuner/device/device_session.h"

namespace hone {

// Returns the candidate's outcome for an error of a load, a launch or a kernel; nullopt when the candidate is not at
// fault (an ECC error, a lost device): the caller returns a Status.
std::optional<LaunchStatus> LaunchStatusOf(CUresult result);

// Returns whether the context cannot be used after this error: a new process is then needed.
bool IsSticky(CUresult result);

}  // namespace hone
