// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The library calls of a plan on a GPU: matrix products by cuBLASLt, which is loaded at run time, when a plan first
// asks for it.
//
// A product is chosen by the library's own heuristics for the sizes, the dtype and the alignment of the addresses at
// hand; a plan's `algorithm` takes a later one of its list. float32 is computed in float32, never in TF32. The
// library's scratch memory is the session's, at an address that no candidate is told.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "tuner/device/cuda/cuda_context.h"

namespace hone {

// The device addresses of a product's operands, offsets included; `bias` is 0 where there is none.
struct MatmulAddresses {
  CUdeviceptr a = 0, b = 0, bias = 0, out = 0;
};

// One product with its addresses, ready to be enqueued any number of times. Must not outlive the LibraryCalls that made
// it.
class PreparedCall {
 public:
  virtual ~PreparedCall() = default;
  // Enqueues on the stream, which may be capturing. What the library refuses comes back as the driver's error of the
  // nearest meaning.
  virtual CUresult Enqueue(CUstream stream) const = 0;
  virtual std::string Describe() const = 0;
};

// Used by the thread of its session alone.
class LibraryCalls {
 public:
  virtual ~LibraryCalls() = default;
  // The first product of its kind is also run once, on memory of its own, and waited for: the library loads its kernels
  // then, which it could neither do while the stream is captured nor while a kernel waits at a gate. No launch may be
  // under way. kUnavailable: there is no cuBLASLt, with the remedy. kResourceExhausted: no such algorithm, or no memory
  // for that one run. kInvalidArgument: the library computes no such product.
  virtual Result<std::shared_ptr<const PreparedCall>> Prepare(const ResolvedMatmul& call,
                                                              const MatmulAddresses& addresses) = 0;
};

// Loads nothing yet.
std::unique_ptr<LibraryCalls> MakeLibraryCalls(std::shared_ptr<CudaContext> context);

}  // namespace hone
