// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Feature rows of any stored type as float rows: exact, for float holds every half and bfloat16 value.
#pragma once

#include "hone/gnn/graph.h"
#include "hone/gnn/layer.h"
#include "hone/gnn/mini_batch.h"

namespace hone::gnn {

// out [rows.num_rows, rows.width]. Elements between width and the stride are not read.
void ConvertRows(const FeatureRows& rows, Matrix<float> out, int threads);
// The rows of the ids, gathered and converted at once; out [ids.size(), features.width].
void GatherRows(const FeatureView& features, std::span<const NodeId> ids, Matrix<float> out, int threads);

// One value, on any CPU: what the vector code is compared with.
float HalfToFloat(uint16_t half);
float BFloat16ToFloat(uint16_t bits);

}  // namespace hone::gnn
