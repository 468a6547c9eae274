// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains epochs of several models on one GPU by turns, epoch k of each after epoch k of the one before, so that
// disturbances of the machine affect all of them. Every second round has the reverse order. The ratio of each model to
// the first is the geometric mean over the rounds, with a 95 % interval (Student's t of its logarithm). A model that is
// named twice is its own control. A model's file may be followed by the choice of its kernels, so that two choices can
// be compared. The program writes JSON to standard output.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "benchmarks/arguments.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"
#include "gnn/tune/paired_ratio.h"
#include "gnn/tune/tuned_kernels.h"

namespace {

using namespace hone;
using namespace hone::gnn;

struct Runner {
  std::unique_ptr<Model<float>> model;
  std::unique_ptr<cuda::GpuEngine> engine;
  std::vector<double> seconds;
  nlohmann::json losses = nlohmann::json::array();
  int64_t steps = 0, larger = 0;
};

std::vector<int32_t> Numbers(const std::string& text) {
  std::vector<int32_t> all;
  std::istringstream list(text);
  for (std::string number; std::getline(list, number, ',');) {
    all.push_back(static_cast<int32_t>(std::strtol(number.c_str(), nullptr, 10)));
  }
  return all;
}

// Returns the part of `name` before `mark`, and puts the part after it into `rest`, which stays empty if there is none.
std::string SplitAt(const std::string& name, char mark, std::string& rest) {
  const size_t at = name.find(mark);
  if (at != std::string::npos) rest = name.substr(at + 1);
  return name.substr(0, at);
}

// Returns the options of "sage", "gat:4" (with four heads) or of another published model, or those of a model's file.
Result<ModelOptions> ModelNamed(const std::string& name, int layers, int64_t hidden) {
  ModelOptions options;
  if (name.ends_with(".toml")) {
    HONE_ASSIGN_OR_RETURN(ModelSpec spec, ReadModelSpec(name));
    HONE_ASSIGN_OR_RETURN(const int hops, LayersOf(spec));
    options = SpecOptions(std::make_shared<const ModelSpec>(std::move(spec)), hops);
  } else {
    std::string heads;
    options.kind = SplitAt(name, ':', heads);
    if (!heads.empty()) options.heads = static_cast<int>(std::strtol(heads.c_str(), nullptr, 10));
    options.hidden = hidden;
    options.layers = layers;
  }
  options.seed = 1;
  return options;
}

nlohmann::json Ratio(const std::vector<double>& mine, const std::vector<double>& first) {
  const PairedRatio ratio = RatioOfPairs(mine, first);
  return {{"ratio", ratio.ratio}, {"lower", ratio.lower}, {"upper", ratio.upper}};
}

Status Run(const std::string& name, const std::vector<std::string>& models, cuda::GpuEngineOptions options,
           int64_t hidden, int epochs) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph,
                        IsSyntheticName(name) ? OutlineSyntheticGraph(name) : OpenGraph(name));
  const int layers = static_cast<int>(options.fanouts.size());
  std::vector<Runner> runners(models.size());
  for (size_t i = 0; i < models.size(); ++i) {
    std::string tuned;
    const std::string model = SplitAt(models[i], '+', tuned);
    options.choices = {};
    if (!tuned.empty()) {
      HONE_ASSIGN_OR_RETURN(TunedKernels kernels, ReadTunedKernels(tuned));
      options.choices = std::move(kernels.choices);
    }
    HONE_ASSIGN_OR_RETURN(ModelOptions shape, ModelNamed(model, layers, hidden));
    shape.in_width = graph->features().width;
    shape.num_classes = graph->num_classes();
    HONE_ASSIGN_OR_RETURN(runners[i].model, MakeModel(shape));
    HONE_ASSIGN_OR_RETURN(runners[i].engine, cuda::MakeGpuEngine(*graph, *runners[i].model, options));
  }
  for (int epoch = -1; epoch < epochs; ++epoch) {  // epoch -1 warms up and is not counted
    for (size_t turn = 0; turn < runners.size(); ++turn) {
      Runner& runner = runners[epoch % 2 == 0 ? turn : runners.size() - 1 - turn];
      HONE_ASSIGN_OR_RETURN(const cuda::EpochOnDevice done,
                            runner.engine->TrainEpoch(static_cast<uint32_t>(epoch + 1)));
      if (epoch < 0) continue;
      runner.seconds.push_back(done.seconds);
      runner.losses.push_back({done.mean_loss, done.accuracy});
      runner.steps = done.steps;
      runner.larger += done.larger;
    }
  }
  cudaDeviceProp properties{};
  (void)cudaGetDeviceProperties(&properties, 0);
  nlohmann::json report = {{"graph", name},
                           {"device", properties.name},
                           {"nodes", graph->structure().num_nodes},
                           {"edges", runners[0].engine->num_edges()},
                           {"fanouts", options.fanouts},
                           {"batch", options.batch},
                           {"hidden", hidden},
                           {"compute", options.fp32 ? "fp32" : "bf16"},
                           {"models", nlohmann::json::array()}};
  for (size_t i = 0; i < runners.size(); ++i) {
    Runner& runner = runners[i];
    HONE_ASSIGN_OR_RETURN(const cuda::EpochOnDevice evaluated, runner.engine->Evaluate(graph->valid_nodes(), nullptr));
    nlohmann::json one = {{"model", models[i]},
                          {"steps", runner.steps},
                          {"steps_in_larger_envelope", runner.larger},
                          {"device_bytes", runner.engine->device_bytes()},
                          {"seconds", runner.seconds},
                          {"loss_and_accuracy", runner.losses},
                          {"valid_accuracy", evaluated.accuracy}};
    if (i > 0) one["to_the_first"] = Ratio(runner.seconds, runners[0].seconds);
    report["models"].push_back(std::move(one));
  }
  std::printf("%s\n", report.dump(1).c_str());
  return Status::Ok();
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = "synthetic:products?seed=1", fanout = "15,10,5";
  std::vector<std::string> models = {"sage", "sage"};
  cuda::GpuEngineOptions options;
  int epochs = 10;
  int64_t hidden = 256;
  Arguments app("Times epochs of several models in turn on one GPU.");
  app.Add("graph", name);
  app.Add(
      "--model", models,
      "two or more: sage, gat, gat:HEADS, gin, sage-ri, or the .toml file of a model; FILE.toml+TUNED.json runs the "
      "kernels of a file that `hone-gnn tune-model --apply` wrote",
      {.delimiter = ','});
  app.Add("--epochs", epochs, "rounds, after one that is not counted", {.least = 2});
  app.Add("--hidden", hidden, "of a published model");
  app.Add("--batch", options.batch);
  app.Add("--fanout", fanout, "neighbors a hop, first next to the seeds");
  app.Add("--fp32", options.fp32);
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  options.fanouts = options.eval_fanouts = Numbers(fanout);
  const Status status = Run(name, models, options, hidden, epochs);
  if (status.ok()) return 0;
  std::fprintf(stderr, "gnn_gpu_paired: %s\n", status.message().c_str());
  return 3;
}
