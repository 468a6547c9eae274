// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shows where the time of a training step on the GPU goes, and whether the host ever waits inside an epoch.
//
// CUPTI's activity interface records one epoch: every kernel, copy and memset of the captured step with its start and
// end, and every call of the CUDA runtime. The program prints the step of median length, node by node in the order of
// their starts; nodes that ran at the same time are in separate lanes. It also prints busy time and gaps, and the
// host's calls between the epoch's first and last replay, none of which may wait.
//
// With --request, the program does the same for requests to the latency mode instead of training steps. With --cached,
// it does so for steps whose features are in host memory behind a cache.
//
// Recording costs a microsecond or two at every node. A recorded step is therefore longer than an unrecorded one (both
// are printed), and short nodes look slower than they are. libcupti is loaded at run time.
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <optional>
#include <string>
#include <vector>

#include "base/numbers/random.h"
#include "benchmarks/arguments.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/infer/latency_mode.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"

namespace {

// Functions of CUPTI that are loaded: X(member, symbol).
#define HONE_ACTIVITY_ENTRY_POINTS(X)                     \
  X(Enable, cuptiActivityEnable)                          \
  X(Register, cuptiActivityRegisterCallbacks)             \
  X(Flush, cuptiActivityFlushAll)                         \
  X(Next, cuptiActivityGetNextRecord)                     \
  X(Dropped, cuptiActivityGetNumDroppedRecords)           \
  X(CallName, cuptiGetCallbackName)                       \
  X(Timestamp, cuptiGetTimestamp)

struct Cupti {
#define HONE_MEMBER(member, symbol) decltype(&::symbol) member = nullptr;
  HONE_ACTIVITY_ENTRY_POINTS(HONE_MEMBER)
#undef HONE_MEMBER

  // Loads the library. Returns the name of what is missing, or null.
  const char* Load() {
    void* library = nullptr;
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/lib64/libcupti.so",
                             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "libcupti.so"}) {
      library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
      if (library != nullptr) break;
    }
    if (library == nullptr) return "libcupti.so.13 (put the toolkit's extras/CUPTI/lib64 into LD_LIBRARY_PATH)";
#define HONE_LOAD(member, symbol)                                          \
  member = reinterpret_cast<decltype(member)>(dlsym(library, #symbol));    \
  if (member == nullptr) return #symbol;
    HONE_ACTIVITY_ENTRY_POINTS(HONE_LOAD)
#undef HONE_LOAD
    return nullptr;
  }
};

struct Node {
  uint64_t begin, end;  // ns
  uint32_t correlation;
  int64_t blocks;
  int threads;
  int registers;
  std::string name;
};
struct Call {
  uint64_t begin, end;
  uint32_t correlation;
  std::string name;
};

Cupti cupti;
std::vector<Node> nodes;
std::vector<Call> calls;
uint64_t dropped = 0;

constexpr size_t kBufferBytes = size_t{8} << 20;

void BufferWanted(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = kBufferBytes;
  *most_records = 0;
}

// Returns a kernel's name without its arguments and namespaces.
std::string ShortName(const char* mangled) {
  std::string name = mangled == nullptr ? "?" : mangled;
  if (name.rfind("_Z", 0) != 0) return name.substr(0, 60);
  std::string best;  // the last identifier with an ending of kernels' names in this project, else the longest
  for (size_t at = 0; at < name.size();) {
    if (name[at] < '0' || name[at] > '9') {
      ++at;
      continue;
    }
    size_t length = 0;
    while (at < name.size() && name[at] >= '0' && name[at] <= '9') length = length * 10 + static_cast<size_t>(name[at++] - '0');
    if (length == 0 || length > name.size() - at) continue;
    const std::string part = name.substr(at, length);
    const bool kernel = part.size() > 6 && part.compare(part.size() - 6, 6, "Kernel") == 0;
    const bool best_is = best.size() > 6 && best.compare(best.size() - 6, 6, "Kernel") == 0;
    if ((kernel && !best_is) || (kernel == best_is && !kernel && part.size() > best.size())) best = part;
    at += length;
  }
  return best.empty() ? name.substr(0, 60) : best;
}

void BufferDone(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cupti.Next(buffer, valid, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
        nodes.push_back({kernel->start, kernel->end, kernel->correlationId,
                         int64_t{kernel->gridX} * kernel->gridY * kernel->gridZ,
                         kernel->blockX * kernel->blockY * kernel->blockZ, kernel->registersPerThread,
                         ShortName(kernel->name)});
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto* set = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
        nodes.push_back({set->start, set->end, set->correlationId, 0, 0, 0,
                         "memset of " + std::to_string(set->bytes) + " bytes"});
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
        nodes.push_back({copy->start, copy->end, copy->correlationId, 0, 0, 0,
                         "copy of " + std::to_string(copy->bytes) + " bytes"});
        break;
      }
      case CUPTI_ACTIVITY_KIND_RUNTIME: {
        const auto* call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
        const char* name = nullptr;
        if (cupti.CallName(CUPTI_CB_DOMAIN_RUNTIME_API, call->cbid, &name) != CUPTI_SUCCESS) name = "?";
        calls.push_back({call->start, call->end, call->correlationId, name});
        break;
      }
      default:
        break;
    }
  }
  size_t lost = 0;
  if (cupti.Dropped(nullptr, 0, &lost) == CUPTI_SUCCESS) dropped += lost;
  std::free(buffer);
}

int Fail(const std::string& why) {
  std::fprintf(stderr, "gnn_gpu_profile: %s\n", why.c_str());
  return 3;
}

double Us(uint64_t from, uint64_t to) { return static_cast<double>(static_cast<int64_t>(to - from)) * 1e-3; }

// One replay of the captured graph.
struct Step {
  uint64_t begin = 0, end = 0;
  std::vector<const Node*> nodes;
};

void PrintStep(const Step& step) {
  std::vector<uint64_t> lanes;  // in each lane, the end of its last node
  uint64_t busy_until = step.begin;
  double busy = 0, gaps = 0, sum = 0;
  std::printf("%9s %9s %5s %8s %7s %5s  %s\n", "begin us", "took us", "lane", "blocks", "threads", "regs", "node");
  for (const Node* node : step.nodes) {
    size_t lane = 0;
    while (lane < lanes.size() && lanes[lane] > node->begin) ++lane;
    if (lane == lanes.size()) lanes.push_back(0);
    lanes[lane] = node->end;
    if (node->begin > busy_until) gaps += Us(busy_until, node->begin);
    const uint64_t from = std::max(busy_until, node->begin);
    if (node->end > from) busy += Us(from, node->end);
    busy_until = std::max(busy_until, node->end);
    sum += Us(node->begin, node->end);
    std::printf("%9.2f %9.2f %5zu %8lld %7d %5d  %s%s\n", Us(step.begin, node->begin), Us(node->begin, node->end), lane,
                static_cast<long long>(node->blocks), node->threads, node->registers,
                std::string(lane * 2, '.').c_str(), node->name.c_str());
  }
  std::printf("step %.2f us: something runs for %.2f, nothing for %.2f; the nodes alone add up to %.2f\n",
              Us(step.begin, step.end), busy, gaps, sum);
}

// How many pieces of work (steps, requests) were done after the call of `forget`, and how long one took.
struct Took {
  double ms = 0;
  int64_t count = 0, again = 0;
};

template <typename Forget>
hone::Result<Took> Epoch(const hone::gnn::Graph& graph, hone::gnn::Model<float>& model,
                         const hone::gnn::cuda::GpuEngineOptions& options, const Forget& forget) {
  HONE_ASSIGN_OR_RETURN(const auto engine, hone::gnn::cuda::MakeGpuEngine(graph, model, options));
  HONE_RETURN_IF_ERROR(engine->TrainEpoch(0).status());
  forget();
  HONE_ASSIGN_OR_RETURN(const hone::gnn::cuda::EpochOnDevice epoch, engine->TrainEpoch(1));
  return Took{epoch.seconds / static_cast<double>(epoch.steps) * 1e3, epoch.steps, epoch.larger};
}

// Answers requests of `size` arbitrary nodes; returns their number and the median time.
template <typename Forget>
hone::Result<Took> Requests(const hone::gnn::Graph& graph, hone::gnn::Model<float>& model,
                            const hone::gnn::cuda::GpuEngineOptions& options, int size, const Forget& forget) {
  using Clock = std::chrono::steady_clock;
  HONE_ASSIGN_OR_RETURN(const auto predictor,
                        hone::gnn::cuda::LatencyPredictor::Make(graph, model, {.fanouts = options.fanouts, .fp32 = options.fp32}));
  hone::Rng rng(1);
  std::vector<double> ms;
  std::vector<hone::gnn::NodeId> wanted(static_cast<size_t>(size));
  constexpr int kWarmUp = 200, kRequests = 500;
  int64_t again = 0;
  for (int r = -kWarmUp; r < kRequests; ++r) {
    if (r == 0) {
      forget();
      again = predictor->repeated();
    }
    for (hone::gnn::NodeId& node : wanted) {
      node = static_cast<hone::gnn::NodeId>(rng.Below(static_cast<uint64_t>(graph.structure().num_nodes)));
    }
    const Clock::time_point asked = Clock::now();
    HONE_RETURN_IF_ERROR(predictor->Predict(wanted).status());
    if (r >= 0) ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - asked).count());
  }
  std::sort(ms.begin(), ms.end());
  return Took{ms[ms.size() / 2], kRequests, predictor->repeated() - again};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hone;
  using namespace hone::gnn;
  std::string name = "synthetic:papers100M?scale=0.1&seed=1", fanout = "15,10,5";
  cuda::GpuEngineOptions options;
  ModelOptions shape;
  shape.kind = "sage";
  shape.hidden = 256;
  Arguments app("Records a training epoch or requests on a GPU: the median one's timeline, and what the host waited for.");
  app.Add("graph", name);
  app.Add("--model", shape.kind, "sage, gat, gin, sage-ri, or the .toml file of a model");
  app.Add("--hidden", shape.hidden);
  app.Add("--heads", shape.heads, "of gat");
  app.Add("--batch", options.batch);
  app.Add("--fanout", fanout, "neighbors a hop, first next to the seeds");
  app.Add("--fp32", options.fp32);
  double cached = -1;
  app.Add("--cached", cached, "features in host memory, this percentage of the rows in a cache", {.least = 0, .most = 100});
  int request = 0;
  app.Add("--request", request, "nodes a request: records requests to the latency mode instead", {.least = 1, .most = 64});
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  options.fanouts.clear();
  std::istringstream list(fanout);
  for (std::string number; std::getline(list, number, ',');) {
    options.fanouts.push_back(static_cast<int32_t>(std::strtol(number.c_str(), nullptr, 10)));
  }
  options.eval_fanouts = options.fanouts;
  if (const char* missing = cupti.Load(); missing != nullptr) return Fail(std::string("not found: ") + missing);
  if (cupti.Register(BufferWanted, BufferDone) != CUPTI_SUCCESS) return Fail("CUPTI takes no buffers: another profiler runs");

  Result<std::shared_ptr<const Graph>> graph = IsSyntheticName(name) ? OutlineSyntheticGraph(name) : OpenGraph(name);
  if (!graph.ok()) return Fail(graph.status().message());
  if (cached >= 0) {
    const auto nodes = static_cast<double>((*graph)->structure().num_nodes);
    options.storage = {.tier = cuda::FeatureTier::kCached, .cache_rows = static_cast<int64_t>(cached / 100 * nodes)};
  }
  const std::string model_name = shape.kind;
  if (model_name.ends_with(".toml")) {
    Result<ModelSpec> spec = ReadModelSpec(model_name);
    if (!spec.ok()) return Fail(spec.status().message());
    shape = SpecOptions(std::make_shared<const ModelSpec>(std::move(*spec)), static_cast<int>(options.fanouts.size()));
  }
  shape.in_width = (*graph)->features().width;
  shape.num_classes = (*graph)->num_classes();
  shape.layers = static_cast<int>(options.fanouts.size());
  shape.seed = 1;
  Result<std::unique_ptr<Model<float>>> model = MakeModel(shape);
  if (!model.ok()) return Fail(model.status().message());
  // The work runs twice, unrecorded and recorded. A CUDA graph's nodes are recorded only if recording began before the
  // graph was made.
  double alone = 0;
  for (const bool recorded : {false, true}) {
    if (recorded) {
      for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMSET,
                                            CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_RUNTIME}) {
        if (cupti.Enable(kind) != CUPTI_SUCCESS) return Fail("CUPTI cannot record here");
      }
    }
    const auto forget = [&] {
      if (!recorded) return;
      (void)cupti.Flush(1);
      nodes.clear();
      calls.clear();
    };
    const Result<Took> took = request > 0 ? Requests(**graph, **model, options, request, forget)
                                          : Epoch(**graph, **model, options, forget);
    if (!took.ok()) return Fail(took.status().message());
    if (!recorded) {
      alone = took->ms;
      continue;
    }
    (void)cupti.Flush(1);
    std::printf("%s, %s %s, %s, hidden %lld: %.4f ms a %s, recorded %.4f (%lld of them, %lld done again in the larger envelope)\n",
                name.c_str(), model_name.c_str(), fanout.c_str(),
                request > 0 ? (std::to_string(request) + " nodes a request").c_str()
                            : ("batch " + std::to_string(options.batch)).c_str(),
                static_cast<long long>(shape.hidden), alone, request > 0 ? "request" : "step", took->ms,
                static_cast<long long>(took->count), static_cast<long long>(took->again));
  }

  std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.begin < b.begin; });
  std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.begin < b.begin; });
  std::map<uint32_t, Step> steps;  // keyed by the id of the launch
  uint64_t first_launch = 0, last_launch = 0;
  for (const Call& call : calls) {
    if (call.name.rfind("cudaGraphLaunch", 0) != 0) continue;
    if (first_launch == 0) first_launch = call.end;
    last_launch = call.begin;
    steps[call.correlation] = {};
  }
  for (const Node& node : nodes) {
    const auto step = steps.find(node.correlation);
    if (step == steps.end()) continue;
    if (step->second.nodes.empty()) step->second.begin = node.begin;
    step->second.end = std::max(step->second.end, node.end);
    step->second.nodes.push_back(&node);
  }
  std::vector<const Step*> order;
  for (const auto& [launch, step] : steps) {
    if (!step.nodes.empty()) order.push_back(&step);
  }
  if (order.empty()) return Fail("no replay was recorded");
  std::sort(order.begin(), order.end(), [](const Step* a, const Step* b) { return a->end - a->begin < b->end - b->begin; });
  PrintStep(*order[order.size() / 2]);

  // Counts the host's calls between the first and the last replay.
  std::map<std::string, int64_t> between;
  int64_t waits = 0;
  for (const Call& call : calls) {
    if (call.begin < first_launch || call.begin > last_launch) continue;
    ++between[call.name];
    const bool waits_here = call.name.find("Synchronize") != std::string::npos ||  // a query returns at once
                            (call.name.find("cudaMemcpy") == 0 && call.name.find("Async") == std::string::npos) ||
                            call.name.find("cudaFree") == 0 || call.name.find("cudaMalloc") == 0;
    if (waits_here) ++waits;
  }
  std::printf("calls of the host between the first and the last replay (%llu records lost):\n",
              static_cast<unsigned long long>(dropped));
  for (const auto& [call, count] : between) std::printf("%9lld  %s\n", static_cast<long long>(count), call.c_str());
  std::printf("host synchronisations between them: %lld\n", static_cast<long long>(waits));
  return waits == 0 ? 0 : 1;
}
