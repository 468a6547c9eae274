// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The provider without a model: answers each request with the next mechanical rewrite that applies to the parent
// and was not tried yet, in the form in which a language model would answer.
#pragma once

#include <memory>

#include "hone/tuner/model_provider.h"

namespace hone {

// Needs the attachments "parent", "task" and "tried"; "siblings" says how many attempts from the same parent are under
// way, each of which has got one of the rewrites that come first. When no rewrite is left the reply is kExhausted and lists why
// each untried rewrite does not apply.
Result<std::unique_ptr<ModelProvider>> MakeBuiltinProvider();

}  // namespace hone
