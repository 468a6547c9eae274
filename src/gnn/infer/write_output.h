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

// Writes a temporary file, flushes it to disk, then renames it to `path`; makes missing folders. kIo names `path`, says
// what became of it (nothing: it is unchanged), carries the system's text, and says what to do.
Status WriteOutput(const std::string& path, std::string_view bytes);

// Checks whether `path` can become a file: its folder can be made and a file made in it, and `path` is not a folder.
// Called before hours of work whose result goes there; a full disk shows only when the result is written.
Status CheckOutput(const std::string& path);

}  // namespace hone::gnn
