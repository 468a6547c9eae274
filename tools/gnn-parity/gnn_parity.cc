// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This program repeats with Hone what export.py did with PyTorch Geometric, and prints how far apart the two are, as
// one line of JSON. Exit status 0: within the tolerances below; 1: not; 2: the file cannot be used.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gnn/infer/safetensors.h"
#include "gnn/ops/softmax_loss.h"
#include "hone/gnn/model.h"
#include "hone/gnn/neighbor_sampler.h"
#include "hone/gnn/optimizer.h"

namespace hone::gnn {
namespace {

// The tolerance of the largest difference at step 1. Logits and gradients are relative to the larger of 1 and the
// largest value compared; losses are absolute.
constexpr double kStepOneTolerance = 1e-5;
constexpr double kLossTolerance = 1e-4;

// Reads any stored type as T, without a detour through float for doubles.
template <typename T>
std::vector<T> Values(const TensorFile& file, const std::string& name) {
  const StoredTensor* tensor = file.Find(name);
  HONE_CHECK(tensor != nullptr, "the file has no tensor '" + name + "'; write it with export.py");
  std::vector<T> values(static_cast<size_t>(tensor->elements()));
  const auto read = [&](auto element) {
    for (size_t i = 0; i < values.size(); ++i) {
      std::memcpy(&element, tensor->bytes.data() + i * sizeof(element), sizeof(element));
      values[i] = static_cast<T>(element);
    }
  };
  if (tensor->dtype == "F64")
    read(double{});
  else if (tensor->dtype == "F32")
    read(float{});
  else if (tensor->dtype == "I64")
    read(int64_t{});
  else
    HONE_CHECK(false, "tensor '" + name + "' is of type " + tensor->dtype);
  return values;
}

struct Difference {
  double largest = 0;  // absolute largest difference
  double scale = 1;    // the larger of 1 and the largest value
  std::string where;
  template <typename T>
  void Add(const std::string& name, const std::vector<T>& ours, const std::vector<T>& theirs) {
    HONE_CHECK(ours.size() == theirs.size(), name + " has another size there");
    for (size_t i = 0; i < ours.size(); ++i) {
      const double d = std::abs(static_cast<double>(ours[i]) - static_cast<double>(theirs[i]));
      scale = std::max(scale, std::abs(static_cast<double>(theirs[i])));
      if (d > largest || std::isnan(d)) {
        largest = d;
        where = name;
      }
    }
  }
  bool Within(double tolerance) const { return largest <= tolerance * scale; }
};

template <typename T>
Result<std::unique_ptr<Model<T>>> Make(const ModelOptions& options);
template <>
Result<std::unique_ptr<Model<float>>> Make<float>(const ModelOptions& options) {
  return MakeModel(options);
}
template <>
Result<std::unique_ptr<Model<double>>> Make<double>(const ModelOptions& options) {
  return MakeDoubleModel(options);
}

template <typename T>
int Compare(const TensorFile& file, int threads) {
  std::map<std::string, std::string> given = file.metadata;
  const auto offsets = Values<int64_t>(file, "row_offsets");
  const auto columns = Values<NodeId>(file, "columns");
  const auto features = Values<T>(file, "x");
  const auto labels = Values<int32_t>(file, "labels");
  const auto seeds = Values<NodeId>(file, "seeds");
  const auto num_nodes = static_cast<int64_t>(offsets.size()) - 1;
  const int64_t width = static_cast<int64_t>(features.size()) / num_nodes;
  const auto batch = static_cast<size_t>(std::stoll(given["batch"]));

  ModelOptions options;
  options.kind = given["model"];
  options.in_width = width;
  options.hidden = std::stoll(given["hidden"]);
  for (const int32_t label : labels) options.num_classes = std::max<int64_t>(options.num_classes, label + 1);
  options.layers = std::stoi(given["layers"]);
  options.heads = std::stoi(given["heads"]);
  options.norm = given["norm"];
  options.dropout = 0;
  auto made = Make<T>(options);
  HONE_CHECK(made.ok(), made.status().message());
  Model<T>& model = **made;
  for (Parameter<T>* parameter : model.parameters()) {
    auto values = Values<T>(file, "init." + parameter->name);
    HONE_CHECK(values.size() == parameter->value.size(), parameter->name + " has another size there");
    parameter->value = std::move(values);
  }

  SamplerOptions sampler_options;
  sampler_options.fanouts.assign(static_cast<size_t>(options.layers), kAllNeighbors);
  auto sampler = MakeNeighborSampler({num_nodes, offsets, columns}, sampler_options);
  HONE_CHECK(sampler.ok(), sampler.status().message());

  AdamOptions adam_options;
  adam_options.learning_rate = std::stod(given["rate"]);
  Adam<T> adam(model.parameters(), adam_options);
  const auto state = model.MakeState();
  Difference logits_difference, gradient_difference, loss_difference;
  const auto losses = Values<double>(file, "losses");
  double last_loss = 0;
  for (size_t step = 0; step < losses.size(); ++step) {
    NeighborSample sample;
    const Status sampled = (*sampler)->Sample(std::span(seeds).subspan(step * batch, batch), {}, sample);
    HONE_CHECK(sampled.ok(), sampled.message());
    std::vector<T> x;
    std::vector<int32_t> wanted;
    for (const NodeId node : sample.nodes) {
      x.insert(x.end(), features.begin() + node * width, features.begin() + (node + 1) * width);
    }
    for (size_t i = 0; i < batch; ++i) wanted.push_back(labels[static_cast<size_t>(sample.nodes[i])]);
    std::vector<T> logits(batch * static_cast<size_t>(options.num_classes));
    const Matrix<T> logits_view{logits.data(), static_cast<int64_t>(batch), options.num_classes, options.num_classes};
    const Matrix<const T> x_view{x.data(), sample.num_nodes(), width, width};
    LayerContext context;
    context.training = given["mode"] == "train";
    context.threads = threads;
    adam.ZeroGradients(threads);
    model.Forward(sample, x_view, logits_view, *state, context);
    if (step == 0) logits_difference.Add("logits", logits, Values<T>(file, "logits"));
    const LossSums sums = SoftmaxCrossEntropy<T>(logits_view, wanted, {}, 0, logits_view, threads);
    model.Backward(sample, x_view, logits_view, *state, context);
    if (step == 0) {
      for (const Parameter<T>* p : model.parameters()) {
        if (p->trainable()) gradient_difference.Add(p->name, p->gradient, Values<T>(file, "grad." + p->name));
      }
    }
    adam.Step(threads);
    last_loss = sums.loss / sums.weight;
    loss_difference.Add("step " + std::to_string(step + 1), std::vector<double>{last_loss},
                        std::vector<double>{losses[step]});
  }
  loss_difference.scale = 1;
  Difference control;
  control.Add("", Values<double>(file, "control_losses"), losses);
  const bool ok = logits_difference.Within(kStepOneTolerance) && gradient_difference.Within(kStepOneTolerance) &&
                  loss_difference.Within(kLossTolerance);
  std::printf(
      "{\"model\": \"%s\", \"mode\": \"%s\", \"norm\": \"%s\", \"heads\": %d, \"dtype\": \"%s\", \"rate\": %g, "
      "\"steps\": %zu, \"first_loss\": %.6f, \"last_loss\": %.6f, "
      "\"logits_step_1\": %.3g, \"largest_logit\": %.3g, \"gradients_step_1\": %.3g, "
      "\"gradient_worst\": \"%s\", \"losses\": %.3g, \"loss_worst\": \"%s\", \"losses_pyg_edges_reordered\": %.3g, "
      "\"within\": %s}\n",
      options.kind.c_str(), given["mode"].c_str(), options.norm.c_str(), options.heads, given["dtype"].c_str(),
      adam_options.learning_rate, losses.size(), losses[0], last_loss, logits_difference.largest,
      logits_difference.scale, gradient_difference.largest, gradient_difference.where.c_str(), loss_difference.largest,
      loss_difference.where.c_str(), control.largest, ok ? "true" : "false");
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace hone::gnn

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: gnn_parity FILE.safetensors THREADS   (the file is export.py's)\n");
    return 2;
  }
  const auto file = hone::gnn::ReadTensorFile(argv[1]);
  if (!file.ok()) {
    std::fprintf(stderr, "gnn_parity: %s\n", file.status().message().c_str());
    return 2;
  }
  const auto dtype = file->metadata.find("dtype");
  const bool in_double = dtype != file->metadata.end() && dtype->second == "float64";
  const int threads = std::max(1, std::atoi(argv[2]));
  return in_double ? hone::gnn::Compare<double>(*file, threads) : hone::gnn::Compare<float>(*file, threads);
}
