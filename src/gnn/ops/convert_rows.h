// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts feature rows of any stored type to float rows, exactly: float represents every half and bfloat16 value.
#pragma once

#include "hone/gnn/graph.h"
#include "hone/gnn/layer.h"
#include "hone/gnn/mini_batch.h"

namespace hone::gnn {

// Converts rows to out [rows.num_rows, rows.width]. Elements between width and the stride are not read.
void ConvertRows(const FeatureRows& rows, Matrix<float> out, int threads);
// Gathers and converts the rows of the ids in one pass; out [ids.size(), features.width].
void GatherRows(const FeatureView& features, std::span<const NodeId> ids, Matrix<float> out, int threads);
// Gathers and converts the features of edges; out [edges.size(), features.width], in float or double.
template <typename T>
void GatherEdgeRows(const FeatureView& features, std::span<const int64_t> edges, Matrix<T> out, int threads);

// Convert one value on any CPU; the vector code is compared with these.
float HalfToFloat(uint16_t half);
float BFloat16ToFloat(uint16_t bits);

}  // namespace hone::gnn
