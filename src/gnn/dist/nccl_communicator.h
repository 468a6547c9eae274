// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums and gathers between the GPUs of a run's ranks with NCCL, which is loaded at run time. The rules of
// GradientExchange apply.
//
// The order of a sum is NCCL's own. It depends on the number of ranks and on the links between them. On one machine a
// run repeats to the bit; with another number of GPUs, results agree to rounding. If bits must not depend on that
// number, use AllGather: every rank then has the parts, and adds them in its own fixed order (shard_sum.h, TreeNodes).
//
// NVLink multicast stays off: the caller sets NCCL_NVLS_ENABLE=0 in the environment before the first communicator,
// unless the user has set it (libraries do not change the environment).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gnn/dist/gradient_exchange.h"

namespace hone::gnn {

class NcclCommunicator : public GradientExchange {
 public:
  virtual std::string version() const = 0;  // version of the library: "2.28.9"
  // Computes out = the sum of all ranks' `in`. Both are device memory, and may be the same buffer.
  virtual Status AllReduceSum(const void* in, void* out, int64_t count, DeviceElement element, CUstream_st* stream) = 0;
  // Copies `buffer` of rank `root` to every rank.
  virtual Status Broadcast(void* buffer, int64_t count, DeviceElement element, int root, CUstream_st* stream) = 0;
};

// Makes a communicator. Collective: every rank of `group` calls it, having chosen its device (cudaSetDevice). The
// unique id travels through the group's store; the group's watchdog polls and aborts the communicator. `library`: a
// path; empty: libnccl.so.2 as the system finds it. kUnavailable: no library, or too old; kDevice: NCCL's text.
Result<std::shared_ptr<NcclCommunicator>> MakeNcclCommunicator(ProcessGroup& group, const std::string& library = {});

// Returns the version of `library`, "2.28.9", loading it as for a communicator, with the same errors.
Result<std::string> NcclVersion(const std::string& library = {});

}  // namespace hone::gnn
