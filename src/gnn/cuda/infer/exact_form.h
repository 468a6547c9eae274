// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What exact inference asks of a model: passes over the graph, each of which maps a table of all nodes' rows to the
// next one, a block of rows at a time.
//
// The caller (exact_inference.cc) owns the graph, the tables and the blocks of logits, and decides which rows are
// computed; a form owns weights and the working memory of one block. There are two: the published models', which fold
// what they can (exact_layers.h), and that of any spec (exact_spec.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "gnn/cuda/infer/exact_kernels.h"
#include "gnn/cuda/kernels/matmul.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

// Bytes of device memory that a form takes, known before anything is allocated.
struct ExactRoom {
  int64_t fixed = 0;        // weights
  int64_t a_node = 0;       // for each node of the graph
  int64_t a_block_row = 0;  // for each row of a block
  int64_t a_piece = 0;      // for each piece of a block's long rows
};

struct ExactBuffers {
  int64_t nodes = 0, block_rows = 0, product_rows = 0, pieces = 0;
  MatmulLibrary* matmuls = nullptr;  // outlives the form
};

// The input of a pass, the same for all of its blocks.
struct ExactInput {
  RowTable rows;
  Element element = Element::kBFloat16;
  const int64_t* row_offsets = nullptr;  // the graph's row offsets, on the device
  int64_t num_nodes = 0;
};

// A block of a pass.
struct ExactBlock {
  BlockRows rows;
  LongRows long_rows = {};
  // Where the rows go; not of the last pass. `first` is the block's first row in device memory where its rows are
  // neighbors there; otherwise null, and rows go to the table one by one.
  RowTable out = {};
  unsigned char* first = nullptr;
  // Results of the last pass: the logits without padding, and the class of each row's largest logit.
  float* logits = nullptr;       // [rows, classes]
  int32_t* predicted = nullptr;  // [rows]
  RowTable sums = {};            // the partial logits of all nodes, where the form has some
};

class ExactForm {
 public:
  virtual ~ExactForm() = default;
  virtual size_t passes() const = 0;
  virtual std::string NameOf(size_t pass) const = 0;  // for progress: "layer 1"
  // Bytes of a row of the table that `pass` reads; `pass` > 0, for the first one reads the features.
  virtual int64_t RowBytes(size_t pass) const = 0;
  virtual int64_t SumsRowBytes() const { return 0; }  // bytes of a row of partial logits; 0: there are none
  virtual ExactRoom Room() const = 0;
  virtual Status Allocate(const ExactBuffers& buffers) = 0;
  // All work is enqueued on `stream`. A pass's blocks follow its BeginPass.
  virtual Status BeginPass(size_t pass, const ExactInput& input, cudaStream_t stream) = 0;
  virtual Status EnqueueBlock(size_t pass, const ExactInput& input, const ExactBlock& block, cudaStream_t stream) = 0;
};

}  // namespace hone::gnn::cuda
