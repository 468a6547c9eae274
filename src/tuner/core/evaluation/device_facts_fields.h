// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the fields of DeviceFacts: for the worker's answer, for a run's record of its device, and for model providers
// that are programs.
#pragma once

#include "hone/tuner/candidate.h"
#include "tuner/core/fields/field_list.h"

namespace hone {

// Calls `visit` with the JSON name of each field and the field, for reading and for writing.
template <MaybeConst<DeviceFacts> Facts, typename Visitor>
void VisitFields(Facts& f, Visitor&& visit) {
  visit("id", f.id);
  visit("name", f.name);
  visit("modelled", f.modelled);
  visit("cc_major", f.cc_major);
  visit("cc_minor", f.cc_minor);
  visit("sm_count", f.sm_count);
  visit("l2_bytes", f.l2_bytes);
  visit("memory_bytes", f.memory_bytes);
  visit("smem_per_block", f.smem_per_block);
  visit("smem_optin", f.smem_optin);
  visit("smem_per_sm", f.smem_per_sm);
  visit("max_threads_per_block", f.max_threads_per_block);
  visit("max_threads_per_sm", f.max_threads_per_sm);
  visit("max_blocks_per_sm", f.max_blocks_per_sm);
  visit("registers_per_sm", f.registers_per_sm);
  visit("memory_bandwidth", f.memory_bandwidth);
  visit("l2_bandwidth", f.l2_bandwidth);
  visit("fp32_flops", f.fp32_flops);
  visit("tensor_bf16_flops", f.tensor_bf16_flops);
  visit("driver", f.driver);
}

}  // namespace hone
