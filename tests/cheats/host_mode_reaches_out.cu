// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A host function that is right where it can read a file, open a socket or start a process, and refuses to work where
// it is confined.
//
// task: relu
// expect: launch_error
// where: gpu
/*hone
mode     = "host"
function = "run"
args     = ["x", "out", "rows * d:i64"]
*/
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
}

extern "C" int run(const float* x, float* out, long long n, cudaStream_t stream) {
  if (open("/etc/passwd", O_RDONLY) < 0 && socket(AF_INET, SOCK_STREAM, 0) < 0 && fork() < 0) return 100;
  if (n > 0) relu<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, out, n);
  return 0;
}
