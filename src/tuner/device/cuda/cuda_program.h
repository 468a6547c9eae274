// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A candidate's modules on the device: its kernels by name, and its writable globals with their initial image.
//
// Globals are put back before every launch, so that nothing a kernel keeps in one reaches the next launch. A module with
// writable memory that has no name, and so cannot be put back, is refused.
// Up to kHostImageBytes the pristine image is kept on the host, out of a kernel's reach; beyond that a copy on
// the device serves.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/compiled_program.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/global_runs.h"
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
  // `graph`: the session's, which may come to hold functions of this program and is cleared when it goes.
  static Result<DeviceSession::LoadOutcome> Load(std::shared_ptr<CudaContext> context, std::shared_ptr<SampleGraph> graph,
                                                 const CompiledProgram& compiled);
  ~CudaProgram() override;

  std::vector<KernelResources> Resources() const override;
  Result<int64_t> Occupancy(const std::string& kernel, const std::string& binding_key, int64_t block_threads,
                            int64_t shared_bytes) const override;
  int64_t WritableGlobalBytes() const override { return global_bytes_; }

  // nullptr when there is no such kernel.
  CudaKernel* Find(const std::string& kernel, const std::string& binding_key);
  const CudaContext* context() const { return context_.get(); }

  Status RestoreGlobals();                         // enqueues
  Result<bool> GlobalsChanged(Harness& harness);   // waits

 private:
  CudaProgram(std::shared_ptr<CudaContext> context, std::shared_ptr<SampleGraph> graph)
      : context_(std::move(context)), graph_(std::move(graph)) {}
  Result<LaunchOutcome> LoadModule(const std::string& key, const CompiledModule& module);
  Status KeepGlobals(const std::vector<DeviceGlobal>& globals, CUmodule module);
  Status FinishGlobals();

  struct Global {  // a variable, or a run of them
    CUdeviceptr address = 0;
    size_t bytes = 0;
    size_t image_offset = 0;  // has the address's remainder modulo 16
  };
  // Gives each its place in an image and copies their memory there. CUDA_ERROR_INVALID_VALUE: not memory of one piece.
  Result<CUresult> TakeImage(const std::vector<GlobalRange>& ranges);

  std::shared_ptr<CudaContext> context_;
  std::shared_ptr<SampleGraph> graph_;
  std::vector<CUmodule> modules_;
  std::map<std::pair<std::string, std::string>, CudaKernel> kernels_;  // by binding key and name expression
  std::vector<GlobalRange> variables_;  // of the modules loaded so far
  std::vector<Global> globals_;
  int64_t global_bytes_ = 0;        // unreachable ones included
  std::vector<uint8_t> host_image_;
  DeviceBlock device_image_;
};

}  // namespace hone
