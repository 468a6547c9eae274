// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// NormBetween applies batch normalisation, activation and dropout between two layers of GraphSAGE or GAT. The result,
// which the next layer reads, is stored once: a normalisation cannot be applied while loading, because it needs the
// statistics of all rows first.
#pragma once

#include <string>

#include "gnn/cuda/kernels/norm_kernels.h"
#include "gnn/cuda/lower/program.h"

namespace hone::gnn::cuda {

// The offsets of a normalisation's parameters in the flat parameters, and of its statistics in the flat buffers.
struct NormPlaces {
  int64_t weight = 0, bias = 0;
  int64_t running_mean = 0, running_variance = 0, batches = 0;
};
// Reserves `name` + weight, bias, running_mean and running_var, each [width], and num_batches_tracked, a scalar.
NormPlaces PlaceNorm(ParameterLayout& layout, const std::string& name, int64_t width);
// Returns the pointers for `places`. `linear_bias` is the bias of the preceding Linear, in the flat parameters; null:
// none.
NormOnDevice NormAt(const DeviceParameters& parameters, const NormPlaces& places, const float* linear_bias = nullptr);

class NormBetween {
 public:
  // `layer` is the layer before the normalisation; its rows have `width` (padded) columns.
  Status Make(const ProgramContext& context, const Envelope& envelope, int layer, int64_t width,
              const NormPlaces& places, const Between& between);
  // Computes rows() from x.
  Status EnqueueForward(const BatchOnDevice& batch, const void* x, cudaStream_t stream) const;
  // Replaces the gradient of rows() in `grad` by that of x.
  Status EnqueueBackward(const BatchOnDevice& batch, const void* x, void* grad, cudaStream_t stream) const;
  const void* rows() const { return rows_.get(); }

 private:
  RowsOnDevice Rows(const BatchOnDevice& batch) const {
    return {batch.state, batch.header, batch.nodes, hop_, padded_rows_, width_};
  }

  const ProgramContext* context_ = nullptr;
  NormPlaces places_;
  Between between_;
  bool trains_ = false;
  int hop_ = 0;
  int32_t padded_rows_ = 0, width_ = 0;
  DeviceArray<unsigned char> rows_;
  DeviceArray<float> coefficients_, partials_;
};

}  // namespace hone::gnn::cuda
