// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes tensor maps for the bulk tensor copy engine (compute capability 9.0 and newer).
//
// cuTensorMapEncodeTiled reports every mistake as "invalid value", so each of its conditions is checked here first and
// named. A map may not reach outside its tensor: the copy engine would copy foreign memory.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tuner/device/cuda/argument_pack.h"
#include "tuner/device/cuda/cuda_driver.h"
#include "tuner/device/device_session.h"

namespace hone {

// The arguments of cuTensorMapEncodeTiled.
struct TensorMapEncoding {
  CUtensorMapDataType data_type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  uint32_t rank = 0;
  uint64_t address = 0;
  std::array<cuuint64_t, 5> dims{};
  std::array<cuuint64_t, 5> strides{};  // bytes; rank - 1 of them
  std::array<cuuint32_t, 5> box{};
  std::array<cuuint32_t, 5> element_strides{};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill oob_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

// Checks a map. Pure. `plan` has the sizes of workspaces, which a map may name as well as tensors.
// kInvalidArgument names the map, the field and what is allowed.
Result<TensorMapEncoding> CheckTensorMap(const ResolvedTensorMap& map, const Bindings& bindings, const ResolvedPlan& plan);

// Encodes every map that a launch of the plan passes to a kernel; a map that no launch passes may be invalid for this
// case (an empty shape) and is left out. kInvalidArgument for the candidate's mistakes.
Result<EncodedTensorMaps> EncodeTensorMaps(const CudaDriver& driver, const ResolvedPlan& plan, const Bindings& bindings);

}  // namespace hone
