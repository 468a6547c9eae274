// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes what a run was for (a checkpoint, predictions) so that a full disk costs neither it nor the file before it.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone::gnn {

// Aside, flushed to disk, then renamed over `path`; missing folders are made. kIo names `path`, says what became of it
// (nothing: it is as it was), carries the system's words, and tells what to do.
Status WriteOutput(const std::string& path, std::string_view bytes);

// Whether `path` can become a file: its folder can be made and a file made in it, and `path` is no folder. Asked before
// hours of work whose result goes there; a full disk shows only when it is written.
Status CheckOutput(const std::string& path);

}  // namespace hone::gnn
