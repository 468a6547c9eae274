// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines what exact inference needs from a model: passes over the graph. A pass maps a table with the rows of all
// nodes to the next table, a block of rows at a time.
//
// The caller (exact_inference.cc) owns the graph, the tables and the blocks of logits, and decides which rows are
// computed. A form owns weights and the working memory of one block. There are two forms: one for the published models,
// which folds what it can (exact_layers.h), and one for any spec (exact_spec.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "gnn/cuda/infer/exact_kernels.h"
#include "gnn/cuda/kernels/matmul.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

// The bytes of device memory that a form takes, known before anything is allocated.
struct ExactRoom {
  int64_t fixed = 0;        // bytes of the weights
  int64_t a_node = 0;       // bytes for each node of the graph
  int64_t a_block_row = 0;  // bytes for each row of a block
  int64_t a_piece = 0;      // bytes for each piece of a block's long rows (exact_kernels.h)
};

// The numbers of nodes, rows and pieces for which a form allocates its memory.
struct ExactBuffers {
  int64_t nodes = 0, block_rows = 0, product_rows = 0, pieces = 0;
  MatmulLibrary* matmuls = nullptr;  // borrowed; must outlive the form
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
  // The rows of the next table, unless this is the last pass. If the block's rows are adjacent in device memory,
  // `first` is the first of them. Otherwise `first` is null, and each row is written to the table by itself.
  RowTable out = {};
  unsigned char* first = nullptr;
  // Results of the last pass: the logits without padding, and the class of each row's largest logit.
  float* logits = nullptr;       // [rows, classes]
  int32_t* predicted = nullptr;  // [rows]
  RowTable sums = {};            // partial logits of all nodes, if the form has some
};

class ExactForm {
 public:
  virtual ~ExactForm() = default;
  virtual size_t passes() const = 0;
  virtual std::string NameOf(size_t pass) const = 0;  // for progress: "layer 1"
  // Returns the bytes of a row of the table that `pass` reads. `pass` must be above 0: pass 0 reads the features.
  virtual int64_t RowBytes(size_t pass) const = 0;
  virtual int64_t SumsRowBytes() const { return 0; }  // bytes of a row of partial logits; 0: there are none
  virtual ExactRoom Room() const = 0;
  virtual Status Allocate(const ExactBuffers& buffers) = 0;
  // Both functions enqueue their work on `stream`. BeginPass comes before the blocks of its pass.
  virtual Status BeginPass(size_t pass, const ExactInput& input, cudaStream_t stream) = 0;
  virtual Status EnqueueBlock(size_t pass, const ExactInput& input, const ExactBlock& block, cudaStream_t stream) = 0;
};

}  // namespace hone::gnn::cuda
