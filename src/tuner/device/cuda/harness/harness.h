// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls the trusted kernels (harness_kernels.cu), and owns the scratch memory that they need.
//
// Calls enqueue on the context's stream; those that return a value wait for it, the others return at once. A candidate
// shares the address space and may overwrite anything, so after each candidate tables and lists are sent again from the
// host (ForgetDeviceState), counters are zeroed right before the kernel that counts. Errors come from the device
// (kDevice). Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/harness/harness_element.h"
#include "tuner/device/cuda/memory/cuda_arena.h"
#include "tuner/device/device_session.h"

namespace hone {

class Harness {
 public:
  struct Places {
    int sm_count = 1;          // determines grid sizes
    int64_t l2_bytes = 0;      // determines the size of the flush
    int64_t shared_bytes = 0;  // largest dynamic shared memory of a block, in bytes
    uint64_t key = 0;          // secret for scrubbing memory and for marks
    // A memory checker watches the process (CudaSessionOptions::watched), and would instrument the harness's kernels
    // when they are loaded. They are then loaded at the first call that needs one (globals of a candidate do), a module
    // with one small kernel takes their place until then, and nothing can be timed: there is no memory to flush caches
    // with.
    bool watched = false;
  };
  static Result<std::unique_ptr<Harness>> Make(std::shared_ptr<CudaContext> context, const Places& places);
  ~Harness();

  // Overwrites the keys of digests, which the next candidate must not read. Enqueues.
  Status WipeKeys();
  // Marks the device's copies of host data as invalid, because a candidate ran.
  void ForgetDeviceState() { tables_sent_ = digest_keys_.sent = false; }

  // Draws a tensor's elements on the device.
  Status Draw(const DrawRequest& request);
  Status Poison(const TensorView& view);
  Status FillWith(const TensorView& view, const FillSpec& fill);
  Status Fill(uint64_t address, int64_t bytes, uint8_t value);
  // Copies slices of a tensor, one behind the other, into a dense one.
  Status Gather(const TensorView& source, const TensorView& destination, const std::vector<int64_t>& slices);
  // Compares an output with its reference, after unpacking it if an element holds two numbers.
  Result<Comparison> Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance);
  Result<std::vector<std::vector<uint64_t>>> Digest(const std::vector<TensorView>& views, uint64_t key);
  // Returns whether [a, a + bytes) differs from [b, b + bytes), or from zeros when b is 0.
  Result<bool> Differs(uint64_t a, uint64_t b, int64_t bytes);
  // Writes one keyed digest for each of `addresses`, of the `bytes` from there (whole words of eight bytes), to `marks`
  // on the device. Enqueues. Two marks under one secret are equal if digest::Canonical of both is. *secret: 0 is
  // replaced by the device's present secret, or by a new one.
  Status Mark(const std::vector<uint64_t>& addresses, int64_t bytes, CUdeviceptr marks, uint64_t* secret);
  Status FillGaps(const CudaArena& arena);
  // Returns the first damaged gap as a sentence; repairs all gaps when there is one.
  Result<std::optional<std::string>> CheckGaps(const CudaArena& arena);

  // PutGlobals copies an image on the host to device globals; TakeGlobals copies device globals into `*image`, whose
  // size is the sum of all pieces' sizes. Each takes a copy or two and one kernel, whatever the number of globals. In the driver
  // each variable is separate memory, and a copy per variable costs 2 to 8 us; headers of the C++ library bring 1300
  // variables.
  Status PutGlobals(const std::vector<harness::GlobalPiece>& pieces, const std::vector<uint8_t>& image);
  Status TakeGlobals(const std::vector<harness::GlobalPiece>& pieces, std::vector<uint8_t>* image);  // waits

  Status CopyFromHost(uint64_t address, const void* source, int64_t bytes);
  Status CopyToHost(void* destination, uint64_t address, int64_t bytes);  // waits
  Status CopyOnDevice(uint64_t destination, uint64_t source, int64_t bytes);

  // --- parts of a timed sample; all only enqueue ---
  // Overwrites the shared memory of every multiprocessor and, if `local_bytes` per thread is not 0, as much local
  // memory of every thread that can be resident: with random words, NaNs or plausible numbers in turn.
  Status Scrub(int64_t local_bytes);
  Status Flush();                                    // reads 3 x L2 of clean memory
  Status ReadRange(uint64_t address, int64_t bytes);  // reads whole 16-byte words inside the range
  // Reads a word of each page, so that addresses are translated as fast as for memory in use: the first access to a new
  // mapping is slower.
  Status TouchPages(const std::vector<harness::PageRun>& runs, uint64_t granule);
  Status Separator();
  // Watch sums the words of `views`, with keys that BeginWatch draws, into row 0 (enqueued right behind a timed
  // interval) or row 1 (enqueued when the device is idle). The rows differ if a view was still being written after the
  // interval. BeginWatch also makes room and loads the kernel, before a gate holds the stream.
  Status BeginWatch(size_t views);
  Status Watch(const std::vector<TensorView>& views, int row);
  Result<bool> WatchedChanged(size_t views);  // returns whether the two rows differ; waits
  Status Gate(unsigned expected);                    // holds the stream until OpenGate(expected), 20 ms at most
  void OpenGate(unsigned expected);
  Status Spin(double seconds);
  // Reads and writes this many bytes (rounded up to 16), cyclically through two regions: the floor. With `one_word`
  // each thread copies one 16-byte word, else up to four. Which variant is faster depends on the number of bytes.
  Status Stream(bool one_word, uint64_t source, int64_t source_bytes, uint64_t destination, int64_t destination_bytes,
                double read_bytes, double written_bytes);

 private:
  // Compares an output whose elements are numbers. `precision`: of the dtype that they were unpacked from, or have.
  Result<Comparison> CompareNumbers(const TensorView& output, uint64_t reference, const Tolerance& tolerance,
                                    const harness::Precision& precision);
  // Sets every element of the view, and the bytes between strided rows, to one pattern of the dtype's width.
  Status FillPattern(const TensorView& view, uint64_t pattern);
  Harness(std::shared_ptr<CudaContext> context, const Places& places);

  Status LoadKernels();
  Result<CUfunction> FindFunction(const std::string& name);
  template <typename... Args>
  Status Launch(const std::string& name, uint64_t blocks, unsigned threads, const Args&... args);
  template <typename... Args>
  Status LaunchShared(const std::string& name, uint64_t blocks, unsigned threads, int64_t shared_bytes, const Args&... args);
  // Returns device memory of at least `bytes` that the harness keeps for this purpose.
  Result<CUdeviceptr> ReserveScratch(DeviceBlock& block, int64_t bytes);
  Result<CUdeviceptr> SendList(DeviceBlock& block, const void* data, size_t bytes);
  Status SendTables();
  // The tables of values/slice_digest.h under one secret; `block` holds them while `sent`.
  struct DigestKeys {
    std::vector<uint64_t> tables;
    uint64_t secret = 0;
    bool sent = false;
    DeviceBlock block;
  };
  // Copies the tables of digest keys to the device, and returns their address.
  Result<CUdeviceptr> SendDigestKeys(uint64_t secret);
  // Enqueues the kernel that adds the digests of a tensor's slices to `sums`.
  Status EnqueueDigest(const TensorView& view, const harness::Layout& layout, CUdeviceptr keys, CUdeviceptr sums);
  uint64_t GridFor(uint64_t items, unsigned threads, unsigned blocks_per_sm) const;

  std::shared_ptr<CudaContext> context_;
  const CudaDriver& driver_;
  int sm_count_;
  int64_t flush_bytes_;
  int64_t shared_bytes_;
  uint64_t scrub_key_, mark_key_;
  uint64_t scrubs_ = 0;
  CUmodule module_ = nullptr, watched_module_ = nullptr;
  std::unordered_map<std::string, CUfunction> functions_;

  bool tables_sent_ = false;
  DigestKeys digest_keys_;
  uint64_t watch_secret_ = 0, watches_ = 0;
  DeviceBlock watched_, tables_, lists_, global_image_, slice_table_, sums_, counters_, flush_, sink_;
  PinnedBlock results_, gate_;
};

}  // namespace hone
