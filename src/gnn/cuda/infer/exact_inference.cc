// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the loop over layers and blocks of exact_inference.h: what is computed for which nodes, and which stream waits
// for which.
#include "gnn/cuda/infer/exact_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <tuple>

#include "base/clock.h"
#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/base/device_parameters.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/cuda/infer/exact_memory.h"
#include "gnn/cuda/infer/exact_model.h"
#include "gnn/cuda/infer/exact_ranks.h"
#include "gnn/cuda/kernels/matmul.h"
#include "gnn/graph/memory_region.h"

namespace hone::gnn::cuda {
namespace {

Status Check(const Graph& graph, const ModelOptions& model, std::span<const NodeId> nodes) {
  const int64_t count = graph.structure().num_nodes;
  if (graph.features().num_rows < count || count == 0) {
    return Status::InvalidArgument(
        fmt::format("graph '{}' has features of {} of its {} nodes", graph.name(), graph.features().num_rows, count));
  }
  if (graph.features().width != model.in_width) {
    return Status::InvalidArgument(
        fmt::format("graph '{}' has {} features a node and the model was made for {}: they do not belong together",
                    graph.name(), graph.features().width, model.in_width));
  }
  for (const NodeId v : nodes) {
    if (v < 0 || v >= count) {
      return Status::InvalidArgument(
          fmt::format("node {} is not in graph '{}', which has nodes 0 to {}", v, graph.name(), count - 1));
    }
  }
  return Status::Ok();
}

// Returns the nodes that each layer must compute, for the last layer in the requested order; an empty list means all.
// If only the device has the edges, the layers before the last compute all.
std::vector<std::vector<NodeId>> RowsOfLayers(const CsrView& graph, std::span<const NodeId> wanted, size_t layers,
                                              bool without_edges) {
  std::vector<std::vector<NodeId>> rows(layers);
  if (wanted.empty()) return rows;
  rows.back().assign(wanted.begin(), wanted.end());
  if (without_edges) return rows;
  std::vector<uint8_t> mark(static_cast<size_t>(graph.num_nodes), 0);
  for (const NodeId v : wanted) mark[static_cast<size_t>(v)] = 1;
  for (size_t l = layers; l-- > 1;) {
    for (const NodeId v : rows[l]) {
      for (const NodeId u : graph.Neighbors(v)) mark[static_cast<size_t>(u)] = 1;
    }
    for (size_t v = 0; v < mark.size(); ++v) {
      if (mark[v] != 0) rows[l - 1].push_back(static_cast<NodeId>(v));
    }
    if (rows[l - 1].size() * 2 >= mark.size()) {
      rows[l - 1].clear();  // all nodes, and so for every earlier layer
      break;
    }
  }
  return rows;
}

// What a layer's loop needs to know of its rows, on the device.
struct PassRows {
  std::span<const NodeId> ids;  // empty: all nodes
  int64_t count = 0;
  const LongRowList* long_rows = nullptr;
  DeviceArray<int32_t> device_ids, positions, piece_rows;
  DeviceArray<int64_t> first_pieces;

  Status Upload() {
    HONE_RETURN_IF_ERROR(device_ids.Upload(ids.data(), static_cast<int64_t>(ids.size())));
    const LongRowList& list = *long_rows;
    HONE_RETURN_IF_ERROR(positions.Upload(list.positions.data(), static_cast<int64_t>(list.positions.size())));
    HONE_RETURN_IF_ERROR(piece_rows.Upload(list.piece_rows.data(), static_cast<int64_t>(list.piece_rows.size())));
    return first_pieces.Upload(list.first_pieces.data(), static_cast<int64_t>(list.first_pieces.size()));
  }
  static int64_t Bytes(std::span<const NodeId> ids, const LongRowList& list) {
    return static_cast<int64_t>(ids.size() * 4 + list.positions.size() * 12 + list.piece_rows.size() * 4 + 8);
  }
  BlockRows Block(const int64_t* row_offsets, const int32_t* columns, int64_t first, int64_t rows) const {
    return {.row_offsets = row_offsets,
            .columns = columns,
            .ids = ids.empty() ? nullptr : device_ids.get() + first,
            .first = first,
            .count = static_cast<int32_t>(rows)};
  }
  LongRows Long(int64_t first, int64_t rows) const {
    const int64_t from = long_rows->LowerBound(first), until = long_rows->LowerBound(first + rows);
    const int64_t piece = long_rows->first_pieces[static_cast<size_t>(from)];
    return {.positions = positions.get() + from,
            .first_pieces = first_pieces.get() + from,
            .piece_rows = piece_rows.get() + piece,
            .first_position = first,
            .first_row = from,
            .first_piece = piece,
            .count = static_cast<int32_t>(until - from),
            .pieces = static_cast<int32_t>(long_rows->first_pieces[static_cast<size_t>(until)] - piece)};
  }
};

class ExactRun {
 public:
  ExactRun(const Graph& graph, std::span<const NodeId> nodes, const ExactOptions& options)
      : graph_(graph), csr_(graph.structure()), nodes_(nodes), options_(options) {}
  // Waits, so that nothing in use is freed.
  ~ExactRun() {
    if (main_.handle != nullptr) (void)cudaStreamSynchronize(main_.handle);
    if (copies_.handle != nullptr) (void)cudaStreamSynchronize(copies_.handle);
  }

  Status Make(Model<float>& model) {
    HONE_ASSIGN_OR_RETURN(model_, PlanExactModel(model));
    num_edges_ = csr_.num_edges();
    if (IsOutline(graph_)) HONE_RETURN_IF_ERROR(Generate());
    element_ = options_.fp32 ? Element::kFloat32 : Element::kBFloat16;
    size_ = ElementBytes(element_);
    HONE_ASSIGN_OR_RETURN(matmuls_, OpenMatmulLibrary());
    rows_ = RowsOfLayers(csr_, nodes_, model_.layers.size(), IsOutline(graph_));
    for (const auto& rows : rows_) {
      if (!rows.empty()) long_rows_.push_back(LongRowList::Of(csr_, rows));
      else if (all_long_rows_.first_pieces.empty()) all_long_rows_ = LongRowList::Of(csr_, {});
    }
    HONE_RETURN_IF_ERROR(PlanMemory());
    HONE_RETURN_IF_ERROR(main_.Make());
    HONE_RETURN_IF_ERROR(copies_.Make());
    for (auto* events : {&computed_, &copied_}) {
      for (Event& event : *events) HONE_RETURN_IF_ERROR(event.Make());
    }
    return Allocate();
  }

  Result<ExactOnDevice> Run() {
    ExactOnDevice result;
    result.rows_on_device = memory_.on_device;
    result.device_bytes = memory_.device_bytes;
    result.host_bytes = memory_.host_bytes;
    result.num_edges = num_edges_;
    Predictions& predictions = result.predictions;
    predictions.num_nodes = nodes_.empty() ? csr_.num_nodes : static_cast<int64_t>(nodes_.size());
    predictions.num_classes = model_.classes;
    result.classes.resize(static_cast<size_t>(predictions.num_nodes));
    if (options_.logits) {
      predictions.logits.resize(static_cast<size_t>(predictions.num_nodes * predictions.num_classes));
    }
    const Stopwatch compute;
    size_t list = 0;
    for (size_t l = 0; l < model_.layers.size(); ++l) {
      PassRows pass;
      pass.ids = rows_[l];
      pass.count = rows_[l].empty() ? csr_.num_nodes : static_cast<int64_t>(rows_[l].size());
      pass.long_rows = rows_[l].empty() ? &all_long_rows_ : &long_rows_[list++];
      HONE_RETURN_IF_ERROR(pass.Upload());
      if (l + 1 < model_.layers.size()) {
        HONE_RETURN_IF_ERROR(output_->Make(csr_.num_nodes, model_.layers[l].out() * size_, memory_.on_device[l + 1], order_,
                                           "a layer's activations"));
      }
      // New memory is cleared on another stream than the stream that fills it.
      HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
      const Status status = RunLayer(l, pass, result);
      // Also after an error: `pass` must outlive the work.
      const cudaError_t error = cudaStreamSynchronize(main_.handle), copy_error = cudaStreamSynchronize(copies_.handle);
      HONE_RETURN_IF_ERROR(status);
      HONE_CUDA_RETURN_IF_ERROR(error);
      HONE_CUDA_RETURN_IF_ERROR(copy_error);
      std::swap(input_, output_);
      output_->Free();
    }
    predictions.times.compute = compute.Seconds();
    return result;
  }

 private:
  // One of the two buffers through which finished blocks of logits are copied.
  struct Staging {
    DeviceArray<float> logits;
    DeviceArray<int32_t> predicted;
    MappedBytes host;              // logits, then classes, of one block
    int64_t first = 0, count = 0;  // rows of the block
  };
  struct Sizes {
    int64_t gathered = 0, out = 0, own = 0, heads = 0, partial = 0;
  };
  Sizes Most() const {
    Sizes most;
    most.out = model_.padded_classes * (4 / size_);  // fp32 logits in the same buffer
    for (const ExactLayer& layer : model_.layers) {
      most.gathered = std::max(most.gathered, layer.gathered());
      for (const ExactStep& step : layer.steps) most.out = std::max(most.out, step.out);
      if (layer.own_weight != kNowhere) most.own = std::max(most.own, layer.out());
      if (layer.attends) most.heads = std::max<int64_t>(most.heads, layer.heads);
      most.partial = std::max(most.partial, layer.attends ? layer.heads * (layer.in + 2) : layer.in);
    }
    return most;
  }
  int64_t MostPieces() const {
    int64_t pieces = all_long_rows_.MostPieces(block_);
    for (const LongRowList& list : long_rows_) pieces = std::max(pieces, list.MostPieces(block_));
    return pieces;
  }

  // The device generates the structure, and the host reads its degrees. Features come once it is known where they
  // belong.
  Status Generate() {
    HONE_ASSIGN_OR_RETURN(request_, ParseSyntheticName(graph_.name()));
    HONE_RETURN_IF_ERROR(made_.GenerateStructure(request_));
    HONE_RETURN_IF_ERROR(made_.row_offsets().Download(made_offsets_));
    csr_ = {graph_.structure().num_nodes, made_offsets_, {}};
    num_edges_ = made_.num_edges();
    made_bytes_ = (csr_.num_nodes + 1) * 8 + num_edges_ * 4;
    return Status::Ok();
  }

  Status PlanMemory() {
    size_t free = 0, total = 0;
    HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free, &total));
    free += static_cast<size_t>(made_bytes_);  // part of the plan, so it counts as free
    int64_t available = static_cast<int64_t>(free) - std::min<int64_t>(int64_t{256} << 20, static_cast<int64_t>(free / 20));
    if (options_.device_bytes > 0) available = std::min(available, options_.device_bytes);
    product_rows_ = std::clamp<int64_t>(options_.product_rows, 1, RoundUp(csr_.num_nodes, 128));
    int64_t pass_bytes = 0;
    for (size_t l = 0, list = 0; l < rows_.size(); ++l) {
      const LongRowList& long_rows = rows_[l].empty() ? all_long_rows_ : long_rows_[list++];
      pass_bytes = std::max(pass_bytes, PassRows::Bytes(rows_[l], long_rows));
    }
    ExactSizes sizes;
    sizes.nodes = csr_.num_nodes;
    for (size_t l = 0; l < model_.layers.size(); ++l) {
      sizes.row_bytes.push_back(l == 0 ? graph_.features().stride_bytes : model_.layers[l].in * size_);
    }
    if (model_.contributes) sizes.sums_row_bytes = model_.padded_classes * 4;
    const Sizes most = Most();
    sizes.ranks_bytes = csr_.num_nodes * 4;
    const auto fixed = [&] {
      const int64_t a_row = (most.gathered + 2 * most.out + most.own) * size_ + 2 * (model_.classes + 1) * 4;
      // 512 bytes: the most by which an allocation may be rounded up; there are some twenty.
      return (csr_.num_nodes + 1) * 8 + num_edges_ * 4 + static_cast<int64_t>(model_.weights.size()) * size_ +
             static_cast<int64_t>(model_.vectors.size()) * 4 + csr_.num_nodes * 2 * most.heads * 4 + pass_bytes +
             block_ * a_row + MostPieces() * most.partial * 4 + 32 * 512;
    };
    block_ = RoundUp(std::clamp<int64_t>(options_.block_rows, 1, RoundUp(csr_.num_nodes, product_rows_)), product_rows_);
    // A smaller block is only slower.
    while (fixed() > available && block_ > product_rows_) block_ = RoundUp(block_ / 2, product_rows_);
    sizes.block_rows = block_;
    sizes.fixed_bytes = fixed();
    sizes.most_first_rows = options_.most_feature_rows;
    sizes.all_first = options_.all_features;
    HONE_ASSIGN_OR_RETURN(memory_, PlanExactMemory(sizes, available));
    return CheckHostMemory(sizes);
  }

  // Features that are in host memory already may stay where they are.
  Status CheckHostMemory(const ExactSizes& sizes) const {
    const bool there = !IsOutline(graph_) && memory_.on_device[0] < csr_.num_nodes;
    const int64_t needed = memory_.host_bytes - (there ? csr_.num_nodes * sizes.row_bytes[0] : 0);
    const int64_t available = AvailableMemoryBytes();
    if (available == 0 || needed + needed / 8 <= available) return Status::Ok();
    return Status::ResourceExhausted(fmt::format(
        "exact inference of '{}' needs {:.2f} GB of the host's memory and an eighth more for what device memory has no room "
        "for, and {:.2f} GB are available: use a GPU or a host with more memory, or the CPU with a folder for activations",
        graph_.name(), static_cast<double>(needed) * 1e-9, static_cast<double>(available) * 1e-9));
  }

  // Decides which rows of partial tables the device holds.
  Status RankRows() {
    if (!memory_.split) return Status::Ok();
    {
      HONE_ASSIGN_OR_RETURN(const std::vector<uint32_t> readers,
                            CountReaders(csr_, graph_.flags().symmetric, Columns(), num_edges_));
      places_ = RanksByReaders(readers);
    }
    HONE_RETURN_IF_ERROR(ranks_.Upload(places_.data(), csr_.num_nodes));
    order_ = {ranks_.get(), places_};
    return Status::Ok();
  }

  Status Allocate() {
    const Sizes most = Most();
    if (!IsOutline(graph_)) {
      HONE_RETURN_IF_ERROR(row_offsets_.Upload(csr_.row_offsets.data(), csr_.num_nodes + 1));
      HONE_RETURN_IF_ERROR(columns_.Upload(csr_.columns.data(), num_edges_));
    }
    // Before the buffers, because counting readers and making host rows temporarily take device memory.
    HONE_RETURN_IF_ERROR(RankRows());
    HONE_RETURN_IF_ERROR(IsOutline(graph_) ? GenerateFeatures() : OpenFeatures());
    HONE_RETURN_IF_ERROR(UploadWeights());
    HONE_RETURN_IF_ERROR(vectors_.Upload(model_.vectors.data(), static_cast<int64_t>(model_.vectors.size())));
    HONE_RETURN_IF_ERROR(gathered_.Allocate(block_ * most.gathered * size_));
    HONE_RETURN_IF_ERROR(plain_.Allocate(block_ * most.out * size_));
    HONE_RETURN_IF_ERROR(finished_.Allocate(block_ * most.out * size_));
    HONE_RETURN_IF_ERROR(own_.Allocate(block_ * most.own * size_));
    HONE_RETURN_IF_ERROR(partials_.Allocate(MostPieces() * most.partial));
    HONE_RETURN_IF_ERROR(scores_.Allocate(csr_.num_nodes * 2 * most.heads));
    for (Staging& staging : staging_) {
      HONE_RETURN_IF_ERROR(staging.logits.Allocate(block_ * model_.classes));
      HONE_RETURN_IF_ERROR(staging.predicted.Allocate(block_));
      HONE_RETURN_IF_ERROR(staging.host.Allocate(block_ * (model_.classes + 1) * 4, "blocks of logits"));
    }
    if (model_.contributes) {
      HONE_RETURN_IF_ERROR(sums_.Make(csr_.num_nodes, model_.padded_classes * 4, memory_.sums_on_device, order_,
                                      "the partial logits of all nodes"));
    }
    return Status::Ok();
  }

  Status OpenFeatures() {
    FeatureView features = graph_.features();
    features.num_rows = csr_.num_nodes;
    return input_->Open(features, memory_.on_device[0], order_);
  }

  Status GenerateFeatures() {
    HONE_RETURN_IF_ERROR(input_->Generate(request_, memory_.on_device[0], order_));
    if (!options_.check_outline) return Status::Ok();
    GraphReader reader = made_.Reader();
    reader.features = [this](int64_t v, std::span<std::byte> values) { return input_->Download(v, values); };
    return options_.check_outline(reader);
  }

  Status UploadWeights() {
    const auto count = static_cast<int64_t>(model_.weights.size());
    if (options_.fp32) {
      return weights_.Upload(reinterpret_cast<const unsigned char*>(model_.weights.data()), count * 4);
    }
    std::vector<uint16_t> half(model_.weights.size());
    for (size_t i = 0; i < half.size(); ++i) {  // rounds to nearest, ties to even
      const auto bits = std::bit_cast<uint32_t>(model_.weights[i]);
      half[i] = static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    }
    return weights_.Upload(reinterpret_cast<const unsigned char*>(half.data()), count * 2);
  }

  const float* Vector(int64_t at) const { return at == kNowhere ? nullptr : vectors_.get() + at; }

  // to [rows, out] = from [rows, in] times weight^T, in products of product_rows_ rows; the last product reaches past
  // the end.
  Status Product(int64_t rows, int64_t in, int64_t out, int64_t weight, Element result, const void* from, void* to) {
    std::unique_ptr<Matmul>& plan = products_[{in, out, result}];
    if (plan == nullptr) {
      HONE_ASSIGN_OR_RETURN(plan, matmuls_->Plan({product_rows_, out, in, false, true, element_, result}));
    }
    for (int64_t row = 0; row < rows; row += product_rows_) {
      HONE_RETURN_IF_ERROR(plan->Enqueue(static_cast<const unsigned char*>(from) + row * in * size_,
                                         weights_.get() + weight * size_,
                                         static_cast<unsigned char*>(to) + row * out * ElementBytes(result),
                                         main_.handle));
    }
    return Status::Ok();
  }

  Status RunLayer(size_t l, const PassRows& pass, ExactOnDevice& result) {
    const ExactLayer& layer = model_.layers[l];
    const Element in_element = l > 0 ? element_ : FeatureElement();
    if (layer.attends) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueScores(Attention(layer), csr_.num_nodes, input_->view(), in_element,
                                              static_cast<int32_t>(layer.in), scores_.get(), main_.handle));
    }
    const bool last = l + 1 == model_.layers.size();
    int64_t done = 0;
    int turn = 0;
    for (int64_t first = 0; first < pass.count; first += block_, turn = 1 - turn) {
      // The block's staging buffer is free: the block before the previous one has been collected.
      HONE_RETURN_IF_ERROR(EnqueueBlock(l, pass, first, std::min(block_, pass.count - first), turn, in_element));
      HONE_RETURN_IF_ERROR(EnqueueLeaving(turn, last));
      if (first > 0) HONE_RETURN_IF_ERROR(Collect(l, 1 - turn, pass.count, &done, result));
      if (options_.stop && options_.stop()) return Status::Cancelled("inference was stopped");
    }
    return Collect(l, 1 - turn, pass.count, &done, result);
  }

  Status EnqueueBlock(size_t l, const PassRows& pass, int64_t first, int64_t rows, int turn, Element in_element) {
    const ExactLayer& layer = model_.layers[l];
    const bool last = l + 1 == model_.layers.size();
    Staging& staging = staging_[static_cast<size_t>(turn)];
    const BlockRows block = pass.Block(RowOffsets(), Columns(), first, rows);
    const LongRows long_rows = pass.Long(first, rows);
    const auto in = static_cast<int32_t>(layer.in);
    if (layer.attends) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueFullAttention(Attention(layer), block, long_rows, scores_.get(), input_->view(),
                                                     in_element, in, element_, gathered_.get(), partials_.get(),
                                                     main_.handle));
    } else {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueFullAggregate(layer.aggregate, block, long_rows, input_->view(), in_element, in,
                                                     element_, gathered_.get(), partials_.get(), main_.handle));
    }
    const void* from = gathered_.get();
    staging.first = first;
    staging.count = rows;
    for (size_t s = 0; s < layer.steps.size(); ++s) {
      const ExactStep& step = layer.steps[s];
      const bool ends = s + 1 == layer.steps.size();
      const bool gives_logits = last && ends && !model_.contributes;
      HONE_RETURN_IF_ERROR(Product(rows, step.in, step.out, step.weight, gives_logits ? Element::kFloat32 : element_,
                                   from, plain_.get()));
      if (gives_logits) return FinishLogits(block, nullptr, Vector(step.shift), staging);
      FinishRows finish{.mean = Vector(step.mean),
                        .scale = Vector(step.scale),
                        .shift = Vector(step.shift),
                        .activation = step.activation};
      RowsOut out;
      void* also = nullptr;
      if (!ends || last) {
        out = {.block = finished_.get(), .table = {}, .block_stride_bytes = step.out * size_};
      } else {
        out = NextRows(pass, first, step.out * size_);
        if (!layer.contributions.empty()) also = finished_.get();
      }
      if (ends && layer.adds_own) {
        finish.residual = gathered_.get() + layer.in * size_;
        finish.residual_stride = layer.gathered();
        finish.residual_bias = Vector(layer.own_bias);
        if (layer.own_weight != kNowhere) {
          HONE_RETURN_IF_ERROR(Product(rows, layer.gathered(), step.out, layer.own_weight, element_, gathered_.get(),
                                       own_.get()));
          finish.residual = own_.get();
          finish.residual_stride = step.out;
        }
      }
      HONE_CUDA_RETURN_IF_ERROR(EnqueueFinishRows(finish, block, element_, plain_.get(),
                                                  static_cast<int32_t>(step.out), out, also, main_.handle));
      from = finished_.get();
    }
    for (size_t c = 0; c < layer.contributions.size(); ++c) {
      const ExactContribution& part = layer.contributions[c];
      HONE_RETURN_IF_ERROR(Product(rows, part.in, model_.padded_classes, part.weight, Element::kFloat32,
                                   part.of_gathered ? gathered_.get() : finished_.get(), plain_.get()));
      if (last && c + 1 == layer.contributions.size()) {
        const RowTable sums = sums_.view();
        return FinishLogits(block, &sums, Vector(model_.logits_bias), staging);
      }
      HONE_CUDA_RETURN_IF_ERROR(EnqueueAddToTable(l == 0 && c == 0, block, reinterpret_cast<const float*>(plain_.get()),
                                                  static_cast<int32_t>(model_.padded_classes), sums_.view(),
                                                  main_.handle));
    }
    return Status::Ok();
  }

  // Destination of the block's rows: contiguous in device memory or, if they are not neighbors there, row by row by
  // node.
  RowsOut NextRows(const PassRows& pass, int64_t first, int64_t row_bytes) const {
    RowsOut out;
    out.block_stride_bytes = row_bytes;
    out.table = output_->view();
    if (pass.ids.empty() && output_->whole()) out.block = out.table.device + first * row_bytes;
    return out;
  }

  Status FinishLogits(const BlockRows& block, const RowTable* sums, const float* bias, Staging& staging) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueFinishLogits(
        block, reinterpret_cast<const float*>(plain_.get()), static_cast<int32_t>(model_.padded_classes),
        static_cast<int32_t>(model_.classes), sums, bias, staging.logits.get(), staging.predicted.get(),
        main_.handle));
    return Status::Ok();
  }

  // Copies a block of logits to host memory on a separate stream.
  Status EnqueueLeaving(int turn, bool last) {
    Staging& staging = staging_[static_cast<size_t>(turn)];
    const cudaEvent_t computed = computed_[static_cast<size_t>(turn)].handle;
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(computed, main_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(copies_.handle, computed, 0));
    const auto copy = [&](void* to, const void* from, int64_t bytes) {
      return cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToHost, copies_.handle);
    };
    if (last) {
      const int64_t bytes = staging.count * model_.classes * 4;
      if (options_.logits) HONE_CUDA_RETURN_IF_ERROR(copy(staging.host.host(), staging.logits.get(), bytes));
      HONE_CUDA_RETURN_IF_ERROR(copy(staging.host.host() + bytes, staging.predicted.get(), staging.count * 4));
    }
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(copied_[static_cast<size_t>(turn)].handle, copies_.handle));
    return Status::Ok();
  }

  // Waits for a block, takes its logits, and reports progress.
  Status Collect(size_t l, int turn, int64_t total, int64_t* done, ExactOnDevice& result) {
    const Staging& staging = staging_[static_cast<size_t>(turn)];
    HONE_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(copied_[static_cast<size_t>(turn)].handle));
    if (l + 1 == model_.layers.size()) {
      const auto bytes = static_cast<size_t>(staging.count * model_.classes * 4);
      if (options_.logits) {
        std::memcpy(result.predictions.logits.data() + staging.first * model_.classes, staging.host.host(), bytes);
      }
      std::memcpy(result.classes.data() + staging.first, staging.host.host() + bytes,
                  static_cast<size_t>(staging.count) * 4);
    }
    *done += staging.count;
    if (options_.progress) options_.progress(fmt::format("layer {}", l + 1), *done, total);
    return Status::Ok();
  }

  const int64_t* RowOffsets() const {
    return IsOutline(graph_) ? made_.row_offsets().get() : row_offsets_.get();
  }
  const int32_t* Columns() const { return IsOutline(graph_) ? made_.columns().get() : columns_.get(); }
  FullAttention Attention(const ExactLayer& layer) const {
    return {.heads = layer.heads, .negative_slope = layer.negative_slope, .folded = Vector(layer.folded)};
  }
  Element FeatureElement() const {
    switch (graph_.features().dtype) {
      case FeatureDtype::kFloat16:
        return Element::kFloat16;
      case FeatureDtype::kBFloat16:
        return Element::kBFloat16;
      case FeatureDtype::kFloat32:
        break;
    }
    return Element::kFloat32;
  }

  const Graph& graph_;
  CsrView csr_;  // graph structure of an outline, without columns
  int64_t num_edges_ = 0;
  DeviceGraph made_;  // the generated graph of an outline, without its features
  SyntheticRequest request_;
  std::vector<int64_t> made_offsets_;
  int64_t made_bytes_ = 0;
  const std::span<const NodeId> nodes_;
  const ExactOptions& options_;
  ExactModel model_;
  Element element_ = Element::kBFloat16;
  int64_t size_ = 2, block_ = 0, product_rows_ = 0;
  ExactMemory memory_;
  std::vector<int32_t> places_;  // used where a table is not completely on the device
  DeviceArray<int32_t> ranks_;
  SplitTable::Order order_;
  std::vector<std::vector<NodeId>> rows_;
  LongRowList all_long_rows_;
  std::vector<LongRowList> long_rows_;  // for the layers that do not compute all rows
  std::unique_ptr<MatmulLibrary> matmuls_;
  std::map<std::tuple<int64_t, int64_t, Element>, std::unique_ptr<Matmul>> products_;
  DeviceArray<int64_t> row_offsets_;
  DeviceArray<int32_t> columns_;
  DeviceArray<unsigned char> weights_, gathered_, plain_, finished_, own_;
  DeviceArray<float> vectors_, partials_, scores_;
  std::unique_ptr<SplitTable> input_ = std::make_unique<SplitTable>(), output_ = std::make_unique<SplitTable>();
  SplitTable sums_;
  std::array<Staging, 2> staging_;
  Stream main_, copies_;
  std::array<Event, 2> computed_, copied_;
};

}  // namespace

Result<ExactOnDevice> InferExactly(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                   const ExactOptions& options) {
  const Stopwatch wall;
  HONE_RETURN_IF_ERROR(Check(graph, model.options(), nodes));
  ExactRun run(graph, nodes, options);
  HONE_RETURN_IF_ERROR(run.Make(model));
  HONE_ASSIGN_OR_RETURN(ExactOnDevice result, run.Run());
  result.predictions.times.wall = wall.Seconds();
  return result;
}

}  // namespace hone::gnn::cuda
