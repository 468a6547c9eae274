// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See feature_dtype.h.
#include "gnn/graph/feature_dtype.h"

#include <fmt/format.h>

namespace hone::gnn {

std::string_view FeatureDtypeName(FeatureDtype dtype) {
  switch (dtype) {
    case FeatureDtype::kFloat32: return "float32";
    case FeatureDtype::kFloat16: return "float16";
    case FeatureDtype::kBFloat16: return "bfloat16";
  }
  return "unknown";
}

Result<FeatureDtype> ParseFeatureDtype(std::string_view name) {
  for (const FeatureDtype dtype : {FeatureDtype::kFloat32, FeatureDtype::kFloat16, FeatureDtype::kBFloat16}) {
    if (name == FeatureDtypeName(dtype)) return dtype;
  }
  return Status::InvalidArgument(fmt::format("dtype '{}' is no feature type; use float32, float16 or bfloat16", name));
}

}  // namespace hone::gnn
