// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Repeats the replies of a recorded run, request by request, in order. No network, no key.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/model_provider.h"
#include "hone/tuner/run_store.h"

namespace hone {

// Reads all replies at once; `store` is not kept. After the last recorded reply the provider is exhausted.
Result<std::unique_ptr<ModelProvider>> MakeReplayProvider(RunStore& store, const std::string& run);

}  // namespace hone
