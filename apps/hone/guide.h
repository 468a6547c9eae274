// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// `hone`'s guide: see common/guide.h.
#pragma once

#include "common/guide.h"
#include "hone/commands.h"

namespace hone {

// `context` must live as long as the guide, which takes names of tasks and runs from it.
Guide MakeGuide(const CommandContext& context);

}  // namespace hone
