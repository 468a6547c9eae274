// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// NCCL's functions are declared here rather than included from nccl.h, which pulls in the CUDA headers: they are a C
// interface that has not changed since NCCL 2.4, and this file can be compiled and tested everywhere.
#include "gnn/dist/nccl_communicator.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace hone::gnn {
namespace {

constexpr double kIdSeconds = 120;  // time for rank 0 to make the unique id

using Comm = struct NcclCommOpaque*;
struct UniqueId {
  char bytes[128];
};
constexpr int kSuccess = 0, kInProgress = 7;  // ncclResult_t
constexpr int kSum = 0;  // ncclRedOp_t

// Returns NCCL's number of an element type (ncclDataType_t).
int TypeOf(DeviceElement element) {
  switch (element) {
    case DeviceElement::kUInt8:
      return 1;
    case DeviceElement::kInt32:
      return 2;
    case DeviceElement::kInt64:
      return 4;
    case DeviceElement::kFloat32:
      return 7;
    case DeviceElement::kFloat64:
      return 8;
  }
  return 7;
}

struct Functions {
  int (*get_version)(int*) = nullptr;
  int (*get_unique_id)(UniqueId*) = nullptr;
  int (*init_rank)(Comm*, int, UniqueId, int) = nullptr;
  int (*all_reduce)(const void*, void*, size_t, int, int, Comm, CUstream_st*) = nullptr;
  int (*all_gather)(const void*, void*, size_t, int, Comm, CUstream_st*) = nullptr;
  int (*broadcast)(const void*, void*, size_t, int, int, Comm, CUstream_st*) = nullptr;
  int (*async_error)(Comm, int*) = nullptr;
  int (*abort)(Comm) = nullptr;
  int (*destroy)(Comm) = nullptr;
  const char* (*error_string)(int) = nullptr;
  const char* (*last_error)(Comm) = nullptr;  // NCCL 2.13 and newer
  int version = 0;
};

// The library stays loaded: NCCL's threads outlive communicators.
Result<Functions> LoadFunctions(const std::string& library) {
  const char* name = library.empty() ? "libnccl.so.2" : library.c_str();
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return Status::Unavailable(
        fmt::format("NCCL, which several GPUs need, was not loaded ({}): install libnccl2 (NVIDIA's packages) or put "
                    "its folder into LD_LIBRARY_PATH",
                    why == nullptr ? name : why));
  }
  Functions f;
  std::string missing;
  const auto load = [&](auto& function, const char* symbol, bool required = true) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, symbol));
    if (function == nullptr && required && missing.empty()) missing = symbol;
  };
  load(f.get_version, "ncclGetVersion");
  load(f.get_unique_id, "ncclGetUniqueId");
  load(f.init_rank, "ncclCommInitRank");
  load(f.all_reduce, "ncclAllReduce");
  load(f.all_gather, "ncclAllGather");
  load(f.broadcast, "ncclBroadcast");
  load(f.async_error, "ncclCommGetAsyncError");
  load(f.abort, "ncclCommAbort");
  load(f.destroy, "ncclCommDestroy");
  load(f.error_string, "ncclGetErrorString");
  load(f.last_error, "ncclGetLastError", /*required=*/false);
  if (!missing.empty()) {
    return Status::Unavailable(fmt::format("'{}' lacks {}: NCCL 2.10 or newer is needed", name, missing));
  }
  if (f.get_version(&f.version) != kSuccess)
    return Status::Unavailable(fmt::format("'{}' does not tell its version", name));
  return f;
}

// Formats a version: 22809 is 2.28.9.
std::string VersionText(int version) { return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100); }

class LoadedCommunicator final : public NcclCommunicator {
 public:
  LoadedCommunicator(const Functions& functions, Comm comm, int rank, int size)
      : f_(functions), comm_(comm), rank_(rank), size_(size) {}
  ~LoadedCommunicator() override {
    if (comm_ != nullptr) f_.destroy(comm_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string version() const override {
    return VersionText(f_.version);
  }

  Status AllReduceSum(const void* in, void* out, int64_t count, DeviceElement element, CUstream_st* stream) override {
    return Call("ncclAllReduce", [&](Comm comm) {
      return f_.all_reduce(in, out, static_cast<size_t>(count), TypeOf(element), kSum, comm, stream);
    });
  }
  Status AllGather(const void* in, void* out, int64_t count, DeviceElement element, CUstream_st* stream) override {
    return Call("ncclAllGather", [&](Comm comm) {
      return f_.all_gather(in, out, static_cast<size_t>(count), TypeOf(element), comm, stream);
    });
  }
  Status Broadcast(void* buffer, int64_t count, DeviceElement element, int root, CUstream_st* stream) override {
    return Call("ncclBroadcast", [&](Comm comm) {
      return f_.broadcast(buffer, buffer, static_cast<size_t>(count), TypeOf(element), root, comm, stream);
    });
  }

  // Never waits: if the training thread is inside NCCL, that call will report the error.
  Status Poll() override {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || comm_ == nullptr || aborting_) return Status::Ok();
    int error = kSuccess;
    const int result = f_.async_error(comm_, &error);
    if (result != kSuccess) return Error("ncclCommGetAsyncError", result);
    return error == kSuccess || error == kInProgress ? Status::Ok() : Error("NCCL", error);
  }

  // Aborts the communicator. NCCL allows this while another thread is inside one of its calls, which then returns. Such
  // a call may hold the lock, so the lock is awaited only as long as a Poll takes.
  void Abort() override {
    if (aborting_.exchange(true)) return;
    std::unique_lock lock(mutex_, std::try_to_lock);
    for (int tries = 0; !lock && tries < 100; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      (void)lock.try_lock();
    }
    // The lock is released first: ncclCommAbort returns only once every CUDA graph that captured one of this
    // communicator's calls is destroyed, and the thread that destroys them must not wait here. New calls see
    // `aborting_`.
    if (lock) lock.unlock();
    f_.abort(comm_);
    lock.lock();
    comm_ = nullptr;
  }

 private:
  Status Error(const char* what, int code) const {
    const char* detail = f_.last_error != nullptr ? f_.last_error(comm_) : nullptr;
    return Status::Device(fmt::format("rank {}: {}: {}{}{}", rank_, what, f_.error_string(code),
                                      detail != nullptr && *detail != 0 ? ": " : "", detail != nullptr ? detail : ""));
  }

  template <typename Enqueue>
  Status Call(const char* what, const Enqueue& enqueue) {
    const std::lock_guard lock(mutex_);
    if (comm_ == nullptr || aborting_) return Status::Unavailable("the GPUs' communicator was aborted");
    const int result = enqueue(comm_);
    if (aborting_) return Status::Unavailable("the GPUs' communicator was aborted");
    return result == kSuccess || result == kInProgress ? Status::Ok() : Error(what, result);
  }

  const Functions f_;
  std::mutex mutex_;
  Comm comm_;
  std::atomic<bool> aborting_{false};
  const int rank_, size_;
};

}  // namespace

Result<std::string> NcclVersion(const std::string& library) {
  HONE_ASSIGN_OR_RETURN(const Functions functions, LoadFunctions(library));
  return VersionText(functions.version);
}

Result<std::shared_ptr<NcclCommunicator>> MakeNcclCommunicator(ProcessGroup& group, const std::string& library) {
  HONE_ASSIGN_OR_RETURN(const Functions functions, LoadFunctions(library));
  HONE_RETURN_IF_ERROR(group.communicator().Agree("the version of NCCL", static_cast<uint64_t>(functions.version)));
  UniqueId id{};
  const auto check = [&](const char* what, int result) {
    return result == kSuccess ? Status::Ok()
                              : Status::Device(fmt::format("{}: {}", what, functions.error_string(result)));
  };
  if (group.rank() == 0) HONE_RETURN_IF_ERROR(check("ncclGetUniqueId", functions.get_unique_id(&id)));
  if (group.size() > 1) {
    if (group.rank() == 0) HONE_RETURN_IF_ERROR(group.store()->Set("nccl", std::string(id.bytes, sizeof(id.bytes))));
    HONE_ASSIGN_OR_RETURN(const std::string bytes, group.store()->Get("nccl", kIdSeconds));
    if (bytes.size() != sizeof(id.bytes)) return Status::Internal("NCCL's unique id has the wrong size");
    std::copy(bytes.begin(), bytes.end(), id.bytes);
  }
  // This call returns when all ranks have called it. If a rank dies meanwhile, nothing wakes the call; the group's
  // grace time ends the process.
  Comm comm = nullptr;
  HONE_RETURN_IF_ERROR(check("ncclCommInitRank", functions.init_rank(&comm, group.size(), id, group.rank())));
  auto communicator = std::make_shared<LoadedCommunicator>(functions, comm, group.rank(), group.size());
  if (group.size() > 1) group.Watch(communicator);
  return std::shared_ptr<NcclCommunicator>(std::move(communicator));
}

}  // namespace hone::gnn
