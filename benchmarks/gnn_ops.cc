// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how close the graph engine's CPU operations come to the machine's limits. Prints JSON.
//
// The batch has the shape of GraphSAGE 15,10,5 with 1,024 seeds on a graph like products: 450,000 edges into 91,000
// nodes, 90,000 into 9,700, 10,000 into the seeds, with random columns. Floors are measured in the same run: for
// streaming, a copy (bytes read and written); for aggregation, copying the same rows in the same order into the cache;
// for arithmetic, a large square product. A time is the least of several rounds, in CPU seconds of all threads, so that
// a busy machine disturbs it less; other programs' use of the memory still shows.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/numbers/random.h"
#include "gnn/ops/aggregate.h"
#include "gnn/ops/ask_ahead.h"
#include "gnn/ops/convert_rows.h"
#include "gnn/ops/dropout.h"
#include "gnn/ops/linear.h"
#include "gnn/ops/parallel.h"
#include "gnn/ops/softmax_loss.h"
#include "hone/gnn/model.h"
#include "hone/gnn/optimizer.h"

namespace hone::gnn {
namespace {

constexpr int64_t kFeatures = 100, kHidden = 256, kClasses = 47;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double Best(int rounds, const std::function<void()>& body) {
  double best = 1e30;
  for (int i = 0; i <= rounds; ++i) {
    const double start = CpuSeconds();
    body();
    if (i > 0) best = std::min(best, CpuSeconds() - start);  // the first round grows buffers and touches pages
  }
  return best;
}

NeighborSample MakeSample() {
  NeighborSample sample;
  sample.hop_nodes = {1024, 9700, 91000, 490000};
  const int32_t edges[] = {10000, 90000, 450000};
  Rng rng(1);
  for (int hop = 0; hop < 3; ++hop) {
    const int32_t rows = sample.hop_nodes[static_cast<size_t>(hop)];
    const int32_t sources = sample.hop_nodes[static_cast<size_t>(hop) + 1];
    auto& r = sample.rows.emplace_back();
    for (int32_t i = 0; i <= rows; ++i) {
      r.row_offsets.push_back(static_cast<int32_t>(int64_t{edges[hop]} * i / rows));
    }
    for (int32_t e = 0; e < edges[hop]; ++e) {
      r.columns.push_back(static_cast<int32_t>(rng.Below(static_cast<uint64_t>(sources))));
    }
  }
  sample.nodes.resize(490000);
  for (size_t i = 0; i < sample.nodes.size(); ++i) sample.nodes[i] = static_cast<NodeId>(i * 5 % 2449029);
  return sample;
}

Matrix<float> Fill(Buffer<float>& buffer, int64_t rows, int64_t cols) {
  const Matrix<float> m = buffer.Resize(rows, cols);
  Rng rng(2);
  for (int64_t i = 0; i < rows * cols; ++i) m.data[i] = static_cast<float>(rng.Uniform() - 0.5);
  return m;
}

void Print(const char* what, double seconds, double floor, const char* unit, double rate) {
  static bool first = true;
  std::printf("%s\n {\"op\": \"%s\", \"cpu_ms\": %.2f, \"floor_cpu_ms\": %.2f, \"of_floor\": %.2f, \"%s\": %.1f}",
              first ? "" : ",", what, 1e3 * seconds, 1e3 * floor, floor / seconds, unit, rate);
  first = false;
}

int Main(int threads) {
  const NeighborSample sample = MakeSample();
  const BlockView outer = sample.Block(0), middle = sample.Block(1);
  Buffer<float> memory[5];
  const Matrix<float> x = Fill(memory[0], outer.num_src, kFeatures);
  const Matrix<float> hidden = Fill(memory[1], outer.num_dst, kHidden);
  const Matrix<float> out = Fill(memory[2], outer.num_dst, kHidden);

  const auto bytes = static_cast<double>(outer.num_dst * kHidden * 4);
  const double copy =
      2 * bytes / Best(5, [&] {
        ParallelRows(threads, outer.num_dst, 256, [&](int64_t begin, int64_t end) {
          std::memcpy(out.Row(begin), hidden.Row(begin), static_cast<size_t>((end - begin) * kHidden) * 4);
        });
      });
  const Matrix<float> a = Fill(memory[3], 4096, 512), w = Fill(memory[4], 512, 512);
  const double peak = 2.0 * 4096 * 512 * 512 / Best(5, [&] {
                        LinearForward<float>(a, w, nullptr, false, {out.data, 4096, 512, 512}, threads);
                      });
  std::printf("{\"threads\": %d, \"copy_GB_per_cpu_s\": %.2f, \"product_GFLOP_per_cpu_s\": %.1f, \"results\": [",
              threads, copy * 1e-9, peak * 1e-9);

  const auto memory_bound = [&](const char* what, double moved, int rounds, const std::function<void()>& body) {
    const double seconds = Best(rounds, body);
    Print(what, seconds, moved / copy, "GB_per_cpu_s", moved / seconds * 1e-9);
  };
  const auto rows_bytes = [](int64_t rows, int64_t cols) { return 4.0 * static_cast<double>(rows * cols); };

  const auto aggregation = [&](const char* what, const BlockView& block, Matrix<const float> rows) {
    const double moved = rows_bytes(block.num_edges(), rows.cols) + rows_bytes(block.num_dst, rows.cols);
    const double floor = Best(5, [&] {
      ParallelRows(threads, block.num_edges(), 1024, [&](int64_t begin, int64_t end) {
        alignas(64) float ring[32 * kHidden];
        auto asked = static_cast<int32_t>(begin);
        for (auto e = static_cast<int32_t>(begin); e < end; ++e) {
          AskAhead(rows.data, rows.stride, rows.cols, block.columns.data(), static_cast<int32_t>(end), e, asked);
          std::memcpy(ring + e % 32 * rows.cols, rows.Row(block.columns[static_cast<size_t>(e)]),
                      static_cast<size_t>(rows.cols) * sizeof(float));
        }
        asm volatile("" : : "r"(ring) : "memory");
      });
    });
    const double seconds = Best(5, [&] {
      AggregateForward<float>(Aggregation::kMean, block, rows, {out.data, block.num_dst, rows.cols, rows.cols}, nullptr,
                              threads);
    });
    Print(what, seconds, floor, "GB_per_cpu_s", moved / seconds * 1e-9);
  };
  aggregation("mean of outer hop, 100 columns", outer, x);
  aggregation("mean of middle hop, 256 columns", middle, {hidden.data, middle.num_src, kHidden, kHidden});
  SourceMajorBlock by_source;
  BySource(middle, by_source);
  memory_bound("its backward pass, 256 columns",
               rows_bytes(middle.num_edges(), kHidden) + rows_bytes(middle.num_src, kHidden), 5, [&] {
                 AggregateBackward<float>(Aggregation::kMean, middle, by_source,
                                          {hidden.data, middle.num_dst, kHidden, kHidden}, out, threads);
               });
  memory_bound("the order by source that it needs", 4.0 * 4 * static_cast<double>(middle.num_edges()), 5,
               [&] { BySource(middle, by_source); });
  LayerContext context;
  context.nodes = sample.nodes;
  context.threads = threads;
  Buffer<uint8_t> bits;
  const DropoutRate rate(0.5);
  DropoutMask mask;
  memory_bound("dropout mask of 91,000 x 256", static_cast<double>(outer.num_dst * kHidden) / 8, 5,
               [&] { mask = MakeDropoutMask(rate, DropoutSite::kActivation, context, outer.num_dst, kHidden, bits); });
  memory_bound("applying it in place", 2 * rows_bytes(outer.num_dst, kHidden), 5,
               [&] { ApplyDropout<float>(mask, rate.scale, out, out, threads); });
  std::vector<uint16_t> halves(static_cast<size_t>(outer.num_src) * 128, 0x3c00);
  const FeatureRows rows{reinterpret_cast<std::byte*>(halves.data()), FeatureDtype::kFloat16, outer.num_src, kFeatures,
                         256};
  memory_bound("float16 rows to float, 490,000 x 100",
               rows_bytes(outer.num_src, kFeatures) + 2.0 * static_cast<double>(outer.num_src * 128), 5,
               [&] { ConvertRows(rows, x, threads); });

  const auto product = [&](const char* what, double flop, const std::function<void()>& body) {
    const double seconds = Best(3, body);
    Print(what, seconds, flop / peak, "GFLOP_per_cpu_s", flop / seconds * 1e-9);
  };
  const Matrix<float> weight = {w.data, kHidden, kFeatures, kFeatures};
  const Matrix<const float> means = {x.data, outer.num_dst, kFeatures, kFeatures};
  const double flop = 2.0 * static_cast<double>(outer.num_dst) * kFeatures * kHidden;
  product("product 91,000 x 100 x 256", flop,
          [&] { LinearForward<float>(means, weight, nullptr, false, out, threads); });
  Buffer<float> partials, gradient;
  const Matrix<float> grad_weight = gradient.Resize(kHidden, kFeatures);
  product("its weight gradient", flop,
          [&] { LinearBackwardWeight<float>(hidden, means, grad_weight, partials, threads); });

  for (const char* kind : {"sage", "gat", "gin", "sage-ri"}) {
    ModelOptions options;
    options.kind = kind;
    options.in_width = kFeatures;
    options.hidden = kHidden;
    options.num_classes = kClasses;
    auto model = std::move(MakeModel(options)).value();
    Adam<float> adam(model->parameters(), {});
    const auto state = model->MakeState();
    Buffer<float> logits_memory;
    const Matrix<float> logits = logits_memory.Resize(1024, kClasses);
    const std::vector<int32_t> labels(1024, 3);
    context.training = true;
    double forward = 1e30, backward = 1e30;
    for (int i = 0; i < 4; ++i) {
      const double start = CpuSeconds();
      model->Forward(sample, x, logits, *state, context);
      SoftmaxCrossEntropy<float>(logits, labels, {}, 0, logits, threads);
      const double between = CpuSeconds();
      adam.ZeroGradients(threads);
      model->Backward(sample, x, logits, *state, context);
      adam.Step(threads);
      if (i == 0) continue;
      forward = std::min(forward, between - start);
      backward = std::min(backward, CpuSeconds() - between);
    }
    std::printf(",\n {\"model\": \"%s, 3 x 256, one step\", \"forward_cpu_ms\": %.1f, \"backward_cpu_ms\": %.1f}", kind,
                1e3 * forward, 1e3 * backward);
  }
  std::printf("\n]}\n");
  return 0;
}

}  // namespace
}  // namespace hone::gnn

int main(int argc, char** argv) { return hone::gnn::Main(argc > 1 ? std::max(1, std::atoi(argv[1])) : 2); }
