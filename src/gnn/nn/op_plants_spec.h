// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a model of the operation of op_plants.h, for tests of registered operations that read edge features.
#pragma once

#include <memory>

#include "gnn/nn/op_plants.h"
#include "hone/gnn/model.h"

namespace hone::gnn {

// Returns a model of two hops: the operation on "x", a relu, the operation again, and a linear to the classes. It reads
// no node's own row, so that only neighbors and edges can tell a class. The kind must be registered.
inline ModelOptions PlantedModel(uint64_t seed) {
  constexpr const char* kText = R"(name = "planted"
values = [
  {name = "s0", op = "planted_sum", of = "x"},
  {name = "h0", op = "linear", of = "s0", width = 16},
  {name = "a0", op = "activate", of = "h0", function = "relu"},
  {name = "s1", op = "planted_sum", of = "a0"},
  {name = "h1", op = "linear", of = "s1", width = "classes"},
])";
  ModelOptions options =
      SpecOptions(std::make_shared<const ModelSpec>(ParseModelSpec(kText, "planted.toml").value()), 2);
  options.seed = seed;
  return options;
}

}  // namespace hone::gnn
