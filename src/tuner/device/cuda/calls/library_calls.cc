// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/calls/library_calls.h"

#include <fmt/format.h>

#include <utility>

namespace hone {
namespace {

constexpr double kWarmUpLimitSeconds = 60;  // limit on a library's first call, which may load code

class CallsByKind : public LibraryCalls {
 public:
  explicit CallsByKind(const std::shared_ptr<CudaContext>& context)
      : products_(MakeMatmulCalls(context)), convolutions_(MakeConvolutionCalls(context)) {}
  Result<std::shared_ptr<const PreparedCall>> Prepare(const ResolvedCall& call,
                                                      const CallAddresses& addresses) override {
    return (call.convolution ? convolutions_ : products_)->Prepare(call, addresses);
  }

 private:
  std::unique_ptr<LibraryCalls> products_, convolutions_;
};

}  // namespace

std::unique_ptr<LibraryCalls> MakeLibraryCalls(std::shared_ptr<CudaContext> context) {
  return std::make_unique<CallsByKind>(context);
}

Status WarmUpCall(CudaContext& context, const ResolvedCall& call, int64_t scratch_bytes,
                  const std::function<CUresult(CUdeviceptr)>& enqueue) {
  const Result<DeviceBlock> scratch = context.Allocate(scratch_bytes);
  if (!scratch.ok()) {
    return Status::ResourceExhausted(fmt::format("{}: no memory to run it once before it is timed: {}", call.Describe(),
                                                 scratch.status().message()));
  }
  HONE_RETURN_IF_ERROR(context.WaitForHarness("work before a library's first call"));
  const CUresult enqueued = enqueue(scratch->address());
  CUresult error = CUDA_SUCCESS;
  const WaitResult ended = context.Wait(kWarmUpLimitSeconds, &error);
  if (ended == WaitResult::kTimedOut) return Status::Device(call.Describe() + ": the library's first call did not end");
  if (ended == WaitResult::kFailed || enqueued != CUDA_SUCCESS) {
    return Status::InvalidArgument(fmt::format("{}: the library refused it: {}", call.Describe(),
                                               context.driver().Describe(enqueued != CUDA_SUCCESS ? enqueued : error)));
  }
  return Status::Ok();
}

}  // namespace hone
