// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The step of sage_engine.h: what is enqueued in which order, and who waits for whom.
//
//   layer l of L aggregates hop L-1-l:  A_l = [mean | self]   (l = 0: drawn and gathered in one kernel)
//                                       Z_l = A_l W_l^T
//   loss on Z_{L-1};  then backwards    dW_l = dZ_l^T A_l,  dA_l = dZ_l W_l,  dZ_{l-1} = gather by source of dA_l
#include "gnn/cuda/sage_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>

#include "gnn/cuda/cuda_support.h"
#include "gnn/cuda/gather_kernels.h"
#include "gnn/cuda/learn_kernels.h"
#include "gnn/cuda/matmul.h"
#include "gnn/ops/dropout.h"

namespace hone::gnn::cuda {
namespace {

int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
int64_t ElementBytes(Element element) { return element == Element::kFloat32 ? 4 : 2; }

struct Stream {
  cudaStream_t handle = nullptr;
  ~Stream() {
    if (handle != nullptr) cudaStreamDestroy(handle);
  }
  Status Make() {
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking));
    return Status::Ok();
  }
};
struct Event {
  cudaEvent_t handle = nullptr;
  ~Event() {
    if (handle != nullptr) cudaEventDestroy(handle);
  }
  Status Make(unsigned flags) {
    HONE_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags(&handle, flags));
    return Status::Ok();
  }
};
struct GraphExec {
  cudaGraphExec_t handle = nullptr;
  GraphExec() = default;
  GraphExec(GraphExec&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  ~GraphExec() {
    if (handle != nullptr) cudaGraphExecDestroy(handle);
  }
};

// Sizes of the layers, padded to whole 8-element vectors; columns past the true widths stay zero.
struct LayerShape {
  int64_t in = 0, padded_in = 0;
  int64_t out = 0, padded_out = 0;
  int64_t weight_at = 0;  // in the flat parameters; [padded_out, 2 * padded_in]
  int64_t weights() const { return padded_out * 2 * padded_in; }
};

struct DeviceWeights {
  std::vector<LayerShape> layers;
  int64_t count = 0;
  DeviceArray<float> master, gradient, moment1, moment2;
  DeviceArray<unsigned char> compute;  // what the products read
};

struct Shared {
  GraphOnDevice graph{};
  Element feature_element = Element::kFloat32;
  Element element = Element::kBFloat16;
  DeviceWeights weights;
  std::unique_ptr<MatmulLibrary> matmuls;
  ActivationOnLoad dropout;  // layer is set for each use
  int32_t classes = 0;
  AdamOptions adam;
};

// One direction of use: the seeds, fanouts and buffers of training, or of evaluation.
class Pass {
 public:
  Pass(Shared& shared, std::vector<int32_t> fanouts, int32_t batch, bool trains, const SageEngineOptions& options)
      : shared_(shared),
        fanouts_(std::move(fanouts)),
        batch_(batch),
        trains_(trains),
        seed_(options.seed),
        envelope_(options.envelope) {}
  ~Pass() {
    if (host_halt_ != nullptr) cudaFreeHost(const_cast<uint32_t*>(host_halt_));
  }

  Status Make(std::span<const NodeId> seeds, bool in_order);
  Result<EpochOnDevice> RunEpoch(uint32_t epoch, float learning_rate);
  Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step);
  Status OneStep(uint32_t epoch, uint32_t step, bool update, double* loss);
  const DeviceArray<int32_t>& predictions() const { return predictions_; }

 private:
  int hops() const { return static_cast<int>(fanouts_.size()); }
  struct Hop {
    HopOnDevice view{};
    DeviceArray<uint32_t> entries, slot_keys, sorted_keys, slots, sorted_slots;
    DeviceArray<int32_t> columns, counts, first, end, tile_counts;
    Status Make(int32_t fanout, int32_t rows, int32_t sources, bool by_source);
  };
  struct Batch {
    DeviceArray<BatchHeader> header;
    DeviceArray<int32_t> nodes;
    std::vector<Hop> hops;
    DeviceArray<unsigned char> outer;  // A_0
  };
  // Buffers and captured steps for batches of up to known[h] nodes after hop h.
  struct Bucket {
    std::vector<int32_t> known;  // hops() entries: after hop 0 … hops()-1
    std::array<Batch, 2> batches;
    std::vector<DeviceArray<unsigned char>> inputs, outputs, input_grads, output_grads;  // A_l, Z_l, dA_l, dZ_l
    DeviceArray<float> logits, row_loss;
    DeviceArray<int32_t> row_correct;
    std::vector<std::unique_ptr<Matmul>> forward, weight_grad, input_grad;
    DeviceArray<unsigned char> sort_scratch;
    std::array<GraphExec, 2> replays;  // train on buffer i, sample into the other
    int64_t Rows(int layer) const { return RoundUp(known[known.size() - 1 - static_cast<size_t>(layer)], 128); }
  };

  Status MakeBucket(const std::vector<int32_t>& known, Bucket& bucket);
  Status Capture(Bucket& bucket);
  Status EnqueueSample(Bucket& bucket, int which, cudaStream_t stream);
  Status EnqueueCompute(Bucket& bucket, int which, bool update, cudaStream_t stream);
  Status SetState(uint32_t epoch, uint32_t next, bool fresh, float learning_rate);
  Status ReadState(RunState* state);
  std::vector<int32_t> WorstCase() const;
  Status Observe(std::vector<int32_t>* known);

  Shared& shared_;
  std::vector<int32_t> fanouts_;
  int32_t batch_;
  bool trains_;
  uint64_t seed_;
  double envelope_;
  int64_t count_ = 0;
  uint32_t steps_ = 0;
  SeedsOnDevice seeds_{};
  DeviceArray<int32_t> seed_nodes_, predictions_;
  DeviceArray<unsigned long long> table_keys_, table_values_;
  NodeTable table_{};
  DeviceArray<RunState> state_;
  volatile uint32_t* host_halt_ = nullptr;
  volatile uint32_t* device_halt_ = nullptr;  // the same memory, as the device sees it
  Stream main_, side_;
  Event fork_, join_, begin_, finish_;
  Bucket small_, large_;
};

Status Pass::Hop::Make(int32_t fanout, int32_t rows, int32_t sources, bool by_source) {
  const int64_t places = static_cast<int64_t>(rows) * fanout;
  HONE_RETURN_IF_ERROR(entries.Allocate(places));
  HONE_RETURN_IF_ERROR(columns.Allocate(places));
  HONE_RETURN_IF_ERROR(slot_keys.Allocate(places));
  HONE_RETURN_IF_ERROR(slots.Allocate(places));
  HONE_RETURN_IF_ERROR(counts.Allocate(rows));
  HONE_RETURN_IF_ERROR(tile_counts.Allocate(places / 1024 + 2));
  if (by_source) {
    HONE_RETURN_IF_ERROR(sorted_keys.Allocate(places));
    HONE_RETURN_IF_ERROR(sorted_slots.Allocate(places));
    HONE_RETURN_IF_ERROR(first.Allocate(sources));
    HONE_RETURN_IF_ERROR(end.Allocate(sources));
  }
  view = {fanout,          rows,        sources,            entries.get(), columns.get(),      counts.get(),
          slot_keys.get(), sorted_keys.get(), slots.get(), sorted_slots.get(), first.get(), end.get(), tile_counts.get()};
  return Status::Ok();
}

std::vector<int32_t> Pass::WorstCase() const {
  std::vector<int32_t> known;
  int64_t nodes = batch_;
  for (int h = 0; h < hops(); ++h) {
    known.push_back(static_cast<int32_t>(nodes));
    nodes = std::min(nodes * (1 + fanouts_[static_cast<size_t>(h)]), shared_.graph.num_nodes);
  }
  return known;
}

Status Pass::Make(std::span<const NodeId> seeds, bool in_order) {
  count_ = static_cast<int64_t>(seeds.size());
  steps_ = static_cast<uint32_t>((count_ + batch_ - 1) / batch_);
  HONE_RETURN_IF_ERROR(seed_nodes_.Upload(seeds.data(), count_));
  if (!trains_) HONE_RETURN_IF_ERROR(predictions_.Allocate(static_cast<int64_t>(steps_) * batch_));
  seeds_ = {seed_nodes_.get(), count_, batch_, in_order ? 1 : 0};
  HONE_RETURN_IF_ERROR(state_.Allocate(1));
  HONE_RETURN_IF_ERROR(main_.Make());
  HONE_RETURN_IF_ERROR(side_.Make());
  HONE_RETURN_IF_ERROR(fork_.Make(cudaEventDisableTiming));
  HONE_RETURN_IF_ERROR(join_.Make(cudaEventDisableTiming));
  HONE_RETURN_IF_ERROR(begin_.Make(cudaEventDefault));
  HONE_RETURN_IF_ERROR(finish_.Make(cudaEventDefault));
  void* host = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(cudaHostAlloc(&host, sizeof(uint32_t), cudaHostAllocMapped));
  host_halt_ = static_cast<volatile uint32_t*>(host);
  *host_halt_ = 0;
  void* device = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(&device, host, 0));
  device_halt_ = static_cast<volatile uint32_t*>(device);

  const std::vector<int32_t> worst = WorstCase();
  int64_t entries = 1024;
  while (entries < 2 * static_cast<int64_t>(worst.back())) entries *= 2;
  HONE_RETURN_IF_ERROR(table_keys_.Allocate(entries));
  HONE_RETURN_IF_ERROR(table_values_.Allocate(entries));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemset(table_values_.get(), 0xff, static_cast<size_t>(entries) * sizeof(unsigned long long)));
  table_ = {table_keys_.get(), table_values_.get(), static_cast<uint32_t>(entries - 1)};

  HONE_RETURN_IF_ERROR(SetState(0, 0, true, 0));
  HONE_RETURN_IF_ERROR(MakeBucket(worst, large_));
  std::vector<int32_t> observed;
  HONE_RETURN_IF_ERROR(Observe(&observed));
  HONE_RETURN_IF_ERROR(MakeBucket(observed, small_));
  // Every kernel and product once outside a capture: what loads late loads here, and errors show where they arise. The
  // small bucket's header is still zero, so its batch is not valid and changes nothing.
  HONE_RETURN_IF_ERROR(EnqueueCompute(large_, 0, false, main_.handle));
  HONE_RETURN_IF_ERROR(EnqueueCompute(small_, 0, trains_, main_.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(main_.handle));
  HONE_RETURN_IF_ERROR(Capture(large_));
  return Capture(small_);
}

// The most that a few dozen batches needed, and a margin: what falls outside costs a repeated step, not a fault.
Status Pass::Observe(std::vector<int32_t>* known) {
  constexpr uint32_t kSamples = 32;
  *known = std::vector<int32_t>(fanouts_.size(), 0);
  HONE_RETURN_IF_ERROR(SetState(0, 0, true, 0));
  for (uint32_t i = 0; i < std::min(kSamples, steps_); ++i) {
    HONE_RETURN_IF_ERROR(EnqueueSample(large_, 0, main_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(main_.handle));
    std::vector<BatchHeader> header;
    HONE_RETURN_IF_ERROR(large_.batches[0].header.Download(header));
    for (size_t h = 0; h < known->size(); ++h) (*known)[h] = std::max((*known)[h], header[0].hop_nodes[h]);
  }
  const std::vector<int32_t> worst = WorstCase();
  (*known)[0] = batch_;
  for (size_t h = 1; h < known->size(); ++h) {
    const int64_t wanted = RoundUp(static_cast<int64_t>(envelope_ * (*known)[h]), 128);
    (*known)[h] = static_cast<int32_t>(std::clamp<int64_t>(wanted, (*known)[h - 1], worst[h]));
  }
  return Status::Ok();
}

Status Pass::MakeBucket(const std::vector<int32_t>& known, Bucket& bucket) {
  bucket.known = known;
  for (size_t h = 0; h < known.size(); ++h) {
    if (static_cast<int64_t>(known[h]) * fanouts_[h] >= kNewRank) {
      return Status::InvalidArgument(fmt::format("batch {} with these fanouts may draw {} x {} neighbors in one hop: take a "
                                                 "smaller batch", batch_, known[h], fanouts_[h]));
    }
  }
  const int64_t size = ElementBytes(shared_.element);
  const int layers = hops();
  size_t scratch = 0;
  for (Batch& batch : bucket.batches) {
    HONE_RETURN_IF_ERROR(batch.header.Allocate(1));
    HONE_RETURN_IF_ERROR(batch.nodes.Allocate(known.back()));
    for (int h = 0; h + 1 < hops(); ++h) {
      batch.hops.emplace_back();
      HONE_RETURN_IF_ERROR(batch.hops.back().Make(fanouts_[static_cast<size_t>(h)], known[static_cast<size_t>(h)],
                                                  known[static_cast<size_t>(h) + 1], trains_));
      if (trains_) scratch = std::max(scratch, SortScratchBytes(batch.hops.back().view));
    }
    HONE_RETURN_IF_ERROR(batch.outer.Allocate(bucket.Rows(0) * 2 * shared_.weights.layers[0].padded_in * size));
  }
  HONE_RETURN_IF_ERROR(bucket.sort_scratch.Allocate(static_cast<int64_t>(scratch)));
  bucket.inputs.resize(static_cast<size_t>(layers));
  bucket.outputs.resize(static_cast<size_t>(layers));
  bucket.input_grads.resize(static_cast<size_t>(layers));
  bucket.output_grads.resize(static_cast<size_t>(layers));
  for (int l = 0; l < layers; ++l) {
    const auto i = static_cast<size_t>(l);
    const LayerShape& shape = shared_.weights.layers[i];
    const int64_t rows = bucket.Rows(l);
    const bool last = l + 1 == layers;
    if (l > 0) HONE_RETURN_IF_ERROR(bucket.inputs[i].Allocate(rows * 2 * shape.padded_in * size));
    if (!last) HONE_RETURN_IF_ERROR(bucket.outputs[i].Allocate(rows * shape.padded_out * size));
    MatmulShape forward = {rows, shape.padded_out, 2 * shape.padded_in, false, true, shared_.element,
                           last ? Element::kFloat32 : shared_.element};
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Matmul> plan, shared_.matmuls->Plan(forward));
    bucket.forward.push_back(std::move(plan));
    if (!trains_) continue;
    HONE_RETURN_IF_ERROR(bucket.output_grads[i].Allocate(rows * shape.padded_out * size));
    HONE_ASSIGN_OR_RETURN(plan, shared_.matmuls->Plan({shape.padded_out, 2 * shape.padded_in, rows, true, false,
                                                       shared_.element, Element::kFloat32}));
    bucket.weight_grad.push_back(std::move(plan));
    if (l > 0) {
      HONE_RETURN_IF_ERROR(bucket.input_grads[i].Allocate(rows * 2 * shape.padded_in * size));
      HONE_ASSIGN_OR_RETURN(plan, shared_.matmuls->Plan({rows, 2 * shape.padded_in, shape.padded_out, false, false,
                                                         shared_.element, shared_.element}));
    } else {
      plan = nullptr;
    }
    bucket.input_grad.push_back(std::move(plan));
  }
  const int64_t seeds = bucket.Rows(layers - 1);
  HONE_RETURN_IF_ERROR(bucket.logits.Allocate(seeds * shared_.weights.layers.back().padded_out));
  HONE_RETURN_IF_ERROR(bucket.row_loss.Allocate(seeds));
  return bucket.row_correct.Allocate(seeds);
}

Status Pass::EnqueueSample(Bucket& bucket, int which, cudaStream_t stream) {
  Batch& batch = bucket.batches[static_cast<size_t>(which)];
  HONE_CUDA_RETURN_IF_ERROR(
      EnqueueBeginBatch(seeds_, table_, state_.get(), batch.header.get(), batch.nodes.get(), stream));
  for (int h = 0; h + 1 < hops(); ++h) {
    const HopOnDevice& hop = batch.hops[static_cast<size_t>(h)].view;
    HONE_CUDA_RETURN_IF_ERROR(EnqueueSampleHop(shared_.graph, table_, h, hop, state_.get(), device_halt_,
                                               batch.header.get(), batch.nodes.get(), stream));
    if (trains_) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueBySource(hop, bucket.sort_scratch.get(),
                                                static_cast<size_t>(bucket.sort_scratch.size()), stream));
    }
  }
  HONE_CUDA_RETURN_IF_ERROR(EnqueueSampleMean(shared_.graph, shared_.feature_element, hops() - 1, fanouts_.back(),
                                              bucket.known.back(), state_.get(), batch.header.get(), batch.nodes.get(),
                                              shared_.element, batch.outer.get(), stream));
  return Status::Ok();
}

Status Pass::EnqueueCompute(Bucket& bucket, int which, bool update, cudaStream_t stream) {
  Batch& batch = bucket.batches[static_cast<size_t>(which)];
  const int layers = hops();
  const int64_t size = ElementBytes(shared_.element);
  const DeviceWeights& weights = shared_.weights;
  const auto weight = [&](int l) { return weights.compute.get() + weights.layers[static_cast<size_t>(l)].weight_at * size; };
  const auto input = [&](int l) -> const void* {
    return l == 0 ? batch.outer.get() : bucket.inputs[static_cast<size_t>(l)].get();
  };
  const auto hop_of = [&](int l) -> const HopOnDevice& { return batch.hops[static_cast<size_t>(layers - 1 - l)].view; };
  const auto activation = [&](int l) {  // of what layer l put out
    ActivationOnLoad a = shared_.dropout;
    a.layer = static_cast<uint32_t>(l);
    if (!trains_) a.threshold = 0;
    return a;
  };
  for (int l = 0; l < layers; ++l) {
    const auto i = static_cast<size_t>(l);
    if (l > 0) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherMean(
          hop_of(l), layers - 1 - l, shared_.element, bucket.outputs[i - 1].get(),
          static_cast<int32_t>(weights.layers[i].padded_in), activation(l - 1), state_.get(), batch.header.get(),
          batch.nodes.get(), bucket.inputs[i].get(), stream));
    }
    void* out = l + 1 == layers ? static_cast<void*>(bucket.logits.get()) : bucket.outputs[i].get();
    HONE_RETURN_IF_ERROR(bucket.forward[i]->Enqueue(input(l), weight(l), out, stream));
  }
  const LayerShape& top = weights.layers.back();
  HONE_CUDA_RETURN_IF_ERROR(EnqueueSoftmaxLoss(
      shared_.graph, batch.header.get(), batch.nodes.get(), bucket.logits.get(), shared_.classes,
      static_cast<int32_t>(top.padded_out), static_cast<int32_t>(bucket.Rows(layers - 1)), batch_, shared_.element,
      trains_ ? bucket.output_grads.back().get() : nullptr, bucket.row_loss.get(), bucket.row_correct.get(),
      predictions_.get(), stream));
  for (int l = layers - 1; trains_ && l >= 0; --l) {
    const auto i = static_cast<size_t>(l);
    HONE_RETURN_IF_ERROR(bucket.weight_grad[i]->Enqueue(bucket.output_grads[i].get(), input(l),
                                                        weights.gradient.get() + weights.layers[i].weight_at, stream));
    if (l == 0) break;
    HONE_RETURN_IF_ERROR(bucket.input_grad[i]->Enqueue(bucket.output_grads[i].get(), weight(l), bucket.input_grads[i].get(), stream));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherMeanBackward(
        hop_of(l), layers - 1 - l, shared_.element, bucket.input_grads[i].get(), bucket.outputs[i - 1].get(),
        static_cast<int32_t>(weights.layers[i].padded_in), static_cast<int32_t>(bucket.Rows(l - 1)), activation(l - 1),
        state_.get(), batch.header.get(), batch.nodes.get(), bucket.output_grads[i - 1].get(), stream));
  }
  if (update) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueAdam(shared_.adam, state_.get(), batch.header.get(), weights.count,
                                          weights.gradient.get(), weights.master.get(), weights.moment1.get(),
                                          weights.moment2.get(), shared_.element, weights.compute.get(), stream));
  }
  HONE_CUDA_RETURN_IF_ERROR(EnqueueFinishStep(state_.get(), batch.header.get(), bucket.row_loss.get(),
                                              bucket.row_correct.get(), update, stream));
  return Status::Ok();
}

Status Pass::Capture(Bucket& bucket) {
  for (int which = 0; which < 2; ++which) {
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(main_.handle, cudaStreamCaptureModeThreadLocal));
    const auto enqueue = [&]() -> Status {
      HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(fork_.handle, main_.handle));
      HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(side_.handle, fork_.handle, 0));
      HONE_RETURN_IF_ERROR(EnqueueSample(bucket, 1 - which, side_.handle));
      HONE_RETURN_IF_ERROR(EnqueueCompute(bucket, which, trains_, main_.handle));
      HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(join_.handle, side_.handle));
      HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(main_.handle, join_.handle, 0));
      return Status::Ok();
    };
    const Status status = enqueue();
    cudaGraph_t captured = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(main_.handle, &captured);
    HONE_RETURN_IF_ERROR(status);
    HONE_CUDA_RETURN_IF_ERROR(ended);
    const cudaError_t made = cudaGraphInstantiate(&bucket.replays[static_cast<size_t>(which)].handle, captured, 0);
    cudaGraphDestroy(captured);
    HONE_CUDA_RETURN_IF_ERROR(made);
    HONE_CUDA_RETURN_IF_ERROR(cudaGraphUpload(bucket.replays[static_cast<size_t>(which)].handle, main_.handle));
  }
  return Status::Ok();
}

Status Pass::ReadState(RunState* state) {
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(main_.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(state, state_.get(), sizeof(RunState), cudaMemcpyDeviceToHost));
  return Status::Ok();
}

// `fresh`: a new epoch, whose sums start at zero. The tag and Adam's count always go on.
Status Pass::SetState(uint32_t epoch, uint32_t next, bool fresh, float learning_rate) {
  RunState state{};
  HONE_RETURN_IF_ERROR(ReadState(&state));
  state.seed = seed_;
  state.epoch = epoch;
  state.next_sample_step = next;
  state.steps = steps_;
  state.halt = 0;
  if (fresh) {
    state.learning_rate = learning_rate;
    state.trained_steps = next;
    state.loss_sum = 0;
    state.correct = state.counted = 0;
  }
  *host_halt_ = 0;
  // On the stream of the kernels that read it: a plain copy from pageable memory may return before it is done.
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(state_.get(), &state, sizeof(state), cudaMemcpyHostToDevice, main_.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(main_.handle));
  return Status::Ok();
}

Result<EpochOnDevice> Pass::RunEpoch(uint32_t epoch, float learning_rate) {
  EpochOnDevice result;
  HONE_RETURN_IF_ERROR(SetState(epoch, 0, true, learning_rate));
  const auto started = std::chrono::steady_clock::now();
  uint32_t done = 0;
  while (done < steps_) {
    // As many replays as steps are left; a batch that does not fit turns those behind it into nothing.
    HONE_RETURN_IF_ERROR(EnqueueSample(small_, 0, main_.handle));
    for (uint32_t step = done; step < steps_ && *host_halt_ == 0; ++step) {
      HONE_CUDA_RETURN_IF_ERROR(cudaGraphLaunch(small_.replays[(step - done) % 2].handle, main_.handle));
    }
    RunState state{};
    HONE_RETURN_IF_ERROR(ReadState(&state));
    done = state.trained_steps;
    if (state.halt == 0 || done >= steps_) continue;
    ++result.larger;
    HONE_RETURN_IF_ERROR(SetState(epoch, done, false, learning_rate));
    HONE_RETURN_IF_ERROR(EnqueueSample(large_, 0, main_.handle));
    HONE_RETURN_IF_ERROR(EnqueueCompute(large_, 0, trains_, main_.handle));
    HONE_RETURN_IF_ERROR(ReadState(&state));
    if (state.trained_steps != done + 1) return Status::Internal("a batch did not fit the envelope of the worst case");
    done = state.trained_steps;
    HONE_RETURN_IF_ERROR(SetState(epoch, done, false, learning_rate));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  RunState state{};
  HONE_RETURN_IF_ERROR(ReadState(&state));
  result.steps = steps_;
  if (state.counted > 0) {
    result.mean_loss = state.loss_sum / static_cast<double>(state.counted);
    result.accuracy = static_cast<double>(state.correct) / static_cast<double>(state.counted);
  }
  return result;
}

Status Pass::OneStep(uint32_t epoch, uint32_t step, bool update, double* loss) {
  HONE_RETURN_IF_ERROR(SetState(epoch, step, true, 0));
  HONE_RETURN_IF_ERROR(EnqueueSample(large_, 0, main_.handle));
  HONE_RETURN_IF_ERROR(EnqueueCompute(large_, 0, update, main_.handle));
  RunState state{};
  HONE_RETURN_IF_ERROR(ReadState(&state));
  if (state.counted == 0) return Status::Internal("a step without a labelled seed");
  *loss = state.loss_sum / static_cast<double>(state.counted);
  return Status::Ok();
}

Result<NeighborSample> Pass::SampleStep(uint32_t epoch, uint32_t step) {
  HONE_RETURN_IF_ERROR(SetState(epoch, step, true, 0));
  HONE_RETURN_IF_ERROR(EnqueueSample(large_, 0, main_.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(main_.handle));
  Batch& batch = large_.batches[0];
  std::vector<BatchHeader> header;
  HONE_RETURN_IF_ERROR(batch.header.Download(header));
  NeighborSample sample;
  for (int h = 0; h < hops(); ++h) sample.hop_nodes.push_back(header[0].hop_nodes[h]);
  HONE_RETURN_IF_ERROR(batch.nodes.Download(sample.nodes));
  sample.nodes.resize(static_cast<size_t>(sample.hop_nodes.back()));
  for (int h = 0; h + 1 < hops(); ++h) {
    const Hop& hop = batch.hops[static_cast<size_t>(h)];
    std::vector<int32_t> columns, counts;
    HONE_RETURN_IF_ERROR(hop.columns.Download(columns));
    HONE_RETURN_IF_ERROR(hop.counts.Download(counts));
    NeighborSample::Rows rows;
    rows.row_offsets.push_back(0);
    for (int32_t row = 0; row < sample.hop_nodes[static_cast<size_t>(h)]; ++row) {
      const auto from = columns.begin() + static_cast<int64_t>(row) * hop.view.fanout;
      rows.columns.insert(rows.columns.end(), from, from + counts[static_cast<size_t>(row)]);
      rows.row_offsets.push_back(static_cast<int32_t>(rows.columns.size()));
    }
    sample.rows.push_back(std::move(rows));
  }
  return sample;
}

class Engine final : public SageEngine {
 public:
  Status Make(const Graph& graph, Model<float>& model, const SageEngineOptions& options);

  Result<EpochOnDevice> TrainEpoch(uint32_t epoch) override { return train_->RunEpoch(epoch, options_.learning_rate); }
  Result<EpochOnDevice> Evaluate(std::span<const NodeId> nodes, std::vector<int32_t>* predictions) override;
  Status ExportTo(Model<float>& model) override { return Exchange(model, shared_.weights.master, true); }
  Status ImportFrom(Model<float>& model) override;
  Result<NeighborSample> SampleStep(uint32_t epoch, uint32_t step) override { return train_->SampleStep(epoch, step); }
  Status GradientsOfStep(uint32_t epoch, uint32_t step, Model<float>& into, double* loss) override;
  int64_t device_bytes() const override { return device_bytes_; }

 private:
  Status UploadGraph(const Graph& graph);
  Status Exchange(Model<float>& model, DeviceArray<float>& flat, bool out, bool gradients = false);

  SageEngineOptions options_;
  Shared shared_;
  DeviceArray<int64_t> row_offsets_;
  DeviceArray<int32_t> columns_, labels_;
  DeviceArray<unsigned char> features_;
  std::unique_ptr<Pass> train_, eval_;
  std::vector<NodeId> eval_nodes_;
  int64_t device_bytes_ = 0;
};

Status Engine::UploadGraph(const Graph& graph) {
  const CsrView csr = graph.structure();
  const FeatureView features = graph.features();
  HONE_RETURN_IF_ERROR(row_offsets_.Upload(csr.row_offsets.data(), csr.num_nodes + 1));
  HONE_RETURN_IF_ERROR(columns_.Upload(csr.columns.data(), csr.num_edges()));
  HONE_RETURN_IF_ERROR(labels_.Upload(graph.labels().data(), csr.num_nodes));
  HONE_RETURN_IF_ERROR(features_.Upload(reinterpret_cast<const unsigned char*>(features.rows),
                                        features.num_rows * features.stride_bytes));
  const int64_t element = FeatureDtypeBytes(features.dtype);
  shared_.feature_element = features.dtype == FeatureDtype::kFloat32   ? Element::kFloat32
                            : features.dtype == FeatureDtype::kFloat16 ? Element::kFloat16
                                                                       : Element::kBFloat16;
  shared_.graph = {row_offsets_.get(), columns_.get(),   labels_.get(),
                   features_.get(),    csr.num_nodes,    features.stride_bytes / element,
                   static_cast<int32_t>((features.width + 7) / 8)};
  return Status::Ok();
}

Status Engine::Make(const Graph& graph, Model<float>& model, const SageEngineOptions& options) {
  options_ = options;
  const ModelOptions& shape = model.options();
  if (shape.kind != "sage") return Status::InvalidArgument("the GPU engine trains 'sage', not '" + shape.kind + "'");
  if (static_cast<int>(options.fanouts.size()) != shape.layers || static_cast<int>(options.eval_fanouts.size()) != shape.layers ||
      shape.layers < 2 || shape.layers > kMaxHops) {
    return Status::InvalidArgument(fmt::format("a model of {} layers needs as many fanouts for training ({}) and evaluation ({}), 2 to {}",
                                               shape.layers, options.fanouts.size(), options.eval_fanouts.size(), kMaxHops));
  }
  for (const auto& fanouts : {options.fanouts, options.eval_fanouts}) {
    for (int32_t fanout : fanouts) {
      if (fanout < 1 || fanout > 32) return Status::InvalidArgument(fmt::format("fanout {}: the GPU engine takes 1 to 32", fanout));
    }
  }
  if (graph.features().num_rows == 0 || graph.labels().empty() || graph.train_nodes().empty()) {
    return Status::InvalidArgument("'" + graph.name() + "' lacks features, labels or training nodes");
  }
  if (shape.aggregation != "mean" || shape.norm == "batch" || !(shape.activation.empty() || shape.activation == "relu")) {
    return Status::InvalidArgument("the GPU engine trains GraphSAGE with mean aggregation, ReLU and no normalisation");
  }
  if (shape.in_width != graph.features().width || shape.num_classes < graph.num_classes()) {
    return Status::InvalidArgument(fmt::format("a model of {} features and {} classes does not fit '{}', which has {} and {}",
                                               shape.in_width, shape.num_classes, graph.name(), graph.features().width,
                                               graph.num_classes()));
  }
  if (options.batch < 1 || options.eval_batch < 1) return Status::InvalidArgument("a batch has at least one node");
  for (NodeId node : graph.train_nodes()) {
    if (graph.labels()[static_cast<size_t>(node)] == kNoLabel) {
      return Status::InvalidArgument(fmt::format("training node {} of '{}' has no label: leave it out of the split", node, graph.name()));
    }
  }
  if (shape.hidden % 8 != 0) return Status::InvalidArgument(fmt::format("hidden {}: the GPU engine takes multiples of 8", shape.hidden));
  size_t free_before = 0, total = 0, free_after = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_before, &total));
  HONE_ASSIGN_OR_RETURN(shared_.matmuls, OpenMatmulLibrary());
  shared_.element = options.fp32 ? Element::kFloat32 : Element::kBFloat16;
  shared_.classes = static_cast<int32_t>(shape.num_classes);
  shared_.adam.weight_decay = options.weight_decay;
  const DropoutRate rate(shape.dropout < 0 ? 0.5 : shape.dropout);
  shared_.dropout = {0, static_cast<uint32_t>(DropoutSite::kActivation), rate.threshold, static_cast<float>(rate.scale)};
  HONE_RETURN_IF_ERROR(UploadGraph(graph));

  DeviceWeights& weights = shared_.weights;
  for (int l = 0; l < shape.layers; ++l) {
    LayerShape layer;
    layer.in = l == 0 ? graph.features().width : shape.hidden;
    layer.out = l + 1 == shape.layers ? shape.num_classes : shape.hidden;
    layer.padded_in = RoundUp(layer.in, 8);
    layer.padded_out = RoundUp(layer.out, 8);
    layer.weight_at = weights.count;
    weights.count += RoundUp(layer.weights(), 64);
    weights.layers.push_back(layer);
  }
  HONE_RETURN_IF_ERROR(weights.master.Allocate(weights.count));
  HONE_RETURN_IF_ERROR(weights.gradient.Allocate(weights.count));
  HONE_RETURN_IF_ERROR(weights.moment1.Allocate(weights.count));
  HONE_RETURN_IF_ERROR(weights.moment2.Allocate(weights.count));
  HONE_RETURN_IF_ERROR(weights.compute.Allocate(weights.count * ElementBytes(shared_.element)));
  HONE_RETURN_IF_ERROR(ImportFrom(model));
  train_ = std::make_unique<Pass>(shared_, options.fanouts, options.batch, true, options);
  HONE_RETURN_IF_ERROR(train_->Make(graph.train_nodes(), false));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_after, &total));
  device_bytes_ = static_cast<int64_t>(free_before) - static_cast<int64_t>(free_after);
  return Status::Ok();
}

// Between the model's tensors (PyG's names, [out, in]) and the flat [lin_l | lin_r] rows.
Status Engine::Exchange(Model<float>& model, DeviceArray<float>& flat, bool out, bool gradients) {
  std::vector<float> host;
  HONE_RETURN_IF_ERROR(flat.Download(host));
  std::map<std::string, Parameter<float>*> named;
  for (Parameter<float>* parameter : model.parameters()) named[parameter->name] = parameter;
  for (size_t l = 0; l < shared_.weights.layers.size(); ++l) {
    const LayerShape& shape = shared_.weights.layers[l];
    for (int half = 0; half < 2; ++half) {
      const std::string name = fmt::format("convs.{}.lin_{}.weight", l, half == 0 ? 'l' : 'r');
      const auto found = named.find(name);
      if (found == named.end()) return Status::InvalidArgument("the model has no parameter '" + name + "'");
      std::vector<float>& values = gradients ? found->second->gradient : found->second->value;
      for (int64_t row = 0; row < shape.out; ++row) {
        float* device = host.data() + shape.weight_at + row * 2 * shape.padded_in + half * shape.padded_in;
        float* tensor = values.data() + row * shape.in;
        if (out) {
          std::copy_n(device, shape.in, tensor);
        } else {
          std::copy_n(tensor, shape.in, device);
        }
      }
    }
  }
  return out ? Status::Ok() : flat.Upload(host.data(), static_cast<int64_t>(host.size()));
}

Status Engine::ImportFrom(Model<float>& model) {
  HONE_RETURN_IF_ERROR(Exchange(model, shared_.weights.master, false));
  std::vector<float> host;
  HONE_RETURN_IF_ERROR(shared_.weights.master.Download(host));
  if (shared_.element == Element::kFloat32) {
    return shared_.weights.compute.Upload(reinterpret_cast<const unsigned char*>(host.data()), static_cast<int64_t>(host.size()) * 4);
  }
  std::vector<uint16_t> half(host.size());
  for (size_t i = 0; i < host.size(); ++i) {  // to nearest, ties to even
    uint32_t bits;
    static_assert(sizeof(bits) == sizeof(float));
    std::copy_n(reinterpret_cast<const unsigned char*>(&host[i]), 4, reinterpret_cast<unsigned char*>(&bits));
    half[i] = static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  return shared_.weights.compute.Upload(reinterpret_cast<const unsigned char*>(half.data()), static_cast<int64_t>(half.size()) * 2);
}

Result<EpochOnDevice> Engine::Evaluate(std::span<const NodeId> nodes, std::vector<int32_t>* predictions) {
  if (nodes.empty()) return Status::InvalidArgument("no nodes to predict");
  if (eval_ == nullptr || !std::equal(nodes.begin(), nodes.end(), eval_nodes_.begin(), eval_nodes_.end())) {
    auto pass = std::make_unique<Pass>(shared_, options_.eval_fanouts, options_.eval_batch, false, options_);
    HONE_RETURN_IF_ERROR(pass->Make(nodes, true));
    eval_ = std::move(pass);
    eval_nodes_.assign(nodes.begin(), nodes.end());
  }
  HONE_ASSIGN_OR_RETURN(EpochOnDevice result, eval_->RunEpoch(0, 0));
  if (predictions != nullptr) {
    HONE_RETURN_IF_ERROR(eval_->predictions().Download(*predictions));
    predictions->resize(nodes.size());
  }
  return result;
}

Status Engine::GradientsOfStep(uint32_t epoch, uint32_t step, Model<float>& into, double* loss) {
  HONE_RETURN_IF_ERROR(train_->OneStep(epoch, step, false, loss));
  return Exchange(into, shared_.weights.gradient, true, true);
}

}  // namespace

Result<std::unique_ptr<SageEngine>> MakeSageEngine(const Graph& graph, Model<float>& model,
                                                   const SageEngineOptions& options) {
  auto engine = std::make_unique<Engine>();
  HONE_RETURN_IF_ERROR(engine->Make(graph, model, options));
  return std::unique_ptr<SageEngine>(std::move(engine));
}

}  // namespace hone::gnn::cuda
