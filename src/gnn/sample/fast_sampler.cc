// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples in stages. Sampling is a chain of dependent random reads: a row's offsets, its drawn columns, the table entry
// of each neighbor. In sequence, every step would wait for memory. Rows are therefore processed in chunks, and the
// chain is cut into stages that work on different chunks:
//
//   offsets  prefetched two chunks ahead
//   draw     read the offsets, draw the slots, prefetch the columns
//   fetch    read the columns, prefetch the table entries
//   number   assign local ids in order, write the block
//
// Prefetches go to the second-level cache (PrefetchRead): the first level has buffers for a few misses only, and a
// chunk's lines would fill it. A few hundred reads are thus in flight at any time. Only the last stage depends on the
// order of rows. docs/sampling.md has the lower bound; docs/design/0034-how-samples-are-drawn.md has what was tried
// with which gain.
#include "gnn/sample/fast_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "gnn/sample/draw_rows.h"
#include "gnn/sample/node_map.h"
#include "gnn/sample/reference_sampler.h"

namespace hone::gnn {
namespace {

constexpr int kChunkRows = 64;  // rows that a thread draws for before it stores their neighbors
constexpr int kChunkSlots = 256;  // 16 KiB of cache lines are in flight in each stage
constexpr int64_t kMaxCount = std::numeric_limits<int32_t>::max();
// Largest direct table, in bytes. A direct table is about twice as fast as a hash table (docs/design/0034). Beyond this
// size, one per thread would take too much memory, and a table of only the batch's nodes is small.
constexpr int64_t kDirectTableBytes = int64_t{48} << 20;

// Rows that go through the sampler's four stages together (docs/design/0034). A slot is one neighbor to be drawn.
struct Chunk {
  int rows = 0;
  int64_t slots = 0;
  int64_t row_end[kChunkRows];  // number of the chunk's slots up to and including this row
  std::vector<int64_t> slot;    // positions in the graph's columns; capacity grows, never shrinks
  std::vector<NodeId> neighbor;

  void Require(int64_t count) {
    if (static_cast<int64_t>(slot.size()) >= count) return;
    slot.resize(static_cast<size_t>(count + count / 2));
    neighbor.resize(slot.size());
  }
};

Status TooMany(const char* what) {
  return Status::ResourceExhausted(
      fmt::format("the sample has more than 2^31 - 1 {}; use fewer seeds, hops or a smaller fanout", what));
}

template <typename Map>
class FastSampler final : public NeighborSampler {
 public:
  FastSampler(const CsrView& graph, const SamplerOptions& options, const SamplerTuning& tuning, Map map)
      : graph_(graph), options_(options), map_(std::move(map)) {
    using Draws = SamplerTuning::Draws;
    if (tuning.draws == Draws::kBest && DrawRowsAvx512().draw != nullptr) wide_ = DrawRowsAvx512();
    narrow_ = tuning.draws != Draws::kScalar && DrawRowsAvx2().draw != nullptr ? DrawRowsAvx2() : DrawRowsScalar();
  }

  Status Sample(std::span<const NodeId> seeds, const BatchKey& key, NeighborSample& out) override {
    const size_t hops = options_.fanouts.size();
    out.new_only = options_.frontier == FrontierRule::kNewOnly;
    out.hop_nodes.resize(hops + 1);
    out.rows.resize(out.new_only ? 1 : hops);
    for (NeighborSample::Rows& rows : out.rows) Clear(rows);
    map_.Begin(known_);
    known_ = 0;
    const Status status = SampleHops(seeds, key, out);
    if (!status.ok()) {  // the result of an error is an empty sample, not half of one
      out.nodes.clear();
      std::fill(out.hop_nodes.begin(), out.hop_nodes.end(), 0);
      for (NeighborSample::Rows& rows : out.rows) Clear(rows);
    }
    return status;
  }

 private:
  static void Clear(NeighborSample::Rows& rows) {
    rows.row_offsets.assign(1, 0);
    rows.columns.clear();
    rows.edges.clear();
  }

  Status SampleHops(std::span<const NodeId> seeds, const BatchKey& key, NeighborSample& out) {
    HONE_RETURN_IF_ERROR(AddSeeds(seeds, out));
    int32_t begin = 0;
    for (size_t hop = 0; hop < options_.fanouts.size(); ++hop) {
      const int32_t end = known_;
      const DrawKey draw{key.seed, key.step, key.epoch, static_cast<uint32_t>(hop)};
      HONE_RETURN_IF_ERROR(SampleHop(draw, options_.fanouts[hop], begin, end, out, out.rows[out.new_only ? 0 : hop]));
      out.hop_nodes[hop + 1] = known_;
      if (out.new_only) begin = end;
    }
    return Status::Ok();
  }

  // Numbers the seeds, each distinct one once.
  Status AddSeeds(std::span<const NodeId> seeds, NeighborSample& out) {
    if (static_cast<int64_t>(seeds.size()) > kMaxCount) return TooMany("seeds");
    out.nodes.resize(seeds.size() + 1);
    HONE_RETURN_IF_ERROR(map_.Reserve(static_cast<int64_t>(seeds.size()), out.nodes.data(), 0));
    for (const NodeId seed : seeds) {
      if (seed < 0 || seed >= graph_.num_nodes) {
        return Status::InvalidArgument(
            fmt::format("seed {} is not a node: ids are 0 to {}", seed, graph_.num_nodes - 1));
      }
    }
    seed_local_.resize(seeds.size());
    known_ = map_.Number(seeds.data(), static_cast<int64_t>(seeds.size()), 0, out.nodes.data(), seed_local_.data());
    out.nodes.resize(static_cast<size_t>(known_));
    out.hop_nodes[0] = known_;
    return Status::Ok();
  }

  // Draws for the local ids [begin, end) and appends their rows to `rows`.
  Status SampleHop(const DrawKey& key, int32_t fanout, int32_t begin, int32_t end, NeighborSample& out,
                   NeighborSample::Rows& rows) {
    rows.row_offsets.resize(rows.row_offsets.size() + static_cast<size_t>(end - begin));
    row_out_ = rows.row_offsets.data() + rows.row_offsets.size() - static_cast<size_t>(end - begin);
    next_row_ = prefetched_ = begin;
    Chunk *oldest = &chunks_[0], *middle = &chunks_[1], *newest = &chunks_[2];
    oldest->rows = middle->rows = 0;
    do {
      HONE_RETURN_IF_ERROR(Draw(key, fanout, end, out.nodes.data(), *newest));
      Fetch(*middle);
      HONE_RETURN_IF_ERROR(Number(*oldest, out, rows));
      std::swap(oldest, middle);
      std::swap(middle, newest);
    } while (next_row_ < end || oldest->rows > 0 || middle->rows > 0);
    return Status::Ok();
  }

  // Takes the next rows below `end` and draws their slots.
  Status Draw(const DrawKey& key, int32_t fanout, int32_t end, const NodeId* nodes, Chunk& chunk) {
    const int64_t* const offsets = graph_.row_offsets.data();
    const NodeId* const columns = graph_.columns.data();
    const bool takes_all_neighbors = fanout == kAllNeighbors;
    const int lanes = fanout <= kFloydCompareAll ? kMaxDrawLanes : kMaxDrawLanes / 2;
    const int most_rows =
        takes_all_neighbors ? kChunkRows : std::clamp(kChunkSlots / fanout & -lanes, lanes, kChunkRows);
    for (const int32_t stop = std::min<int64_t>(end, int64_t{next_row_} + 3 * most_rows); prefetched_ < stop;
         ++prefetched_) {
      const int64_t* const address = offsets + nodes[prefetched_];
      PrefetchRead(address);
      PrefetchRead(address + 1);  // one time in eight, the second offset is on the next cache line
    }
    chunk.rows = 0;
    chunk.slots = 0;
    int drawn_rows = 0;
    while (next_row_ < end && chunk.rows < most_rows && (!takes_all_neighbors || chunk.slots < kChunkSlots)) {
      const NodeId node = nodes[next_row_++];
      const int64_t first = offsets[node];
      const int64_t degree = offsets[node + 1] - first;
      if (takes_all_neighbors || degree <= fanout) {
        if (degree > kMaxCount) return TooMany("edges");
        chunk.Require(chunk.slots + degree);
        for (int64_t i = 0; i < degree; ++i) chunk.slot[static_cast<size_t>(chunk.slots + i)] = first + i;
        for (int64_t i = 0; i < degree; i += 16) PrefetchRead(columns + first + i);
        if (degree > 0) PrefetchRead(columns + first + degree - 1);
        chunk.slots += degree;
      } else {
        draw_node_[drawn_rows] = static_cast<uint32_t>(node);
        draw_degree_[drawn_rows] = static_cast<uint32_t>(degree);
        draw_first_[drawn_rows] = first;
        draw_target_[drawn_rows] = chunk.slots;
        ++drawn_rows;
        chunk.slots += fanout;
      }
      chunk.row_end[chunk.rows++] = chunk.slots;
    }
    if (drawn_rows == 0) return Status::Ok();
    chunk.Require(chunk.slots);
    for (int fill = drawn_rows; fill % kMaxDrawLanes != 0; ++fill) {  // idle lanes repeat the last row
      draw_node_[fill] = draw_node_[drawn_rows - 1];
      draw_degree_[fill] = draw_degree_[drawn_rows - 1];
    }
    for (int group = 0; group < drawn_rows;) {
      const int rows_left = drawn_rows - group;
      const RowDrawer& drawer = wide_.draw != nullptr && rows_left > narrow_.lanes ? wide_ : narrow_;
      drawer.draw(key, draw_node_ + group, draw_degree_ + group, fanout, draw_slots_);
      for (int lane = 0; lane < std::min(drawer.lanes, rows_left); ++lane) {
        const int64_t first = draw_first_[group + lane];
        int64_t* const target = chunk.slot.data() + draw_target_[group + lane];
        for (int slot = 0; slot < fanout; ++slot) {
          const int64_t position = first + draw_slots_[slot * drawer.lanes + lane];
          target[slot] = position;
          PrefetchRead(columns + position);
        }
      }
      group += drawer.lanes;
    }
    return Status::Ok();
  }

  // Reads the drawn columns of a chunk, and prefetches their table entries.
  void Fetch(Chunk& chunk) {
    if (chunk.rows == 0) return;
    map_.Fetch(graph_.columns.data(), chunk.slot.data(), chunk.slots, chunk.neighbor.data());
  }

  // Assigns local ids to a chunk's neighbors in order, and appends its edges to `rows`.
  Status Number(Chunk& chunk, NeighborSample& out, NeighborSample::Rows& rows) {
    if (chunk.rows == 0) return Status::Ok();
    const size_t edges = rows.columns.size();
    if (static_cast<int64_t>(edges) + chunk.slots > kMaxCount) return TooMany("edges");
    // The vectors grow chunk by chunk: the part that resize() zeroes is small, and still in the cache when it is
    // written next.
    rows.columns.resize(edges + static_cast<size_t>(chunk.slots));
    if (options_.edges) rows.edges.insert(rows.edges.end(), chunk.slot.begin(), chunk.slot.begin() + chunk.slots);
    out.nodes.resize(static_cast<size_t>(known_) + static_cast<size_t>(chunk.slots) + 1);
    NodeId* const nodes = out.nodes.data();
    HONE_RETURN_IF_ERROR(map_.Reserve(std::min(graph_.num_nodes, int64_t{known_} + chunk.slots), nodes, known_));
    known_ = map_.Number(chunk.neighbor.data(), chunk.slots, known_, nodes, rows.columns.data() + edges);
    out.nodes.resize(static_cast<size_t>(known_));
    for (int row = 0; row < chunk.rows; ++row)
      *row_out_++ = static_cast<int32_t>(static_cast<int64_t>(edges) + chunk.row_end[row]);
    chunk.rows = 0;
    return Status::Ok();
  }

  CsrView graph_;
  SamplerOptions options_;
  RowDrawer wide_;    // its `draw` is null if it is not available
  RowDrawer narrow_;  // for rows that fill at most half of a wide vector
  Map map_;
  int32_t known_ = 0;     // nodes of this batch so far
  int32_t next_row_ = 0;  // next row of the current hop
  int32_t prefetched_ = 0;
  int32_t* row_out_ = nullptr;
  std::vector<int32_t> seed_local_;
  Chunk chunks_[3];
  // The rows of a chunk whose slots are drawn, because they have more edges than the fanout.
  alignas(64) uint32_t draw_node_[kChunkRows];
  alignas(64) uint32_t draw_degree_[kChunkRows];
  int64_t draw_first_[kChunkRows];
  int64_t draw_target_[kChunkRows];
  alignas(64) uint32_t draw_slots_[kMaxFanout * kMaxDrawLanes];
};

template <typename Map>
Result<std::unique_ptr<NeighborSampler>> MakeWith(const CsrView& graph, const SamplerOptions& options,
                                                  const SamplerTuning& tuning) {
  HONE_ASSIGN_OR_RETURN(Map map, Map::Make(graph.num_nodes, tuning.pages, tuning.first_base));
  return std::unique_ptr<NeighborSampler>(new FastSampler<Map>(graph, options, tuning, std::move(map)));
}

}  // namespace

Status ValidateSamplerOptions(const CsrView& graph, const SamplerOptions& options) {
  if (options.fanouts.empty() || options.fanouts.size() > static_cast<size_t>(kMaxHops)) {
    return Status::InvalidArgument(
        fmt::format("{} fanouts: give one for each hop, 1 to {} of them", options.fanouts.size(), kMaxHops));
  }
  for (size_t hop = 0; hop < options.fanouts.size(); ++hop) {
    const int32_t fanout = options.fanouts[hop];
    if (fanout == kAllNeighbors || (fanout >= 1 && fanout <= kMaxFanout)) continue;
    return Status::InvalidArgument(fmt::format("fanout {} of hop {} is out of range: 1 to {}, or -1 for all neighbors",
                                               fanout, hop + 1, kMaxFanout));
  }
  if (graph.num_nodes > kMaxCount)
    return Status::InvalidArgument(fmt::format("{} nodes: at most 2^31 - 1", graph.num_nodes));
  // A draw uses one 32-bit word, so no row may have more slots than such a word can number.
  if (graph.num_edges() > int64_t{std::numeric_limits<uint32_t>::max()}) {
    for (int64_t node = 0; node < graph.num_nodes; ++node) {
      if (graph.Degree(static_cast<NodeId>(node)) > int64_t{std::numeric_limits<uint32_t>::max()}) {
        return Status::InvalidArgument(fmt::format("node {} has more than 2^32 - 1 neighbors", node));
      }
    }
  }
  return Status::Ok();
}

Result<std::unique_ptr<NeighborSampler>> MakeFastSampler(const CsrView& graph, const SamplerOptions& options,
                                                         const SamplerTuning& tuning) {
  HONE_RETURN_IF_ERROR(ValidateSamplerOptions(graph, options));
  using Table = SamplerTuning::Table;
  const bool fits_direct_table = graph.num_nodes * static_cast<int64_t>(sizeof(uint32_t)) <= kDirectTableBytes;
  const bool direct = tuning.table == Table::kDirect || (tuning.table == Table::kAuto && fits_direct_table);
  return direct ? MakeWith<DirectNodeMap>(graph, options, tuning) : MakeWith<HashNodeMap>(graph, options, tuning);
}

Result<std::unique_ptr<NeighborSampler>> MakeNeighborSampler(const CsrView& graph, const SamplerOptions& options) {
  if (options.plain) {
    HONE_RETURN_IF_ERROR(ValidateSamplerOptions(graph, options));
    return MakePlainSampler(graph, options);
  }
  return MakeFastSampler(graph, options, {});
}

}  // namespace hone::gnn
