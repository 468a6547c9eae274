// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps a model's parameters in device memory as flat arrays that one update covers, and copies them from and to named
// tensors.
//
// Matrix products need widths that are multiples of 8 elements, stacked weights and padded column blocks; a Model has
// PyTorch's tensors. A model's plan states where each part of each tensor lies (ParameterLayout). Elements that no
// tensor covers stay zero, and so do their gradients and moments, because the padded columns of every activation are
// zero. Buffers (running statistics) lie in a separate array, which no optimizer touches.
#pragma once

#include <string>
#include <vector>

#include "base/numbers/rounding.h"
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/element.h"
#include "hone/gnn/layer.h"

namespace hone::gnn::cuda {

int64_t ElementBytes(Element element);

// Places a block [rows, cols] of a tensor in the flat array. In the tensor, the block begins at element `from` and its
// rows are `tensor_stride` elements apart; in the flat array, it begins at `at` with rows `stride` elements apart.
struct TensorPlace {
  std::string name;
  bool buffer = false;
  int64_t rows = 0, cols = 0;
  int64_t from = 0, tensor_stride = 0;
  int64_t at = 0, stride = 0;
};

// Collects where a model's tensors lie in the flat arrays.
class ParameterLayout {
 public:
  // Reserves `count` values and returns where they begin, a multiple of 64.
  int64_t Reserve(int64_t count);
  // Reserves `count` elements in the array of buffers, and returns the place of the first.
  int64_t ReserveBuffer(int64_t count);
  void Place(TensorPlace place) { places_.push_back(std::move(place)); }
  // Places a whole weight [out, in] with rows `stride` apart, or a whole vector.
  void PlaceMatrix(const std::string& name, int64_t out, int64_t in, int64_t at, int64_t stride);
  void PlaceVector(const std::string& name, int64_t size, int64_t at, bool buffer = false);

  // Reserves room for a vector tensor and places it there.
  int64_t ReserveVector(const std::string& name, int64_t size, bool buffer = false);

  const std::vector<TensorPlace>& places() const { return places_; }
  int64_t count() const { return count_; }
  int64_t buffer_count() const { return buffer_count_; }

 private:
  std::vector<TensorPlace> places_;
  int64_t count_ = 0, buffer_count_ = 0;
};

// Owns the flat arrays of a model in device memory. Not thread-safe.
class DeviceParameters {
 public:
  Status Make(ParameterLayout layout, Element element);

  int64_t count() const { return layout_.count(); }
  int64_t buffer_count() const { return layout_.buffer_count(); }
  float* master() const { return master_.get(); }
  float* gradient() const { return gradient_.get(); }
  float* moment1() const { return moment1_.get(); }
  float* moment2() const { return moment2_.get(); }
  float* buffers() const { return buffers_.get(); }
  Element element() const { return element_; }  // dtype of compute()
  // Returns the weights that matrix products read: the master weights converted to element().
  void* compute() const { return compute_.get(); }
  const void* compute_at(int64_t at) const { return compute_.get() + at * ElementBytes(element_); }

  // The exports copy from the device to a model's `parameters`, the imports the other way. All return kInvalidArgument,
  // naming a tensor, if the tensors do not match the layout.
  Status ExportValues(const std::vector<Parameter<float>*>& parameters) const;
  Status ExportGradients(const std::vector<Parameter<float>*>& parameters) const;
  Status ImportValues(const std::vector<Parameter<float>*>& parameters);
  // Exports values and moments from a copy in host memory: master [count()], moment1 [count()], moment2 [count()],
  // buffers [buffer_count()], in this order.
  Status ExportFlat(const float* flat, const std::vector<Parameter<float>*>& parameters,
                    const std::vector<Parameter<float>*>& moments) const;
  // `moments` are Adam's, with the names "exp_avg.NAME" and "exp_avg_sq.NAME".
  Status ExportMoments(const std::vector<Parameter<float>*>& moments) const;
  Status ImportMoments(const std::vector<Parameter<float>*>& moments);

 private:
  Status UploadCompute(const std::vector<float>& master);

  ParameterLayout layout_;
  Element element_ = Element::kFloat32;
  DeviceArray<float> master_, gradient_, moment1_, moment2_, buffers_;
  DeviceArray<unsigned char> compute_;
};

}  // namespace hone::gnn::cuda
