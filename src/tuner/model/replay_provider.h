// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the model replay:RUN, which answers each request with the reply that a recorded run got to its request of the
// same number. It needs no network and no key.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/model_provider.h"
#include "hone/tuner/run_store.h"

namespace hone {

// Makes the provider. All replies are read now; `store` is not kept. A request without a recorded reply is answered
// with FinishReason::kExhausted.
Result<std::unique_ptr<ModelProvider>> MakeReplayProvider(RunStore& store, const std::string& run);

}  // namespace hone
