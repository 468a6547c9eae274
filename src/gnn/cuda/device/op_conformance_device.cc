// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks an operation's kernels on a GPU by the rules of hone/gnn/op_conformance.h. Forward and backward are captured
// once and replayed, as the engine does, also for batches of other sizes. The memory that they write, and the rows
// behind it, hold known values beforehand.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>

#include "base/numbers/rounding.h"
#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/nn/op_check_batch.h"
#include "hone/gnn/op_conformance.h"

namespace hone::gnn {
namespace {

using cuda::DeviceArray;

constexpr int32_t kPaddedRows = 4;
constexpr int kReplays = 8;
constexpr float kCanary = 12352.0f;  // value of rows that must not be written; bf16 holds it exactly

// A matrix on the device, in fp32 or bf16, that the host writes and reads as floats.
class Rows {
 public:
  Status Make(int64_t count, int64_t columns, OpElement element) {
    count_ = count;
    columns_ = columns;
    stride_ = RoundUp<int64_t>(columns, 8);
    size_ = element == OpElement::kFloat32 ? 4 : 2;
    return memory_.Allocate(count * stride_ * size_);
  }
  // Uploads `values` [rows, columns]. The rows behind them, or all rows if `values` is empty, get `fill`; padding
  // columns are zero.
  Status Put(const std::vector<double>& values, float fill) {
    std::vector<unsigned char> bytes(static_cast<size_t>(count_ * stride_ * size_), 0);
    for (int64_t row = 0; row < count_; ++row) {
      for (int64_t c = 0; c < columns_; ++c) {
        const auto at = static_cast<size_t>(row * columns_ + c);
        const float value = at < values.size() ? static_cast<float>(values[at]) : fill;
        const auto bits = std::bit_cast<uint32_t>(value);
        const uint32_t rounded = std::isnan(value) ? bits : bits + 0x7fffu + (bits >> 16 & 1u);
        const auto bfloat16_bits = static_cast<uint16_t>(rounded >> 16);
        std::memcpy(bytes.data() + (row * stride_ + c) * size_,
                    size_ == 4 ? static_cast<const void*>(&value) : &bfloat16_bits, static_cast<size_t>(size_));
      }
    }
    return memory_.Upload(bytes.data(), static_cast<int64_t>(bytes.size()));
  }
  Result<std::vector<float>> Get() const {
    std::vector<unsigned char> bytes;
    HONE_RETURN_IF_ERROR(memory_.Download(bytes));
    std::vector<float> values(static_cast<size_t>(count_ * columns_));
    for (int64_t row = 0; row < count_; ++row) {
      for (int64_t c = 0; c < columns_; ++c) {
        uint32_t bits = 0;
        std::memcpy(&bits, bytes.data() + (row * stride_ + c) * size_, static_cast<size_t>(size_));
        values[static_cast<size_t>(row * columns_ + c)] = std::bit_cast<float>(size_ == 4 ? bits : bits << 16);
      }
    }
    return values;
  }
  DeviceRows view() const { return {memory_.get(), columns_, stride_}; }
  int64_t columns() const { return columns_; }

 private:
  int64_t count_ = 0, columns_ = 0, stride_ = 0, size_ = 4;
  DeviceArray<unsigned char> memory_;
};

// The results of one forward and backward.
struct Outcome {
  std::vector<float> out, grad_x;             // with the padding rows
  std::vector<std::vector<float>> gradients;  // one per trainable parameter
  // Compares bits, because NaN is unequal to itself.
  bool operator==(const Outcome& other) const {
    const auto same_bits = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 4) == 0;
    };
    bool equal =
        same_bits(out, other.out) && same_bits(grad_x, other.grad_x) && gradients.size() == other.gradients.size();
    for (size_t p = 0; equal && p < gradients.size(); ++p) equal = same_bits(gradients[p], other.gradients[p]);
    return equal;
  }
};

// Returns what the CPU's Layer computes for a batch.
Outcome OfLayer(const OpKind& kind, const OpPlace& place, const CheckBatch& batch) {
  const std::unique_ptr<Layer<float>> layer = kind.MakeLayer(place);
  const auto state = layer->MakeState();
  std::vector<float> x(batch.x.begin(), batch.x.end()), grad(batch.grad.begin(), batch.grad.end());
  const std::vector<float> edges(batch.edges.begin(), batch.edges.end());
  Outcome outcome;
  outcome.out.resize(static_cast<size_t>(batch.num_dst * place.out));
  outcome.grad_x.resize(x.size());
  const LayerContext context{.key = {.seed = 5, .epoch = 1, .step = batch.step, .shard = 0},
                             .layer = place.layer,
                             .training = true,
                             .nodes = batch.nodes,
                             .threads = 1,
                             .edge_rows = Matrix<const float>{edges.data(), static_cast<int64_t>(batch.columns.size()),
                                                              place.edge_columns, place.edge_columns}};
  const Matrix<float> rows{x.data(), batch.num_src, place.in, place.in};
  layer->Forward(batch.View(), rows, {outcome.out.data(), batch.num_dst, place.out, place.out}, *state, context);
  layer->Backward(batch.View(), rows, {grad.data(), batch.num_dst, place.out, place.out},
                  {outcome.grad_x.data(), batch.num_src, place.in, place.in}, *state, context);
  for (const Parameter<float>* p : layer->parameters()) {
    if (p->trainable()) outcome.gradients.push_back(p->gradient);
  }
  return outcome;
}

// The memory in which the operation works on a batch: inputs, results, and what forward keeps for backward.
class Bench {
 public:
  Status Make(const OpKind& kind, const OpPlace& place, const DeviceOp& op, const DeviceOpShape& shape) {
    shape_ = shape;
    layer_ = kind.MakeLayer(place);
    HONE_RETURN_IF_ERROR(sizes_.Allocate(6));
    HONE_RETURN_IF_ERROR(seed_.Allocate(1));
    const int64_t slots = int64_t{shape.most_dst} * shape.fanout;
    HONE_RETURN_IF_ERROR(columns_.Allocate(std::max<int64_t>(slots, 1)));
    HONE_RETURN_IF_ERROR(counts_.Allocate(shape.most_dst));
    HONE_RETURN_IF_ERROR(by_source_.Allocate(std::max<int64_t>(slots, 1)));
    HONE_RETURN_IF_ERROR(first_.Allocate(shape.most_src));
    HONE_RETURN_IF_ERROR(end_.Allocate(shape.most_src));
    HONE_RETURN_IF_ERROR(nodes_.Allocate(shape.most_src));
    edge_columns_ = place.edge_columns;
    edge_stride_ = RoundUp<int64_t>(edge_columns_, 4);
    HONE_RETURN_IF_ERROR(edges_.Allocate(slots * edge_stride_));
    HONE_RETURN_IF_ERROR(x_.Make(shape.most_src, place.in, shape.element));
    HONE_RETURN_IF_ERROR(out_.Make(shape.most_dst, place.out, shape.element));
    HONE_RETURN_IF_ERROR(grad_out_.Make(shape.most_dst, place.out, shape.element));
    HONE_RETURN_IF_ERROR(grad_x_.Make(shape.most_src, place.in, shape.element));
    const DeviceOpBytes bytes = op.Bytes(shape);
    HONE_RETURN_IF_ERROR(saved_.Allocate(bytes.saved));
    HONE_RETURN_IF_ERROR(workspace_.Allocate(bytes.workspace));
    for (Parameter<float>* p : layer_->parameters()) {
      const auto count = static_cast<int64_t>(p->value.size());
      HONE_RETURN_IF_ERROR(values_.emplace_back().Upload(p->value.data(), count));
      HONE_RETURN_IF_ERROR(gradient_memory_.emplace_back().Allocate(p->trainable() ? count : 0));
      parameters_.push_back(values_.back().get());
      gradients_.push_back(p->trainable() ? gradient_memory_.back().get() : nullptr);
    }
    call_ = {.shape = shape,
             .hop = {},
             .parameters = parameters_,
             .gradients = gradients_,
             .saved = saved_.get(),
             .workspace = workspace_.get(),
             .stream = nullptr};
    DeviceHop& hop = call_.hop;
    hop.valid = reinterpret_cast<const uint32_t*>(sizes_.get());
    hop.num_dst = sizes_.get() + 1;
    hop.num_src = sizes_.get() + 2;
    hop.step = reinterpret_cast<const uint32_t*>(sizes_.get() + 3);
    hop.epoch = reinterpret_cast<const uint32_t*>(sizes_.get() + 4);
    hop.most_dst = shape.most_dst;
    hop.most_src = shape.most_src;
    hop.fanout = shape.fanout;
    hop.columns = columns_.get();
    hop.counts = counts_.get();
    hop.slots_by_source = by_source_.get();
    hop.first = first_.get();
    hop.end = end_.get();
    hop.nodes = nodes_.get();
    if (edge_columns_ > 0) {
      hop.edge_features = edges_.get();
      hop.edge_columns = static_cast<int32_t>(edge_columns_);
      hop.edge_stride = static_cast<int32_t>(edge_stride_);
    }
    hop.seed = seed_.get();
    hop.layer = static_cast<uint32_t>(place.layer);
    hop.site = place.site;
    return Status::Ok();
  }

  // Uploads a batch. Memory that the operation must write gets `contents_before`. Rows behind the batch's get NaN where
  // they are read and the canary where they are written.
  Status Put(const CheckBatch& batch, float contents_before, bool valid = true) {
    const std::vector<int32_t> sizes = {
        valid ? 1 : 0, batch.num_dst, batch.num_src, static_cast<int32_t>(batch.step), 1, 0};
    HONE_RETURN_IF_ERROR(sizes_.Upload(sizes.data(), 6));
    const uint64_t seed = 5;
    HONE_RETURN_IF_ERROR(seed_.Upload(&seed, 1));
    HONE_RETURN_IF_ERROR(nodes_.Upload(PadTo(batch.nodes, shape_.most_src, -1).data(), shape_.most_src));
    HONE_RETURN_IF_ERROR(PutEdges(batch));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    HONE_RETURN_IF_ERROR(x_.Put(batch.x, nan));
    HONE_RETURN_IF_ERROR(grad_out_.Put(batch.grad, nan));
    const auto count = [](int32_t rows, int64_t columns) { return static_cast<size_t>(rows * columns); };
    HONE_RETURN_IF_ERROR(out_.Put(std::vector<double>(count(batch.num_dst, out_.columns()), contents_before), kCanary));
    HONE_RETURN_IF_ERROR(
        grad_x_.Put(std::vector<double>(count(batch.num_src, x_.columns()), contents_before), kCanary));
    for (DeviceArray<float>& gradient : gradient_memory_) {
      const std::vector<float> values(static_cast<size_t>(gradient.size()), contents_before);
      HONE_RETURN_IF_ERROR(gradient.Upload(values.data(), gradient.size()));
    }
    HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
    return Status::Ok();
  }

  Status Forward(const DeviceOp& op, cudaStream_t stream) {
    call_.stream = stream;
    return op.EnqueueForward(call_, x_.view(), out_.view());
  }
  Status Backward(const DeviceOp& op, cudaStream_t stream) {
    call_.stream = stream;
    return op.EnqueueBackward(call_, x_.view(), grad_out_.view(), grad_x_.view());
  }
  Result<Outcome> Take() const {
    Outcome outcome;
    HONE_ASSIGN_OR_RETURN(outcome.out, out_.Get());
    HONE_ASSIGN_OR_RETURN(outcome.grad_x, grad_x_.Get());
    for (const DeviceArray<float>& gradient : gradient_memory_) {
      if (gradient.size() > 0) HONE_RETURN_IF_ERROR(gradient.Download(outcome.gradients.emplace_back()));
    }
    return outcome;
  }

 private:
  static std::vector<int32_t> PadTo(std::vector<int32_t> values, int32_t count, int32_t fill) {
    values.resize(static_cast<size_t>(count), fill);
    return values;
  }
  Status PutEdges(const CheckBatch& batch) {
    const auto fanout = static_cast<size_t>(shape_.fanout);
    if (fanout == 0) return Status::Ok();
    std::vector<int32_t> columns(static_cast<size_t>(shape_.most_dst) * fanout, -1), counts;
    std::vector<std::vector<uint32_t>> slots(static_cast<size_t>(shape_.most_src));
    // Slots without an edge have NaN features, as x has behind its rows.
    std::vector<float> features(static_cast<size_t>(edges_.size()), std::numeric_limits<float>::quiet_NaN());
    for (int32_t i = 0; i < batch.num_dst; ++i) {
      const int32_t first = batch.row_offsets[static_cast<size_t>(i)];
      counts.push_back(batch.row_offsets[static_cast<size_t>(i) + 1] - first);
      for (int32_t s = 0; s < counts.back(); ++s) {
        const int32_t source = batch.columns[static_cast<size_t>(first + s)];
        const size_t slot = static_cast<size_t>(i) * fanout + static_cast<size_t>(s);
        columns[slot] = source;
        for (int64_t c = 0; c < edge_columns_; ++c) {
          features[slot * static_cast<size_t>(edge_stride_) + static_cast<size_t>(c)] =
              static_cast<float>(batch.edges[static_cast<size_t>((first + s) * edge_columns_ + c)]);
        }
        slots[static_cast<size_t>(source)].push_back(static_cast<uint32_t>(slot));
      }
    }
    std::vector<uint32_t> by_source;
    std::vector<int32_t> first, end;
    for (const auto& of_source : slots) {
      first.push_back(static_cast<int32_t>(by_source.size()));
      by_source.insert(by_source.end(), of_source.begin(), of_source.end());
      end.push_back(static_cast<int32_t>(by_source.size()));
    }
    by_source.resize(columns.size(), 0xffffffffu);
    HONE_RETURN_IF_ERROR(columns_.Upload(columns.data(), static_cast<int64_t>(columns.size())));
    HONE_RETURN_IF_ERROR(counts_.Upload(PadTo(counts, shape_.most_dst, 1 << 20).data(), shape_.most_dst));
    HONE_RETURN_IF_ERROR(by_source_.Upload(by_source.data(), static_cast<int64_t>(by_source.size())));
    HONE_RETURN_IF_ERROR(edges_.Upload(features.data(), edges_.size()));
    HONE_RETURN_IF_ERROR(first_.Upload(first.data(), shape_.most_src));
    return end_.Upload(end.data(), shape_.most_src);
  }

  DeviceOpShape shape_;
  std::unique_ptr<Layer<float>> layer_;
  DeviceArray<int32_t> sizes_, columns_, counts_, first_, end_, nodes_;
  DeviceArray<uint64_t> seed_;
  DeviceArray<uint32_t> by_source_;
  DeviceArray<float> edges_;  // DeviceHop::edge_features
  int64_t edge_columns_ = 0, edge_stride_ = 0;
  Rows x_, out_, grad_out_, grad_x_;
  DeviceArray<unsigned char> saved_, workspace_;
  std::vector<DeviceArray<float>> values_, gradient_memory_;
  std::vector<const float*> parameters_;
  std::vector<float*> gradients_;
  DeviceOpCall call_;
};

class Checker {
 public:
  Checker(const OpKind& kind, const OpPlace& place, OpElement element, const OpCheck& check)
      : kind_(kind),
        place_(place),
        element_(element),
        tolerance_(check.tolerance * (element == OpElement::kFloat32 ? 1 : 100)) {
    Rng rng(check.seed);
    batch_ = MakeCheckBatch(kind.aggregates(), 150, 330, place, rng, 3);
    other_ = MakeCheckBatch(kind.aggregates(), 97, 260, place, rng, 4);
    // Rounds values to bf16, so that both sides read the same.
    if (element == OpElement::kBFloat16) {
      for (CheckBatch* batch : {&batch_, &other_}) {
        for (std::vector<double>* values : {&batch->x, &batch->grad}) {
          for (double& value : *values) {
            value = std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(value)) & 0xffff0000u);
          }
        }
      }
    }
  }

  Status Check() {
    op_ = kind_.MakeDeviceOp(place_);
    const int32_t most_src = batch_.num_src + kPaddedRows;
    const int32_t most_dst = kind_.aggregates() ? batch_.num_dst + kPaddedRows : most_src;
    const DeviceOpShape shape{.most_dst = most_dst,
                              .most_src = most_src,
                              .fanout = kind_.aggregates() ? 6 : 0,
                              .element = element_,
                              .trains = true};
    HONE_RETURN_IF_ERROR(bench_.Make(kind_, place_, *op_, shape));
    HONE_RETURN_IF_ERROR(second_.Make(kind_, place_, *op_, shape));
    HONE_RETURN_IF_ERROR(stream_.Make());
    HONE_ASSIGN_OR_RETURN(const bool captured, Capture());
    if (!captured) return Status::Ok();  // Capture has recorded the finding, and no other rule can be checked
    HONE_ASSIGN_OR_RETURN(const Outcome first_outcome, Replay(batch_, 0));
    Compare("as-the-cpu", first_outcome, batch_, "");
    CheckPadding(first_outcome, batch_);
    for (int replay = 0; replay < kReplays; ++replay) {
      HONE_ASSIGN_OR_RETURN(const Outcome repeated, Replay(batch_, 0));
      if (repeated == first_outcome) continue;
      Find("one-order", fmt::format("replay {} of one batch gives other bits: {}", replay + 2,
                                    DescribeDifference(first_outcome, repeated)));
      break;
    }
    HONE_ASSIGN_OR_RETURN(const Outcome over_garbage, Replay(batch_, 7.5f));
    if (!(over_garbage == first_outcome) && !HasFinding("one-order")) {
      Find("overwrites",
           "what is written depends on what its memory held: " + DescribeDifference(first_outcome, over_garbage));
    }
    if (!HasFinding("as-the-cpu") && !HasFinding("padded-rows")) {
      HONE_ASSIGN_OR_RETURN(const Outcome others, Replay(other_, 0));
      Compare("device-sizes", others, other_, "a replay for another batch, of other sizes: ");
    }
    HONE_RETURN_IF_ERROR(CheckInvalid());
    return CheckState(first_outcome);
  }
  std::vector<OpFinding> Take() { return std::move(findings_); }

 private:
  const char* ElementName() const { return element_ == OpElement::kFloat32 ? "fp32" : "bf16"; }
  void Find(const char* rule, const std::string& what) {
    findings_.push_back({rule, fmt::format("in {}: {}", ElementName(), what)});
  }
  bool HasFinding(const char* rule) const {
    return std::any_of(findings_.begin(), findings_.end(), [&](const OpFinding& f) { return f.rule == rule; });
  }

  // Runs forward and backward once, then captures them. Returns false, with a finding, if an operation broke the
  // capture.
  Result<bool> Capture() {
    HONE_RETURN_IF_ERROR(bench_.Put(batch_, 0));
    HONE_RETURN_IF_ERROR(bench_.Forward(*op_, stream_.handle));
    HONE_RETURN_IF_ERROR(bench_.Backward(*op_, stream_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(stream_.handle, cudaStreamCaptureModeThreadLocal));
    Status status = bench_.Forward(*op_, stream_.handle);
    const char* function = "EnqueueForward";
    if (status.ok()) {
      function = "EnqueueBackward";
      status = bench_.Backward(*op_, stream_.handle);
    }
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream_.handle, &graph);
    if (!status.ok() || ended != cudaSuccess) {
      (void)cudaGetLastError();
      if (graph != nullptr) cudaGraphDestroy(graph);
      Find("device-sizes",
           fmt::format("{} does what a captured stream cannot hold, such as a wait or a copy to the host: {}",
                       status.ok() ? "one of the calls" : function,
                       status.ok() ? cudaGetErrorString(ended) : status.message()));
      return false;
    }
    const cudaError_t made = cudaGraphInstantiate(&replay_.handle, graph, 0);
    cudaGraphDestroy(graph);
    HONE_CUDA_RETURN_IF_ERROR(made);
    return true;
  }

  Result<Outcome> Replay(const CheckBatch& batch, float contents_before, bool valid = true) {
    HONE_RETURN_IF_ERROR(bench_.Put(batch, contents_before, valid));
    HONE_CUDA_RETURN_IF_ERROR(cudaGraphLaunch(replay_.handle, stream_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.handle));
    return bench_.Take();
  }

  std::string DescribeDifference(const Outcome& a, const Outcome& b) const {
    const auto first_difference = [](const std::vector<float>& x, const std::vector<float>& y, int64_t columns) {
      for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        if (std::bit_cast<uint32_t>(x[i]) == std::bit_cast<uint32_t>(y[i])) continue;
        return fmt::format("row {}, column {} is {:.9g} and {:.9g}", static_cast<int64_t>(i) / columns,
                           static_cast<int64_t>(i) % columns, x[i], y[i]);
      }
      return std::string();
    };
    if (const std::string text = first_difference(a.out, b.out, place_.out); !text.empty())
      return "of the result " + text;
    if (const std::string text = first_difference(a.grad_x, b.grad_x, place_.in); !text.empty())
      return "of grad_x " + text;
    for (size_t p = 0; p < a.gradients.size(); ++p) {
      const std::string text =
          first_difference(a.gradients[p], b.gradients[p], static_cast<int64_t>(a.gradients[p].size()));
      if (!text.empty()) return fmt::format("of the gradient of trainable parameter {} {}", p + 1, text);
    }
    return "";
  }

  // Compares the outcome with the Layer's values, on the batch's rows.
  void Compare(const char* rule, const Outcome& outcome, const CheckBatch& batch, const char* when) {
    const Outcome expected = OfLayer(kind_, place_, batch);
    const auto near = [&](const std::vector<float>& values, const std::vector<float>& expected_values, int64_t columns,
                          const std::string& what) {
      float largest_magnitude = 0;
      for (const float value : expected_values) largest_magnitude = std::max(largest_magnitude, std::abs(value));
      for (size_t i = 0; i < expected_values.size(); ++i) {
        if (std::abs(values[i] - expected_values[i]) <= static_cast<float>(tolerance_) * largest_magnitude) continue;
        Find(rule,
             fmt::format("{}{} has {:.6g} in row {}, column {}, where the Layer has {:.6g}", when, what, values[i],
                         static_cast<int64_t>(i) / columns, static_cast<int64_t>(i) % columns, expected_values[i]));
        return false;
      }
      return true;
    };
    if (!near(outcome.out, expected.out, place_.out, "the result")) return;
    if (!near(outcome.grad_x, expected.grad_x, place_.in, "grad_x")) return;
    for (size_t p = 0; p < expected.gradients.size(); ++p) {
      const auto columns = static_cast<int64_t>(expected.gradients[p].size());
      if (!near(outcome.gradients[p], expected.gradients[p], columns,
                fmt::format("the gradient of trainable parameter {}", p + 1))) {
        return;
      }
    }
  }

  void CheckPadding(const Outcome& outcome, const CheckBatch& batch) {
    const auto check = [&](const std::vector<float>& values, int64_t rows, int64_t columns, const char* what) {
      for (size_t i = static_cast<size_t>(rows * columns); i < values.size(); ++i) {
        if (values[i] == kCanary) continue;
        Find("padded-rows", fmt::format("row {} of {} was written, where the batch has {}",
                                        static_cast<int64_t>(i) / columns, what, rows));
        return;
      }
    };
    check(outcome.out, batch.num_dst, place_.out, "the result");
    check(outcome.grad_x, batch.num_src, place_.in, "grad_x");
  }

  // Checks that nothing is written for a batch that is not valid.
  Status CheckInvalid() {
    HONE_ASSIGN_OR_RETURN(const Outcome nothing, Replay(batch_, kCanary, /*valid=*/false));
    const auto untouched = [](const std::vector<float>& values) {
      return std::all_of(values.begin(), values.end(), [](float value) { return value == kCanary; });
    };
    if (untouched(nothing.out) && untouched(nothing.grad_x)) return Status::Ok();
    Find("padded-rows", "a batch that is not valid has no rows, and some were written: ask NumDst and NumSrc");
    return Status::Ok();
  }

  // Runs another batch's forward, in memory of its own, between this batch's forward and backward.
  Status CheckState(const Outcome& first_outcome) {
    HONE_RETURN_IF_ERROR(bench_.Put(batch_, 0));
    HONE_RETURN_IF_ERROR(second_.Put(other_, 0));
    HONE_RETURN_IF_ERROR(bench_.Forward(*op_, stream_.handle));
    HONE_RETURN_IF_ERROR(second_.Forward(*op_, stream_.handle));
    HONE_RETURN_IF_ERROR(bench_.Backward(*op_, stream_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_.handle));
    HONE_ASSIGN_OR_RETURN(const Outcome outcome_between, bench_.Take());
    if (outcome_between == first_outcome || HasFinding("one-order")) return Status::Ok();
    Find("no-state", DescribeDifference(first_outcome, outcome_between) +
                         ", where another batch's forward came before this one's backward");
    return Status::Ok();
  }

  const OpKind& kind_;
  const OpPlace& place_;
  const OpElement element_;
  const double tolerance_;
  CheckBatch batch_, other_;
  std::unique_ptr<DeviceOp> op_;
  Bench bench_, second_;
  cuda::Stream stream_;
  cuda::GraphExec replay_;
  std::vector<OpFinding> findings_;
};

}  // namespace

Result<std::vector<OpFinding>> CheckOpOnDevice(const OpKind& kind, const OpCheck& check) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    return Status::Unavailable("no NVIDIA GPU can be used here: an operation's form for a GPU is checked on one");
  }
  HONE_ASSIGN_OR_RETURN(const OpPlace place, CheckedPlace(kind, check));
  if (kind.MakeDeviceOp(place) == nullptr) {
    return Status::InvalidArgument(fmt::format("operation '{}' has no form for a GPU", kind.name()));
  }
  std::vector<OpFinding> findings;
  for (const OpElement element : {OpElement::kFloat32, OpElement::kBFloat16}) {
    Checker checker(kind, place, element, check);
    HONE_RETURN_IF_ERROR(checker.Check());
    for (OpFinding& finding : checker.Take()) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace hone::gnn
