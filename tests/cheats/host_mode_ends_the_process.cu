// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A host function that ends the process it runs in, politely.
//
// task: relu
// expect: crashed
// where: gpu
/*hone
mode     = "host"
function = "run"
args     = ["x", "out", "rows * d:i64"]
*/
#include <cstdlib>

extern "C" void run(const float*, float*, long long, cudaStream_t) { std::_Exit(0); }
