// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A pause that Ctrl-C ends.
#pragma once

#include <stop_token>

namespace hone {

// Sleeps so long, or until a stop is asked for; false: it was. Any thread.
bool StoppableSleep(double seconds, std::stop_token stop);

}  // namespace hone
