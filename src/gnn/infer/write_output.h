// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a run's result (a checkpoint, predictions) so that a full disk destroys neither the result nor the previous
// file.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone::gnn {

// Writes `bytes` to a temporary file, flushes it to disk, then renames it to `path`; makes missing folders. On an
// error, `path` is as before. kIo says so, names `path`, and has the system's text and the remedy.
Status WriteOutput(const std::string& path, std::string_view bytes);

// Checks that a file can be made at `path`: its folder can be made and written to, and `path` itself is not a folder.
// Call this before hours of work whose result goes there. A full disk is noticed only when the result is written.
Status CheckOutput(const std::string& path);

}  // namespace hone::gnn
