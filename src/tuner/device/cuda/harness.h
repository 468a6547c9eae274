// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted kernels (harness_kernels.cu) behind typed calls, with the scratch memory they need.
//
// Calls enqueue on the context's stream; those that return a value wait for it, the others return at once.
// A candidate shares the address space, so nothing the harness relies on survives one: tables and lists are
// sent again from the host (ForgetDeviceState), counters are zeroed right before the kernel that counts.
// Errors are the device's (kDevice). Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/device/cuda/cuda_arena.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/harness_element.h"
#include "tuner/device/device_session.h"

namespace hone {

class Harness {
 public:
  struct Places {
    int sm_count = 1;          // sizes grids
    int64_t l2_bytes = 0;      // sizes the flush
    int64_t shared_bytes = 0;  // the most a block may have
    uint64_t key = 0;          // secret: what memory is scrubbed with, and marks are made under
  };
  static Result<std::unique_ptr<Harness>> Make(std::shared_ptr<CudaContext> context, const Places& places);
  ~Harness();

  // Overwrites what a candidate that runs next may not read even if it found it: the keys of digests. Enqueues.
  Status WipeKeys();
  // The device's copies of host data can no longer be believed: a candidate ran.
  void ForgetDeviceState() { tables_sent_ = digest_keys_.sent = false; }

  Status Draw(const DrawRequest& request);
  Status Poison(const TensorView& view);
  Status FillWith(const TensorView& view, const FillSpec& fill);
  Status Fill(uint64_t address, int64_t bytes, uint8_t value);
  Status Gather(const TensorView& source, const TensorView& destination, const std::vector<int64_t>& slices);
  Result<Comparison> Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance);
  Result<std::vector<std::vector<uint64_t>>> Digest(const std::vector<TensorView>& views, uint64_t key);
  // Whether [a, a + bytes) differs from [b, b + bytes), or from zeros when b is 0.
  Result<bool> Differs(uint64_t a, uint64_t b, int64_t bytes);
  // One keyed digest of `bytes` from each address, of whole words of eight bytes, into `marks` on the device. Enqueues.
  // Two marks under one secret are of equal bytes where digest::Canonical of them is equal. secret: 0 becomes the one that
  // the device has already, or another.
  Status Mark(const std::vector<uint64_t>& addresses, int64_t bytes, CUdeviceptr marks, uint64_t* secret);
  Status FillGaps(const CudaArena& arena);
  // First damaged gap as a sentence; repairs all gaps when there is one.
  Result<std::optional<std::string>> CheckGaps(const CudaArena& arena);

  // Device globals from an image on the host, or back into one, which is as long as the pieces together: a copy or two and one
  // kernel for any number of them. A driver takes each variable for memory of its own, and a copy a variable costs 2 to 8 us;
  // headers of the C++ library bring 1300.
  Status PutGlobals(const std::vector<harness::GlobalPiece>& pieces, const std::vector<uint8_t>& image);
  Status TakeGlobals(const std::vector<harness::GlobalPiece>& pieces, std::vector<uint8_t>* image);  // waits

  Status CopyFromHost(uint64_t address, const void* source, int64_t bytes);
  Status CopyToHost(void* destination, uint64_t address, int64_t bytes);  // waits

  // --- what a timed sample is made of; all enqueue only ---
  // Overwrites the shared memory of every multiprocessor and, where `local_bytes` of a thread are not 0, as much local memory
  // of every thread that can be resident: with random words, NaNs or plausible numbers in turn.
  Status Scrub(int64_t local_bytes);
  Status Flush();                                    // reads 3 x L2 of clean memory
  Status Touch(uint64_t address, int64_t bytes);     // reads it, whole 16-byte words inside
  // Reads a word of each page, so that addresses are translated as quickly as those of memory in use. A fresh mapping's are not.
  Status TouchPages(const std::vector<harness::PageRun>& runs, uint64_t granule);
  Status Separator();
  Status Gate(unsigned expected);                    // holds the stream until OpenGate(expected), 20 ms at most
  void OpenGate(unsigned expected);
  Status Spin(double seconds);
  // Reads and writes so many bytes (rounded up to 16) cyclically through two regions: by threads of up to four words, or of one.
  // Which is faster depends on how many bytes.
  Status Stream(bool one_word, uint64_t source, int64_t source_bytes, uint64_t destination, int64_t destination_bytes,
                double read_bytes, double written_bytes);

 private:
  // Every element of the view, and what lies between strided rows, set to one pattern of the dtype's width.
  Status FillPattern(const TensorView& view, uint64_t pattern);
  Harness(std::shared_ptr<CudaContext> context, const Places& places);

  Result<CUfunction> Function(const std::string& name);
  template <typename... Args>
  Status Launch(const std::string& name, uint64_t blocks, unsigned threads, const Args&... args);
  template <typename... Args>
  Status LaunchShared(const std::string& name, uint64_t blocks, unsigned threads, int64_t shared_bytes, const Args&... args);
  // Device memory of at least `bytes` that stays with the harness under this purpose.
  Result<CUdeviceptr> Scratch(DeviceBlock& block, int64_t bytes);
  Result<CUdeviceptr> SendList(DeviceBlock& block, const void* data, size_t bytes);
  Status SendTables();
  // The tables of core/slice_digest.h under one secret; on the device while `sent`.
  struct DigestKeys {
    std::vector<uint64_t> tables;
    uint64_t secret = 0;
    bool sent = false;
    DeviceBlock block;
  };
  Result<CUdeviceptr> SendDigestKeys(uint64_t secret);
  Status EnqueueDigest(const TensorView& view, const harness::Layout& layout, CUdeviceptr keys, CUdeviceptr sums);
  uint64_t GridFor(uint64_t items, unsigned threads, unsigned blocks_per_sm) const;

  std::shared_ptr<CudaContext> context_;
  const CudaDriver& driver_;
  int sm_count_;
  int64_t flush_bytes_;
  int64_t shared_bytes_;
  uint64_t scrub_key_, mark_key_;
  uint64_t scrubs_ = 0;
  CUmodule module_ = nullptr;
  std::unordered_map<std::string, CUfunction> functions_;

  bool tables_sent_ = false;
  DigestKeys digest_keys_;
  DeviceBlock tables_, lists_, global_image_, slice_table_, sums_, counters_, flush_, sink_;
  PinnedBlock results_, gate_;
};

}  // namespace hone
