// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a registered operation of a spec on the GPU: holds the memory for the operation's DeviceOp and makes its calls
// (hone/gnn/op.h).
#pragma once

#include <memory>
#include <vector>

#include "gnn/cuda/lower/program.h"
#include "gnn/cuda/lower/spec_layout.h"
#include "hone/gnn/op.h"

namespace hone::gnn::cuda {

class SpecOwn {
 public:
  // Checks, before anything is allocated, that the operation has a form for a GPU. The error names the operation and
  // the remedy.
  static Status Check(const LoweredSpec& model, size_t u);

  // Borrows all arguments.
  Status Make(const ProgramContext& context, const Envelope& envelope, const LoweredSpec& model, size_t u);
  // Writes out [rows of the unit, its columns] from the operand's rows.
  Status EnqueueForward(const BatchOnDevice& batch, const void* rows, void* out, cudaStream_t stream) const;
  // Computes the parameters' gradients and, if it is not null, grad_rows from grad_out. grad_rows has `padded_rows`
  // rows; those past the batch's are zero.
  Status EnqueueBackward(const BatchOnDevice& batch, const void* rows, const void* grad_out, int32_t padded_rows,
                         void* grad_rows, cudaStream_t stream) const;

 private:
  const SpecUnit& unit() const { return model_->Unit(u_); }
  int operand_hop() const { return unit().hop + (unit().reads_hop ? 1 : 0); }
  bool reads_edges() const { return place_.edge_columns > 0; }
  DeviceOpCall Call(const BatchOnDevice& batch, cudaStream_t stream) const;
  DeviceRows Rows(const void* data, size_t u) const;

  const ProgramContext* context_ = nullptr;
  const LoweredSpec* model_ = nullptr;
  size_t u_ = 0;
  OpPlace place_;
  DeviceOpShape shape_;
  std::unique_ptr<DeviceOp> op_;
  std::vector<const float*> parameters_;
  std::vector<float*> gradients_;
  DeviceArray<unsigned char> saved_, workspace_;
  DeviceArray<float> edge_rows_;  // DeviceHop::edge_features, gathered by forward
};

}  // namespace hone::gnn::cuda
