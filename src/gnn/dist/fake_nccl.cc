// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library with NCCL's functions for tests without a GPU: "device" memory is host memory, and ranks are threads of one
// process. It checks its calls instead of exchanging data: a sum assumes that all ranks give the same values.
#include <atomic>
#include <cstddef>
#include <cstring>

namespace {
struct Comm {
  int ranks;
  std::atomic<bool> aborted{false};
};
std::atomic<int> g_async_error{0};
}  // namespace

extern "C" {

struct UniqueId {
  char bytes[128];
};

int ncclGetVersion(int* version) { return *version = 22809, 0; }
int ncclGetUniqueId(UniqueId* id) { return std::memset(id->bytes, 'u', sizeof(id->bytes)), 0; }
int ncclCommInitRank(void** comm, int ranks, UniqueId id, int rank) {
  for (const char byte : id.bytes) {
    if (byte != 'u') return 4;  // not the id that rank 0 made
  }
  if (rank < 0 || rank >= ranks) return 4;
  *comm = new Comm{ranks};
  return 0;
}
int ncclAllReduce(const void* in, void* out, size_t count, int type, int operation, void* comm, void* stream) {
  if (type != 7 || operation != 0 || stream == nullptr) return 4;
  const float ranks = static_cast<float>(static_cast<Comm*>(comm)->ranks);
  for (size_t i = 0; i < count; ++i) static_cast<float*>(out)[i] = ranks * static_cast<const float*>(in)[i];
  return 0;
}
int ncclAllGather(const void* in, void* out, size_t count, int type, void* comm, void* stream) {
  if (type != 2 || stream == nullptr) return 4;
  for (int r = 0; r < static_cast<Comm*>(comm)->ranks; ++r) {
    std::memcpy(static_cast<int*>(out) + static_cast<size_t>(r) * count, in, count * sizeof(int));
  }
  return 0;
}
int ncclBroadcast(const void*, void*, size_t, int type, int, void*, void*) { return type == 1 ? 0 : 4; }
int ncclCommGetAsyncError(void*, int* error) { return *error = g_async_error, 0; }
int ncclCommAbort(void* comm) { return static_cast<Comm*>(comm)->aborted = true, 0; }
int ncclCommDestroy(void* comm) { return delete static_cast<Comm*>(comm), 0; }
const char* ncclGetErrorString(int error) { return error == 6 ? "remote process exited" : "invalid argument"; }
const char* ncclGetLastError(void*) { return "the fake's own words"; }
void FakeNcclSetAsyncError(int error) { g_async_error = error; }
}
