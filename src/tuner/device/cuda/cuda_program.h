// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads a candidate's modules on the device: its kernels by name, and its globals with their initial image. These
// include constant memory, which an ordinary store can change.
//
// Globals are restored before every launch, so that nothing a kernel keeps in one reaches the next launch. A module
// with writable memory that has no name, and so cannot be restored, is refused.
// Up to kHostImageBytes the initial image is kept on the host, which kernels cannot access; larger globals have a copy
// on the device.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/program/compiled_program.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/harness/harness.h"
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
  // Options for restoring globals.
  struct Keeping {
    bool constants = true;     // restore and compare constant memory like other globals
    bool surroundings = true;  // compare the whole pages that contain globals
  };
  // Loads a program; one that the driver refuses is an outcome, and a Status means that the device failed. `graph`: the
  // session's, which may hold functions of this program and is cleared on its destruction.
  static Result<DeviceSession::LoadOutcome> Load(std::shared_ptr<CudaContext> context, std::shared_ptr<SampleGraph> graph,
                                                 Harness& harness, const CompiledProgram& compiled, const Keeping& keeping);
  ~CudaProgram() override;

  std::vector<KernelResources> Resources() const override;
  Result<int64_t> Occupancy(const std::string& kernel, const std::string& binding_key, int64_t block_threads,
                            int64_t shared_bytes) const override;
  int64_t WritableGlobalBytes() const override { return global_bytes_; }

  // Returns nullptr when there is no such kernel.
  CudaKernel* Find(const std::string& kernel, const std::string& binding_key);
  const CudaContext* context() const { return context_.get(); }
  // Returns the largest local memory of a thread over all kernels: values may remain there after a launch.
  int64_t MostLocalBytes() const;

  Status RestoreGlobals(Harness& harness);        // enqueues
  // Records the contents of the pages that contain the program's globals. The driver reports single variables, but a
  // kernel can also use the rest of their pages, which nothing clears. Enqueues. Call right before a launch.
  Status MarkSurroundings(Harness& harness);
  // Returns whether a global differs from its initial image, or a page from its recorded contents. Waits.
  Result<bool> GlobalsChanged(Harness& harness);

 private:
  CudaProgram(std::shared_ptr<CudaContext> context, std::shared_ptr<SampleGraph> graph, const Keeping& keeping)
      : context_(std::move(context)), graph_(std::move(graph)), keeping_(keeping) {}
  // Loads a compiled module, and finds its kernels and globals.
  Result<LaunchOutcome> LoadModule(const std::string& key, const CompiledModule& module);
  // Notes the addresses of the globals that a candidate could write.
  Status FindGlobals(const std::vector<DeviceGlobal>& globals, CUmodule module);
  // Keeps copies of the globals, on the host as far as its limit goes and then on the device, so that they can be
  // restored.
  Status KeepGlobals(Harness& harness);

  struct Global {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    size_t image_offset = 0;  // position of a large global in the device's image: congruent to its address modulo 16
  };

  std::shared_ptr<CudaContext> context_;
  std::shared_ptr<SampleGraph> graph_;
  Keeping keeping_;
  std::vector<CUmodule> modules_;
  std::map<std::pair<std::string, std::string>, CudaKernel> kernels_;  // keyed by binding key and name expression
  std::vector<Global> found_;   // globals of the modules loaded so far, until they are kept
  int64_t global_bytes_ = 0;    // bytes of writable globals, all modules together
  std::vector<harness::GlobalPiece> pieces_;  // pieces of host_image_
  std::vector<uint8_t> host_image_;
  std::vector<Global> large_;
  DeviceBlock device_image_;
  std::vector<uint64_t> pages_;  // addresses of pages that hold a global or constant memory
  DeviceBlock marks_;            // digests of each page before and after a launch
  uint64_t mark_secret_ = 0;     // 0: not marked
};

}  // namespace hone
