// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a model that ends at a value of another model, so that inference, exact or sampled, on any device, gives the
// rows of that value: embeddings.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "hone/gnn/model.h"

namespace hone::gnn {

struct EmbeddingModel {
  // Has the weights of the model that it was made of. Its logits are the embeddings: options().num_classes is their
  // number of columns, and options().layers the number of hops that they depend on, which may be fewer than the
  // model's.
  std::unique_ptr<Model<float>> model;
  std::string value;  // the value's name in the model's spec (`hone-gnn models` lists them)
};

// Makes the model that ends at `name` of `model`:
//   a number K from 1 to the number of layers   the rows that layer K gives the next one, after its normalisation and
//                                               activation; of the last layer, the rows that the head reads, if the
//                                               model has a head
//   the name of a value                         that value; a dropout does nothing in inference
// kInvalidArgument, with what there is: no such layer or value, the logits themselves, a value that depends on a node's
// own features alone, or a model without a spec (a stack of the program's own layers).
Result<EmbeddingModel> MakeEmbeddingModel(Model<float>& model, std::string_view name);

}  // namespace hone::gnn
