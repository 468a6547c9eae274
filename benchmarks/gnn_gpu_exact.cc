// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the seconds of exact inference (all nodes, all neighbors) on one GPU. Writes JSON to standard output: every
// repetition, where the feature rows were, and the conditions. Synthetic graphs are made in device memory. The model's
// weights are initial ones, which cost the same time as trained ones.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "benchmarks/arguments.h"
#include "gnn/cuda/infer/exact_inference.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"

int main(int argc, char** argv) {
  using namespace hone;
  using namespace hone::gnn;
  std::string name = "synthetic:papers100M?seed=1";
  ModelOptions shape;
  cuda::ExactOptions options;
  options.logits = false;
  int repeat = 3;
  bool whole = false;
  Arguments app("Times exact inference on one GPU.");
  app.Add("graph", name);
  app.Add("--model", shape.kind, "sage, gat, gin or sage-ri");
  app.Add("--hidden", shape.hidden);
  app.Add("--layers", shape.layers);
  app.Add("--block-rows", options.block_rows);
  app.Add("--product-rows", options.product_rows);
  app.Add("--device-bytes", options.device_bytes, "of device memory at most; 0: what is free");
  app.Add("--repeat", repeat, "", {.least = 1});
  app.Add("--fp32", options.fp32);
  app.Add("--logits", options.logits, "all nodes' logits too, not only their classes");
  app.Add("--host-graph", whole, "open a synthetic graph in the host's memory, as a graph from a file is");
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  const auto fail = [](const Status& status) {
    std::fprintf(stderr, "gnn_gpu_exact: %s\n", status.message().c_str());
    return 3;
  };
  Result<std::shared_ptr<const Graph>> graph =
      IsSyntheticName(name) && !whole ? OutlineSyntheticGraph(name) : OpenGraph(name);
  if (!graph.ok()) return fail(graph.status());
  shape.in_width = (*graph)->features().width;
  shape.num_classes = (*graph)->num_classes();
  shape.seed = 1;
  Result<std::unique_ptr<Model<float>>> model = MakeModel(shape);
  if (!model.ok()) return fail(model.status());
  cudaDeviceProp properties{};
  (void)cudaGetDeviceProperties(&properties, 0);
  nlohmann::json report = {{"graph", name},
                           {"nodes", (*graph)->structure().num_nodes},
                           {"device", properties.name},
                           {"model", shape.kind},
                           {"layers", shape.layers},
                           {"hidden", shape.hidden},
                           {"compute", options.fp32 ? "fp32" : "bf16"},
                           {"logits", options.logits},
                           {"block_rows", options.block_rows},
                           {"product_rows", options.product_rows}};
  std::vector<double> seconds, wall;
  nlohmann::json layers = nlohmann::json::array();
  for (int r = 0; r < repeat; ++r) {
    // Records the time from the call to the end of each layer.
    const Stopwatch watch;
    std::map<std::string, double> ends;
    options.progress = [&](const std::string& step, int64_t done, int64_t total) {
      if (done == total) ends[step] = watch.Seconds();
    };
    const Result<cuda::ExactOnDevice> result = cuda::InferExactly(**graph, **model, {}, options);
    if (!result.ok()) return fail(result.status());
    seconds.push_back(result->predictions.times.compute);
    wall.push_back(result->predictions.times.wall);
    layers.push_back(ends);
    report["rows_on_device"] = result->rows_on_device;
    report["device_bytes"] = result->device_bytes;
    report["host_bytes"] = result->host_bytes;
  }
  report["compute_seconds"] = seconds;
  report["wall_seconds"] = wall;
  report["layer_ends_seconds"] = layers;
  std::sort(seconds.begin(), seconds.end());
  report["median_compute_seconds"] = seconds[seconds.size() / 2];
  std::printf("%s\n", report.dump(1).c_str());
  return 0;
}
