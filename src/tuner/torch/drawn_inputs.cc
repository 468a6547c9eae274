// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/drawn_inputs.h"

#include <nlohmann/json.hpp>

namespace hone {

Result<nlohmann::json> DrawnInputsJson(const Task& task, const Dims& dims) {
  using nlohmann::json;
  json tensors = json::object();
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role == TensorRole::kOut) continue;
    HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(tensor, dims));
    HONE_ASSIGN_OR_RETURN(const ValueSpec values, ResolveValues(tensor.values, dims));
    json& one = tensors[tensor.name] = {{"shape", shape.shape},
                                        {"dtype", DTypeName(tensor.dtype)},
                                        {"distribution", DistributionName(values.distribution)},
                                        {"low", values.low},
                                        {"high", values.high},
                                        {"scale", values.scale},
                                        {"offset", values.offset},
                                        {"order", static_cast<int>(values.index_order)},
                                        {"padding", values.padding},
                                        {"ones", values.share_of_ones},
                                        {"some", values.guaranteed_value},
                                        {"along", values.line_axis},
                                        {"stress", tensor.stress},
                                        {"special", json::array()}};
    for (const SpecialValue special : {kSpecialInf, kSpecialMinusInf, kSpecialNan, kSpecialSubnormal}) {
      if (values.special & special) one["special"].push_back(SpecialValueName(special));
    }
    if (tensor.values.index_bound) {
      HONE_ASSIGN_OR_RETURN(const int64_t bound, tensor.values.index_bound->Evaluate(dims));
      one["bound"] = bound;
    }
  }
  return tensors;
}

}  // namespace hone
