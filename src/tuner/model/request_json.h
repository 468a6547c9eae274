// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A request as programs read it: what the mailbox posts and what exec: commands get on standard input
// (docs/models.md, "The request as JSON").
#pragma once

#include <string>

#include "hone/tuner/model_provider.h"

namespace hone {

// Indented, keys sorted, a line break at the end; bytes that are no UTF-8 become U+FFFD.
std::string RequestJson(const ModelRequest& request);

}  // namespace hone
