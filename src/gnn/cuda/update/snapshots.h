// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies of the training state in the host's memory, for the day that the device's cannot be trusted any more.
//
// When a rank is lost, NCCL ends its operations with whatever had arrived, and the steps behind them compute with that;
// a device may be lost itself. So the state is copied now and then, on the device into one place and from there, beside
// the steps that follow, to the host. A copy counts once somebody has found out that all of it was good.
#pragma once

#include <array>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/base/device_parameters.h"

namespace hone::gnn::cuda {

class Snapshots {
 public:
  // Both borrowed.
  Status Make(const DeviceParameters& parameters, const RunState* state);
  // Behind what `main` has, a copy is taken; its number.
  Result<uint64_t> EnqueueTake(cudaStream_t main);
  // What was taken as this number is good. Waits until it has arrived. One of the latest two.
  Status Confirm(uint64_t number);
  // The latest that is good; null: none.
  const RunState* state() const;
  const float* flat() const;  // DeviceParameters::ExportFlat

 private:
  static constexpr size_t kSlots = 3;  // a good one, and two that may become so
  const DeviceParameters* parameters_ = nullptr;
  const RunState* source_ = nullptr;
  int64_t floats_ = 0;
  size_t bytes_ = 0;  // the floats, then the state
  DeviceArray<unsigned char> copy_;
  PinnedBytes host_;
  Stream beside_;
  Event taken_;
  std::array<Event, kSlots> arrived_;
  uint64_t count_ = 0, good_ = 0;  // numbers begin at 1; 0: none
};

}  // namespace hone::gnn::cuda
