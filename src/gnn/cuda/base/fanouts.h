// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the fanouts at which kernels change their way of drawing. Up to kNarrowFanout, the slots of a row fit the
// lanes of a warp.
#pragma once

namespace hone::gnn::cuda {

inline constexpr int kNarrowFanout = 32;
inline constexpr int kMostDrawn = 1024;  // hone/gnn/neighbor_sampler.h's kMaxFanout; a fanout above it takes all
                                         // neighbors

}  // namespace hone::gnn::cuda
