// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the loop of exact_inference.h over passes and blocks. This file decides which nodes are computed and which
// stream waits for which; what a pass computes is up to the model's form (exact_form.h).
#include "gnn/cuda/infer/exact_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "base/process/cgroup_limits.h"
#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/base/device_parameters.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/cuda/infer/exact_layers.h"
#include "gnn/cuda/infer/exact_memory.h"
#include "gnn/cuda/infer/exact_ranks.h"
#include "gnn/cuda/infer/exact_spec.h"

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

// Makes the form of a model for activations of `element`. A published model with biases gets the form of its spec.
Result<std::unique_ptr<ExactForm>> FormOf(Model<float>& model, Element element) {
  const ModelOptions& options = model.options();
  if (options.spec != nullptr) return MakeExactSpec(model, *options.spec, element);
  if (options.bias) {
    HONE_ASSIGN_OR_RETURN(const ModelSpec spec, PublishedSpec(options));
    return MakeExactSpec(model, spec, element);
  }
  HONE_ASSIGN_OR_RETURN(ExactModel planned, PlanExactModel(model));
  return MakeExactLayers(std::move(planned), element);
}

// Returns the nodes that each pass must compute; an empty list means all. The last pass has the requested nodes in
// their order. If only the device has the edges (without_edges), all passes before the last compute all nodes.
std::vector<std::vector<NodeId>> RowsOfPasses(const CsrView& graph, std::span<const NodeId> requested, size_t passes,
                                              bool edges_on_device_only) {
  std::vector<std::vector<NodeId>> rows(passes);
  if (requested.empty()) return rows;
  rows.back().assign(requested.begin(), requested.end());
  if (edges_on_device_only) return rows;
  std::vector<uint8_t> is_needed(static_cast<size_t>(graph.num_nodes), 0);
  for (const NodeId v : requested) is_needed[static_cast<size_t>(v)] = 1;
  for (size_t l = passes; l-- > 1;) {
    for (const NodeId v : rows[l]) {
      for (const NodeId u : graph.Neighbors(v)) is_needed[static_cast<size_t>(u)] = 1;
    }
    for (size_t v = 0; v < is_needed.size(); ++v) {
      if (is_needed[v] != 0) rows[l - 1].push_back(static_cast<NodeId>(v));
    }
    if (rows[l - 1].size() * 2 >= is_needed.size()) {
      // Half of all nodes need nearly all neighbors' rows: computing every node is then no slower than gathering a
      // list.
      rows[l - 1].clear();  // all nodes, and so for every earlier pass
      break;
    }
  }
  return rows;
}

// The rows of a pass, with the arrays that the pass's kernels need on the device.
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
  LongRows LongRowsIn(int64_t first, int64_t rows) const {
    const int64_t first_long = long_rows->LowerBound(first), end_long = long_rows->LowerBound(first + rows);
    const int64_t piece = long_rows->first_pieces[static_cast<size_t>(first_long)];
    return {.positions = positions.get() + first_long,
            .first_pieces = first_pieces.get() + first_long,
            .piece_rows = piece_rows.get() + piece,
            .first_position = first,
            .first_row = first_long,
            .first_piece = piece,
            .count = static_cast<int32_t>(end_long - first_long),
            .pieces = static_cast<int32_t>(long_rows->first_pieces[static_cast<size_t>(end_long)] - piece)};
  }
};

class ExactRun {
 public:
  ExactRun(const Graph& graph, std::span<const NodeId> nodes, const ExactOptions& options)
      : graph_(graph), csr_(graph.structure()), nodes_(nodes), options_(options) {}
  // Waits for the streams, so that no memory in use is freed.
  ~ExactRun() {
    if (main_.handle != nullptr) (void)cudaStreamSynchronize(main_.handle);
    if (copies_.handle != nullptr) (void)cudaStreamSynchronize(copies_.handle);
  }

  Status Make(Model<float>& model) {
    element_ = options_.fp32 ? Element::kFloat32 : Element::kBFloat16;
    classes_ = model.options().num_classes;
    HONE_ASSIGN_OR_RETURN(form_, FormOf(model, element_));
    num_edges_ = csr_.num_edges();
    if (IsOutline(graph_)) HONE_RETURN_IF_ERROR(Generate());
    HONE_ASSIGN_OR_RETURN(matmuls_, OpenMatmulLibrary());  // before the plan: its workspace takes memory
    rows_ = RowsOfPasses(csr_, nodes_, form_->passes(), IsOutline(graph_));
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
    predictions.num_classes = classes_;
    result.classes.resize(static_cast<size_t>(predictions.num_nodes));
    if (options_.logits) {
      predictions.logits.resize(static_cast<size_t>(predictions.num_nodes * predictions.num_classes));
    }
    const Stopwatch compute;
    size_t list = 0;
    for (size_t l = 0; l < form_->passes(); ++l) {
      PassRows pass;
      pass.ids = rows_[l];
      pass.count = rows_[l].empty() ? csr_.num_nodes : static_cast<int64_t>(rows_[l].size());
      pass.long_rows = rows_[l].empty() ? &all_long_rows_ : &long_rows_[list++];
      HONE_RETURN_IF_ERROR(pass.Upload());
      if (l + 1 < form_->passes()) {
        HONE_RETURN_IF_ERROR(output_->Make(csr_.num_nodes, form_->RowBytes(l + 1), memory_.on_device[l + 1], order_,
                                           "a layer's activations"));
      }
      // New memory is cleared on the default stream, so the device must be idle before another stream fills it.
      HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
      const Status status = RunPass(l, pass, result);
      // The streams are synchronized even after an error, because `pass` must outlive the work.
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
  // A buffer through which finished blocks of logits are copied; there are two.
  struct Staging {
    DeviceArray<float> logits;
    DeviceArray<int32_t> predicted;
    MappedBytes host;              // logits, then classes, of one block
    int64_t first = 0, count = 0;  // rows of the block
  };
  // Returns the largest number of pieces, of rows with many neighbors, in any block.
  int64_t MaxPiecesOfBlock() const {
    int64_t pieces = all_long_rows_.MostPieces(block_);
    for (const LongRowList& list : long_rows_) pieces = std::max(pieces, list.MostPieces(block_));
    return pieces;
  }

  // Generates an outline's structure on the device; the host reads only its degrees. Features follow once it is known
  // where they must lie.
  Status Generate() {
    HONE_ASSIGN_OR_RETURN(request_, ParseSyntheticName(graph_.name()));
    HONE_RETURN_IF_ERROR(generated_.GenerateStructure(request_));
    HONE_RETURN_IF_ERROR(generated_.row_offsets().Download(generated_offsets_));
    csr_ = {graph_.structure().num_nodes, generated_offsets_, {}};
    num_edges_ = generated_.num_edges();
    generated_bytes_ = (csr_.num_nodes + 1) * 8 + num_edges_ * 4;
    return Status::Ok();
  }

  Status PlanMemory() {
    size_t free_bytes = 0, total = 0;
    HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_bytes, &total));
    free_bytes +=
        static_cast<size_t>(generated_bytes_);  // the generated graph is part of the plan, so its memory counts as free
    // Leaves 5 % of the free memory, at most 256 MiB, to the driver and to what is not planned.
    int64_t available =
        static_cast<int64_t>(free_bytes) - std::min<int64_t>(int64_t{256} << 20, static_cast<int64_t>(free_bytes / 20));
    if (options_.device_bytes > 0) available = std::min(available, options_.device_bytes);
    product_rows_ = std::clamp<int64_t>(options_.product_rows, 1, RoundUp(csr_.num_nodes, 128));
    int64_t pass_bytes = 0;
    for (size_t l = 0, list = 0; l < rows_.size(); ++l) {
      const LongRowList& long_rows = rows_[l].empty() ? all_long_rows_ : long_rows_[list++];
      pass_bytes = std::max(pass_bytes, PassRows::Bytes(rows_[l], long_rows));
    }
    ExactSizes sizes;
    sizes.nodes = csr_.num_nodes;
    for (size_t l = 0; l < form_->passes(); ++l) {
      sizes.row_bytes.push_back(l == 0 ? graph_.features().stride_bytes : form_->RowBytes(l));
    }
    sizes.sums_row_bytes = form_->SumsRowBytes();
    sizes.ranks_bytes = csr_.num_nodes * 4;
    const ExactRoom room = form_->Room();
    const auto fixed_bytes = [&] {
      const int64_t block_row_bytes = room.a_block_row + 2 * (classes_ + 1) * 4;
      // An allocation may be rounded up by 512 bytes at most; there are some twenty allocations, and this allows for
      // 32.
      return (csr_.num_nodes + 1) * 8 + num_edges_ * 4 + room.fixed + csr_.num_nodes * room.a_node + pass_bytes +
             block_ * block_row_bytes + MaxPiecesOfBlock() * room.a_piece + 32 * 512;
    };
    block_ = RoundUp(std::clamp<int64_t>(options_.block_rows, 1, RoundUp(csr_.num_nodes, product_rows_)), product_rows_);
    // Halves the block until the plan fits; smaller blocks are only slower.
    while (fixed_bytes() > available && block_ > product_rows_) block_ = RoundUp(block_ / 2, product_rows_);
    sizes.block_rows = block_;
    sizes.fixed_bytes = fixed_bytes();
    sizes.most_first_rows = options_.most_feature_rows;
    sizes.all_first = options_.all_features;
    HONE_ASSIGN_OR_RETURN(memory_, PlanExactMemory(sizes, available));
    return CheckHostMemory(sizes);
  }

  // Checks that the plan's host memory is available. Features that are in host memory already need no more.
  Status CheckHostMemory(const ExactSizes& sizes) const {
    const bool is_on_device = !IsOutline(graph_) && memory_.on_device[0] < csr_.num_nodes;
    const int64_t needed_bytes = memory_.host_bytes - (is_on_device ? csr_.num_nodes * sizes.row_bytes[0] : 0);
    const int64_t available = AvailableMemoryBytes();
    if (available == 0 || needed_bytes + needed_bytes / 8 <= available) return Status::Ok();
    return Status::ResourceExhausted(
        fmt::format("exact inference of '{}' needs {:.2f} GB of the host's memory and an eighth more for what device "
                    "memory has no room "
                    "for, and {:.2f} GB are available: use a GPU or a host with more memory, or the CPU with a folder "
                    "for activations",
                    graph_.name(), static_cast<double>(needed_bytes) * 1e-9, static_cast<double>(available) * 1e-9));
  }

  // Decides which rows of tables that do not fit the device holds.
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
    if (!IsOutline(graph_)) {
      HONE_RETURN_IF_ERROR(row_offsets_.Upload(csr_.row_offsets.data(), csr_.num_nodes + 1));
      HONE_RETURN_IF_ERROR(columns_.Upload(csr_.columns.data(), num_edges_));
    }
    // Must precede the buffers' allocation, because counting readers and making host rows temporarily take device
    // memory.
    HONE_RETURN_IF_ERROR(RankRows());
    HONE_RETURN_IF_ERROR(IsOutline(graph_) ? GenerateFeatures() : OpenFeatures());
    HONE_RETURN_IF_ERROR(form_->Allocate({.nodes = csr_.num_nodes,
                                          .block_rows = block_,
                                          .product_rows = product_rows_,
                                          .pieces = MaxPiecesOfBlock(),
                                          .matmuls = matmuls_.get()}));
    for (Staging& staging : staging_) {
      HONE_RETURN_IF_ERROR(staging.logits.Allocate(block_ * classes_));
      HONE_RETURN_IF_ERROR(staging.predicted.Allocate(block_));
      HONE_RETURN_IF_ERROR(staging.host.Allocate(block_ * (classes_ + 1) * 4, "blocks of logits"));
    }
    if (form_->SumsRowBytes() > 0) {
      HONE_RETURN_IF_ERROR(sums_.Make(csr_.num_nodes, form_->SumsRowBytes(), memory_.sums_on_device, order_,
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
    GraphReader reader = generated_.Reader();
    reader.features = [this](int64_t v, std::span<std::byte> values) { return input_->Download(v, values); };
    return options_.check_outline(reader);
  }

  Status RunPass(size_t l, const PassRows& pass, ExactOnDevice& result) {
    const ExactInput input{.rows = input_->view(),
                           .element = l > 0 ? element_ : FeatureElement(),
                           .row_offsets = RowOffsets(),
                           .num_nodes = csr_.num_nodes};
    HONE_RETURN_IF_ERROR(form_->BeginPass(l, input, main_.handle));
    const bool is_last = l + 1 == form_->passes();
    int64_t done = 0;
    int buffer = 0;
    for (int64_t first = 0; first < pass.count; first += block_, buffer = 1 - buffer) {
      // This block's staging buffer is free, because the block that used it, two blocks ago, has been collected.
      HONE_RETURN_IF_ERROR(EnqueueBlock(l, pass, first, std::min(block_, pass.count - first), buffer, input));
      HONE_RETURN_IF_ERROR(EnqueueLeaving(buffer, is_last));
      if (first > 0) HONE_RETURN_IF_ERROR(Collect(l, 1 - buffer, pass.count, &done, result));
      if (options_.stop && options_.stop()) return Status::Cancelled("inference was stopped");
    }
    return Collect(l, 1 - buffer, pass.count, &done, result);
  }

  Status EnqueueBlock(size_t l, const PassRows& pass, int64_t first, int64_t rows, int buffer,
                      const ExactInput& input) {
    Staging& staging = staging_[static_cast<size_t>(buffer)];
    staging.first = first;
    staging.count = rows;
    ExactBlock block{.rows = pass.Block(RowOffsets(), Columns(), first, rows),
                     .long_rows = pass.LongRowsIn(first, rows)};
    if (l + 1 < form_->passes()) {
      block.out = output_->view();
      if (pass.ids.empty() && output_->is_on_device()) block.first = block.out.device + first * block.out.stride_bytes;
    } else {
      block.logits = staging.logits.get();
      block.predicted = staging.predicted.get();
    }
    if (form_->SumsRowBytes() > 0) block.sums = sums_.view();
    return form_->EnqueueBlock(l, input, block, main_.handle);
  }

  // Copies a block of logits to host memory on a separate stream.
  Status EnqueueLeaving(int buffer, bool last) {
    Staging& staging = staging_[static_cast<size_t>(buffer)];
    const cudaEvent_t computed = computed_[static_cast<size_t>(buffer)].handle;
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(computed, main_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(copies_.handle, computed, 0));
    const auto copy = [&](void* to, const void* from, int64_t bytes) {
      return cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToHost, copies_.handle);
    };
    if (last) {
      const int64_t bytes = staging.count * classes_ * 4;
      if (options_.logits) HONE_CUDA_RETURN_IF_ERROR(copy(staging.host.host(), staging.logits.get(), bytes));
      HONE_CUDA_RETURN_IF_ERROR(copy(staging.host.host() + bytes, staging.predicted.get(), staging.count * 4));
    }
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(copied_[static_cast<size_t>(buffer)].handle, copies_.handle));
    return Status::Ok();
  }

  // Waits for the block in staging buffer `turn`, takes its logits, and reports progress.
  Status Collect(size_t l, int buffer, int64_t total, int64_t* done, ExactOnDevice& result) {
    const Staging& staging = staging_[static_cast<size_t>(buffer)];
    HONE_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(copied_[static_cast<size_t>(buffer)].handle));
    if (l + 1 == form_->passes()) {
      const auto bytes = static_cast<size_t>(staging.count * classes_ * 4);
      if (options_.logits) {
        std::memcpy(result.predictions.logits.data() + staging.first * classes_, staging.host.host(), bytes);
      }
      std::memcpy(result.classes.data() + staging.first, staging.host.host() + bytes,
                  static_cast<size_t>(staging.count) * 4);
    }
    *done += staging.count;
    if (options_.progress) options_.progress(form_->NameOf(l), *done, total);
    return Status::Ok();
  }

  const int64_t* RowOffsets() const { return IsOutline(graph_) ? generated_.row_offsets().get() : row_offsets_.get(); }
  const int32_t* Columns() const { return IsOutline(graph_) ? generated_.columns().get() : columns_.get(); }
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
  CsrView csr_;  // structure of the graph; of an outline, without columns
  int64_t num_edges_ = 0;
  DeviceGraph generated_;  // the generated graph of an outline, without its features
  SyntheticRequest request_;
  std::vector<int64_t> generated_offsets_;  // row offsets of generated_, for csr_
  int64_t generated_bytes_ = 0;             // device memory of generated_'s structure
  const std::span<const NodeId> nodes_;
  const ExactOptions& options_;
  std::unique_ptr<MatmulLibrary> matmuls_;
  std::unique_ptr<ExactForm> form_;
  int64_t classes_ = 0;
  Element element_ = Element::kBFloat16;
  int64_t block_ = 0, product_rows_ = 0;  // rows per block, and per matrix product
  ExactMemory memory_;
  std::vector<int32_t> places_;  // RankRows' order; empty if all tables are completely on the device
  DeviceArray<int32_t> ranks_;
  SplitTable::Order order_;
  std::vector<std::vector<NodeId>> rows_;  // RowsOfPasses
  LongRowList all_long_rows_;
  std::vector<LongRowList> long_rows_;  // one for each pass that does not compute all rows
  DeviceArray<int64_t> row_offsets_;
  DeviceArray<int32_t> columns_;
  std::unique_ptr<SplitTable> input_ = std::make_unique<SplitTable>(), output_ = std::make_unique<SplitTable>();
  SplitTable sums_;  // partial logits of all nodes
  std::array<Staging, 2> staging_;
  Stream main_, copies_;
  std::array<Event, 2> computed_, copied_;  // of the blocks in the two staging buffers
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
