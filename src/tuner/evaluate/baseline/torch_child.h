// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Returns the text of torch_child.py, which is embedded at build time.
#pragma once

#include <string_view>

namespace hone {

std::string_view TorchChildSource();

}  // namespace hone
