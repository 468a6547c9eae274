// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements latency_mode.h: prepares buffers and graphs for each size of request, and answers requests with them.
#include "gnn/cuda/infer/latency_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/cuda/infer/latency_kernels.h"
#include "gnn/cuda/lower/plan_model.h"
#include "gnn/cuda/sample/all_neighbors.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn::cuda {
namespace {

constexpr std::array<int32_t, 7> kSizes = {1, 2, 4, 8, 16, 32, 64};
static_assert(kSizes.back() == kMostSeeds && LatencyPredictor::kMostSeeds == kMostSeeds);

Status Check(const Graph& graph, const ModelOptions& model, const LatencyOptions& options) {
  if (static_cast<int>(options.fanouts.size()) != model.layers || model.layers > kMaxHopsOnDevice) {
    return Status::InvalidArgument(fmt::format("a model of {} layers needs as many fanouts, at most {}, not {}",
                                               model.layers, kMaxHopsOnDevice, options.fanouts.size()));
  }
  for (const int32_t fanout : options.fanouts) {
    if (fanout != kAllNeighbors && (fanout < 1 || fanout > kMaxFanout)) {
      return Status::InvalidArgument(fmt::format("fanout {}: latency mode takes 1 to {}, or {} for all neighbors",
                                                 fanout, kMaxFanout, kAllNeighbors));
    }
  }
  if (model.in_width != graph.features().width) {
    return Status::InvalidArgument(
        fmt::format("graph '{}' has {} features a node and the model was made for {}: they do not belong together",
                    graph.name(), graph.features().width, model.in_width));
  }
  if (ReadsEdgeFeatures(model) && model.edge_width != graph.edge_features().width) {
    return Status::InvalidArgument(
        fmt::format("graph '{}' has {} features an edge and the model was made for {}: they do not belong together",
                    graph.name(), graph.edge_features().width, model.edge_width));
  }
  return Status::Ok();
}

// Buffers for requests of one envelope, and the captured graph that uses them.
class Lane {
 public:
  Status Make(const ProgramContext& context, const ModelPlan& plan, const std::vector<int32_t>& fanouts,
              const std::vector<int32_t>& hop_nodes) {
    envelope_ = {fanouts, hop_nodes, false};
    HONE_ASSIGN_OR_RETURN(program_, plan.Build(context, envelope_));
    HONE_RETURN_IF_ERROR(header_.Allocate(1));
    HONE_RETURN_IF_ERROR(nodes_.Allocate(hop_nodes.back()));
    for (size_t h = 0; h + 1 < hop_nodes.size(); ++h) {
      HONE_RETURN_IF_ERROR(columns_.emplace_back().Allocate(static_cast<int64_t>(hop_nodes[h]) * fanouts[h]));
      HONE_RETURN_IF_ERROR(counts_.emplace_back().Allocate(hop_nodes[h]));
      HopOnDevice hop{};
      hop.fanout = fanouts[h];
      hop.rows = hop_nodes[h];
      hop.sources = hop_nodes[h + 1];
      hop.columns = columns_.back().get();
      hop.counts = counts_.back().get();
      if (fanouts[h] > kNarrowFanout) {
        HONE_RETURN_IF_ERROR(
            prefix_sum_scratch_.emplace_back().Allocate((hop_nodes[h] + kCountedDraws - 1) / kCountedDraws));
        hop.prefix_sum_scratch = prefix_sum_scratch_.back().get();
      }
      hops_.push_back(hop);
    }
    HONE_RETURN_IF_ERROR(outer_.Allocate(program_->OuterBytes()));
    return logits_.Allocate(envelope_.Rows(envelope_.layers() - 1) * plan.padded_classes());
  }

  Status EnqueueSample(const GraphOnDevice& graph, const LatencyRequest* request, const RunState* state,
                       RequestOnDevice* current, cudaStream_t stream) const {
    const bool begins = !hops_.empty() && hops_[0].fanout <= kNarrowFanout;
    HONE_CUDA_RETURN_IF_ERROR(EnqueueBeginRequest(request, graph, begins ? hops_.data() : nullptr, state, current,
                                                  header_.get(), nodes_.get(), stream));
    for (size_t h = begins ? 1 : 0; h < hops_.size(); ++h) {
      HONE_CUDA_RETURN_IF_ERROR(
          EnqueueDrawHop(graph, static_cast<int>(h), hops_[h], state, current, header_.get(), nodes_.get(), stream));
    }
    return Status::Ok();
  }
  Status EnqueueCompute(const GraphOnDevice& graph, const RunState* state, cudaStream_t stream) const {
    const BatchOnDevice batch{state, header_.get(), nodes_.get(), hops_.data(), outer_.get(), graph, nodes_.get()};
    HONE_RETURN_IF_ERROR(program_->EnqueueOutermost(batch, stream));
    return program_->EnqueueForward(batch, logits_.get(), stream);
  }
  // Returns the header of the latest sample, which has the number of nodes after each hop.
  Result<BatchHeader> DownloadHeader() const {
    std::vector<BatchHeader> header;
    HONE_RETURN_IF_ERROR(header_.Download(header));
    return header[0];
  }
  int32_t seeds() const { return envelope_.known[0]; }
  const std::vector<int32_t>& hop_nodes() const { return envelope_.known; }
  const float* logits() const { return logits_.get(); }
  GraphExec& replay() { return replay_; }

 private:
  Envelope envelope_;
  std::unique_ptr<Program> program_;
  DeviceArray<BatchHeader> header_;
  DeviceArray<int32_t> nodes_;
  std::vector<DeviceArray<int32_t>> columns_, counts_;
  std::vector<DeviceArray<uint32_t>> prefix_sum_scratch_;
  std::vector<HopOnDevice> hops_;
  DeviceArray<unsigned char> outer_;
  DeviceArray<float> logits_;
  GraphExec replay_;
};

class Predictor final : public LatencyPredictor {
 public:
  ~Predictor() override {
    if (stream_.handle != nullptr) (void)cudaStreamSynchronize(stream_.handle);
    if (host_logits_ != nullptr) cudaFreeHost(host_logits_);
  }

  Status Make(const Graph& graph, Model<float>& model, const LatencyOptions& options) {
    HONE_RETURN_IF_ERROR(Check(graph, model.options(), options));
    options_ = options;
    classes_ = model.options().num_classes;
    size_t free_before = 0, free_after = 0, total = 0;
    HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_before, &total));
    HONE_ASSIGN_OR_RETURN(plan_, PlanModel(model.options()));
    HONE_ASSIGN_OR_RETURN(matmuls_, OpenMatmulLibrary());
    if (IsOutline(graph)) {
      HONE_ASSIGN_OR_RETURN(const SyntheticRequest request, ParseSyntheticName(graph.name()));
      HONE_RETURN_IF_ERROR(graph_.Generate(request));
    } else {
      HONE_RETURN_IF_ERROR(graph_.Upload(graph));
      if (ReadsEdgeFeatures(model.options())) HONE_RETURN_IF_ERROR(graph_.UploadEdgeFeatures(graph));
    }
    if (AsksForAll(options.fanouts)) {
      HONE_ASSIGN_OR_RETURN(const int32_t largest, LargestDegree(graph_.view()));
      options_.fanouts = WithAllNeighbors(options.fanouts, largest);
    }
    hops_ = EnvelopeFanouts(*plan_, options_.fanouts);
    context_ = {&graph_, &parameters_, matmuls_.get(), options.fp32 ? Element::kFloat32 : Element::kBFloat16};
    HONE_RETURN_IF_ERROR(parameters_.Make(plan_->Layout(), context_.element));
    HONE_RETURN_IF_ERROR(parameters_.ImportValues(model.parameters()));
    RunState state{};
    state.seed = options.seed;
    HONE_RETURN_IF_ERROR(state_.Upload(&state, 1));
    HONE_RETURN_IF_ERROR(finished_.Allocate(1));
    HONE_RETURN_IF_ERROR(current_.Allocate(1));
    HONE_RETURN_IF_ERROR(request_.Make());
    HONE_RETURN_IF_ERROR(reply_.Make());
    const auto logit_bytes = static_cast<size_t>(kMostSeeds * classes_) * sizeof(float);
    HONE_CUDA_RETURN_IF_ERROR(cudaHostAlloc(reinterpret_cast<void**>(&host_logits_), logit_bytes, cudaHostAllocMapped));
    HONE_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device_logits_), host_logits_, 0));
    HONE_RETURN_IF_ERROR(stream_.Make());
    for (size_t s = 0; s < kSizes.size(); ++s) HONE_RETURN_IF_ERROR(MakeSize(s));
    HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_after, &total));
    device_bytes_ = static_cast<int64_t>(free_before) - static_cast<int64_t>(free_after);
    return Status::Ok();
  }

  Result<LatencyAnswer> Predict(std::span<const NodeId> nodes, bool logits) override {
    if (nodes.empty() || nodes.size() > kMostSeeds) {
      return Status::InvalidArgument(
          fmt::format("{} nodes in one request: latency mode takes 1 to {}", nodes.size(), kMostSeeds));
    }
    const int64_t num_nodes = graph_.view().num_nodes;
    for (const NodeId node : nodes) {
      if (node < 0 || node >= num_nodes) {
        return Status::InvalidArgument(
            fmt::format("node {} is not in the graph, which has nodes 0 to {}", node, num_nodes - 1));
      }
    }
    LatencyAnswer answer;
    const std::lock_guard<std::mutex> lock(mutex_);
    HONE_RETURN_IF_ERROR(Answer(nodes, logits, answer));
    return answer;
  }

  int64_t num_classes() const override { return classes_; }
  int64_t device_bytes() const override { return device_bytes_; }
  int64_t repeated() const override { return repeated_.load(std::memory_order_relaxed); }

 private:
  struct Size {
    // The lane that nearly all requests fit, and the lane that every request fits. `usual` is null if it would be no
    // smaller than `worst`, and `worst` is null if its buffers would be too large.
    std::unique_ptr<Lane> usual, worst;
  };

  // Appends the classes, and the logits if wanted, of `nodes` to `answer`.
  Status Answer(std::span<const NodeId> nodes, bool logits, LatencyAnswer& answer) {
    const auto count = static_cast<int32_t>(nodes.size());
    Size& size = sizes_[static_cast<size_t>(std::lower_bound(kSizes.begin(), kSizes.end(), count) - kSizes.begin())];
    bool fits = false;
    for (Lane* const lane : {size.usual.get(), size.worst.get()}) {
      if (lane == nullptr || fits) continue;
      if (lane == size.worst.get() && size.usual != nullptr) repeated_.fetch_add(1, std::memory_order_relaxed);
      HONE_RETURN_IF_ERROR(RunLane(*lane, nodes, logits));
      fits = reply_.host()->overflow == 0;
    }
    if (!fits && size.worst != nullptr) {
      return Status::Internal("a request did not fit the buffers of the worst case");
    }
    if (!fits) {
      if (size.usual != nullptr) repeated_.fetch_add(1, std::memory_order_relaxed);
      HONE_RETURN_IF_ERROR(Answer(nodes.first(nodes.size() / 2), logits, answer));
      return Answer(nodes.subspan(nodes.size() / 2), logits, answer);
    }
    for (int32_t i = 0; i < count; ++i) {
      const int32_t predicted_class = reply_.host()->classes[i];
      answer.classes.push_back(predicted_class);
    }
    if (logits) answer.logits.insert(answer.logits.end(), host_logits_, host_logits_ + count * classes_);
    return Status::Ok();
  }

  // Returns the number of nodes after each hop for `seeds` nodes with as many neighbors as the fanouts allow, and sets
  // `slots` to the largest number of slots of a hop.
  std::vector<int32_t> WorstCase(int32_t seeds, int64_t* slots) const {
    std::vector<int32_t> hop_nodes;
    int64_t nodes = seeds;
    *slots = 0;
    for (const int32_t fanout : hops_) {
      *slots = std::max(*slots, nodes * fanout);
      if (*slots >= kNewRank) break;
      hop_nodes.push_back(static_cast<int32_t>(nodes));
      nodes *= 1 + int64_t{fanout};
    }
    return hop_nodes;
  }

  Status MakeSize(size_t s) {
    Size& size = sizes_[s];
    int64_t slots = 0;
    const std::vector<int32_t> worst = WorstCase(kSizes[s], &slots);
    if (s == 0 && slots >= kNewRank) {
      return Status::InvalidArgument(
          fmt::format("one node with fanouts {} may have {} neighbors in a hop, more than latency mode numbers: take "
                      "smaller fanouts",
                      fmt::join(options_.fanouts, ","), slots));
    }
    std::vector<int32_t> usual;
    if (s == 0 || slots < std::min<int64_t>(options_.most_slots, kNewRank)) {
      size.worst = std::make_unique<Lane>();
      HONE_RETURN_IF_ERROR(size.worst->Make(context_, *plan_, hops_, worst));
      HONE_ASSIGN_OR_RETURN(const Observed observed, Observe(*size.worst));
      if (s == 0) observed_single_ = observed;
      usual = UsualSizes(observed, 1, worst);
      HONE_RETURN_IF_ERROR(Capture(*size.worst));
      // Products use buffers in multiples of 128 rows. If both sizes round up to the same multiples, one lane serves
      // both.
      bool differs = false;
      for (size_t h = 0; h < usual.size(); ++h) {
        differs = differs || RoundUp<int64_t>(usual[h], 128) < RoundUp<int64_t>(worst[h], 128);
      }
      if (!differs) return Status::Ok();
    } else {
      usual = UsualSizes(observed_single_, kSizes[s], {});
      for (size_t h = 0; h < usual.size(); ++h) {
        const int64_t max_slots = std::min<int64_t>(4 * options_.most_slots, kNewRank);
        if (int64_t{usual[h]} * hops_[h] >= max_slots) return Status::Ok();  // such requests are always split in halves
      }
    }
    size.usual = std::make_unique<Lane>();
    HONE_RETURN_IF_ERROR(size.usual->Make(context_, *plan_, hops_, usual));
    return Capture(*size.usual);
  }

  void Write(std::span<const NodeId> nodes, bool logits) {
    volatile LatencyRequest& request = *request_.host();
    request.sequence = request.sequence + 1;
    request.count = static_cast<int32_t>(nodes.size());
    request.logits = logits ? 1 : 0;
    for (size_t i = 0; i < nodes.size(); ++i) request.nodes[i] = nodes[i];
  }
  const LatencyRequest* DeviceRequest() const { return const_cast<const LatencyRequest*>(request_.device()); }

  // The mean and the variance of the number of nodes after each hop, over requests of arbitrary nodes.
  struct Observed {
    std::vector<double> mean, variance;
  };
  // Measures these in a worst-case lane, which fits every request.
  Result<Observed> Observe(const Lane& lane) {
    // Sizes without a worst-case lane use the measurement of one node, which therefore takes more requests.
    const uint32_t requests = lane.seeds() == 1 ? 128 : 32;
    const size_t hops = lane.hop_nodes().size();
    Observed observed{std::vector<double>(hops, 0), std::vector<double>(hops, 0)};
    const auto num_nodes = static_cast<uint64_t>(graph_.view().num_nodes);
    uint64_t random_state = 0;
    HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());  // the buffers are cleared on another stream
    for (uint32_t r = 0; r < requests; ++r) {
      std::vector<NodeId> nodes;
      for (int32_t i = 0; i < lane.seeds(); ++i) {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
        nodes.push_back(static_cast<NodeId>((random_state >> 32) % num_nodes));
      }
      Write(nodes, /*logits=*/false);
      HONE_RETURN_IF_ERROR(
          lane.EnqueueSample(graph_.view(), DeviceRequest(), state_.get(), current_.get(), stream_.handle));
      HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.handle));
      HONE_ASSIGN_OR_RETURN(const BatchHeader header, lane.DownloadHeader());
      for (size_t h = 0; h < hops; ++h) {
        observed.mean[h] += header.hop_nodes[h];
        observed.variance[h] += static_cast<double>(header.hop_nodes[h]) * header.hop_nodes[h];
      }
    }
    for (size_t h = 0; h < hops; ++h) {
      observed.mean[h] /= requests;
      observed.variance[h] = std::max(0.0, observed.variance[h] / requests - observed.mean[h] * observed.mean[h]) *
                             requests / (requests - 1);
    }
    return observed;
  }
  // Returns the mean plus five standard deviations of the nodes after each hop, for a request that is as large as
  // `requests` observed requests together. `worst` bounds each number; empty: it is not known.
  std::vector<int32_t> UsualSizes(const Observed& observed, int32_t requests, const std::vector<int32_t>& worst) const {
    std::vector<int32_t> hop_nodes = {requests * static_cast<int32_t>(std::lround(observed.mean[0]))};
    if (!worst.empty()) hop_nodes[0] = worst[0];
    for (size_t h = 1; h < observed.mean.size(); ++h) {
      const double nodes_with_margin = requests * observed.mean[h] + 5 * std::sqrt(requests * observed.variance[h]);
      const int64_t rounded = RoundUp(static_cast<int64_t>(options_.envelope * nodes_with_margin), 128);
      const int64_t max_nodes = worst.empty() ? kNewRank : worst[h];
      hop_nodes.push_back(static_cast<int32_t>(std::clamp<int64_t>(rounded, hop_nodes[h - 1], max_nodes)));
    }
    return hop_nodes;
  }

  Status Enqueue(const Lane& lane) {
    HONE_RETURN_IF_ERROR(
        lane.EnqueueSample(graph_.view(), DeviceRequest(), state_.get(), current_.get(), stream_.handle));
    HONE_RETURN_IF_ERROR(lane.EnqueueCompute(graph_.view(), state_.get(), stream_.handle));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueReply(current_.get(), lane.logits(), static_cast<int32_t>(plan_->padded_classes()),
                                           static_cast<int32_t>(classes_), lane.seeds(), finished_.get(),
                                           const_cast<LatencyReply*>(reply_.device()), device_logits_, stream_.handle));
    return Status::Ok();
  }

  // Runs the lane once and then captures it. The first run does the runtime's lazy loading, and shows errors where they
  // arise.
  Status Capture(Lane& lane) {
    HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
    const std::vector<NodeId> request_nodes = {0};
    Write(request_nodes, /*logits=*/true);
    HONE_RETURN_IF_ERROR(Enqueue(lane));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(stream_.handle, cudaStreamCaptureModeThreadLocal));
    const Status status = Enqueue(lane);
    cudaGraph_t captured = nullptr;
    const cudaError_t end_error = cudaStreamEndCapture(stream_.handle, &captured);
    HONE_RETURN_IF_ERROR(status);
    HONE_CUDA_RETURN_IF_ERROR(end_error);
    const cudaError_t instantiate_error = cudaGraphInstantiate(&lane.replay().handle, captured, 0);
    cudaGraphDestroy(captured);
    HONE_CUDA_RETURN_IF_ERROR(instantiate_error);
    HONE_CUDA_RETURN_IF_ERROR(cudaGraphUpload(lane.replay().handle, stream_.handle));
    return Status::Ok();
  }

  // Launches the lane's graph and waits. The reply is then in reply_ and host_logits_.
  Status RunLane(Lane& lane, std::span<const NodeId> nodes, bool logits) {
    Write(nodes, logits);
    const uint32_t sequence = request_.host()->sequence;
    HONE_CUDA_RETURN_IF_ERROR(cudaGraphLaunch(lane.replay().handle, stream_.handle));
    if (options_.spin) {
      // A failed device never writes its reply, so the driver is asked now and then. A request takes some 10^5 turns at
      // most.
      constexpr int kTurns = 1 << 22, kTurnsAQuestion = 1 << 10;
      for (int turn = 1; turn < kTurns && reply_.host()->sequence != sequence; ++turn) {
        if (turn % kTurnsAQuestion != 0) continue;
        const cudaError_t state = cudaStreamQuery(stream_.handle);
        if (state == cudaErrorNotReady) continue;
        HONE_CUDA_RETURN_IF_ERROR(state);
        break;
      }
    }
    if (!options_.spin || reply_.host()->sequence != sequence) {
      HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.handle));
      if (reply_.host()->sequence != sequence) return Status::Internal("the device finished a request without a reply");
    }
    std::atomic_thread_fence(std::memory_order_acquire);  // the logits must be read after the sequence
    return Status::Ok();
  }

  LatencyOptions options_;
  std::vector<int32_t>
      hops_;  // fanouts of the envelopes: one more than the model's layers where the outermost nodes get ids
  int64_t classes_ = 0, device_bytes_ = 0;
  DeviceGraph graph_;
  DeviceParameters parameters_;
  std::unique_ptr<MatmulLibrary> matmuls_;
  std::unique_ptr<ModelPlan> plan_;
  ProgramContext context_;
  DeviceArray<RunState> state_;
  DeviceArray<uint32_t> finished_;
  DeviceArray<RequestOnDevice> current_;
  MappedValue<LatencyRequest> request_;
  MappedValue<LatencyReply> reply_;
  float* host_logits_ = nullptr;    // logits of a reply in mapped memory
  float* device_logits_ = nullptr;  // the logits' memory by its device address
  Stream stream_;
  std::array<Size, kSizes.size()> sizes_;
  Observed observed_single_;  // measured by requests of one node
  std::mutex mutex_;          // held while a call uses the device
  std::atomic<int64_t> repeated_{0};
};

}  // namespace

Result<std::unique_ptr<LatencyPredictor>> LatencyPredictor::Make(const Graph& graph, Model<float>& model,
                                                                 const LatencyOptions& options) {
  auto predictor = std::make_unique<Predictor>();
  HONE_RETURN_IF_ERROR(predictor->Make(graph, model, options));
  return std::unique_ptr<LatencyPredictor>(std::move(predictor));
}

}  // namespace hone::gnn::cuda
