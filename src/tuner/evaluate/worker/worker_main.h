// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker is a process that owns a device's context and judges job after job. There is one per device.
//
// Frames to the worker:   {"op":"judge"} + job bytes;  {"op":"facts"}
// Frames from the worker: {"op":"progress","phase","detail","limit"}, {"op":"result","lost"} + evaluation JSON,
//                         {"op":"error","code","message","lost"}, {"op":"facts"} + facts JSON
// A candidate that crashes or hangs the device leaves an unusable context: the worker reports its verdict with "lost":
// true and ends; worker_client starts another.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "tuner/device/device_session.h"

namespace hone {

// Serves `fd` until its peer goes away or the session is lost. Returns the process's exit status. An error in `session`
// is the answer to the first frame.
int WorkerMain(int fd, Result<std::unique_ptr<DeviceSession>> session);

std::string EncodeFacts(const DeviceFacts& facts);
Result<DeviceFacts> DecodeFacts(const std::string& json);

}  // namespace hone
