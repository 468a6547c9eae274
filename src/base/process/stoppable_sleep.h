// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sleeps until a time has passed or Ctrl-C ends the pause.
#pragma once

#include <stop_token>

namespace hone {

// Sleeps for `seconds`. Returns false if `stop` was requested first. Any thread.
bool StoppableSleep(double seconds, std::stop_token stop);

}  // namespace hone
