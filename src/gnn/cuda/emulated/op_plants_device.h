// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The form for a GPU of gnn/nn/op_plants.h: right, or with one violation.
#pragma once

#include <memory>

#include "gnn/nn/op_plants.h"

namespace hone::gnn {

std::unique_ptr<DeviceOp> MakePlantedSumOnDevice(const OpPlace& place, Plant plant);

}  // namespace hone::gnn
