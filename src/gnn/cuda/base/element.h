// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names the format in which the elements of a matrix are stored.
#pragma once

namespace hone::gnn::cuda {

enum class Element { kFloat32, kFloat16, kBFloat16 };

}  // namespace hone::gnn::cuda
