// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/infer/exact_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "gnn/cuda/base/device_parameters.h"
#include "gnn/ops/batch_norm.h"

namespace hone::gnn::cuda {
namespace {

size_t AsIndex(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

ExactPacker::ExactPacker(Model<float>& model, ExactWeights& to) : to_(to) {
  for (const Parameter<float>* parameter : model.parameters()) tensors_[parameter->name] = &parameter->value;
}

const std::vector<float>& ExactPacker::Tensor(const std::string& name, int64_t size) {
  static const std::vector<float> none;
  const auto found = tensors_.find(name);
  if (found != tensors_.end() && static_cast<int64_t>(found->second->size()) == size) return *found->second;
  if (status_.ok()) {
    status_ =
        Status::InvalidArgument(found == tensors_.end() ? "the model has no tensor '" + name + "'"
                                                        : fmt::format("tensor '{}' has {} values where {} are expected",
                                                                      name, found->second->size(), size));
  }
  return none;
}

int64_t ExactPacker::Reserve(std::vector<float>& pool, int64_t count) {
  const auto at = static_cast<int64_t>(pool.size());
  pool.resize(AsIndex(at + RoundUp<int64_t>(count, 64)), 0.0f);
  return at;
}

void ExactPacker::Put(const std::vector<float>& tensor, int64_t rows, int64_t cols, int64_t tensor_stride, int64_t at,
                      int64_t stride) {
  for (int64_t r = 0; r < rows && ok(); ++r) {
    std::copy_n(tensor.begin() + r * tensor_stride, cols, to_.weights.begin() + at + r * stride);
  }
}

int64_t ExactPacker::Vector(const std::string& name, int64_t size) {
  const std::vector<float>& tensor = Tensor(name, size);
  const int64_t at = ReserveVectors(RoundUp<int64_t>(size, 8));
  if (ok()) std::copy(tensor.begin(), tensor.end(), to_.vectors.begin() + at);
  return at;
}

int64_t ExactPacker::Matrix(const std::string& name, int64_t out, int64_t in) {
  const int64_t stride = RoundUp<int64_t>(in, 8);
  const int64_t at = ReserveWeights(RoundUp<int64_t>(out, 8) * stride);
  Put(Tensor(name, out * in), out, in, in, at, stride);
  return at;
}

ExactNorm ExactPacker::Normalisation(const std::string& prefix, const std::string& linear_bias, int64_t width) {
  ExactNorm norm;
  norm.shift = Vector(prefix + "bias", width);
  norm.mean = Vector(prefix + "running_mean", width);
  norm.scale = Vector(prefix + "weight", width);
  const std::vector<float>& variance = Tensor(prefix + "running_var", width);
  const std::vector<float>* bias = linear_bias.empty() ? nullptr : &Tensor(linear_bias, width);
  for (int64_t c = 0; c < width && ok(); ++c) {
    float& scale = to_.vectors[AsIndex(norm.scale + c)];
    scale = static_cast<float>(static_cast<double>(scale) /
                               std::sqrt(static_cast<double>(variance[AsIndex(c)]) + kBatchNormEpsilon));
    if (bias != nullptr) to_.vectors[AsIndex(norm.mean + c)] -= (*bias)[AsIndex(c)];
  }
  return norm;
}

ExactAttention ExactPacker::Attention(const std::string& prefix, int64_t in, int64_t width, int64_t heads,
                                      bool concatenate) {
  ExactAttention packed;
  packed.in = RoundUp<int64_t>(in, 8);
  packed.out = RoundUp<int64_t>(concatenate ? heads * width : width, 8);
  const std::vector<float>& weight = Tensor(prefix + "lin.weight", heads * width * in);
  packed.folded = ReserveVectors(2 * heads * packed.in);
  for (int side = 0; side < 2; ++side) {
    const std::vector<float>& attention = Tensor(prefix + (side == 0 ? "att_src" : "att_dst"), heads * width);
    for (int64_t h = 0; h < heads && ok(); ++h) {
      for (int64_t f = 0; f < in; ++f) {
        double sum = 0;
        for (int64_t c = h * width; c < (h + 1) * width; ++c) {
          sum += static_cast<double>(attention[AsIndex(c)]) * static_cast<double>(weight[AsIndex(c * in + f)]);
        }
        to_.vectors[AsIndex(packed.folded + (side * heads + h) * packed.in + f)] = static_cast<float>(sum);
      }
    }
  }
  const int64_t stride = heads * packed.in;
  packed.weight = ReserveWeights(packed.out * stride);
  for (int64_t h = 0; h < heads && ok(); ++h) {
    for (int64_t c = 0; c < width; ++c) {
      const int64_t row = concatenate ? h * width + c : c;
      for (int64_t f = 0; f < in; ++f) {
        const float value = weight[AsIndex((h * width + c) * in + f)];
        to_.weights[AsIndex(packed.weight + row * stride + h * packed.in + f)] =
            concatenate ? value : value / static_cast<float>(heads);
      }
    }
  }
  return packed;
}

int64_t ExactProducts::Bytes(const ExactWeights& packed, Element element) {
  return static_cast<int64_t>(packed.weights.size()) * ElementBytes(element) +
         static_cast<int64_t>(packed.vectors.size()) * 4;
}

Status ExactProducts::Make(const ExactWeights& packed, Element element, int64_t product_rows, MatmulLibrary& matmuls) {
  element_ = element;
  product_rows_ = product_rows;
  matmuls_ = &matmuls;
  HONE_RETURN_IF_ERROR(vectors_.Upload(packed.vectors.data(), static_cast<int64_t>(packed.vectors.size())));
  const auto count = static_cast<int64_t>(packed.weights.size());
  if (element == Element::kFloat32) {
    return weights_.Upload(reinterpret_cast<const unsigned char*>(packed.weights.data()), count * 4);
  }
  std::vector<uint16_t> half_weights(packed.weights.size());
  for (size_t i = 0; i < half_weights.size(); ++i) {  // rounds to nearest, ties to even
    const auto bits = std::bit_cast<uint32_t>(packed.weights[i]);
    half_weights[i] = static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  return weights_.Upload(reinterpret_cast<const unsigned char*>(half_weights.data()), count * 2);
}

Status ExactProducts::Enqueue(int64_t rows, int64_t in, int64_t out, int64_t weight, Element result, const void* from,
                              void* to, cudaStream_t stream) {
  std::unique_ptr<Matmul>& plan = plans_[{in, out, result}];
  if (plan == nullptr) {
    HONE_ASSIGN_OR_RETURN(
        plan, matmuls_->Plan({product_rows_, out, in, /*transpose_a=*/false, /*transpose_b=*/true, element_, result}));
  }
  const int64_t size = ElementBytes(element_);
  for (int64_t row = 0; row < rows; row += product_rows_) {
    HONE_RETURN_IF_ERROR(plan->Enqueue(static_cast<const unsigned char*>(from) + row * in * size,
                                       weights_.get() + weight * size,
                                       static_cast<unsigned char*>(to) + row * out * ElementBytes(result), stream));
  }
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
