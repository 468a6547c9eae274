// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/tensor_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace hone {
namespace {

using testing::HasSubstr;

// A valid map: a 64 x 128 float matrix in boxes of 8 x 16.
struct Example {
  ResolvedTensorMap map;
  Bindings bindings;
  ResolvedPlan plan;

  Example() {
    map.spec.name = "tiles";
    map.spec.tensor = "x";
    map.dims = {128, 64};
    map.strides = {512};
    map.box = {16, 8};
    map.element_strides = {1, 1};
    TensorView& x = bindings.tensors["x"];
    x.address = 0x10000;
    x.dtype = DType::kFloat32;
    x.span_bytes = 128 * 64 * 4;
    bindings.workspaces["w"] = 0x20000;
    plan.workspaces.push_back({"w", 4096, 256, false});
  }
  Result<TensorMapEncoding> Check() const { return CheckTensorMap(map, bindings, plan); }
};

TEST(TensorMap, EncodesEveryField) {
  Example example;
  example.map.spec.swizzle = "64B";
  example.map.spec.l2_promotion = "128B";
  example.map.spec.oob_fill = "nan";
  Result<TensorMapEncoding> encoding = example.Check();
  ASSERT_TRUE(encoding.ok()) << encoding.status().message();
  EXPECT_EQ(encoding->data_type, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  EXPECT_EQ(encoding->rank, 2u);
  EXPECT_EQ(encoding->address, 0x10000u);
  EXPECT_EQ(encoding->dims[0], 128u);
  EXPECT_EQ(encoding->dims[1], 64u);
  EXPECT_EQ(encoding->strides[0], 512u);
  EXPECT_EQ(encoding->box[0], 16u);
  EXPECT_EQ(encoding->box[1], 8u);
  EXPECT_EQ(encoding->swizzle, CU_TENSOR_MAP_SWIZZLE_64B);
  EXPECT_EQ(encoding->l2_promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
  EXPECT_EQ(encoding->oob_fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}

TEST(TensorMap, WorkspacesNeedADtype) {
  Example example;
  example.map.spec.tensor = "w";
  example.map.dims = {16, 4};
  example.map.strides = {64};
  example.map.box = {16, 4};
  EXPECT_THAT(example.Check().status().message(), HasSubstr("dtype is missing"));
  example.map.spec.dtype = "bfloat16";
  EXPECT_TRUE(example.Check().ok());
}

TEST(TensorMap, EveryMistakeIsNamed) {
  struct Mistake {
    std::function<void(Example&)> make;
    const char* says;
  };
  const std::vector<Mistake> mistakes = {
      {[](Example& e) { e.map.spec.tensor = std::string("y"); }, "no tensor or workspace named y"},
      {[](Example& e) { e.map.spec.dtype = std::string("complex64"); }, "dtype 'complex64'"},
      {[](Example& e) { e.map.spec.swizzle = "96B"; }, "swizzle is '96B'; use one of none, 32B, 64B, 128B"},
      {[](Example& e) { e.map.spec.interleave = "8B"; }, "interleave is '8B'"},
      {[](Example& e) { e.map.dims = {}; }, "dims has 0 entries"},
      {[](Example& e) { e.map.strides = {}; }, "strides has 0 entries"},
      {[](Example& e) { e.map.box = {16}; }, "box has 1 entries"},
      {[](Example& e) { e.map.element_strides = {1}; }, "element_strides has 1 entries"},
      {[](Example& e) { e.map.dims[0] = 0; }, "dims[0] is 0"},
      {[](Example& e) { e.map.box[1] = 257; }, "box[1] is 257"},
      {[](Example& e) { e.map.element_strides[0] = 9; }, "element_strides[0] is 9"},
      {[](Example& e) { e.map.strides[0] = 520; }, "strides[0] is 520 bytes"},
      {[](Example& e) { e.map.dims[1] = 65; }, "past the end of x"},
      {[](Example& e) { e.map.dims[1] = int64_t{1} << 32; e.map.strides[0] = (int64_t{1} << 40) - 16; }, "past the end of x"},
      {[](Example& e) { e.map.box[0] = 3; }, "12 bytes; a multiple of 16"},
      {[](Example& e) { e.map.spec.swizzle = "32B"; }, "swizzle 32B allows at most 32"},
      {[](Example& e) { e.bindings.tensors["x"].address += 8; }, "not a multiple of 16"},
      {[](Example& e) { e.bindings.tensors["x"].dtype = DType::kInt32; e.map.spec.oob_fill = "nan"; }, "needs a floating dtype"},
      {[](Example& e) { e.map.spec.interleave = "16B"; }, "3 to 5 are allowed"},
  };
  for (const Mistake& mistake : mistakes) {
    Example example;
    mistake.make(example);
    const Status status = example.Check().status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << mistake.says;
    EXPECT_THAT(status.message(), HasSubstr(mistake.says));
    EXPECT_THAT(status.message(), HasSubstr("tensor map tiles"));
  }
}

}  // namespace
}  // namespace hone
