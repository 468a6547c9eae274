// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker is a process that owns a device's context and judges job after job. There is one per device.
//
// Frames to the worker:   {"op":"judge"} + job bytes;  {"op":"facts"}
// Frames from the worker: {"op":"progress","phase","detail","limit"}, {"op":"result","lost"} + evaluation JSON,
//                         {"op":"error","code","message","lost"}, {"op":"facts"} + facts JSON
// A candidate that crashes or hangs the device leaves an unusable context. The worker then reports the verdict with
// "lost": true and ends, and WorkerClient starts another.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "tuner/device/device_session.h"

namespace hone {

// Is the worker's main function: serves the socket `fd` until the peer closes it or the session is lost, and returns
// the process's exit status. If `session` is an error, that is the answer to the first frame.
int WorkerMain(int fd, Result<std::unique_ptr<DeviceSession>> session);

std::string EncodeFacts(const DeviceFacts& facts);
Result<DeviceFacts> DecodeFacts(const std::string& json);

}  // namespace hone
