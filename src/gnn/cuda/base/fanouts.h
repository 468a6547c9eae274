// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the fanouts at which kernels change their way of drawing: up to kNarrowFanout a row's slots fit the lanes of
// a warp.
#pragma once

namespace hone::gnn::cuda {

inline constexpr int kNarrowFanout = 32;
inline constexpr int kMostDrawn = 1024;  // equals hone/gnn/neighbor_sampler.h's kMaxFanout; any fanout above it copies
                                         // rows whole

}  // namespace hone::gnn::cuda
