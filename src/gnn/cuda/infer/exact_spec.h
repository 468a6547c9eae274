// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the form of any spec for exact inference. Each pass computes the values of one row set, from the units of the
// spec (nn/spec_units.h).
//
// A pass's table holds, side by side, the values made earlier that this pass or a later one reads; "x" is among them if
// a pass after the first reads it. Values that are made before the first aggregation have a pass of their own, which
// gathers nothing.
#pragma once

#include <memory>

#include "gnn/cuda/infer/exact_form.h"
#include "hone/base/status.h"
#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

// Makes the form. `model` has the parameters that `spec` names, and the widths; neither is kept. `element` is the dtype
// of activations and products, fp32 or bf16. kInvalidArgument if the spec does not fit the widths, or names a tensor
// that is missing.
Result<std::unique_ptr<ExactForm>> MakeExactSpec(Model<float>& model, const ModelSpec& spec, Element element);

}  // namespace hone::gnn::cuda
