// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/engine/paired_epochs.h"

#include <cstring>
#include <memory>

namespace hone::gnn::cuda {
namespace {

struct Contender {
  std::unique_ptr<Model<float>> model;
  std::unique_ptr<GpuEngine> engine;
  std::vector<double> seconds, results;  // indexed by epoch: its time; its loss and accuracy
};

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool SameEnds(Contender& a, Contender& b) {
  const auto parameters_a = a.model->parameters(), parameters_b = b.model->parameters();
  bool same_ends = a.results == b.results && parameters_a.size() == parameters_b.size();
  for (size_t p = 0; same_ends && p < parameters_a.size(); ++p)
    same_ends = SameBits(parameters_a[p]->value, parameters_b[p]->value);
  return same_ends;
}

}  // namespace

Result<PairedEpochs> PairEpochs(const Graph& graph, const ModelOptions& model, GpuEngineOptions options,
                                const KernelChoices& choices, int epochs) {
  Contender own, chosen;
  for (Contender* one : {&own, &chosen}) {
    options.choices = one == &chosen ? choices : KernelChoices{};
    HONE_ASSIGN_OR_RETURN(one->model, MakeModel(model));
    HONE_ASSIGN_OR_RETURN(one->engine, MakeGpuEngine(graph, *one->model, options));
  }
  for (int epoch = 0; epoch <= epochs; ++epoch) {  // epoch 0 warms up
    for (int turn = 0; turn < 2; ++turn) {
      Contender& one = (epoch + turn) % 2 == 0 ? own : chosen;
      HONE_ASSIGN_OR_RETURN(const EpochOnDevice done, one.engine->TrainEpoch(static_cast<uint32_t>(epoch)));
      one.results.insert(one.results.end(), {done.mean_loss, done.accuracy});
      if (epoch > 0) one.seconds.push_back(done.seconds);
    }
  }
  for (Contender* one : {&own, &chosen}) HONE_RETURN_IF_ERROR(one->engine->ExportTo(*one->model));
  return PairedEpochs{own.seconds, chosen.seconds, SameEnds(own, chosen)};
}

}  // namespace hone::gnn::cuda
