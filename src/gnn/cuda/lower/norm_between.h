// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation, activation and dropout between two layers of GraphSAGE or GAT, as one piece of a program: what
// the next layer reads is written once, for a normalisation must have seen every row before it gives the first.
#pragma once

#include <string>

#include "gnn/cuda/kernels/norm_kernels.h"
#include "gnn/cuda/lower/program.h"

namespace hone::gnn::cuda {

// Where a normalisation lies in the flat parameters and buffers.
struct NormPlaces {
  int64_t weight = 0, bias = 0;
  int64_t running_mean = 0, running_variance = 0, batches = 0;
};
// "NAME" + weight, bias, running_mean, running_var, num_batches_tracked, each [width] but the last.
NormPlaces PlaceNorm(ParameterLayout& layout, const std::string& name, int64_t width);
// `linear_bias` of the Linear before it, in the flat parameters; null: none.
NormOnDevice NormAt(const DeviceParameters& parameters, const NormPlaces& places, const float* linear_bias = nullptr);

class NormBetween {
 public:
  // After layer `layer`, whose rows are `width` (padded) wide.
  Status Make(const ProgramContext& context, const Envelope& envelope, int layer, int64_t width,
              const NormPlaces& places, const Between& between);
  // rows() from x.
  Status EnqueueForward(const BatchOnDevice& batch, const void* x, cudaStream_t stream) const;
  // In place: from the gradient of rows() to that of x.
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
