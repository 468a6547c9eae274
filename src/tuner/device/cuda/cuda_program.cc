// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/cuda_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/numbers/rounding.h"
#include "hone/base/units.h"
#include "tuner/device/cuda/launch_errors.h"
#include "tuner/values/slice_digest.h"

namespace hone {
namespace {

constexpr size_t kHostImageBytes = 4 * static_cast<size_t>(kMiB);  // limit on the globals whose contents are kept on the host
constexpr size_t kMostParameters = 1024;  // limit on the parameters of a kernel that are asked about
// Size of the pages in which the driver puts modules' globals and constants. A page can be read and written as a whole:
// observed on an H200 with driver 580.
constexpr uint64_t kPageBytes = 2 * static_cast<uint64_t>(kMiB);

}  // namespace

Result<DeviceSession::LoadOutcome> CudaProgram::Load(std::shared_ptr<CudaContext> context,
                                                     std::shared_ptr<SampleGraph> graph, Harness& harness,
                                                     const CompiledProgram& compiled, const Keeping& keeping) {
  std::unique_ptr<CudaProgram> program(new CudaProgram(std::move(context), std::move(graph), keeping));
  DeviceSession::LoadOutcome outcome;
  for (const auto& [key, module] : compiled.modules) {
    HONE_ASSIGN_OR_RETURN(outcome.launch, program->LoadModule(key, module));
    if (outcome.launch.status != LaunchStatus::kOk) return outcome;
  }
  HONE_RETURN_IF_ERROR(program->KeepGlobals(harness));
  outcome.program = std::move(program);
  return outcome;
}

CudaProgram::~CudaProgram() {
  if (context_->lost()) return;
  graph_->Clear();
  for (CUmodule module : modules_) context_->driver().ModuleUnload(module);
}

// Loads a compiled module, and finds its kernels and globals. Refuses globals that cannot be reset between launches.
Result<LaunchOutcome> CudaProgram::LoadModule(const std::string& key, const CompiledModule& module) {
  const CudaDriver& driver = context_->driver();
  const std::string module_name = key.empty() ? "the module" : fmt::format("the module for {}", key);
  for (const DeviceGlobal& global : module.globals) {
    if (!global.writable || global.reachable || global.bytes == 0) continue;
    LaunchOutcome outcome;
    outcome.status = LaunchStatus::kRuleViolation;
    outcome.detail = fmt::format(
        "{} has {} bytes of writable device memory without a name ({}): nothing may be kept between "
        "launches, and what cannot be found cannot be put back",
        module_name, global.bytes, global.symbol);
    return outcome;
  }
  // The driver's log of an image's error (a symbol, shared memory) says much more than its error code.
  std::array<char, 8192> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule loaded = nullptr;
  const auto refused = [&](CUresult result, const std::string& what) -> Result<LaunchOutcome> {
    const std::optional<LaunchStatus> status = LaunchStatusOf(result);
    if (!status) return CudaStatus(driver, result, what);
    LaunchOutcome outcome;
    outcome.status = *status;
    outcome.detail = fmt::format("{}: {}{}{}", what, driver.Describe(result), log[0] != 0 ? "; " : "", log.data());
    return outcome;
  };
  CUresult result = driver.ModuleLoadDataEx(&loaded, module.image.data(), 2, options, values);
  if (result != CUDA_SUCCESS) return refused(result, "loading " + module_name);
  modules_.push_back(loaded);

  for (const auto& [name, symbol] : module.lowered) {
    CudaKernel kernel;
    kernel.name = name;
    result = driver.ModuleGetFunction(&kernel.function, loaded, symbol.c_str());
    if (result != CUDA_SUCCESS) return refused(result, fmt::format("finding kernel {} in {}", name, module_name));
    // Loading is lazy by default; the first timed launch must not include it.
    result = driver.FuncLoad(kernel.function);
    if (result != CUDA_SUCCESS) return refused(result, fmt::format("loading kernel {}", name));
    const auto attribute = [&](CUfunction_attribute which_attribute) {
      int value = 0;
      if (result == CUDA_SUCCESS) result = driver.FuncGetAttribute(&value, which_attribute, kernel.function);
      return value;
    };
    kernel.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
    kernel.max_threads = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    kernel.local_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    kernel.static_shared_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    kernel.dynamic_shared_allowed = attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    if (result != CUDA_SUCCESS) return refused(result, fmt::format("reading the attributes of kernel {}", name));
    size_t offset = 0, bytes = 0;
    while (kernel.parameter_bytes.size() < kMostParameters &&
           driver.FuncGetParamInfo(kernel.function, kernel.parameter_bytes.size(), &offset, &bytes) == CUDA_SUCCESS) {
      kernel.parameter_bytes.push_back(bytes);
    }
    kernels_.emplace(std::make_pair(key, name), std::move(kernel));
  }
  HONE_RETURN_IF_ERROR(FindGlobals(module.globals, loaded));
  return LaunchOutcome();
}

// Notes the addresses of the globals that a candidate could write.
Status CudaProgram::FindGlobals(const std::vector<DeviceGlobal>& globals, CUmodule module) {
  for (const DeviceGlobal& global : globals) {
    if (global.bytes == 0 || !global.reachable) continue;
    // Constant memory can be written through an ordinary address, and keeps the new value.
    if (!global.writable && !keeping_.constants) continue;
    if (global.writable) global_bytes_ += global.bytes;
    CUdeviceptr address = 0;
    size_t bytes = 0;
    const CUresult result = context_->driver().ModuleGetGlobal(&address, &bytes, module, global.symbol.c_str());
    // The global was removed when the driver linked the module, so no kernel can use it either.
    if (result == CUDA_ERROR_NOT_FOUND) continue;
    HONE_CUDA_RETURN_IF_ERROR(context_->driver(), result, "finding the device global " + global.symbol);
    if (bytes > 0) found_.push_back({address, bytes});
    // A global of many pages shares only its first and its last page with other globals.
    if (bytes > 0 && keeping_.surroundings) {
      pages_.push_back(RoundDown(address, kPageBytes));
      pages_.push_back(RoundDown(address + bytes - 1, kPageBytes));
    }
  }
  return Status::Ok();
}

// Keeps copies of the globals, on the host as far as its limit goes and then on the device, so that they can be
// restored.
Status CudaProgram::KeepGlobals(Harness& harness) {
  // Small globals get the host's image first: in any other order a few large ones could fill it.
  std::sort(found_.begin(), found_.end(), [](const Global& a, const Global& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.address < b.address;
  });
  size_t host_bytes = 0, device_bytes = 0;
  for (Global& global : found_) {
    if (host_bytes + global.bytes > kHostImageBytes) {
      global.image_offset = (device_bytes + 15) / 16 * 16 + global.address % 16;
      device_bytes = global.image_offset + global.bytes;
      large_.push_back(global);
      continue;
    }
    for (size_t at = 0; at < global.bytes; at += harness::kGlobalPieceBytes) {
      const size_t bytes = std::min<size_t>(global.bytes - at, harness::kGlobalPieceBytes);
      pieces_.push_back({global.address + at, static_cast<uint32_t>(bytes), static_cast<uint32_t>(host_bytes + at)});
    }
    host_bytes += global.bytes;
  }
  found_.clear();
  host_image_.resize(host_bytes);
  HONE_RETURN_IF_ERROR(harness.TakeGlobals(pieces_, &host_image_));
  if (large_.empty()) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(device_image_, context_->Allocate(static_cast<int64_t>(device_bytes)));
  for (const Global& global : large_) {
    HONE_CUDA_RETURN_IF_ERROR(context_->driver(),
                              context_->driver().MemcpyDtoDAsync(device_image_.address() + global.image_offset, global.address,
                                                                 global.bytes, context_->stream()),
                              "keeping the initial values of device globals");
  }
  return context_->WaitForHarness("keeping the initial values of device globals");
}

Status CudaProgram::MarkSurroundings(Harness& harness) {
  if (pages_.empty()) return Status::Ok();
  if (marks_.bytes() == 0) {
    std::sort(pages_.begin(), pages_.end());
    pages_.erase(std::unique(pages_.begin(), pages_.end()), pages_.end());
    HONE_ASSIGN_OR_RETURN(marks_, context_->Allocate(static_cast<int64_t>(16 * pages_.size())));
  }
  mark_secret_ = 0;
  return harness.Mark(pages_, kPageBytes, marks_.address(), &mark_secret_);
}

Status CudaProgram::RestoreGlobals(Harness& harness) {
  HONE_RETURN_IF_ERROR(harness.PutGlobals(pieces_, host_image_));
  for (const Global& global : large_) {
    HONE_CUDA_RETURN_IF_ERROR(context_->driver(),
                              context_->driver().MemcpyDtoDAsync(global.address, device_image_.address() + global.image_offset,
                                                                 global.bytes, context_->stream()),
                              "restoring device globals");
  }
  return Status::Ok();
}

Result<bool> CudaProgram::GlobalsChanged(Harness& harness) {
  std::vector<uint8_t> globals_now(host_image_.size());
  HONE_RETURN_IF_ERROR(harness.TakeGlobals(pieces_, &globals_now));
  if (globals_now != host_image_) return true;
  for (const Global& global : large_) {
    HONE_ASSIGN_OR_RETURN(const bool differs, harness.Differs(global.address, device_image_.address() + global.image_offset,
                                                              static_cast<int64_t>(global.bytes)));
    if (differs) return true;
  }
  if (mark_secret_ == 0) return false;
  uint64_t secret = std::exchange(mark_secret_, 0);
  const auto bytes = static_cast<int64_t>(8 * pages_.size());
  HONE_RETURN_IF_ERROR(harness.Mark(pages_, kPageBytes, marks_.address() + static_cast<uint64_t>(bytes), &secret));
  std::vector<uint64_t> marks(2 * pages_.size());
  HONE_RETURN_IF_ERROR(harness.CopyToHost(marks.data(), marks_.address(), 2 * bytes));
  const auto after = marks.begin() + static_cast<std::ptrdiff_t>(pages_.size());
  return !std::equal(marks.begin(), after, after, [](uint64_t a, uint64_t b) { return digest::Canonical(a) == digest::Canonical(b); });
}

std::vector<KernelResources> CudaProgram::Resources() const {
  std::vector<KernelResources> kernel_resources;
  for (const auto& [key, kernel] : kernels_) {
    KernelResources resources;
    resources.kernel = kernel.name;
    resources.registers = kernel.registers;
    resources.spill_bytes = kernel.local_bytes;
    resources.static_shared_bytes = kernel.static_shared_bytes;
    kernel_resources.push_back(std::move(resources));
  }
  return kernel_resources;
}

int64_t CudaProgram::MostLocalBytes() const {
  int64_t most = 0;
  for (const auto& [key, kernel] : kernels_) most = std::max(most, kernel.local_bytes);
  return most;
}

CudaKernel* CudaProgram::Find(const std::string& kernel, const std::string& binding_key) {
  const auto found = kernels_.find({binding_key, kernel});
  return found == kernels_.end() ? nullptr : &found->second;
}

Result<int64_t> CudaProgram::Occupancy(const std::string& kernel, const std::string& binding_key, int64_t block_threads,
                                       int64_t shared_bytes) const {
  const auto found = kernels_.find({binding_key, kernel});
  if (found == kernels_.end()) {
    return Status::InvalidArgument(fmt::format("occupancy({}): there is no such kernel in the program", kernel));
  }
  if (shared_bytes > found->second.dynamic_shared_allowed) {
    // The attribute is only an upper limit: raising it does not change what a launch gets.
    const CUresult raised = context_->driver().FuncSetAttribute(
        found->second.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared_bytes));
    if (raised != CUDA_SUCCESS) return int64_t{0};
  }
  int blocks = 0;
  HONE_CUDA_RETURN_IF_ERROR(context_->driver(),
                            context_->driver().OccupancyMaxActiveBlocks(&blocks, found->second.function,
                                                                        static_cast<int>(block_threads),
                                                                        static_cast<size_t>(shared_bytes)),
                            "asking for the occupancy of " + kernel);
  return int64_t{blocks};
}

}  // namespace hone
