// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/fake/fake_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

#include "base/numbers/rounding.h"
#include "tuner/device/arena_layout.h"
#include "tuner/device/host_convolution.h"
#include "tuner/device/host_tensor_ops.h"

namespace hone {
namespace {

constexpr int64_t kBaseAlign = 8192;  // alignment in bytes of the fake's memory
// Contents of unwritten memory: neither zero nor poison, so that relying on either shows.
constexpr int kFreshByte = 0xcd;

void* Pointer(uint64_t address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));  // NOLINT: addresses are pointers here
}

// Compares names without memcmp: they have a few letters, and the call would take longer than all other work on an
// element.
bool EqualNames(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace

// --- FakeLaunch ---

int64_t FakeLaunch::Integer(size_t argument) const {
  const ResolvedArgument& value = step_.args.at(argument);
  HONE_CHECK(value.kind == ArgumentKind::kInteger && value.bytes.size() <= 8, "not an integer argument");
  int64_t result = 0;
  std::memcpy(&result, value.bytes.data(), value.bytes.size());
  if (value.bytes.size() == 4) return static_cast<int32_t>(result);
  return result;
}

double FakeLaunch::Scalar(size_t argument) const {
  const ResolvedArgument& value = step_.args.at(argument);
  HONE_CHECK(value.bytes.size() == 4 || value.bytes.size() == 8, "not a floating-point argument");
  return host::ReadElement(value.bytes.size() == 4 ? DType::kFloat32 : DType::kFloat64, value.bytes.data());
}

const FakeLaunch::Place& FakeLaunch::Find(std::string_view name) const {
  for (const Place& place : places_) {
    if (EqualNames(place.name, name)) return place;
  }
  Place place{std::string(name), nullptr, nullptr, false, 0};
  if (auto reference = bindings_.references.find(place.name); reference != bindings_.references.end()) {
    place.reference = static_cast<double*>(Pointer(reference->second));
  } else {
    place.view = &bindings_.tensors.at(place.name);
    place.element_bytes = DTypeBytes(place.view->dtype);
    place.dense = true;
    int64_t stride = 1;
    for (size_t axis = place.view->shape.size(); axis-- > 0; stride *= place.view->shape[axis]) {
      place.dense = place.dense && place.view->strides[axis] == stride;
    }
  }
  places_.push_back(std::move(place));
  return places_.back();
}

const TensorView& FakeLaunch::Tensor(std::string_view name) const {
  const Place& place = Find(name);
  HONE_CHECK(place.view != nullptr, "a fake kernel takes the reference " + place.name + " for a tensor");
  return *place.view;
}

char* FakeLaunch::Element(const Place& tensor, int64_t element) const {
  const TensorView& view = *tensor.view;
  HONE_CHECK(element >= 0 && element < view.elements, "a fake kernel's element lies outside " + tensor.name);
  int64_t offset = tensor.dense ? element : 0;
  for (size_t axis = tensor.dense ? 0 : view.shape.size(); axis-- > 0;) {
    offset += element % view.shape[axis] * view.strides[axis];
    element /= view.shape[axis];
  }
  return static_cast<char*>(Pointer(view.address)) + offset * tensor.element_bytes;
}

double FakeLaunch::Read(std::string_view tensor, int64_t element) const {
  const Place& place = Find(tensor);
  HONE_CHECK(place.view != nullptr, "a fake kernel reads the reference " + place.name);
  return host::ReadElement(place.view->dtype, Element(place, element));
}

void FakeLaunch::Write(std::string_view tensor_or_reference, int64_t element, double value) {
  const Place& place = Find(tensor_or_reference);
  if (place.reference != nullptr) {
    place.reference[element] = value;
    return;
  }
  host::WriteElement(place.view->dtype, Element(place, element), value);
}

void FakeLaunch::WriteLate(const std::string& tensor, int64_t element, double value) {
  const Place& place = Find(tensor);
  HONE_CHECK(place.reference == nullptr, "a reference is no output: " + tensor);
  late_.push_back([to = Element(place, element), dtype = place.view->dtype, value] { host::WriteElement(dtype, to, value); });
}

char* FakeLaunch::Address(const std::string& tensor_or_workspace) const {
  const auto tensor = bindings_.tensors.find(tensor_or_workspace);
  return static_cast<char*>(Pointer(tensor != bindings_.tensors.end() ? tensor->second.address
                                                                      : bindings_.workspaces.at(tensor_or_workspace)));
}

void FakeLaunch::Fail(LaunchStatus status, const std::string& detail) {
  outcome_.status = status;
  outcome_.detail = step_.kernel + ": " + detail;
}

// --- memory and programs ---

// Keeps freed memory from being reused for a while: a kernel that remembers old buffers may write to them later, as on
// a GPU, and must harm only its own verdict.
class FakeSession::Graveyard {
 public:
  ~Graveyard() {
    for (const auto& [memory, bytes] : buried_) std::free(memory);
  }
  void Bury(void* memory, size_t bytes) {
    buried_.emplace_back(memory, bytes);
    bytes_ += bytes;
    while (bytes_ > kMostBytes) {
      std::free(buried_.front().first);
      bytes_ -= buried_.front().second;
      buried_.pop_front();
    }
  }

 private:
  static constexpr size_t kMostBytes = size_t{64} << 20;
  std::deque<std::pair<void*, size_t>> buried_;
  size_t bytes_ = 0;
};

class FakeSession::Memory : public Arena {
 public:
  Memory(ArenaLayout layout, uint64_t gap_key, std::shared_ptr<int64_t> allocated, std::shared_ptr<Graveyard> graveyard)
      : layout_(std::move(layout)),
        gap_key_(gap_key),
        allocated_(std::move(allocated)),
        graveyard_(std::move(graveyard)) {
    const auto rounded = static_cast<size_t>(RoundUp(layout_.bytes, kBaseAlign));
    base_ = std::aligned_alloc(static_cast<size_t>(kBaseAlign), rounded);
    HONE_CHECK(base_ != nullptr, "no host memory for a fake arena");
    std::memset(base_, kFreshByte, rounded);
    FillGaps(base_, layout_, gap_key_);
    *allocated_ += layout_.bytes;
  }
  ~Memory() override {
    *allocated_ -= layout_.bytes;
    graveyard_->Bury(base_, static_cast<size_t>(layout_.bytes));
  }
  uint64_t address(size_t block) const override {
    return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(base_)) +  // NOLINT: addresses are pointers here
           static_cast<uint64_t>(layout_.blocks.at(block).begin);
  }
  size_t blocks() const override { return layout_.blocks.size(); }
  std::optional<std::string> Check() { return CheckAndRepairGaps(base_, layout_, gap_key_); }

 private:
  ArenaLayout layout_;
  uint64_t gap_key_;
  std::shared_ptr<int64_t> allocated_;
  std::shared_ptr<Graveyard> graveyard_;
  void* base_ = nullptr;
};

class FakeSession::Program : public LoadedProgram {
 public:
  explicit Program(std::vector<KernelResources> resources) : resources_(std::move(resources)) {}

  std::vector<KernelResources> Resources() const override { return resources_; }
  Result<int64_t> Occupancy(const std::string&, const std::string&, int64_t block_threads, int64_t) const override {
    return std::max<int64_t>(1, 2048 / std::max<int64_t>(1, block_threads));
  }
  int64_t WritableGlobalBytes() const override { return static_cast<int64_t>(8 * globals.size()); }

  std::map<std::string, int64_t> globals;
  int64_t executions = 0;

 private:
  std::vector<KernelResources> resources_;
};

// --- the session ---

FakeSession::FakeSession(FakeDevice device) : device_(std::move(device)), graveyard_(std::make_shared<Graveyard>()) {}
FakeSession::~FakeSession() = default;

DeviceFacts FakeDevice::DefaultFacts() {
  DeviceFacts facts;
  facts.id = "fake";
  facts.name = "fake device";
  facts.cc_major = 9;
  facts.sm_count = 4;
  facts.l2_bytes = 1 << 20;
  facts.memory_bytes = 64 << 20;
  facts.smem_optin = 96 << 10;
  facts.smem_per_sm = 100 << 10;
  facts.memory_bandwidth = 1e9;
  facts.l2_bandwidth = 4e9;
  facts.fp32_flops = 1e10;
  facts.tensor_bf16_flops = 1e10;
  facts.driver = "none";
  return facts;
}

Status FakeSession::Alive() const { return lost_ ? Status::Unavailable("the fake device was lost") : Status::Ok(); }

Result<DeviceSession::LoadOutcome> FakeSession::Load(const CompiledProgram& program) {
  HONE_RETURN_IF_ERROR(Alive());
  LoadOutcome outcome;
  std::vector<KernelResources> resources;
  for (const CompileUnit& unit : CompileUnits(program.candidate, program.binding)) {
    for (const std::string& name : unit.kernels) {
      const auto kernel = device_.kernels.find(name);
      if (kernel == device_.kernels.end()) {
        outcome.launch = {LaunchStatus::kLaunchError, fmt::format("the fake device has no kernel {}", name), {}, {}};
        return outcome;
      }
      if (kernel->second.load != LaunchStatus::kOk) {
        outcome.launch = {kernel->second.load, fmt::format("kernel {} does not load", name), {}, {}};
        return outcome;
      }
      resources.push_back(kernel->second.resources);
      resources.back().kernel = name;
    }
  }
  outcome.program = std::make_unique<Program>(std::move(resources));
  return outcome;
}

Result<bool> FakeSession::GlobalsChanged(LoadedProgram& program) {
  HONE_RETURN_IF_ERROR(Alive());
  const auto& globals = static_cast<Program&>(program).globals;
  return std::any_of(globals.begin(), globals.end(), [](const auto& global) { return global.second != 0; });
}

Result<std::unique_ptr<Arena>> FakeSession::Allocate(const std::vector<BlockRequest>& blocks, uint64_t gap_key) {
  HONE_RETURN_IF_ERROR(Alive());
  for (const BlockRequest& block : blocks) {
    if (block.bytes < 0 || block.bytes > device_.facts.memory_bytes) {
      return Status::Device(fmt::format("out of memory: a block of {} bytes", block.bytes));
    }
  }
  ArenaLayout layout = PlanArena(blocks, kBaseAlign);
  if (layout.bytes > FreeBytes()) {
    return Status::Device(fmt::format("out of memory: {} bytes asked for, {} free", layout.bytes, FreeBytes()));
  }
  std::unique_ptr<Arena> arena = std::make_unique<Memory>(std::move(layout), gap_key, allocated_, graveyard_);
  peak_allocated_ = std::max(peak_allocated_, *allocated_);
  return arena;
}

Result<std::optional<std::string>> FakeSession::CheckGaps(Arena& arena) {
  HONE_RETURN_IF_ERROR(Alive());
  return static_cast<Memory&>(arena).Check();
}

int64_t FakeSession::FreeBytes() const { return device_.facts.memory_bytes - *allocated_; }

Status FakeSession::Draw(const DrawRequest& request) {
  HONE_RETURN_IF_ERROR(Alive());
  return host::Draw(request);
}

Status FakeSession::Poison(const TensorView& view) {
  HONE_RETURN_IF_ERROR(Alive());
  host::Poison(view);
  return Status::Ok();
}

Status FakeSession::FillWith(const TensorView& view, const FillSpec& fill) {
  HONE_RETURN_IF_ERROR(Alive());
  host::FillWith(view, fill);
  return Status::Ok();
}

Status FakeSession::Fill(uint64_t address, int64_t bytes, uint8_t value) {
  HONE_RETURN_IF_ERROR(Alive());
  if (bytes > 0) std::memset(Pointer(address), value, static_cast<size_t>(bytes));
  return Status::Ok();
}

Result<bool> FakeSession::IsZero(uint64_t address, int64_t bytes) {
  HONE_RETURN_IF_ERROR(Alive());
  return host::IsZero(Pointer(address), bytes);
}

Status FakeSession::CopyFromHost(uint64_t address, const void* source, int64_t bytes) {
  HONE_RETURN_IF_ERROR(Alive());
  if (bytes > 0) std::memcpy(Pointer(address), source, static_cast<size_t>(bytes));
  return Status::Ok();
}

Status FakeSession::CopyToHost(void* destination, uint64_t address, int64_t bytes) {
  HONE_RETURN_IF_ERROR(Alive());
  if (bytes > 0) std::memcpy(destination, Pointer(address), static_cast<size_t>(bytes));
  return Status::Ok();
}

Status FakeSession::GatherSlices(const TensorView& source, const TensorView& destination,
                                 const std::vector<int64_t>& slices) {
  HONE_RETURN_IF_ERROR(Alive());
  return host::GatherSlices(source, destination, slices);
}

LaunchOutcome FakeSession::Execute(Program& program, const ResolvedPlan& plan, const Bindings& bindings,
                                   const FakeTiming& timing, double* microseconds) {
  const int64_t execution = program.executions++;
  ++launches_;
  for (const ResolvedStep& step : plan.steps) {
    if (step.is_memset) {
      const auto tensor = bindings.tensors.find(step.target);
      const uint64_t address =
          tensor != bindings.tensors.end() ? tensor->second.address : bindings.workspaces.at(step.target);
      std::memset(Pointer(address), static_cast<int>(step.memset_value), static_cast<size_t>(step.memset_bytes));
      continue;
    }
    if (step.call) {
      const auto pointer = [&](const ResolvedOperand& operand) {
        const auto tensor = bindings.tensors.find(operand.name);
        const uint64_t base =
            tensor != bindings.tensors.end() ? tensor->second.address : bindings.workspaces.at(operand.name);
        return Pointer(base + static_cast<uint64_t>(operand.byte_offset));
      };
      host::ComputeCall(*step.call, pointer(step.call->a), pointer(step.call->b),
                   step.call->bias ? pointer(*step.call->bias) : nullptr, pointer(step.call->out), 1);
      *microseconds += device_.call_microseconds;
      continue;
    }
    const FakeKernel& kernel = device_.kernels.at(step.kernel);
    FakeLaunch launch(step, bindings, program.globals, execution);
    kernel.run(launch);
    for (std::function<void()>& late : launch.TakeLate()) late_.push_back(std::move(late));
    *microseconds += kernel.microseconds(timing);
    if (launch.outcome().status != LaunchStatus::kOk) {
      lost_ |= device_.lost_after_crash && (launch.outcome().status == LaunchStatus::kCrashed ||
                                            launch.outcome().status == LaunchStatus::kTimedOut);
      return launch.outcome();
    }
  }
  return {};
}

void FakeSession::RunLate() {
  for (const std::function<void()>& late : std::exchange(late_, {})) late();
}

Result<LaunchOutcome> FakeSession::Launch(LoadedProgram& program, const LaunchRequest& request) {
  HONE_RETURN_IF_ERROR(Alive());
  if (device_.lost_after_launches >= 0 && launches_ >= device_.lost_after_launches) {
    lost_ = true;
    return Alive();
  }
  auto& loaded = static_cast<Program&>(program);
  for (auto& [name, value] : loaded.globals) value = 0;
  double ignored = 0;
  LaunchOutcome outcome = Execute(loaded, *request.plan, *request.bindings, {}, &ignored);
  RunLate();
  return outcome;
}

Result<Comparison> FakeSession::Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) {
  HONE_RETURN_IF_ERROR(Alive());
  return host::Compare(output, static_cast<const double*>(Pointer(reference)), tolerance);
}

Result<std::vector<uint64_t>> FakeSession::Digest(const TensorView& view, uint64_t key) {
  HONE_RETURN_IF_ERROR(Alive());
  return host::Digest(view, key);
}

Result<SampleOutcome> FakeSession::TimeSample(const SampleRequest& request) {
  HONE_RETURN_IF_ERROR(Alive());
  if (device_.lost_after_launches >= 0 && launches_ >= device_.lost_after_launches) {
    lost_ = true;
    return Alive();
  }
  auto& loaded = static_cast<Program&>(*request.program);
  for (auto& [name, value] : loaded.globals) value = 0;
  SampleOutcome sample;
  const int64_t number = samples_++;
  double microseconds = 0;
  const Bindings* before = nullptr;
  for (const Bindings* bindings : request.sets) {
    const FakeTiming timing{request.cache, bindings == before, number};
    sample.launch = Execute(loaded, *request.plan, *bindings, timing, &microseconds);
    if (sample.launch.status != LaunchStatus::kOk) return sample;
    before = bindings;
  }
  std::vector<std::string> watched_bytes;
  for (const TensorView& view : request.watched)
    watched_bytes.emplace_back(static_cast<const char*>(Pointer(view.address)), static_cast<size_t>(view.span_bytes));
  RunLate();
  for (size_t i = 0; i < watched_bytes.size(); ++i) {
    sample.changed_after_end |=
        std::memcmp(watched_bytes[i].data(), Pointer(request.watched[i].address), watched_bytes[i].size()) != 0;
  }
  if (device_.log_noise) microseconds *= std::exp(device_.log_noise());
  sample.us_per_plan = microseconds / static_cast<double>(std::max<size_t>(1, request.sets.size()));
  return sample;
}

Result<double> FakeSession::TimeFloor(const Traffic& traffic, int, CacheState cache) {
  HONE_RETURN_IF_ERROR(Alive());
  const double bandwidth = cache == CacheState::kCold ? device_.facts.memory_bandwidth : device_.facts.l2_bandwidth;
  return 1e6 * (traffic.read_bytes + traffic.written_bytes) / bandwidth;
}

Result<DeviceCondition> FakeSession::Condition() {
  HONE_RETURN_IF_ERROR(Alive());
  const int64_t call = conditions_++;
  if (device_.condition) return device_.condition(call);
  DeviceCondition steady;
  steady.sm_clock_mhz = 1000;
  return steady;
}

}  // namespace hone
