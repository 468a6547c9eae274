// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A host function that never returns: the worker can only be ended from outside.
//
// task: relu
// expect: timed_out
// where: gpu
/*hone
mode     = "host"
function = "run"
args     = ["x", "out", "rows * d:i64"]
*/
extern "C" cudaError_t run(const float*, float*, long long, cudaStream_t) {
  for (volatile int i = 0;; i = i + 1) {
  }
}
