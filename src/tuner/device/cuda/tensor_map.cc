// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/tensor_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

namespace hone {
namespace {

struct ElementType {
  CUtensorMapDataType type;
  int64_t bytes;
  bool floating;
};

// Returns the driver's name of an element type, its bytes, and whether it is a float.
std::optional<ElementType> ElementTypeOf(const std::string& name) {
  if (name == "float64") return ElementType{CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, true};
  if (name == "float32") return ElementType{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, true};
  if (name == "float32_ftz") return ElementType{CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4, true};
  if (name == "tfloat32") return ElementType{CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, true};
  if (name == "tfloat32_ftz") return ElementType{CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4, true};
  if (name == "float16") return ElementType{CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, true};
  if (name == "bfloat16") return ElementType{CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, true};
  if (name == "int64") return ElementType{CU_TENSOR_MAP_DATA_TYPE_INT64, 8, false};
  if (name == "uint64") return ElementType{CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, false};
  if (name == "int32") return ElementType{CU_TENSOR_MAP_DATA_TYPE_INT32, 4, false};
  if (name == "uint32") return ElementType{CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, false};
  if (name == "int16" || name == "uint16") return ElementType{CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, false};
  if (name.starts_with("float8_")) return ElementType{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, false};
  if (name == "int8" || name == "uint8" || name == "bool") return ElementType{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, false};
  return std::nullopt;
}

template <typename Enum>
struct Choice {
  const char* name;
  Enum value;
};

// Returns the driver's value of one of a field's words; the error lists the words.
template <typename Enum, size_t kCount>
Result<Enum> EnumNamed(const Choice<Enum> (&choices)[kCount], const std::string& name, const char* field) {
  std::string allowed;
  for (const Choice<Enum>& choice : choices) {
    if (name == choice.name) return choice.value;
    if (!allowed.empty()) allowed += ", ";
    allowed += choice.name;
  }
  return Status::InvalidArgument(fmt::format("{} is '{}'; use one of {}", field, name, allowed));
}

constexpr Choice<CUtensorMapInterleave> kInterleaves[] = {{"none", CU_TENSOR_MAP_INTERLEAVE_NONE},
                                                          {"16B", CU_TENSOR_MAP_INTERLEAVE_16B},
                                                          {"32B", CU_TENSOR_MAP_INTERLEAVE_32B}};
constexpr Choice<CUtensorMapSwizzle> kSwizzles[] = {{"none", CU_TENSOR_MAP_SWIZZLE_NONE},
                                                    {"32B", CU_TENSOR_MAP_SWIZZLE_32B},
                                                    {"64B", CU_TENSOR_MAP_SWIZZLE_64B},
                                                    {"128B", CU_TENSOR_MAP_SWIZZLE_128B}};
constexpr Choice<CUtensorMapL2promotion> kPromotions[] = {{"none", CU_TENSOR_MAP_L2_PROMOTION_NONE},
                                                          {"64B", CU_TENSOR_MAP_L2_PROMOTION_L2_64B},
                                                          {"128B", CU_TENSOR_MAP_L2_PROMOTION_L2_128B},
                                                          {"256B", CU_TENSOR_MAP_L2_PROMOTION_L2_256B}};
constexpr Choice<CUtensorMapFloatOOBfill> kFills[] = {
    {"zeros", CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE}, {"nan", CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA}};

// Returns the width of a swizzle's pattern in bytes; 0: no swizzle.
int64_t SwizzleBytes(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B: return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B: return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B: return 128;
    default: return 0;
  }
}

// Checks a tensor map by the driver's rules, which it would otherwise report as one number, and encodes it.
Result<TensorMapEncoding> Check(const ResolvedTensorMap& map, const Bindings& bindings, const ResolvedPlan& plan) {
  TensorMapEncoding encoding;
  const auto refuse = [](const std::string& text) { return Status::InvalidArgument(text); };

  int64_t span = 0;
  std::string dtype = map.spec.dtype;
  if (const auto tensor = bindings.tensors.find(map.spec.tensor); tensor != bindings.tensors.end()) {
    encoding.address = tensor->second.address;
    span = tensor->second.span_bytes;
    if (dtype.empty()) dtype = DTypeName(tensor->second.dtype);
  } else if (const auto workspace = bindings.workspaces.find(map.spec.tensor); workspace != bindings.workspaces.end()) {
    encoding.address = workspace->second;
    const auto known = std::find_if(plan.workspaces.begin(), plan.workspaces.end(),
                                    [&](const ResolvedWorkspace& w) { return w.name == map.spec.tensor; });
    span = known == plan.workspaces.end() ? 0 : known->bytes;
    if (dtype.empty()) return refuse("dtype is missing: a workspace has none of its own");
  } else {
    return refuse(fmt::format("there is no tensor or workspace named {}", map.spec.tensor));
  }
  const std::optional<ElementType> element = ElementTypeOf(dtype);
  if (!element) return refuse(fmt::format("dtype '{}' is not one a tensor map can hold", dtype));
  encoding.data_type = element->type;

  HONE_ASSIGN_OR_RETURN(encoding.interleave, EnumNamed(kInterleaves, map.spec.interleave, "interleave"));
  HONE_ASSIGN_OR_RETURN(encoding.swizzle, EnumNamed(kSwizzles, map.spec.swizzle, "swizzle"));
  HONE_ASSIGN_OR_RETURN(encoding.l2_promotion, EnumNamed(kPromotions, map.spec.l2_promotion, "l2_promotion"));
  HONE_ASSIGN_OR_RETURN(encoding.oob_fill, EnumNamed(kFills, map.spec.oob_fill, "oob_fill"));
  if (encoding.oob_fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !element->floating) {
    return refuse(fmt::format("oob_fill 'nan' needs a floating dtype, not {}", dtype));
  }

  const size_t rank = map.dims.size();
  const bool interleaved = encoding.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE;
  if (rank < (interleaved ? 3u : 1u) || rank > 5) {
    return refuse(fmt::format("dims has {} entries; {} to 5 are allowed", rank, interleaved ? 3 : 1));
  }
  if (map.strides.size() != rank - 1) {
    return refuse(fmt::format("strides has {} entries; {} dims need {}", map.strides.size(), rank, rank - 1));
  }
  if (map.box.size() != rank) return refuse(fmt::format("box has {} entries; {} dims need as many", map.box.size(), rank));
  if (!map.element_strides.empty() && map.element_strides.size() != rank) {
    return refuse(fmt::format("element_strides has {} entries; {} dims need as many", map.element_strides.size(), rank));
  }
  encoding.rank = static_cast<uint32_t>(rank);

  const int64_t unit = encoding.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  if (encoding.address % static_cast<uint64_t>(unit) != 0) {
    return refuse(fmt::format("the tensor's address is not a multiple of {} bytes; declare that alignment in the task", unit));
  }
  int64_t last_byte = element->bytes;  // at most 5 * 2^60: each term is checked below
  for (size_t i = 0; i < rank; ++i) {
    if (map.dims[i] < 1 || map.dims[i] > (int64_t{1} << 32)) {
      return refuse(fmt::format("dims[{}] is {}; 1 to 2^32 are allowed", i, map.dims[i]));
    }
    encoding.dims[i] = static_cast<cuuint64_t>(map.dims[i]);
    if (map.box[i] < 1 || map.box[i] > 256) {
      return refuse(fmt::format("box[{}] is {}; 1 to 256 are allowed", i, map.box[i]));
    }
    encoding.box[i] = static_cast<cuuint32_t>(map.box[i]);
    const int64_t step = map.element_strides.empty() ? 1 : map.element_strides[i];
    if (step < 1 || step > 8) return refuse(fmt::format("element_strides[{}] is {}; 1 to 8 are allowed", i, step));
    encoding.element_strides[i] = static_cast<cuuint32_t>(step);
    int64_t stride = element->bytes;
    if (i > 0) {
      stride = map.strides[i - 1];
      if (stride < 1 || stride % unit != 0 || stride >= (int64_t{1} << 40)) {
        return refuse(fmt::format("strides[{}] is {} bytes; multiples of {} below 2^40 are allowed", i - 1, stride, unit));
      }
      encoding.strides[i - 1] = static_cast<cuuint64_t>(stride);
    }
    if (map.dims[i] - 1 > (int64_t{1} << 60) / stride) {
      return refuse(fmt::format("dims[{}] and its stride reach past the end of {}", i, map.spec.tensor));
    }
    last_byte += (map.dims[i] - 1) * stride;
  }
  if (last_byte > span) {
    return refuse(fmt::format("dims and strides reach past the end of {}, which has {} bytes", map.spec.tensor, span));
  }
  const int64_t row = map.box[0] * element->bytes;
  if (!interleaved && row % 16 != 0) {
    return refuse(fmt::format("box[0] is {} elements, {} bytes; a multiple of 16 bytes is needed", map.box[0], row));
  }
  const int64_t swizzle = SwizzleBytes(encoding.swizzle);
  if (!interleaved && swizzle != 0 && row > swizzle) {
    return refuse(fmt::format("box[0] is {} bytes; swizzle {}B allows at most {}", row, swizzle, swizzle));
  }
  if (encoding.interleave == CU_TENSOR_MAP_INTERLEAVE_32B && encoding.swizzle != CU_TENSOR_MAP_SWIZZLE_32B) {
    return refuse("interleave 32B needs swizzle 32B");
  }
  return encoding;
}

}  // namespace

Result<TensorMapEncoding> CheckTensorMap(const ResolvedTensorMap& map, const Bindings& bindings, const ResolvedPlan& plan) {
  Result<TensorMapEncoding> checked = Check(map, bindings, plan);
  if (!checked.ok()) return checked.status().WithContext("tensor map " + map.spec.name);
  return checked;
}

Result<EncodedTensorMaps> EncodeTensorMaps(const CudaDriver& driver, const ResolvedPlan& plan, const Bindings& bindings) {
  EncodedTensorMaps maps;
  std::set<std::string> passed;
  for (const ResolvedStep& step : plan.steps) {
    for (const ResolvedArgument& argument : step.args) {
      if (argument.kind == ArgumentKind::kTensorMap) passed.insert(argument.name);
    }
  }
  for (const ResolvedTensorMap& map : plan.tensor_maps) {
    if (!passed.contains(map.spec.name)) continue;
    HONE_ASSIGN_OR_RETURN(const TensorMapEncoding e, CheckTensorMap(map, bindings, plan));
    alignas(64) CUtensorMap encoded;
    static_assert(sizeof encoded == kTensorMapBytes, "a tensor map is 128 bytes");
    const CUresult result = driver.TensorMapEncodeTiled(
        &encoded, e.data_type, e.rank, reinterpret_cast<void*>(e.address), e.dims.data(), e.strides.data(), e.box.data(),
        e.element_strides.data(), e.interleave, e.swizzle, e.l2_promotion, e.oob_fill);
    if (result != CUDA_SUCCESS) {
      return Status::InvalidArgument(fmt::format("tensor map {}: the driver refused it: {}", map.spec.name, driver.Describe(result)));
    }
    std::vector<uint8_t> bytes(kTensorMapBytes);
    std::memcpy(bytes.data(), &encoded, kTensorMapBytes);
    maps.emplace(map.spec.name, std::move(bytes));
  }
  return maps;
}

}  // namespace hone
