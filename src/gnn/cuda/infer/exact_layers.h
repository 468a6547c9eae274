// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the form of a published model for exact inference: each pass is a layer of exact_model.h.
#pragma once

#include <memory>

#include "gnn/cuda/infer/exact_form.h"
#include "gnn/cuda/infer/exact_model.h"

namespace hone::gnn::cuda {

// Makes the form. `element` is the dtype of activations and products: fp32 or bf16.
std::unique_ptr<ExactForm> MakeExactLayers(ExactModel model, Element element);

}  // namespace hone::gnn::cuda
