// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/loader/batch_loader.h"

#include <fmt/format.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "gnn/graph/parallel.h"
#include "gnn/loader/general_sampler.h"
#include "gnn/loader/huge_pages.h"
#include "gnn/sample/index_permutation.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kBeyondCaches = int64_t{8} << 20;  // bytes of rows above which they are written past the caches
// Rows are prefetched twice: far ahead of the copy into the second-level cache, and a little ahead of it into the
// first-level cache. A core has several times as many reads from memory under way if they go to the second level,
// because few buffers hold the misses of the first level. Both distances are in cache lines of rows.
constexpr int64_t kLinesFar = 168;
constexpr int64_t kLinesNear = 28;
constexpr int64_t kMostRowsAhead = 64;
constexpr size_t kIdsAhead = 32;  // ids of edges that are prefetched ahead of the copy

int64_t AlignUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Keeps blocks of memory of former batches for the next ones, because the kernel need not provide their pages again.
class BlockPool {
 public:
  explicit BlockPool(size_t most_kept) : most_kept_(most_kept) {}
  ~BlockPool() {
    for (const Block& block : free_) std::free(block.memory);
  }
  struct Block {
    std::byte* memory = nullptr;
    int64_t bytes = 0;
  };
  // Returns a block of at least `bytes`. Its memory is null if the system has none.
  Block Take(int64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      // The block that was given back last comes first: fewer blocks are then in turn, so fewer pages are ever touched.
      for (size_t i = free_.size(); i-- > 0;) {
        if (free_[i].bytes < bytes) continue;
        const Block block = free_[i];
        free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
        return block;
      }
      if (!free_.empty()) {  // free blocks are too small for this batch, and so for many to come
        std::free(free_.back().memory);
        free_.pop_back();
      }
    }
    // An eighth more than needed, so that slightly larger batches fit too.
    Block block{nullptr, AlignUp(bytes + bytes / 8)};
    auto size = static_cast<size_t>(std::max(block.bytes, kAlignment));
    if (size < 2 * kHugePage) {
      block.memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
      return block;
    }
    size = (size + kHugePage - 1) / kHugePage * kHugePage;
    block.memory = static_cast<std::byte*>(std::aligned_alloc(kHugePage, size));
    AskForHugePages(block.memory, size);
    return block;
  }
  // Keeps a block for later batches, or frees it if enough are kept.
  void GiveBack(Block block) {
    {
      const std::lock_guard lock(mutex_);
      if (free_.size() < most_kept_) {
        free_.push_back(block);
        return;
      }
    }
    std::free(block.memory);
  }

 private:
  const size_t most_kept_;
  std::mutex mutex_;
  std::vector<Block> free_;  // blocks that no batch uses
};

class PooledBatch final : public LoadedBatch {
 public:
  PooledBatch(std::shared_ptr<BlockPool> pool, BlockPool::Block memory) : pool_(std::move(pool)), memory_(memory) {
    block = memory.memory;
    block_bytes = memory.bytes;
  }
  ~PooledBatch() override { pool_->GiveBack(memory_); }

 private:
  std::shared_ptr<BlockPool> pool_;
  BlockPool::Block memory_;
};

// Copies a row that leaves the cache before it is read again. If the row is aligned, streaming stores write it past the
// cache, which saves reading a line that is only overwritten.
void CopyRow(std::byte* out, const std::byte* row, int64_t bytes, bool aligned) {
#ifdef __SSE2__
  if (aligned) {
    for (int64_t at = 0; at < bytes; at += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + at)));
    }
    return;
  }
#endif
  std::memcpy(out, row, static_cast<size_t>(bytes));
}

// Requests the cache lines of a row. `kLevel` is that of __builtin_prefetch: 3 is the first-level cache, 2 the second.
template <int kLevel>
void PrefetchRow(const RowTable& table, int64_t row) {
  const std::byte* const begin = table.rows + row * table.stride_bytes;
  for (int64_t line = 0; line < table.row_bytes; line += 64) __builtin_prefetch(begin + line, 0, kLevel);
}

// Copies the given rows of a table to `out`.
void GatherRows(const RowTable& table, std::span<const int64_t> rows, std::byte* out) {
  const auto count = static_cast<int64_t>(rows.size());
  // Streaming stores do not pay in two cases. Short rows share a line, which collects them while it is in the cache. A
  // few rows may stay in the cache until they are read.
  const bool aligned = table.row_bytes >= 64 && table.row_bytes % 16 == 0 && count * table.row_bytes >= kBeyondCaches;
  const int64_t lines = std::max<int64_t>((table.row_bytes + 63) / 64, 1);
  const int64_t rows_far = std::clamp<int64_t>(kLinesFar / lines, 1, kMostRowsAhead);
  const int64_t rows_near = std::clamp<int64_t>(kLinesNear / lines, 1, kMostRowsAhead / 4);
  for (int64_t i = 0; i < std::min(rows_far, count); ++i) PrefetchRow<2>(table, rows[static_cast<size_t>(i)]);
  for (int64_t i = 0; i < count; ++i) {
    if (i + rows_far < count) PrefetchRow<2>(table, rows[static_cast<size_t>(i + rows_far)]);
    if (i + rows_near < count) PrefetchRow<3>(table, rows[static_cast<size_t>(i + rows_near)]);
    CopyRow(out + i * table.row_bytes, table.rows + rows[static_cast<size_t>(i)] * table.stride_bytes, table.row_bytes,
            aligned);
  }
#ifdef __SSE2__
  _mm_sfence();  // makes the streamed rows visible before another thread is notified
#endif
}

// Makes batches, one at a time. Each thread has a maker of its own.
class BatchMaker {
 public:
  // Exactly one of the two samplers is not null.
  BatchMaker(const InEdges& graph, const BatchLoaderOptions& options, std::shared_ptr<BlockPool> pool,
             std::unique_ptr<NeighborSampler> sampler, std::unique_ptr<GeneralSampler> general)
      : graph_(graph),
        options_(options),
        pool_(std::move(pool)),
        sampler_(std::move(sampler)),
        general_(std::move(general)) {}

  // Makes the batch of the seeds in seeds_, whose positions among the epoch's seeds are in input_.
  Result<std::unique_ptr<LoadedBatch>> Make(const BatchKey& key) {
    HONE_RETURN_IF_ERROR(general_ != nullptr ? general_->Sample(seeds_, key, general_sample_)
                                             : sampler_->Sample(seeds_, key, sample_));
    if (static_cast<size_t>(sample_.num_seeds()) != seeds_.size()) {
      return Status::InvalidArgument("a node occurs twice among the seeds of a batch: seeds must be distinct");
    }
    const NeighborSample::Rows& rows = sample_.rows[0];
    const int64_t nodes = sample_.num_nodes();
    const int64_t rows_with_edges =
        options_.induced ? nodes : sample_.hop_nodes[static_cast<size_t>(sample_.hops() - 1)];
    const int64_t edges = rows.row_offsets.empty() ? 0 : rows.row_offsets[static_cast<size_t>(rows_with_edges)];
    const auto seeds = static_cast<int64_t>(seeds_.size());
    const int64_t id_bytes = sizeof(int64_t);
    int64_t bytes = AlignUp(nodes * id_bytes) + AlignUp(seeds * id_bytes) + 2 * AlignUp(edges * id_bytes) +
                    (options_.edge_ids ? AlignUp(edges * id_bytes) : 0) +
                    (options_.disjoint ? AlignUp(nodes * id_bytes) : 0);
    for (const RowTable& table : options_.node_tables) bytes += AlignUp(nodes * table.row_bytes);
    for (const RowTable& table : options_.edge_tables) bytes += AlignUp(edges * table.row_bytes);
    const BlockPool::Block memory = pool_->Take(bytes);
    if (memory.memory == nullptr) {
      return Status::ResourceExhausted(
          fmt::format("no memory for a batch of {} nodes and {} edges ({} bytes)", nodes, edges, bytes));
    }
    auto batch = std::make_unique<PooledBatch>(pool_, memory);
    batch->step = key.step;
    std::byte* next_free = memory.memory;
    const auto take_ids = [&](int64_t count) {
      auto* begin = reinterpret_cast<int64_t*>(next_free);
      next_free += AlignUp(count * id_bytes);
      return std::span(begin, static_cast<size_t>(count));
    };
    const std::span<int64_t> out_nodes = take_ids(nodes), out_input = take_ids(seeds), sources = take_ids(edges),
                             destinations = take_ids(edges);
    std::copy(sample_.nodes.begin(), sample_.nodes.end(), out_nodes.begin());
    std::copy(input_.begin(), input_.end(), out_input.begin());
    std::copy_n(rows.columns.begin(), edges, sources.begin());
    for (int64_t v = 0; v < rows_with_edges; ++v) {
      std::fill(destinations.begin() + rows.row_offsets[static_cast<size_t>(v)],
                destinations.begin() + rows.row_offsets[static_cast<size_t>(v) + 1], v);
    }
    // The sample counts nodes up to each hop; the batch has the numbers of each hop alone.
    int64_t nodes_before = 0;
    for (int hop = 0; hop <= sample_.hops(); ++hop) {
      const int64_t nodes_so_far = sample_.hop_nodes[static_cast<size_t>(hop)];
      batch->hop_nodes.push_back(nodes_so_far - nodes_before);
      if (hop < sample_.hops() && !options_.induced) {
        batch->hop_edges.push_back(rows.row_offsets[static_cast<size_t>(nodes_so_far)] -
                                   rows.row_offsets[static_cast<size_t>(nodes_before)]);
      }
      nodes_before = nodes_so_far;
    }
    batch->nodes = out_nodes;
    batch->input = out_input;
    batch->sources = sources;
    batch->destinations = destinations;
    if (options_.edge_ids) {
      const std::span<int64_t> edge_ids = take_ids(edges);
      if (general_ != nullptr) {
        std::copy(general_sample_.edge_ids.begin(), general_sample_.edge_ids.end(), edge_ids.begin());
      } else {
        FindEdges(rows.edges, edge_ids);
      }
      batch->edge_ids = edge_ids;
    }
    if (options_.disjoint) {
      const std::span<int64_t> trees = take_ids(nodes);
      std::copy(general_sample_.trees.begin(), general_sample_.trees.end(), trees.begin());
      batch->trees = trees;
    }
    for (const RowTable& table : options_.node_tables) {
      GatherRows(table, out_nodes, next_free);
      batch->node_rows.push_back(next_free);
      next_free += AlignUp(nodes * table.row_bytes);
    }
    for (const RowTable& table : options_.edge_tables) {
      GatherRows(table, batch->edge_ids, next_free);
      batch->edge_rows.push_back(next_free);
      next_free += AlignUp(edges * table.row_bytes);
    }
    return std::unique_ptr<LoadedBatch>(std::move(batch));
  }

  std::vector<NodeId> seeds_;
  std::vector<int64_t> input_;

 private:
  // Stores the position of each edge in the user's list, given its position in the graph's columns.
  void FindEdges(std::span<const int64_t> drawn, std::span<int64_t> out) const {
    if (graph_.in_order) {
      std::copy_n(drawn.begin(), out.size(), out.begin());
      return;
    }
    const int64_t* const ids = graph_.edge_ids.data();
    for (size_t i = 0; i < out.size(); ++i) {
      if (i + kIdsAhead < out.size()) __builtin_prefetch(ids + drawn[i + kIdsAhead]);
      out[i] = ids[drawn[i]];
    }
  }

  const InEdges& graph_;
  const BatchLoaderOptions& options_;
  std::shared_ptr<BlockPool> pool_;
  std::unique_ptr<NeighborSampler> sampler_;
  std::unique_ptr<GeneralSampler> general_;
  GeneralSample general_sample_;
  NeighborSample& sample_ = general_sample_.nodes_and_rows;
};

class ThreadedLoader final : public BatchLoader {
 public:
  ThreadedLoader(std::shared_ptr<const InEdges> graph, BatchLoaderOptions options)
      : graph_(std::move(graph)), options_(std::move(options)) {
    options_.threads = ThreadCount(options_.threads);
    if (options_.queue <= 0) options_.queue = options_.threads + 2;
    slots_.resize(static_cast<size_t>(options_.queue));
    pool_ = std::make_shared<BlockPool>(slots_.size() + 2);
  }
  ~ThreadedLoader() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      steps_ = claimed_ = 0;  // no further step is claimed
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  Status Open() {
    HONE_RETURN_IF_ERROR(SortWeights());
    for (const std::vector<RowTable>* tables : {&options_.node_tables, &options_.edge_tables}) {
      for (const RowTable& table : *tables) {
        if (table.count > 0) {
          MoveToHugePages(table.rows, (table.count - 1) * table.stride_bytes + table.row_bytes, options_.threads);
        }
      }
    }
    HONE_ASSIGN_OR_RETURN(load_maker_, Maker());
    return Status::Ok();
  }

  Status Start(const LoaderEpoch& epoch) override {
    Cancel();
    const int64_t nodes = graph_->view().num_nodes;
    for (const int64_t seed : epoch.seeds) {
      if (seed < 0 || seed >= nodes)
        return Status::InvalidArgument(fmt::format("seed {} is no node: the graph has {}", seed, nodes));
    }
    const auto seeds = static_cast<int64_t>(epoch.seeds.size());
    const int64_t steps = epoch.drop_last ? seeds / options_.batch : (seeds + options_.batch - 1) / options_.batch;
    if (epoch.first_step < 0 || epoch.first_step > steps) {
      return Status::InvalidArgument(
          fmt::format("an epoch of {} steps cannot begin at step {}", steps, epoch.first_step));
    }
    if (threads_.empty()) HONE_RETURN_IF_ERROR(StartThreads());
    {
      const std::lock_guard lock(mutex_);
      epoch_ = epoch;
      permutation_.emplace(epoch.seed, epoch.epoch, seeds);
      steps_ = steps;
      claimed_ = delivered_ = epoch.first_step;
      for (Slot& slot : slots_) slot = {};
    }
    work_.notify_all();
    return Status::Ok();
  }

  Result<std::unique_ptr<LoadedBatch>> Next(double seconds) override {
    std::unique_lock lock(mutex_);
    if (delivered_ == steps_) return std::unique_ptr<LoadedBatch>();
    Slot& slot = slots_[static_cast<size_t>(delivered_ % options_.queue)];
    if (!ready_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return slot.batch.has_value(); })) {
      return Status::Pending("the next batch is being made");
    }
    Result<std::unique_ptr<LoadedBatch>> batch = std::move(*slot.batch);
    slot.batch.reset();
    ++delivered_;
    lock.unlock();
    work_.notify_one();
    return batch;
  }

  void Cancel() override {
    std::unique_lock lock(mutex_);
    steps_ = claimed_ = delivered_ = 0;
    idle_.wait(lock, [&] { return busy_ == 0; });
    for (Slot& slot : slots_) slot = {};
  }

  Result<std::unique_ptr<LoadedBatch>> Load(std::span<const int64_t> seeds, uint64_t seed, uint32_t epoch,
                                            uint32_t step) override {
    load_maker_->seeds_.clear();
    load_maker_->input_.clear();
    const int64_t nodes = graph_->view().num_nodes;
    for (const int64_t id : seeds) {
      if (id < 0 || id >= nodes)
        return Status::InvalidArgument(fmt::format("seed {} is no node: the graph has {}", id, nodes));
      load_maker_->input_.push_back(static_cast<int64_t>(load_maker_->seeds_.size()));
      load_maker_->seeds_.push_back(static_cast<NodeId>(id));
    }
    return MakeGuarded(*load_maker_, {.seed = seed, .epoch = epoch, .step = step});
  }

 private:
  struct Slot {
    std::optional<Result<std::unique_ptr<LoadedBatch>>> batch;
  };

  // Permutes the weights from the order of the edge list to the order of the graph's rows.
  Status SortWeights() {
    const std::span<const double> user_weights = std::exchange(options_.weights, {});
    if (user_weights.empty()) return Status::Ok();
    if (user_weights.size() != graph_->columns.size()) {
      return Status::InvalidArgument(
          fmt::format("there are {} weights, and the graph has {} edges", user_weights.size(), graph_->columns.size()));
    }
    for (size_t e = 0; e < user_weights.size(); ++e) {
      if (!std::isfinite(user_weights[e]) || user_weights[e] < 0) {
        return Status::InvalidArgument(
            fmt::format("the weight of edge {} is {}: a weight is finite and at least 0", e, user_weights[e]));
      }
    }
    weights_.resize(user_weights.size());
    for (size_t i = 0; i < weights_.size(); ++i) weights_[i] = user_weights[static_cast<size_t>(graph_->edge_ids[i])];
    return Status::Ok();
  }

  // Makes a maker with the sampler that the options need.
  Result<std::unique_ptr<BatchMaker>> Maker() const {
    if (options_.replace || options_.disjoint || options_.induced || !weights_.empty()) {
      HONE_ASSIGN_OR_RETURN(std::unique_ptr<GeneralSampler> general, MakeGeneralSampler(*graph_, options_.fanouts,
                                                                                        {.replace = options_.replace,
                                                                                         .disjoint = options_.disjoint,
                                                                                         .induced = options_.induced,
                                                                                         .weights = weights_}));
      return std::make_unique<BatchMaker>(*graph_, options_, pool_, nullptr, std::move(general));
    }
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<NeighborSampler> sampler,
                          MakeNeighborSampler(graph_->view(), {.fanouts = options_.fanouts,
                                                               .frontier = FrontierRule::kNewOnly,
                                                               .edges = options_.edge_ids}));
    return std::make_unique<BatchMaker>(*graph_, options_, pool_, std::move(sampler), nullptr);
  }

  // Makes a batch. Running out of memory becomes an error.
  static Result<std::unique_ptr<LoadedBatch>> MakeGuarded(BatchMaker& maker, const BatchKey& key) {
    try {
      return maker.Make(key);
    } catch (const std::bad_alloc&) {
      return Status::ResourceExhausted("no memory for a batch");
    }
  }

  // Starts the threads, each with a maker of its own.
  Status StartThreads() {
    for (int i = 0; i < options_.threads; ++i) {
      HONE_ASSIGN_OR_RETURN(std::unique_ptr<BatchMaker> maker, Maker());
      threads_.emplace_back([this, maker = std::shared_ptr<BatchMaker>(std::move(maker))] { Work(*maker); });
    }
    return Status::Ok();
  }

  // Runs a thread: makes the epoch's next batches until the loader ends.
  void Work(BatchMaker& maker) {
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [&] { return ending_ || (claimed_ < steps_ && claimed_ < delivered_ + options_.queue); });
      if (ending_) return;
      const int64_t step = claimed_++;
      ++busy_;
      const LoaderEpoch epoch = epoch_;
      const IndexPermutation permutation = *permutation_;
      lock.unlock();
      const auto count = static_cast<int64_t>(epoch.seeds.size());
      const int64_t begin = step * options_.batch, end = std::min(count, begin + options_.batch);
      maker.seeds_.clear();
      maker.input_.clear();
      for (int64_t i = begin; i < end; ++i) {
        const int64_t position = epoch.shuffle ? permutation(i) : i;
        maker.input_.push_back(position);
        maker.seeds_.push_back(static_cast<NodeId>(epoch.seeds[static_cast<size_t>(position)]));
      }
      Result<std::unique_ptr<LoadedBatch>> batch =
          MakeGuarded(maker, {.seed = epoch.seed, .epoch = epoch.epoch, .step = static_cast<uint32_t>(step)});
      lock.lock();
      --busy_;
      if (steps_ > 0) {  // false after Cancel
        slots_[static_cast<size_t>(step % options_.queue)].batch = std::move(batch);
        ready_.notify_all();
      }
      if (busy_ == 0) idle_.notify_all();
    }
  }

  std::shared_ptr<const InEdges> graph_;
  BatchLoaderOptions options_;
  std::vector<double> weights_;  // in the order of the graph's rows; empty: all equal
  std::shared_ptr<BlockPool> pool_;
  std::unique_ptr<BatchMaker> load_maker_;  // makes the batches of Load, on the calling thread
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable work_;   // wakes threads: a step may be claimed, or the loader is ending
  std::condition_variable ready_;  // wakes Next: a batch is ready
  std::condition_variable idle_;   // wakes Cancel: no thread makes a batch
  LoaderEpoch epoch_;
  std::optional<IndexPermutation> permutation_;
  int64_t steps_ = 0;      // steps of the present epoch; 0: there is none
  int64_t claimed_ = 0;    // steps that a thread has begun
  int64_t delivered_ = 0;  // steps that the consumer took
  int busy_ = 0;           // threads that make a batch
  bool ending_ = false;
  std::vector<Slot> slots_;  // step s is in slot s % queue
};

}  // namespace

Result<std::unique_ptr<BatchLoader>> BatchLoader::Make(std::shared_ptr<const InEdges> graph,
                                                       const BatchLoaderOptions& options) {
  if (options.batch < 1)
    return Status::InvalidArgument(fmt::format("batch is {}: at least 1 is needed", options.batch));
  if (options.threads < 0)
    return Status::InvalidArgument(fmt::format("threads is {}: 0 takes all there are", options.threads));
  const CsrView view = graph->view();
  const auto check_rows = [](const std::vector<RowTable>& tables, int64_t count, const char* what) {
    for (size_t i = 0; i < tables.size(); ++i) {
      if (tables[i].count != count) {
        return Status::InvalidArgument(
            fmt::format("{} table {} has {} rows, and the graph has {}", what, i, tables[i].count, count));
      }
    }
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(check_rows(options.node_tables, view.num_nodes, "node"));
  HONE_RETURN_IF_ERROR(check_rows(options.edge_tables, view.num_edges(), "edge"));
  if (!options.edge_tables.empty() && !options.edge_ids) return Status::InvalidArgument("edge tables need edge_ids");
  auto loader = std::make_unique<ThreadedLoader>(std::move(graph), options);
  HONE_RETURN_IF_ERROR(loader->Open());
  return std::unique_ptr<BatchLoader>(std::move(loader));
}

}  // namespace hone::gnn
