// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a plan's library calls on a GPU: matrix products by cuBLASLt, which is loaded at run time, when a plan first
// uses it.
//
// The library's own heuristics choose an algorithm for the sizes, the dtype and the alignment of the addresses; a
// plan's `algorithm` selects a later one of their list. float32 is computed in float32, never in TF32. The session owns
// the library's scratch memory, at an address that candidates do not know.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "tuner/device/cuda/cuda_context.h"

namespace hone {

// Device addresses of a product's operands, offsets included; `bias` is 0 if there is none.
struct MatmulAddresses {
  CUdeviceptr a = 0, b = 0, bias = 0, out = 0;
};

// One product with its addresses, ready to be enqueued any number of times. Must not outlive the LibraryCalls that made
// it.
class PreparedCall {
 public:
  virtual ~PreparedCall() = default;
  // Enqueues on the stream, which may be capturing. An error of the library is returned as the driver's error of the
  // nearest meaning.
  virtual CUresult Enqueue(CUstream stream) const = 0;
  virtual std::string Describe() const = 0;
};

// Only the session's thread may use this class.
class LibraryCalls {
 public:
  virtual ~LibraryCalls() = default;
  // Prepares a product. The first one of its kind is also run once, on separate memory, and waited for: the library
  // then loads its kernels, which is impossible while the stream is captured or a kernel waits at a gate. No launch may
  // be under way. kUnavailable: there is no cuBLASLt, with the remedy. kResourceExhausted: no such algorithm, or no
  // memory for that one run. kInvalidArgument: the library computes no such product.
  virtual Result<std::shared_ptr<const PreparedCall>> Prepare(const ResolvedMatmul& call,
                                                              const MatmulAddresses& addresses) = 0;
};

// Makes the object; the library is loaded later.
std::unique_ptr<LibraryCalls> MakeLibraryCalls(std::shared_ptr<CudaContext> context);

}  // namespace hone
