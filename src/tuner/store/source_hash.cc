// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/tuner/source_hash.h"

#include "base/numbers/hash.h"

namespace hone {

SourceHash SourceHash::Of(std::string_view text) { return SourceHash(Sha256Hex(text)); }

}  // namespace hone
