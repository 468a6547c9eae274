// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps copies of the training state in host memory, in case the device's state is lost or corrupt.
//
// When a rank is lost, NCCL ends its operations with whatever had arrived, and later steps compute with these values; a
// device may be lost too. So the state is copied now and then, first to another place on the device, and from there to
// the host while the next steps run. A copy is used only after the caller has confirmed that the state was good.
#pragma once

#include <array>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/base/device_parameters.h"

namespace hone::gnn::cuda {

class Snapshots {
 public:
  // Borrows both arguments.
  Status Make(const DeviceParameters& parameters, const RunState* state);
  // Enqueues a copy behind the work on `main`; returns the copy's number.
  Result<uint64_t> EnqueueTake(cudaStream_t main);
  // Declares copy `number`, one of the latest two, good. Waits until the copy has arrived on the host.
  Status Confirm(uint64_t number);
  // Return the latest good copy; null if there is none.
  const RunState* state() const;
  const float* flat() const;  // in the layout of DeviceParameters::ExportFlat

 private:
  static constexpr size_t kSlots = 3;  // a good copy, and two that may become good
  const DeviceParameters* parameters_ = nullptr;
  const RunState* source_ = nullptr;
  int64_t floats_ = 0;
  size_t bytes_ = 0;  // size of a copy: the floats, then the state
  DeviceArray<unsigned char> copy_;
  PinnedBytes host_;
  Stream beside_;
  Event taken_;  // recorded on the main stream when the copy may begin
  std::array<Event, kSlots> arrived_;
  uint64_t count_ = 0, good_ = 0;  // copies are numbered from 1; 0: none
};

}  // namespace hone::gnn::cuda
