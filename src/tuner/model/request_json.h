// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a request as JSON for programs, as the mailbox posts it and commands of exec: get it (docs/models.md, "The
// request as JSON").
#pragma once

#include <string>

#include "hone/tuner/model_provider.h"

namespace hone {

// Returns indented JSON with sorted keys and a final line break; invalid UTF-8 becomes U+FFFD.
std::string RequestJson(const ModelRequest& request);

}  // namespace hone
