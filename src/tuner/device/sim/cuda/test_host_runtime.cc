// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See test_host_runtime.h.
#include "tuner/device/sim/cuda/test_host_runtime.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/process/subprocess.h"
#include "tuner/device/sim/cuda/ptx_rewrite.h"
#include "tuner/device/sim/sim_abi.h"

namespace hone::testing {
namespace {

std::barrier<> g_meet(32);
std::array<std::array<unsigned char, 512>, 32> g_slots;
alignas(128) unsigned char g_shared[kSharedBytes];
std::atomic<uint64_t> g_multiply_adds{0};
thread_local uint32_t t_index[HONE_SIM_INDEX_COUNT];

// Copies every lane's `bytes` to all + lane * bytes.
void Gather(const void* mine, size_t bytes, void* all) {
  std::memcpy(g_slots[t_index[HONE_SIM_LANE]].data(), mine, bytes);
  g_meet.arrive_and_wait();
  for (size_t lane = 0; lane < 32; ++lane)
    std::memcpy(static_cast<char*>(all) + lane * bytes, g_slots[lane].data(), bytes);
  g_meet.arrive_and_wait();
}

template <typename T>
std::array<T, 32> All(T mine) {
  std::array<T, 32> value_of_lane;
  Gather(&mine, sizeof(T), value_of_lane.data());
  return value_of_lane;
}

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "device code under test: %s\n", what);
  std::abort();
}

}  // namespace

void RunWarp(const std::function<void()>& lane_function) {
  std::vector<std::thread> lanes;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    lanes.emplace_back([lane, &lane_function] {
      std::memset(t_index, 0, sizeof(t_index));
      t_index[HONE_SIM_THREAD_X] = t_index[HONE_SIM_LANE] = t_index[HONE_SIM_LINEAR_THREAD] = lane;
      t_index[HONE_SIM_BLOCK_DIM_X] = 32;
      t_index[HONE_SIM_BLOCK_DIM_Y] = t_index[HONE_SIM_BLOCK_DIM_Z] = 1;
      t_index[HONE_SIM_GRID_DIM_X] = t_index[HONE_SIM_GRID_DIM_Y] = t_index[HONE_SIM_GRID_DIM_Z] = 1;
      lane_function();
    });
  }
  for (std::thread& lane : lanes) lane.join();
}

unsigned char* SharedMemory() { return g_shared; }
uint64_t CountedMultiplyAdds() { return g_multiply_adds; }

Result<std::string> RunHostCompiler(const std::string& source, const std::vector<std::string>& flags) {
  const std::string simulator_folder = std::string(HONE_SOURCE_DIR) + "/src/tuner/device/sim";
  SubprocessOptions options;
  options.argv = {HONE_TEST_CXX,
                  "-x",
                  "c++",
                  "-std=c++17",
                  "-O2",
                  "-fno-tree-sra",
                  "-fno-strict-aliasing",
                  "-I" + simulator_folder + "/cuda",
                  "-I" + simulator_folder};
  options.argv.insert(options.argv.end(), flags.begin(), flags.end());
  options.argv.push_back("-");
  options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  options.stdin_text = source;
  options.limit_seconds = 120;
  options.max_stdout_bytes = 64 << 20;
  HONE_ASSIGN_OR_RETURN(const SubprocessResult result, RunSubprocess(options));
  if (!result.exit.success()) return Status::InvalidArgument(result.exit.Describe() + ": " + result.err);
  return result.out;
}

Result<std::unique_ptr<DeviceCode>> DeviceCode::Compile(const std::string& source) {
  HONE_ASSIGN_OR_RETURN(const std::string rewritten, RewriteInlinePtx(source));
  char path[] = "/tmp/hone-device-code-XXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0) return Status::Io("mkstemp failed");
  close(fd);
  const Result<std::string> compiled = RunHostCompiler("#include \"hone_cuda.h\"\n#line 1 \"test.cu\"\n" + rewritten,
                                                       {"-shared", "-fPIC", "-w", "-o", path});
  if (!compiled.ok()) {
    unlink(path);
    return compiled.status();
  }
  std::unique_ptr<DeviceCode> code(new DeviceCode);
  code->library_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  if (code->library_ == nullptr) return Status::Unavailable(dlerror());
  return code;
}

DeviceCode::~DeviceCode() {
  if (library_ != nullptr) dlclose(library_);
}

void* DeviceCode::Find(const char* name) const {
  void* const found = dlsym(library_, name);
  HONE_CHECK(found != nullptr, std::string("no function ") + name);
  return found;
}

}  // namespace hone::testing

using hone::testing::Die;

extern "C" {

uint32_t hone_sim_index(uint32_t which) { return hone::testing::t_index[which]; }
const uint32_t* hone_sim_thread(void) { return hone::testing::t_index; }
void hone_sim_syncthreads(void) { hone::testing::g_meet.arrive_and_wait(); }
void hone_sim_syncwarp(uint32_t) { hone::testing::g_meet.arrive_and_wait(); }
void hone_sim_grid_sync(void) { hone::testing::g_meet.arrive_and_wait(); }
int hone_sim_grid_is_cooperative(void) { return 1; }
int hone_sim_syncthreads_reduce(int kind, int predicate) {
  int count = 0;
  for (const int p : hone::testing::All(predicate)) count += p != 0;
  return kind == HONE_SIM_COUNT ? count : kind == HONE_SIM_AND ? count == 32 : count > 0;
}
void hone_sim_named_barrier(uint32_t, uint32_t, int wait) {
  if (wait) hone::testing::g_meet.arrive_and_wait();
}
uint64_t hone_sim_shuffle(int kind, uint32_t, uint64_t value, uint32_t argument, uint32_t width, int* in_range) {
  const auto all = hone::testing::All(value);
  const uint32_t lane = hone_sim_index(HONE_SIM_LANE), base = lane & ~(width - 1), rank = lane - base;
  uint32_t source = kind == HONE_SIM_SHUFFLE_INDEX  ? (argument & (width - 1))
                    : kind == HONE_SIM_SHUFFLE_UP   ? rank - argument
                    : kind == HONE_SIM_SHUFFLE_DOWN ? rank + argument
                                                    : rank ^ argument;
  const bool inside = source < width;
  if (in_range != nullptr) *in_range = inside;
  return all[base + (inside ? source : rank)];
}
uint32_t hone_sim_vote(int kind, uint32_t mask, int predicate) {
  uint32_t ballot = 0, lane = 0;
  for (const int p : hone::testing::All(predicate)) ballot |= static_cast<uint32_t>(p != 0) << lane++;
  ballot &= mask;
  if (kind == HONE_SIM_VOTE_BALLOT) return ballot;
  if (kind == HONE_SIM_VOTE_ALL) return ballot == mask;
  if (kind == HONE_SIM_VOTE_ANY) return ballot != 0;
  return ballot == mask || ballot == 0;
}
uint32_t hone_sim_match_any(uint32_t mask, uint64_t value) {
  uint32_t lanes_with_value = 0, lane = 0;
  for (const uint64_t v : hone::testing::All(value)) lanes_with_value |= static_cast<uint32_t>(v == value) << lane++;
  return lanes_with_value & mask;
}
uint32_t hone_sim_match_all(uint32_t mask, uint64_t value, int* all_equal) {
  const bool equal = hone_sim_match_any(mask, value) == mask;
  if (all_equal != nullptr) *all_equal = equal;
  return equal ? mask : 0;
}
uint32_t hone_sim_warp_reduce(int kind, uint32_t, uint32_t value) {
  const auto all = hone::testing::All(value);
  uint32_t r = all[0];
  for (size_t lane = 1; lane < 32; ++lane) {
    const uint32_t v = all[lane];
    switch (kind) {
      case HONE_SIM_REDUCE_ADD:
        r += v;
        break;
      case HONE_SIM_REDUCE_AND:
        r &= v;
        break;
      case HONE_SIM_REDUCE_OR:
        r |= v;
        break;
      case HONE_SIM_REDUCE_XOR:
        r ^= v;
        break;
      case HONE_SIM_REDUCE_MIN_U32:
        r = v < r ? v : r;
        break;
      case HONE_SIM_REDUCE_MAX_U32:
        r = v > r ? v : r;
        break;
      case HONE_SIM_REDUCE_MIN_S32:
        r = static_cast<int32_t>(v) < static_cast<int32_t>(r) ? v : r;
        break;
      default:
        r = static_cast<int32_t>(v) > static_cast<int32_t>(r) ? v : r;
        break;
    }
  }
  return r;
}
uint32_t hone_sim_activemask(void) { return ~0u; }
void hone_sim_warp_gather(uint32_t, uint32_t, const void* mine, size_t bytes, void* all) {
  hone::testing::Gather(mine, bytes, all);
}
void hone_sim_warp_apply(uint32_t, uint32_t, const void* mine, void* out, hone_sim_warp_function apply) {
  const auto from = hone::testing::All(mine);
  const auto to = hone::testing::All(out);
  if (hone_sim_index(HONE_SIM_LANE) == 0) apply(from.data(), to.data());
  hone::testing::g_meet.arrive_and_wait();
}
void hone_sim_fence(int) {}
void hone_sim_atomic(const volatile void*, uint32_t, int, int, int) {}
void hone_sim_access(const volatile void*, uint32_t, int) {}
void hone_sim_volatile(const volatile void*, uint32_t, int) {}
// Copies at once: visibility before the wait is tested with the real runtime.
void hone_sim_cp_async(void* to, const void* from, uint32_t bytes, uint32_t source_bytes) {
  std::memset(to, 0, bytes);
  std::memcpy(to, from, source_bytes);
}
void hone_sim_cp_async_commit(void) {}
void hone_sim_cp_async_wait(uint32_t) {}
void hone_sim_cp_async_wait_all(void) {}
void hone_sim_fence_proxy_async(void) {}
void hone_sim_wgmma_fence(void) {}
uint32_t hone_sim_wgmma_begin(void) { return hone::testing::kSharedBytes; }
void hone_sim_wgmma_read(const void*) {}
void hone_sim_wgmma_commit(void) {}
void hone_sim_wgmma_wait(uint32_t) {}
uint32_t hone_sim_to_shared(const void* generic) {
  return static_cast<uint32_t>(static_cast<const unsigned char*>(generic) - hone::testing::g_shared);
}
void* hone_sim_from_shared(uint32_t address) { return hone::testing::g_shared + address; }
int hone_sim_is_shared(const void* p) {
  return p >= hone::testing::g_shared && p < hone::testing::g_shared + hone::testing::kSharedBytes;
}
int hone_sim_is_global(const void* p) { return !hone_sim_is_shared(p); }
void hone_sim_count_mma(uint64_t multiply_adds) { hone::testing::g_multiply_adds += multiply_adds; }
void hone_sim_grid_dependency_wait(void) {}
uint64_t hone_sim_clock(void) { return 1; }
uint64_t hone_sim_globaltimer(void) { return 1; }
void hone_sim_nanosleep(uint32_t) {}
void hone_sim_trap(void) { Die("trap"); }
void hone_sim_assert_fail(const char* expression, const char*, uint32_t, const char*) { Die(expression); }
void hone_sim_unsupported(const char* what) { Die(what); }
const uint32_t hone_sim_displacement = 0;  // visible to others by its declaration in sim_abi.h

}  // extern "C"
