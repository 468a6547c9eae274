// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the seconds of an epoch of any model, and of sampled inference, on one GPU with everything in device memory.
// Writes JSON to standard output: every repetition, the median, and the conditions.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "benchmarks/arguments.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"

int main(int argc, char** argv) {
  using namespace hone;
  using namespace hone::gnn;
  std::string name = "synthetic:papers100M?scale=0.1&seed=1";
  cuda::GpuEngineOptions options;
  int epochs = 5, hidden = 256, layers = 3;
  std::string model_kind = "sage";
  Arguments app("Times training epochs and sampled inference on one GPU.");
  app.Add("graph", name);
  app.Add("--model", model_kind, "sage, gat, gin or sage-ri");
  app.Add("--epochs", epochs);
  app.Add("--hidden", hidden);
  app.Add("--batch", options.batch);
  std::string fanout = "15,10,5", eval_fanout = "20,20,20";
  app.Add("--fanout", fanout, "neighbors a hop, first next to the seeds");
  app.Add("--eval-fanout", eval_fanout);
  app.Add("--fp32", options.fp32);
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  const auto now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  const auto fail = [](const Status& status) {
    std::fprintf(stderr, "gnn_gpu_epoch: %s\n", status.message().c_str());
    return 3;
  };
  const auto numbers = [](const std::string& text) {
    std::vector<int32_t> all;
    std::istringstream list(text);
    for (std::string number; std::getline(list, number, ',');) all.push_back(static_cast<int32_t>(std::strtol(number.c_str(), nullptr, 10)));
    return all;
  };
  options.fanouts = numbers(fanout);
  options.eval_fanouts = numbers(eval_fanout);
  layers = static_cast<int>(options.fanouts.size());
  const double opened = now();
  // A synthetic graph is made in device memory.
  Result<std::shared_ptr<const Graph>> graph = IsSyntheticName(name) ? OutlineSyntheticGraph(name) : OpenGraph(name);
  if (!graph.ok()) return fail(graph.status());
  ModelOptions shape;
  shape.kind = model_kind;
  shape.in_width = (*graph)->features().width;
  shape.hidden = hidden;
  shape.num_classes = (*graph)->num_classes();
  shape.layers = layers;
  shape.seed = 1;
  Result<std::unique_ptr<Model<float>>> model = MakeModel(shape);
  if (!model.ok()) return fail(model.status());
  const double built = now();
  Result<std::unique_ptr<cuda::GpuEngine>> engine = cuda::MakeGpuEngine(**graph, **model, options);
  if (!engine.ok()) return fail(engine.status());
  const double ready = now();
  cudaDeviceProp properties{};
  (void)cudaGetDeviceProperties(&properties, 0);

  nlohmann::json report = {{"graph", name},
                           {"device", properties.name},
                           {"nodes", (*graph)->structure().num_nodes},
                           {"edges", (*engine)->num_edges()},
                           {"train_nodes", (*graph)->train_nodes().size()},
                           {"model", model_kind},
                           {"fanouts", options.fanouts},
                           {"batch", options.batch},
                           {"hidden", hidden},
                           {"compute", options.fp32 ? "fp32" : "bf16"},
                           {"open_seconds", built - opened},
                           {"setup_seconds", ready - built},
                           {"device_bytes", (*engine)->device_bytes()}};
  const auto spread = [](std::vector<double> seconds, int64_t steps) {
    nlohmann::json all = seconds;
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[seconds.size() / 2];
    return nlohmann::json{{"seconds", all}, {"median_seconds", median}, {"steps", steps},
                          {"median_ms_a_step", median / static_cast<double>(steps) * 1e3}};
  };
  std::vector<double> seconds;
  nlohmann::json losses = nlohmann::json::array();
  int64_t steps = 0, larger = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    Result<cuda::EpochOnDevice> result = (*engine)->TrainEpoch(static_cast<uint32_t>(epoch));
    if (!result.ok()) return fail(result.status());
    seconds.push_back(result->seconds);
    losses.push_back({result->mean_loss, result->accuracy});
    steps = result->steps;
    larger += result->larger;
  }
  report["train"] = spread(seconds, steps);
  report["train"]["loss_and_accuracy"] = losses;
  report["train"]["steps_in_larger_envelope"] = larger;
  seconds.clear();
  double accuracy = 0;
  for (int i = 0; i < 3; ++i) {
    Result<cuda::EpochOnDevice> result = (*engine)->Evaluate((*graph)->test_nodes(), nullptr);
    if (!result.ok()) return fail(result.status());
    seconds.push_back(result->seconds);
    accuracy = result->accuracy;
    steps = result->steps;
  }
  report["inference"] = spread(seconds, steps);
  report["inference"]["fanouts"] = options.eval_fanouts;
  report["inference"]["nodes"] = (*graph)->test_nodes().size();
  report["inference"]["accuracy"] = accuracy;
  std::printf("%s\n", report.dump(1).c_str());
  return 0;
}
