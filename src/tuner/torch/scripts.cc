// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/scripts.h"

#include <cstddef>

extern "C" {
extern const char hone_torch_problem[];
extern const size_t hone_torch_problem_size;
extern const char hone_torch_shapes[];
extern const size_t hone_torch_shapes_size;
extern const char hone_torch_describe[];
extern const size_t hone_torch_describe_size;
extern const char hone_torch_serve[];
extern const size_t hone_torch_serve_size;
}

namespace hone {

std::string DescribeScript() {
  return std::string(hone_torch_problem, hone_torch_problem_size) + std::string(hone_torch_shapes, hone_torch_shapes_size) +
         std::string(hone_torch_describe, hone_torch_describe_size);
}

std::string ServeScript() {
  return std::string(hone_torch_problem, hone_torch_problem_size) + std::string(hone_torch_serve, hone_torch_serve_size);
}

}  // namespace hone
