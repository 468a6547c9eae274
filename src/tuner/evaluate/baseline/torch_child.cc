// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/baseline/torch_child.h"

#include <cstddef>

extern "C" {
extern const char hone_torch_child[];
extern const size_t hone_torch_child_size;
}

namespace hone {

std::string_view TorchChildSource() { return {hone_torch_child, hone_torch_child_size}; }

}  // namespace hone
