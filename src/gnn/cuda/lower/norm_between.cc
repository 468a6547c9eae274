// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/lower/norm_between.h"

namespace hone::gnn::cuda {

NormPlaces PlaceNorm(ParameterLayout& layout, const std::string& name, int64_t width) {
  NormPlaces places;
  places.weight = layout.ReserveVector(name + "weight", width);
  places.bias = layout.ReserveVector(name + "bias", width);
  places.running_mean = layout.ReserveVector(name + "running_mean", width, /*buffer=*/true);
  places.running_variance = layout.ReserveVector(name + "running_var", width, /*buffer=*/true);
  places.batches = layout.ReserveVector(name + "num_batches_tracked", 1, /*buffer=*/true);
  return places;
}

NormOnDevice NormAt(const DeviceParameters& parameters, const NormPlaces& places, const float* linear_bias) {
  return {parameters.master() + places.weight,
          parameters.master() + places.bias,
          linear_bias,
          parameters.buffers() + places.running_mean,
          parameters.buffers() + places.running_variance,
          parameters.buffers() + places.batches};
}

Status NormBetween::Make(const ProgramContext& context, const Envelope& envelope, int layer, int64_t width,
                         const NormPlaces& places, const Between& between) {
  context_ = &context;
  places_ = places;
  between_ = between;
  trains_ = envelope.trains;
  hop_ = envelope.HopOf(layer);
  padded_rows_ = static_cast<int32_t>(envelope.Rows(layer));
  width_ = static_cast<int32_t>(width);
  HONE_RETURN_IF_ERROR(rows_.Allocate(padded_rows_ * width * ElementBytes(context.element)));
  HONE_RETURN_IF_ERROR(coefficients_.Allocate(kCoefficientArrays * width));
  return partials_.Allocate(trains_ ? ColumnPartials(padded_rows_, width_) : 0);
}

Status NormBetween::EnqueueForward(const BatchOnDevice& batch, const void* x, cudaStream_t stream) const {
  const ColumnCoefficients coefficients = CoefficientsIn(coefficients_.get(), width_);
  HONE_CUDA_RETURN_IF_ERROR(EnqueueNormBetween(Rows(batch), context_->element, x,
                                               NormAt(*context_->parameters, places_), trains_, coefficients, between_,
                                               {.y = rows_.get()}, partials_.get(), stream));
  return Status::Ok();
}

Status NormBetween::EnqueueBackward(const BatchOnDevice& batch, const void* x, void* grad, cudaStream_t stream) const {
  float* gradient = context_->parameters->gradient();
  HONE_CUDA_RETURN_IF_ERROR(EnqueueBetweenBackward(
      Rows(batch), context_->element, x, NormAt(*context_->parameters, places_),
      CoefficientsIn(coefficients_.get(), width_), between_, grad, grad,
      {.weight = gradient + places_.weight, .bias = gradient + places_.bias}, partials_.get(), stream));
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
