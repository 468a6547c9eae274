// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the GPU form of the operation in gnn/nn/op_plants.h: the correct form, or one with a single violation.
#pragma once

#include <memory>

#include "gnn/nn/op_plants.h"

namespace hone::gnn {

std::unique_ptr<DeviceOp> MakePlantedSumOnDevice(const OpPlace& place, Plant plant);

}  // namespace hone::gnn
