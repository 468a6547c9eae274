// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a plan's library calls on a GPU: matrix products by cuBLASLt, convolutions by cuDNN. Each is loaded at run
// time, when a plan first uses it.
//
// The library's own heuristics choose an algorithm for the sizes, the dtype and the alignment of the addresses; a
// plan's `algorithm` selects a later one of their list. float32 is computed in float32, never in TF32. The session owns
// the library's scratch memory, at an address that candidates do not know.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "tuner/device/cuda/cuda_context.h"

namespace hone {

// Device addresses of a call's operands, offsets included; `bias` is 0 if there is none.
struct CallAddresses {
  CUdeviceptr a = 0, b = 0, bias = 0, out = 0;
};

// One call with its addresses, ready to be enqueued any number of times. Must not outlive the LibraryCalls that made
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
  // Prepares a call. The first one of its kind is also run once, on separate memory, and waited for: the library
  // then loads its kernels, which is impossible while the stream is captured or a kernel waits at a gate. No launch may
  // be under way. kUnavailable: the library is not there, with the remedy. kResourceExhausted: no such algorithm, or no
  // memory for that one run. kInvalidArgument: the library computes no such product or convolution.
  virtual Result<std::shared_ptr<const PreparedCall>> Prepare(const ResolvedCall& call,
                                                              const CallAddresses& addresses) = 0;
};

// Makes the object; libraries are loaded later.
std::unique_ptr<LibraryCalls> MakeLibraryCalls(std::shared_ptr<CudaContext> context);

// These functions make the calls of one library, for MakeLibraryCalls: matrix products, and convolutions.
std::unique_ptr<LibraryCalls> MakeMatmulCalls(std::shared_ptr<CudaContext> context);
std::unique_ptr<LibraryCalls> MakeConvolutionCalls(std::shared_ptr<CudaContext> context);

// Runs a call once and waits for it, so that the library loads its kernels. `enqueue` gets the address of
// `scratch_bytes` of memory, which are freed again. Errors as of LibraryCalls::Prepare.
Status WarmUpCall(CudaContext& context, const ResolvedCall& call, int64_t scratch_bytes,
                  const std::function<CUresult(CUdeviceptr)>& enqueue);

}  // namespace hone
