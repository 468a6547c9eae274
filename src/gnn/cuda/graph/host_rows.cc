// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/graph/host_rows.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/process/cgroup_limits.h"
#include "gnn/cuda/base/peer_sockets.h"
#include "gnn/dist/agreement.h"
#include "gnn/dist/socket.h"
#include "gnn/graph/parallel.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kPiece = int64_t{4} << 20;  // bytes that one thread writes at a time: a few huge pages
constexpr int64_t kBounce = int64_t{64} << 20;

// Calls work(first, end) for pieces of [0, bytes) on several threads.
template <typename Work>
void InPieces(int64_t bytes, int threads, const Work& work) {
  ParallelPieces(ThreadCount(threads), (bytes + kPiece - 1) / kPiece,
                 [&](int64_t piece) { work(piece * kPiece, std::min(bytes, (piece + 1) * kPiece)); });
}

// Returns whether kernels may read managed memory in place while the host reads it too.
Result<bool> ReadsManagedInPlace(int* device) {
  HONE_CUDA_RETURN_IF_ERROR(cudaGetDevice(device));
  int concurrent = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, *device));
  return concurrent != 0;
}

cudaError_t AdviseMemory(void* memory, size_t bytes, cudaMemoryAdvise advice, bool host, int device) {
#if CUDART_VERSION >= 13000
  return cudaMemAdvise(memory, bytes, advice,
                       host ? cudaMemLocation{cudaMemLocationTypeHost, 0} : cudaMemLocation{cudaMemLocationTypeDevice, device});
#else
  return cudaMemAdvise(memory, bytes, advice, host ? cudaCpuDeviceId : device);
#endif
}

std::string ThisHost() {
  const Result<std::string> boot = ReadFile("/proc/sys/kernel/random/boot_id");  // one per machine
  return boot.ok() && !boot->empty() ? *boot : HostName();
}

std::string Gigabytes(int64_t bytes) { return fmt::format("{:.2f} GB", static_cast<double>(bytes) * 1e-9); }

Status NoRoom(const HostRowsPlan& plan) {
  return Status::ResourceExhausted(
      fmt::format("features in the host's memory need {} of it, and {} may be taken: keep them on the GPU or over the ranks' "
                  "GPUs (--features device or peers), or take a smaller graph",
                  Gigabytes(plan.needed), Gigabytes(plan.available)));
}

}  // namespace

void HostRows::Close() {
  if (std::byte* const rows = std::exchange(managed_, nullptr); rows != nullptr) cudaFree(rows);
  if (std::byte* const rows = std::exchange(registered_, nullptr); rows != nullptr) cudaHostUnregister(rows);
  if (std::byte* const rows = std::exchange(copy_, nullptr); rows != nullptr) cudaFreeHost(rows);
  for (std::unique_ptr<PinnedBytes>& buffer : bounce_) buffer.reset();
  own_ = MemoryRegion();
  device_ = nullptr;
  share_ = {};
  ranks_ = nullptr;
}

Status HostRows::SetDeviceAddress(std::byte* rows) {
  void* device = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(&device, rows, 0));
  device_ = device;
  return Status::Ok();
}

Status HostRows::AllocateManaged(int64_t bytes) {
  int device = 0;
  HONE_ASSIGN_OR_RETURN(const bool in_place, ReadsManagedInPlace(&device));
  if (!in_place) return Status::Unavailable("this device does not read managed memory in place");
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* memory = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(cudaMallocManaged(&memory, size, cudaMemAttachGlobal));
  managed_ = static_cast<std::byte*>(memory);
  bytes_ = static_cast<int64_t>(size);
  HONE_CUDA_RETURN_IF_ERROR(AdviseMemory(memory, size, cudaMemAdviseSetPreferredLocation, true, device));
  return Status::Ok();
}

HostRowsPlan PlanHostRows(int64_t bytes, int ranks, int64_t available) {
  const int64_t room = bytes + bytes / 8;
  HostRowsPlan plan;
  plan.available = available;
  plan.managed = ranks * room <= available;
  plan.needed = (plan.managed ? ranks : 1) * bytes;
  plan.fits = plan.managed || room <= available;
  return plan;
}

// Makes the same plan on all ranks of a host, from the smallest amount of memory that any of them sees. *one_host:
// whether all ranks are on this host.
Result<HostRowsPlan> HostRows::PlanOverRanks(int64_t bytes, const HostRowsOptions& options, bool* one_host) const {
  int64_t available = AvailableMemoryBytes();
  if (options.most_bytes > 0) available = std::min(available, options.most_bytes);
  *one_host = true;
  if (options.ranks == nullptr) return PlanHostRows(bytes, 1, available);
  // This is measured before any rank allocates, because no rank returns from the gather until all have reported.
  const std::string host = ThisHost();
  HONE_ASSIGN_OR_RETURN(
      const std::vector<std::string> plan_texts,
      options.ranks->AllGather("room for features on the host", host + " " + std::to_string(available)));
  int ranks_here = 0;
  for (const std::string& reported : plan_texts) {
    if (!reported.starts_with(host + " ")) continue;
    ++ranks_here;
    available = std::min<int64_t>(available, std::stoll(reported.substr(host.size() + 1)));
  }
  *one_host = ranks_here == options.ranks->size();
  HostRowsPlan plan = PlanHostRows(bytes, ranks_here, available);
  if (!*one_host && ranks_here > 1 && !plan.managed) {  // a shared segment does not work across hosts
    plan.needed = ranks_here * bytes;
    plan.fits = false;
  }
  return plan;
}

// Allocates managed memory on every rank, or on none.
Result<bool> HostRows::AllocateManagedOnAll(int64_t bytes, const HostRowsOptions& options) {
  double refused = AllocateManaged(bytes).ok() ? 0 : 1;
  cudaGetLastError();  // clears the error: the caller then uses another kind of memory
  if (options.ranks != nullptr) {
    HONE_RETURN_IF_ERROR(options.ranks->AllReduceSum("managed memory", std::span(&refused, 1)));
  }
  if (refused == 0) return true;
  Close();
  return false;
}

// Opens a segment that rank 0 makes and all ranks map.
Status HostRows::OpenShared(int64_t bytes, Communicator& ranks) {
  UniqueFd own_fd;
  const auto make = [&]() -> Status {
    if (ranks.rank() != 0) return Status::Ok();
    own_fd = UniqueFd(memfd_create("hone features", MFD_CLOEXEC));
    if (!own_fd.valid()) return Status::Io(ErrnoMessage("make", "shared memory for features", errno));
    if (ftruncate(own_fd.get(), bytes) == 0) return Status::Ok();
    return Status::ResourceExhausted(ErrnoMessage("make room in", "shared memory for features", errno));
  };
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "shared memory for features", make()));
  HONE_ASSIGN_OR_RETURN(PeerSockets sockets, PeerSockets::Connect(ranks));
  const int sent = own_fd.get();
  HONE_ASSIGN_OR_RETURN(std::vector<std::vector<UniqueFd>> received,
                        sockets.Exchange(ranks.rank() == 0 ? std::span(&sent, 1) : std::span<const int>()));
  const auto map = [&]() -> Status {
    if (ranks.rank() != 0) {
      if (received[0].size() != 1) return Status::Internal("rank 0 sent no shared memory");
      own_fd = std::move(received[0][0]);
    }
    HONE_ASSIGN_OR_RETURN(own_, MemoryRegion::Shared(own_fd.get(), bytes, "features in the host's memory"));
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "shared memory for features", map()));
  bytes_ = bytes;
  share_ = {ranks.rank(), ranks.size()};
  ranks_ = &ranks;
  return Status::Ok();
}

Status HostRows::Allocate(int64_t bytes, const HostRowsOptions& options) {
  Close();
  threads_ = options.threads;
  bytes = std::max<int64_t>(bytes, 1);
  bool one_host = true;
  HONE_ASSIGN_OR_RETURN(const HostRowsPlan plan, PlanOverRanks(bytes, options, &one_host));
  const bool several = options.ranks != nullptr && options.ranks->size() > 1;
  // A single rank tries even if the plan says that there is too little, because the available memory is only an
  // estimate.
  if (plan.managed || !several) {
    HONE_ASSIGN_OR_RETURN(const bool managed, AllocateManagedOnAll(bytes, options));
    if (managed) return Status::Ok();
  }
  if (several && !plan.fits) return NoRoom(plan);
  if (several && one_host) return OpenShared(bytes, *options.ranks);
  HONE_ASSIGN_OR_RETURN(own_, MemoryRegion::Anonymous(bytes, "features in the host's memory"));
  bytes_ = bytes;
  return Status::Ok();
}

void HostRows::CreatePages() {
  InPieces(bytes_, threads_, [&](int64_t first, int64_t end) {
    for (int64_t at = first; at < end; at += 4096) own()[at] = std::byte{0};
  });
}

Status HostRows::FillFromDevice(int64_t at, const unsigned char* device, int64_t bytes) {
  Stream stream;
  HONE_RETURN_IF_ERROR(stream.Make());
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
  for (std::unique_ptr<PinnedBytes>& buffer : bounce_) {
    if (buffer != nullptr) continue;
    buffer = std::make_unique<PinnedBytes>();
    HONE_RETURN_IF_ERROR(buffer->Make(static_cast<size_t>(kBounce)));
  }
  // One piece is in transit from the device while threads write the previous piece to its place.
  const auto begin = [&](int64_t first) -> Status {
    HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(bounce_[static_cast<size_t>(first / kBounce % 2)]->get(), device + first,
                                              static_cast<size_t>(std::min(kBounce, bytes - first)),
                                              cudaMemcpyDeviceToHost, stream.handle));
    return Status::Ok();
  };
  if (bytes > 0) HONE_RETURN_IF_ERROR(begin(0));
  for (int64_t first = 0; first < bytes; first += kBounce) {
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.handle));
    if (first + kBounce < bytes) HONE_RETURN_IF_ERROR(begin(first + kBounce));
    const unsigned char* const from = bounce_[static_cast<size_t>(first / kBounce % 2)]->get();
    InPieces(std::min(kBounce, bytes - first), threads_, [&](int64_t piece, int64_t end) {
      std::memcpy(own() + at + first + piece, from + piece, static_cast<size_t>(end - piece));
    });
  }
  return Status::Ok();
}

Status HostRows::Ready(const Status& filled) {
  for (std::unique_ptr<PinnedBytes>& buffer : bounce_) buffer.reset();
  if (shared()) {
    Communicator& ranks = *std::exchange(ranks_, nullptr);
    HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "features in the host's memory", filled));
  }
  HONE_RETURN_IF_ERROR(filled);
  if (managed_ != nullptr) {
    int device = 0;
    HONE_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
    HONE_CUDA_RETURN_IF_ERROR(
        AdviseMemory(managed_, static_cast<size_t>(bytes_), cudaMemAdviseSetAccessedBy, false, device));
    device_ = managed_;
    return Status::Ok();
  }
  HONE_RETURN_IF_ERROR(
      CudaStatus(cudaHostRegister(own_.data(), static_cast<size_t>(own_.size()), cudaHostRegisterMapped),
                 "cudaHostRegister")
          .WithContext(fmt::format("pinning {} bytes of features", own_.size())));
  registered_ = own_.data();
  return SetDeviceAddress(registered_);
}

Status HostRows::Open(const FeatureView& features, const HostRowsOptions& options) {
  Close();
  const int64_t size = features.num_rows * features.stride_bytes;
  const auto copy = [&](int64_t from, int64_t until) {
    InPieces(until - from, options.threads, [&](int64_t first, int64_t end) {
      std::memcpy(own() + from + first, features.rows + from + first, static_cast<size_t>(end - first));
    });
  };
  bool one_host = true;
  HONE_ASSIGN_OR_RETURN(const HostRowsPlan plan, PlanOverRanks(size, options, &one_host));
  if (plan.managed) {
    HONE_ASSIGN_OR_RETURN(const bool managed, AllocateManagedOnAll(size, options));
    if (managed) {
      copy(0, size);
      return Ready();
    }
  }
  if (options.ranks != nullptr && options.ranks->size() > 1 && one_host && plan.fits) {
    HONE_RETURN_IF_ERROR(OpenShared(size, *options.ranks));
    copy(share_.Begin(size), share_.End(size));
    return Ready();
  }
  const auto bytes = static_cast<size_t>(size);
  auto* rows = const_cast<std::byte*>(features.rows);  // never written: kernels read it as const
  if (cudaHostRegister(rows, bytes, cudaHostRegisterMapped) == cudaSuccess) {
    registered_ = rows;
  } else {
    cudaGetLastError();
    void* pinned = nullptr;
    HONE_RETURN_IF_ERROR(
        CudaStatus(cudaHostAlloc(&pinned, bytes, cudaHostAllocMapped), "cudaHostAlloc")
            .WithContext(fmt::format("a pinned copy of {} bytes of features, which could not be registered", bytes)));
    copy_ = static_cast<std::byte*>(pinned);
    std::memcpy(copy_, rows, bytes);
    rows = copy_;
  }
  return SetDeviceAddress(rows);
}

}  // namespace hone::gnn::cuda
