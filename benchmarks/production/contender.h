// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes a contender: a shared library that time_contenders times. It implements one of the serving tasks, and
// launches it as its owner's program does. Such a library is a few lines around the owner's host function. No contender
// is part of Hone, except those that tools/bench-production makes from Hone's own kernels.
//
//   extern "C" const char* contender_task(void);    the task's name
//   extern "C" int contender_launch(const HoneProblem* problem, void* stream);
//   extern "C" int contender_log2(void);            optional: 1 if its log-sum-exps have base 2
//   extern "C" int contender_prepare(const HoneProblem* problem);   optional: called once for each problem before its
//   runs,
//                                                   for what the owner's program does ahead (a plan, a layout); it may
//                                                   allocate and wait, is not timed, and returns what contender_launch
//                                                   does
//
// contender_launch enqueues one run on `stream` (a cudaStream_t, which may be capturing). It returns 0; 1 if the
// implementation does not serve the problem's shape; 2 if the launch failed. It allocates nothing and does not wait.
// All calls come from one thread.
#pragma once

#include <cstdint>

extern "C" {

// A problem of one task: dimensions, tensors and eps in the order of task.toml. Tensors are device pointers, dense,
// aligned to 256 bytes.
struct HoneProblem {
  int64_t dims[8];   // silu_and_mul, fused_add_rmsnorm: tokens, d; merge_attn_states: tokens, heads, dim
  void* tensors[6];  // silu_and_mul: x, out; fused_add_rmsnorm: x, residual, weight;
                     // merge_attn_states: v_a, s_a, v_b, s_b, v_out, s_out
  float eps;         // the task's scalar: eps of fused_add_rmsnorm, scale of the attention tasks
};

using HoneTaskFunction = const char* (*)();
using HoneLaunchFunction = int (*)(const HoneProblem*, void*);
using HoneLog2Function = int (*)();
using HonePrepareFunction = int (*)(const HoneProblem*);
}
