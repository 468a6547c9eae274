// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a driver's error says about a candidate.
//
// Three answers: the candidate did something (an outcome with a status), the device failed us (no outcome), or
// nothing. The mapping is a table so that it can be read and tested without a GPU.
#pragma once

#include <cuda.h>

#include <optional>

#include "tuner/device/device_session.h"

namespace hone {

// The candidate's outcome for an error of a load, a launch or a kernel; nullopt when the error is not the
// candidate's doing (an ECC error, a lost device): the caller returns a Status.
std::optional<LaunchStatus> LaunchStatusOf(CUresult result);

// After this error the context cannot be used again: only a new process can.
bool IsSticky(CUresult result);

}  // namespace hone
