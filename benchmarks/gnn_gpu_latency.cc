// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how long a request to the latency mode takes, from the host's node ids to the host's logits, by the caller's
// clock: percentiles of many requests of each size, one after the other, for nodes drawn at random. Writes JSON to
// standard output, with the conditions. The model's weights are initial ones, which cost the same time as trained ones.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/numbers/random.h"
#include "benchmarks/arguments.h"
#include "gnn/cuda/infer/latency_mode.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"

int main(int argc, char** argv) {
  using namespace hone;
  using namespace hone::gnn;
  std::string name = "synthetic:papers100M?seed=1";
  ModelOptions shape;
  cuda::LatencyOptions options;
  std::vector<int> sizes = {1, 2, 4, 8, 16, 32, 64};
  int requests = 10000, warm = 200, pause_us = 0;
  uint64_t seed = 1;
  bool classes_only = false, wait = false;
  Arguments app("Times requests of a few nodes to a model on one GPU.");
  app.Add("graph", name);
  app.Add("--model", shape.kind, "sage, gat, gin or sage-ri");
  app.Add("--hidden", shape.hidden);
  app.Add("--fanout", options.fanouts, "neighbors a hop, first next to the seeds", {.delimiter = ','});
  app.Add("--size", sizes, "nodes a request, 1 to 64; several", {.least = 1, .most = 64, .delimiter = ','});
  app.Add("--requests", requests, "of each size", {.least = 1});
  app.Add("--warm-up", warm, "requests before them that do not count");
  app.Add("--pause-us", pause_us, "microseconds of nothing before each request");
  app.Add("--seed", seed, "of the nodes asked for");
  app.Add("--fp32", options.fp32);
  app.Add("--classes-only", classes_only, "no logits");
  app.Add("--wait", wait, "the driver waits, instead of the caller's core");
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  using Clock = std::chrono::steady_clock;
  const auto fail = [](const Status& status) {
    std::fprintf(stderr, "gnn_gpu_latency: %s\n", status.message().c_str());
    return 3;
  };

  Result<std::shared_ptr<const Graph>> graph = IsSyntheticName(name) ? OutlineSyntheticGraph(name) : OpenGraph(name);
  if (!graph.ok()) return fail(graph.status());
  shape.in_width = (*graph)->features().width;
  shape.num_classes = (*graph)->num_classes();
  shape.layers = static_cast<int>(options.fanouts.size());
  shape.seed = 1;
  Result<std::unique_ptr<Model<float>>> model = MakeModel(shape);
  if (!model.ok()) return fail(model.status());
  options.spin = !wait;
  const Clock::time_point began = Clock::now();
  Result<std::unique_ptr<cuda::LatencyPredictor>> predictor = cuda::LatencyPredictor::Make(**graph, **model, options);
  if (!predictor.ok()) return fail(predictor.status());
  const double setup = std::chrono::duration<double>(Clock::now() - began).count();
  cudaDeviceProp properties{};
  (void)cudaGetDeviceProperties(&properties, 0);

  nlohmann::json report = {{"graph", name},
                           {"nodes", (*graph)->structure().num_nodes},
                           {"device", properties.name},
                           {"model", shape.kind},
                           {"hidden", shape.hidden},
                           {"fanouts", options.fanouts},
                           {"compute", options.fp32 ? "fp32" : "bf16"},
                           {"logits", !classes_only},
                           {"waits_by", wait ? "the driver" : "polling"},
                           {"pause_us", pause_us},
                           {"setup_seconds", setup},
                           {"device_bytes", (*predictor)->device_bytes()},
                           {"sizes", nlohmann::json::array()}};
  Rng rng(seed);
  const auto all = static_cast<uint64_t>((*graph)->structure().num_nodes);
  for (const int size : sizes) {
    std::vector<double> micros;
    const int64_t repeated = (*predictor)->repeated();
    std::vector<NodeId> nodes(static_cast<size_t>(size));
    for (int r = -warm; r < requests; ++r) {
      for (NodeId& node : nodes) node = static_cast<NodeId>(rng.Below(all));
      const Clock::time_point idle = Clock::now();
      while (pause_us > 0 && Clock::now() - idle < std::chrono::microseconds(pause_us)) {
      }
      const Clock::time_point asked = Clock::now();
      const Result<cuda::LatencyAnswer> answer = (*predictor)->Predict(nodes, !classes_only);
      const double took = std::chrono::duration<double, std::micro>(Clock::now() - asked).count();
      if (!answer.ok()) return fail(answer.status());
      if (r >= 0) micros.push_back(took);
    }
    std::sort(micros.begin(), micros.end());
    // Returns the percentile: the smallest time that at least this share of the requests did not exceed.
    const auto percentile = [&](double share) {
      const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(micros.size())));
      return micros[std::clamp<size_t>(rank, 1, micros.size()) - 1];
    };
    double sum = 0;
    for (const double m : micros) sum += m;
    report["sizes"].push_back({{"size", size},
                               {"requests", requests},
                               {"mean_us", sum / static_cast<double>(micros.size())},
                               {"min_us", micros.front()},
                               {"p50_us", percentile(0.5)},
                               {"p90_us", percentile(0.9)},
                               {"p99_us", percentile(0.99)},
                               {"p999_us", percentile(0.999)},
                               {"max_us", micros.back()},
                               {"repeated_with_warm_up", (*predictor)->repeated() - repeated}});
  }
  std::printf("%s\n", report.dump(1).c_str());
  return 0;
}
