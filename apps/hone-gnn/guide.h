// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// `hone-gnn`'s guide: see common/guide.h.
#pragma once

#include "common/guide.h"

namespace hone::gnn {

Guide MakeGuide();

}  // namespace hone::gnn
