// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The provider without a model: answers each request with the next mechanical rewrite that applies to the parent
// and was not tried yet, in the form in which a language model would answer.
#pragma once

#include <memory>

#include "hone/tuner/model_provider.h"

namespace hone {

// Returns the model `builtin`, which answers a request with the next mechanical rewrite of the parent's source. A request
// needs the attachments "parent", "task" and "tried". "siblings" is the number of attempts from the same parent that are
// under way: each of them has one of the first rewrites, so that many are passed over. When no rewrite is left, the reply
// is kExhausted and says why each untried rewrite does not apply.
Result<std::unique_ptr<ModelProvider>> MakeBuiltinProvider();

}  // namespace hone
