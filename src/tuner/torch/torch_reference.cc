// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/torch_reference.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/numbers/hash.h"
#include "base/process/cgroup_limits.h"
#include "base/process/frames.h"
#include "base/process/subprocess.h"
#include "base/text/json_fields.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/torch/operator_costs.h"
#include "tuner/torch/scripts.h"

namespace hone {
namespace {

using nlohmann::json;

constexpr double kComputeSeconds = 120;  // limit for one evaluation, the same as a CUDA oracle's
constexpr int64_t kAlign = 256;
constexpr int64_t kMostAnswerBytes = 1 << 20;
// A block of the GPU's memory that the process maps has at least so many bytes, and serves most cases of a verdict:
// replacing a block takes about as long as copying this much through the host twice.
constexpr int64_t kLeastBlockBytes = 16 << 20;
constexpr const char* kSharing = "sharing memory of the GPU";

// A memory file, mapped into this process. The Python process maps it again when it has grown.
class SharedMemory {
 public:
  explicit SharedMemory(UniqueFd fd) : fd_(std::move(fd)) {}
  ~SharedMemory() { Unmap(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int fd() const { return fd_.get(); }
  char* data() const { return data_; }
  // Grows the file to at least this size and maps it again.
  Status Reserve(int64_t bytes) {
    if (bytes <= bytes_) return Status::Ok();
    Unmap();
    if (ftruncate(fd_.get(), bytes) != 0) return Status::Io(ErrnoMessage("ftruncate", "hone-reference", errno));
    void* mapped = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (mapped == MAP_FAILED) return Status::Io(ErrnoMessage("mmap", "hone-reference", errno));
    data_ = static_cast<char*>(mapped);
    bytes_ = bytes;
    return Status::Ok();
  }

 private:
  void Unmap() {
    if (data_ != nullptr) munmap(data_, static_cast<size_t>(bytes_));
    data_ = nullptr;
    bytes_ = 0;
  }
  UniqueFd fd_;
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

std::string LastLine(const std::string& text) {
  size_t end = text.find_last_not_of(" \r\n");
  if (end == std::string::npos) return "";
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, std::min<size_t>(end - (begin == std::string::npos ? 0 : begin), 300));
}

// Returns the first frame, which describes the module.
json ModuleJson(const Task& task, const TorchModule& module, const PythonOptions& options) {
  json inputs = json::array(), state = json::object(), sizes = json::object();
  for (const TorchModule::Input& input : module.inputs) {
    if (!input.tensor.empty()) {
      inputs.push_back({{"tensor", input.tensor}});
    } else {
      inputs.push_back({{"value", ReadJsonText(input.number)}});
    }
  }
  for (const auto& [tensor, name] : module.state) state[tensor] = name;
  const json booleans = module.booleans;
  for (const auto& [dim, name] : module.sizes) sizes[dim] = name;
  return {{"text", task.oracle_source}, {"file", (task.directory.empty() ? task.name : task.directory) + "/reference.py"},
          {"class", module.class_name}, {"training", module.training}, {"threads", options.threads}, {"gpu", options.gpu},
          {"inputs", inputs}, {"outputs", module.outputs}, {"state", state}, {"booleans", booleans}, {"sizes", sizes}};
}

// Returns the hash of all that a process depends on. Tasks that differ in their cases alone, such as those on which a
// run tries a proposed case, have the same.
std::string ProcessKey(const Task& task, const PythonOptions& options) {
  json tensors = json::array();
  for (const TensorSpec& tensor : task.tensors) {
    json shape = json::array();
    for (const Expression& size : tensor.shape) shape.push_back(size.text());
    tensors.push_back({tensor.name, static_cast<int>(tensor.role), DTypeName(tensor.dtype), shape});
  }
  return Sha256Hex(DumpJson(json{{"module", ModuleJson(task, TorchModuleOf(task), options)}, {"tensors", tensors}}));
}

class TorchReference : public HostReference {
 public:
  TorchReference(Task task, TemporaryDirectory scratch, ChildProcess child, UniqueFd socket, UniqueFd output,
                 UniqueFd memory)
      : task_(std::move(task)),
        scratch_(std::move(scratch)),
        child_(std::move(child)),
        socket_(std::move(socket)),
        output_(std::move(output)),
        memory_(std::move(memory)) {}

  std::string Name() const override { return name_; }
  bool uses_gpu() const override { return uses_gpu_; }
  bool lost() const override {
    const std::lock_guard lock(mutex_);
    return gone_.has_value();
  }

  Status Begin(const json& module) {
    HONE_ASSIGN_OR_RETURN(const json answer, Ask(module, kTorchStartSeconds, "loading PyTorch", StatusCode::kUnavailable));
    JsonFields fields(answer, "PyTorch's answer");
    std::string version, device;
    fields.Require("torch", version);
    fields.Require("device", device);
    uses_gpu_ = device != "CPU";
    if (!fields.ok()) return Status::Internal(fields.status().message());
    name_ = fmt::format("PyTorch {} in double precision on the {}", version, device);
    return Status::Ok();
  }

  Status Compute(const Dims& dims, const Fill& fill, const Take& take, std::string_view precision) override {
    const std::lock_guard lock(mutex_);
    if (gone_) return *gone_;
    HONE_ASSIGN_OR_RETURN(Places places, PlacesFor(dims));
    HONE_RETURN_IF_ERROR(memory_.Reserve(places.bytes));
    for (const auto& [tensor, offset] : places.filled) HONE_RETURN_IF_ERROR(fill(tensor->name, memory_.data() + offset));
    places.request["precision"] = precision;
    HONE_RETURN_IF_ERROR(Evaluate(places.request, dims));
    for (const auto& [tensor, offset] : places.taken) {
      // The cast is aligned: the mapping begins at a page, and `offset` is a multiple of kAlign.
      HONE_RETURN_IF_ERROR(take(tensor->name, reinterpret_cast<const double*>(memory_.data() + offset)));  // NOLINT
    }
    return Status::Ok();
  }

  Result<bool> ComputeOnDevice(const Dims& dims, const OnDevice& calls) override {
    const std::lock_guard lock(mutex_);
    if (!uses_gpu_ || !shares_) return false;
    if (gone_) return *gone_;
    HONE_ASSIGN_OR_RETURN(Places places, PlacesFor(dims));
    HONE_ASSIGN_OR_RETURN(const bool shared, HaveBlock(places.bytes, calls));
    if (!shared) return false;
    Status status = ComputeInBlock(places, dims, calls);
    const Status wiped = calls.wipe(block_->address(), places.bytes);
    if (gone_) {
      block_.reset();
    } else if (block_->bytes() > std::max(calls.most_kept, kLeastBlockBytes)) {
      const Status dropped = DropBlock();
      if (status.ok()) status = dropped;
    }
    HONE_RETURN_IF_ERROR(status);
    HONE_RETURN_IF_ERROR(wiped);
    return true;
  }

  Result<std::vector<OperatorWork>> Operators(const Dims& dims) override {
    const std::lock_guard lock(mutex_);
    if (gone_) return *gone_;
    HONE_ASSIGN_OR_RETURN(const json answer, Ask({{"operators", dims}}, kComputeSeconds, fmt::format("finding the module's operators for {}", DimsText(dims)),
                                                 StatusCode::kInvalidArgument));
    JsonFields fields(answer, "PyTorch's answer");
    const std::optional<OperatorCosts> costs = ReadOperatorCosts(fields, "costs");
    if (!fields.ok() || !costs) return Status::Internal(fields.ok() ? "PyTorch's answer has no costs" : fields.status().message());
    std::vector<OperatorWork> operators;
    for (const OperatorCost& one : costs->operators) operators.push_back({one.name, one.calls, one.bytes, one.flops});
    return operators;
  }

 private:
  // The places of a case's tensors in shared memory, and the request that names them.
  struct Places {
    json request;
    std::vector<std::pair<const TensorSpec*, int64_t>> filled, taken;  // tensor, offset in bytes
    int64_t bytes = 0;
  };
  Result<Places> PlacesFor(const Dims& dims) const {
    Places places;
    json tensors = json::array(), results = json::array();
    const auto place = [&](int64_t size) {
      const int64_t at = places.bytes;
      places.bytes += (size + kAlign - 1) / kAlign * kAlign;
      return at;
    };
    for (const TensorSpec& tensor : task_.tensors) {
      HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(tensor, dims));
      if (tensor.role != TensorRole::kOut) {
        places.filled.emplace_back(&tensor, place(shape.elements * DTypeBytes(tensor.dtype)));
        tensors.push_back({{"name", tensor.name}, {"dtype", DTypeName(tensor.dtype)}, {"shape", shape.shape},
                           {"offset", places.filled.back().second}});
      }
      if (IsOutput(tensor)) {
        places.taken.emplace_back(&tensor, place(shape.elements * 8));
        results.push_back({{"name", tensor.name}, {"shape", shape.shape}, {"offset", places.taken.back().second}});
      }
    }
    places.bytes = std::max(places.bytes, kAlign);
    places.request = {{"dims", dims}, {"tensors", tensors}, {"results", results}, {"bytes", places.bytes}};
    return places;
  }

  // Makes sure that the process maps a block of the call's device with at least `bytes`. Returns false if it cannot be
  // had; `shares_` is then false too, unless there was only too little memory.
  Result<bool> HaveBlock(int64_t bytes, const OnDevice& calls) {
    if (block_ != nullptr && block_->bytes() >= bytes && calls.mine(*block_)) return true;
    if (block_ != nullptr) HONE_RETURN_IF_ERROR(DropBlock());  // the process unmaps it first: both may not fit
    Result<std::unique_ptr<SharedBlock>> made = calls.share(std::max(bytes, kLeastBlockBytes));
    if (!made.ok()) {
      if (made.status().code() == StatusCode::kDevice) return made.status();
      shares_ = made.status().code() == StatusCode::kResourceExhausted;
      return false;
    }
    const Result<json> answer = Ask({{"share", (*made)->bytes()}}, kComputeSeconds, kSharing, StatusCode::kInvalidArgument, (*made)->descriptor());
    if (gone_) return *gone_;
    if (!answer.ok() || !answer->is_object()) {
      shares_ = false;  // this system does not share a GPU's memory: later calls do not try again
      return false;
    }
    if (!answer->contains("shared") || (*answer)["shared"] != true) return false;  // too little memory for the module
    block_ = std::move(*made);
    return true;
  }

  // Has the process unmap the block, and frees it.
  Status DropBlock() {
    const Result<json> answer = Ask({{"share", 0}}, kComputeSeconds, kSharing, StatusCode::kInvalidArgument);
    block_.reset();
    return answer.status();
  }

  Status ComputeInBlock(Places& places, const Dims& dims, const OnDevice& calls) {
    for (const auto& [tensor, offset] : places.filled) {
      HONE_RETURN_IF_ERROR(calls.fill(tensor->name, block_->address() + static_cast<uint64_t>(offset)));
    }
    HONE_RETURN_IF_ERROR(calls.wait());
    places.request["shared"] = true;
    HONE_RETURN_IF_ERROR(Evaluate(places.request, dims));
    for (const auto& [tensor, offset] : places.taken) {
      HONE_RETURN_IF_ERROR(calls.take(tensor->name, block_->address() + static_cast<uint64_t>(offset)));
    }
    return Status::Ok();
  }

  Status Evaluate(const json& request, const Dims& dims) {
    return Ask(request, kComputeSeconds, fmt::format("evaluating the module for {}", DimsText(dims)), StatusCode::kInvalidArgument).status();
  }

  // Sends the process a request and returns its answer. `refused`: the code of the Status if the answer is an error.
  // `descriptor`: goes with the request; -1: none.
  Result<json> Ask(const json& question, double limit_seconds, const std::string& doing, StatusCode refused, int descriptor = -1) {
    const std::vector<int> descriptors(descriptor >= 0 ? 1 : 0, descriptor);
    const Status sent = SendFrame(socket_.get(), DumpJson(question), {}, descriptors, limit_seconds);
    if (!sent.ok()) return EndProcess(sent.code() == StatusCode::kTimedOut, limit_seconds, doing);
    Result<Frame> frame = ReceiveFrame(socket_.get(), limit_seconds, kMostAnswerBytes);
    if (!frame.ok()) return EndProcess(frame.status().code() == StatusCode::kTimedOut, limit_seconds, doing);
    HONE_ASSIGN_OR_RETURN(json answer, ParseJson(frame->header, "PyTorch's answer"));
    if (answer.is_object() && answer.contains("error") && answer["error"].is_string()) {
      return Status(refused, answer["error"].get<std::string>());
    }
    return answer;
  }

  // Records that the process has ended, or ends it because it is late, and returns the error, which later calls return
  // too.
  Status EndProcess(bool late, double limit_seconds, const std::string& doing) {
    std::optional<ExitState> end;
    if (!late) end = child_.Wait(5);
    if (!end) child_.Kill();
    if (!end) end = child_.Wait(5);
    std::string printed(4096, '\0');
    const off_t size = lseek(output_.get(), 0, SEEK_END);
    const ssize_t got = pread(output_.get(), printed.data(), printed.size(),
                              std::max<off_t>(0, size - static_cast<off_t>(printed.size())));
    printed.resize(got > 0 ? static_cast<size_t>(got) : 0);
    const std::string line = LastLine(printed);
    if (late) {
      gone_ = Status::TimedOut(fmt::format("{} took more than {:.0f} s and was ended: make the sizes of the cases smaller", doing, limit_seconds));
    } else {
      const std::string ending =
          end && end->signal != 0 && !end->killed_by_us ? fmt::format(" with {}", end->Describe()) : "";
      gone_ = Status::Unavailable(fmt::format(
          "{}: the Python process ended{}{}; where it needs more memory, make the sizes of the cases smaller", doing,
          ending, line.empty() ? "" : " (" + line + ")"));
    }
    return *gone_;
  }

  const Task task_;
  const TemporaryDirectory scratch_;
  ChildProcess child_;
  UniqueFd socket_, output_;  // output_: memory file with what the process prints
  SharedMemory memory_;
  std::string name_;
  bool uses_gpu_ = false;
  bool shares_ = true;  // false once the GPU's memory could not be shared
  std::unique_ptr<SharedBlock> block_;  // mapped by the process; null: none is
  mutable std::mutex mutex_;
  std::optional<Status> gone_;
};

}  // namespace

Result<std::unique_ptr<HostReference>> StartTorchReference(const Task& task, const PythonOptions& options) {
  HONE_CHECK(HasTorchModule(task), "StartTorchReference of a task without a module");
  HONE_ASSIGN_OR_RETURN(const Python python, FindPython(options.environment));
  HONE_ASSIGN_OR_RETURN(TemporaryDirectory scratch, MakeTemporaryDirectory("", "hone-torch-"));
  HONE_ASSIGN_OR_RETURN(SocketPair sockets, MakeSocketPair());
  HONE_ASSIGN_OR_RETURN(UniqueFd memory, MakeMemoryFile("hone-reference"));
  HONE_ASSIGN_OR_RETURN(UniqueFd output, MakeMemoryFile("hone-reference-output"));
  HONE_ASSIGN_OR_RETURN(PythonStart start, StartOf(python, ServeScript(), scratch.path(), options));
  ChildOptions child_options;
  child_options.argv = std::move(start.argv);
  child_options.environment = std::move(start.environment);
  child_options.working_directory = scratch.path();
  child_options.sandbox = std::move(start.sandbox);
  child_options.descriptors = {{output.get(), 1}, {output.get(), 2}, {sockets.theirs.get(), 3}, {memory.get(), 4}};
  HONE_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start(child_options));
  sockets.theirs.Reset();
  auto reference = std::make_unique<TorchReference>(task, std::move(scratch), std::move(child), std::move(sockets.ours),
                                                    std::move(output), std::move(memory));
  HONE_RETURN_IF_ERROR(reference->Begin(ModuleJson(task, TorchModuleOf(task), options)));
  return std::unique_ptr<HostReference>(std::move(reference));
}

size_t ReferencesKept(int64_t host_bytes, int64_t gpu_bytes) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  const int64_t by_host = host_bytes / (6 * kGiB);
  const int64_t by_gpu = gpu_bytes > 0 ? gpu_bytes / (16 * kGiB) : by_host;
  return static_cast<size_t>(std::clamp<int64_t>(std::min(by_host, by_gpu), 3, 8));
}

int TorchReferences::on_gpu() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::count_if(kept_.begin(), kept_.end(), [](const auto& one) { return one.second->uses_gpu() && !one.second->lost(); }));
}

Result<std::shared_ptr<HostReference>> TorchReferences::Get(const Task& task, const PythonOptions& options) {
  HONE_CHECK(HasTorchModule(task), "TorchReferences::Get of a task without a module");
  const std::string key = ProcessKey(task, options);
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i].first != key) continue;
    auto found = std::move(kept_[i]);
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
    if (found.second->lost()) break;  // the process has ended: starts another
    kept_.push_back(found);
    return found.second;
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<HostReference> started, StartTorchReference(task, options));
  const auto memory_is_short = [] {
    const int64_t available = AvailableMemoryBytes();
    return available > 0 && available < MachineMemory() / 4;
  };
  while (kept_.size() >= most_kept_ || (kept_.size() >= kAlwaysKept && memory_is_short())) kept_.erase(kept_.begin());
  kept_.emplace_back(key, std::move(started));
  return kept_.back().second;
}

}  // namespace hone
