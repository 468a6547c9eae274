// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A candidate's modules on the device: its kernels by name, and its globals with their initial image: constant memory too,
// which an ordinary store can change.
//
// Globals are put back before every launch, so that nothing a kernel keeps in one reaches the next launch. A module with
// writable memory that has no name, and so cannot be put back, is refused.
// Up to kHostImageBytes the pristine image is kept on the host, out of a kernel's reach; for globals that do not fit there a copy
// on the device serves.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/compiled_program.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/harness.h"
#include "tuner/device/cuda/sample_graph.h"
#include "tuner/device/device_session.h"

namespace hone {

// One kernel, as the driver knows it.
struct CudaKernel {
  std::string name;  // name expression
  CUfunction function = nullptr;
  std::vector<size_t> parameter_bytes;
  int registers = 0;
  int max_threads = 0;
  int64_t local_bytes = 0;
  int64_t static_shared_bytes = 0;
  int64_t dynamic_shared_allowed = 48 * 1024;  // raised on demand
};

class CudaProgram : public LoadedProgram {
 public:
  // A program the driver refuses is an outcome; a Status means that the device failed.
  struct Keeping {
    bool constants = true;     // constant memory is put back and compared like other globals
    bool surroundings = true;  // the pages that globals lie in are compared as a whole
  };
  // `graph`: the session's, which may come to hold functions of this program and is cleared when it goes.
  static Result<DeviceSession::LoadOutcome> Load(std::shared_ptr<CudaContext> context, std::shared_ptr<SampleGraph> graph,
                                                 Harness& harness, const CompiledProgram& compiled, const Keeping& keeping);
  ~CudaProgram() override;

  std::vector<KernelResources> Resources() const override;
  Result<int64_t> Occupancy(const std::string& kernel, const std::string& binding_key, int64_t block_threads,
                            int64_t shared_bytes) const override;
  int64_t WritableGlobalBytes() const override { return global_bytes_; }

  // nullptr when there is no such kernel.
  CudaKernel* Find(const std::string& kernel, const std::string& binding_key);
  const CudaContext* context() const { return context_.get(); }
  // Of one thread, over all kernels: what may be left behind in local memory.
  int64_t MostLocalBytes() const;

  Status RestoreGlobals(Harness& harness);        // enqueues
  // Takes down what the pages hold that the program's globals lie in: to the driver a variable is memory of its own, but a
  // kernel reaches from it whatever else lies there, which nobody clears. Enqueues. Right before a launch.
  Status MarkSurroundings(Harness& harness);
  // Whether a global is not what it was at first, or a page is not what it was when it was marked. Waits.
  Result<bool> GlobalsChanged(Harness& harness);

 private:
  CudaProgram(std::shared_ptr<CudaContext> context, std::shared_ptr<SampleGraph> graph, const Keeping& keeping)
      : context_(std::move(context)), graph_(std::move(graph)), keeping_(keeping) {}
  Result<LaunchOutcome> LoadModule(const std::string& key, const CompiledModule& module);
  Status FindGlobals(const std::vector<DeviceGlobal>& globals, CUmodule module);
  Status KeepGlobals(Harness& harness);

  struct Global {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    size_t image_offset = 0;  // of a large one, in the device's image: has the address's remainder modulo 16
  };

  std::shared_ptr<CudaContext> context_;
  std::shared_ptr<SampleGraph> graph_;
  Keeping keeping_;
  std::vector<CUmodule> modules_;
  std::map<std::pair<std::string, std::string>, CudaKernel> kernels_;  // by binding key and name expression
  std::vector<Global> found_;   // in the modules loaded so far, until they are kept
  int64_t global_bytes_ = 0;    // unreachable ones included
  std::vector<harness::GlobalPiece> pieces_;  // of what host_image_ holds
  std::vector<uint8_t> host_image_;
  std::vector<Global> large_;
  DeviceBlock device_image_;
  std::vector<uint64_t> pages_;  // that hold a global or constant memory
  DeviceBlock marks_;            // of each page before a launch, and after it
  uint64_t mark_secret_ = 0;     // 0: not marked
};

}  // namespace hone
