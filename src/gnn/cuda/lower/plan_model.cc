// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/lower/plan_model.h"

#include "gnn/cuda/lower/spec_program.h"

namespace hone::gnn::cuda {

Result<std::unique_ptr<ModelPlan>> PlanModel(const ModelOptions& model) {
  if (model.spec != nullptr) return PlanSpecModel(model);
  if (model.bias) {  // the published models' programs have no place for biases
    HONE_ASSIGN_OR_RETURN(ModelSpec spec, PublishedSpec(model));
    ModelOptions spec_options = SpecOptions(std::make_shared<const ModelSpec>(std::move(spec)), model.layers);
    spec_options.in_width = model.in_width;
    spec_options.num_classes = model.num_classes;
    return PlanSpecModel(spec_options);
  }
  if (model.kind == "sage") return PlanSage(model);
  if (model.kind == "gat") return PlanGat(model);
  if (model.kind == "gin") return PlanGin(model);
  if (model.kind == "sage-ri") return PlanSageRi(model);
  return Status::InvalidArgument("the GPU engine trains sage, gat, gin, sage-ri and models of a spec, not '" +
                                 model.kind + "'");
}

std::vector<int32_t> EnvelopeFanouts(const ModelPlan& plan, std::vector<int32_t> fanouts) {
  if (plan.numbers_outermost()) fanouts.push_back(0);
  return fanouts;
}

}  // namespace hone::gnn::cuda
