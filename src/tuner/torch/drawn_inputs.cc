// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/drawn_inputs.h"

#include <nlohmann/json.hpp>

namespace hone {

Result<nlohmann::json> DrawnInputsJson(const Task& task, const Dims& dims) {
  nlohmann::json tensors = nlohmann::json::object();
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role == TensorRole::kOut) continue;
    HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(tensor, dims));
    HONE_ASSIGN_OR_RETURN(const ValueSpec values, ResolveValues(tensor.values, dims));
    nlohmann::json& one = tensors[tensor.name] = {{"shape", shape.shape},
                                                  {"dtype", DTypeName(tensor.dtype)},
                                                  {"distribution", DistributionName(values.distribution)},
                                                  {"low", values.low},
                                                  {"high", values.high},
                                                  {"scale", values.scale},
                                                  {"offset", values.offset},
                                                  {"order", static_cast<int>(values.index_order)},
                                                  {"padding", values.padding}};
    if (tensor.values.index_bound) {
      HONE_ASSIGN_OR_RETURN(const int64_t bound, tensor.values.index_bound->Evaluate(dims));
      one["bound"] = bound;
    }
  }
  return tensors;
}

}  // namespace hone
