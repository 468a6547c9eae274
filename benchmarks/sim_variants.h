// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the kernels on which modelled and measured times are compared: families that do one job in several ways, good
// and bad.
//
// Every kernel is k(const float* x, float* y, const int* index, int n), whatever it uses of these. Within a family the
// work is the same, so that the order within a family shows whether the model distinguishes good from bad. `bytes_x`,
// `bytes_y` and `n` belong to the family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone {

struct SimVariant {
  std::string family, name;
  std::string source;
  int64_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  int64_t bytes_x = 0, bytes_y = 0, elements_index = 0;  // sizes of x and y in bytes, and of `index` in elements
  int64_t index_bound = 1;                               // elements of `index` are below this
  int n = 0;
};

inline std::vector<SimVariant> SimVariants() {
  std::vector<SimVariant> all;
  const std::string head = "__global__ void k(const float* __restrict__ x, float* __restrict__ y, const int* __restrict__ index, int n) {\n"
                           "  const int t = threadIdx.x; const long long i = (long long)blockIdx.x * blockDim.x + t; (void)t; (void)i;\n";

  // --- one value in, one out: 64 M floats ---
  {
    const int64_t n = 1 << 26;
    const auto add = [&](const std::string& name, int64_t threads, int64_t blocks, const std::string& body) {
      SimVariant v;
      v.family = "elementwise";
      v.name = name;
      v.source = head + body + "}\n";
      v.grid[0] = blocks;
      v.block[0] = threads;
      v.bytes_x = v.bytes_y = n * 4;
      v.n = static_cast<int>(n);
      all.push_back(v);
    };
    const std::string one = "  if (i < n) { float v = x[i]; y[i] = v > 0 ? v : 0.1f * v; }\n";
    for (const int threads : {32, 64, 128, 256, 1024}) add("scalar_" + std::to_string(threads), threads, n / threads, one);
    add("float2_256", 256, n / 512, "  float2 v = reinterpret_cast<const float2*>(x)[i]; v.x = fmaxf(v.x, 0.1f * v.x); v.y = fmaxf(v.y, 0.1f * v.y); reinterpret_cast<float2*>(y)[i] = v;\n");
    const std::string four = "  float4 v = reinterpret_cast<const float4*>(x)[i]; v.x = fmaxf(v.x, 0.1f * v.x); v.y = fmaxf(v.y, 0.1f * v.y); v.z = fmaxf(v.z, 0.1f * v.z); v.w = fmaxf(v.w, 0.1f * v.w); reinterpret_cast<float4*>(y)[i] = v;\n";
    for (const int threads : {64, 256, 1024}) add("float4_" + std::to_string(threads), threads, n / 4 / threads, four);
    add("grid_stride_scalar", 256, 132 * 8, "  for (long long j = i; j < n; j += (long long)gridDim.x * blockDim.x) y[j] = fmaxf(x[j], 0.1f * x[j]);\n");
    add("grid_stride_few_blocks", 128, 132, "  for (long long j = i; j < n; j += (long long)gridDim.x * blockDim.x) y[j] = fmaxf(x[j], 0.1f * x[j]);\n");
    add("run_of_4_a_thread", 256, n / 1024, "  for (int j = 0; j < 4; ++j) { float v = x[i * 4 + j]; y[i * 4 + j] = fmaxf(v, 0.1f * v); }\n");
    add("run_of_16_a_thread", 256, n / 4096, "  for (int j = 0; j < 16; ++j) { float v = x[i * 16 + j]; y[i * 16 + j] = fmaxf(v, 0.1f * v); }\n");
    add("stride_32", 256, n / 256, "  long long j = (i & 1023) * (n / 1024) / 32 * 32 % n + (i >> 10); j = j < n ? j : n - 1; y[i] = x[j];\n");
    add("stride_out_1024", 256, n / 256, "  long long j = (i % 65536) * 1024 + i / 65536; y[j] = x[i];\n");
  }

  // --- root mean square of rows: 8192 x 4096 floats, normalised ---
  {
    const int64_t rows = 8192, d = 4096;
    const auto add = [&](const std::string& name, int64_t threads, int64_t blocks, const std::string& body) {
      SimVariant v;
      v.family = "rmsnorm";
      v.name = name;
      v.source = head + "  const int d = 4096; __shared__ float part[32]; __shared__ float scale;\n" + body + "}\n";
      v.grid[0] = blocks;
      v.block[0] = threads;
      v.bytes_x = v.bytes_y = rows * d * 4;
      v.n = static_cast<int>(rows);
      all.push_back(v);
    };
    const std::string block_sum =
        "  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);\n"
        "  if ((t & 31) == 0) part[t >> 5] = s;\n  __syncthreads();\n"
        "  if (t < 32) { s = t < blockDim.x / 32 ? part[t] : 0.0f; for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o); if (t == 0) scale = rsqrtf(s / d + 1e-6f); }\n"
        "  __syncthreads();\n";
    const std::string scalar = "  const float* row = x + (long long)blockIdx.x * d; float* out = y + (long long)blockIdx.x * d; float s = 0;\n"
        "  for (int c = t; c < d; c += blockDim.x) s += row[c] * row[c];\n" + block_sum +
        "  for (int c = t; c < d; c += blockDim.x) out[c] = row[c] * scale;\n";
    for (const int threads : {64, 128, 256, 1024}) add("block_" + std::to_string(threads), threads, rows, scalar);
    const std::string vector = "  const float4* row = reinterpret_cast<const float4*>(x) + (long long)blockIdx.x * d / 4; float4* out = reinterpret_cast<float4*>(y) + (long long)blockIdx.x * d / 4; float s = 0;\n"
        "  for (int c = t; c < d / 4; c += blockDim.x) { float4 v = row[c]; s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }\n" + block_sum +
        "  for (int c = t; c < d / 4; c += blockDim.x) { float4 v = row[c]; v.x *= scale; v.y *= scale; v.z *= scale; v.w *= scale; out[c] = v; }\n";
    for (const int threads : {128, 256, 512}) add("block_float4_" + std::to_string(threads), threads, rows, vector);
    add("registers_float4_256", 256, rows,
        "  const float4* row = reinterpret_cast<const float4*>(x) + (long long)blockIdx.x * d / 4; float4* out = reinterpret_cast<float4*>(y) + (long long)blockIdx.x * d / 4; float s = 0; float4 v[4];\n"
        "  #pragma unroll\n  for (int j = 0; j < 4; ++j) v[j] = row[t + j * 256];\n"
        "  #pragma unroll\n  for (int j = 0; j < 4; ++j) s += v[j].x * v[j].x + v[j].y * v[j].y + v[j].z * v[j].z + v[j].w * v[j].w;\n" + block_sum +
        "  #pragma unroll\n  for (int j = 0; j < 4; ++j) { v[j].x *= scale; v[j].y *= scale; v[j].z *= scale; v[j].w *= scale; out[t + j * 256] = v[j]; }\n");
    add("warp_a_row", 256, rows / 8,
        "  const int lane = t & 31; const long long r = i / 32; const float* row = x + r * d; float* out = y + r * d; float s = 0;\n"
        "  for (int c = lane; c < d; c += 32) s += row[c] * row[c];\n  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);\n"
        "  s = rsqrtf(s / d + 1e-6f);\n  for (int c = lane; c < d; c += 32) out[c] = row[c] * s;\n");
    add("thread_a_row", 128, rows / 128,
        "  const float* row = x + i * d; float* out = y + i * d; float s = 0;\n  for (int c = 0; c < d; ++c) s += row[c] * row[c];\n"
        "  s = rsqrtf(s / d + 1e-6f);\n  for (int c = 0; c < d; ++c) out[c] = row[c] * s;\n");
  }

  // --- transpose: 8192 x 8192 floats ---
  {
    const int64_t m = 8192;
    const auto add = [&](const std::string& name, int64_t bx, int64_t by, int64_t tile, const std::string& body) {
      SimVariant v;
      v.family = "transpose";
      v.name = name;
      v.source = "__global__ void k(const float* __restrict__ x, float* __restrict__ y, const int* __restrict__ index, int n) {\n  const int tx = threadIdx.x, ty = threadIdx.y; const long long m = 8192;\n" + body + "}\n";
      v.grid[0] = v.grid[1] = m / tile;
      v.block[0] = bx;
      v.block[1] = by;
      v.bytes_x = v.bytes_y = m * m * 4;
      v.n = static_cast<int>(m);
      all.push_back(v);
    };
    add("naive_read_rows", 32, 8, 32, "  for (int j = 0; j < 32; j += 8) y[(blockIdx.x * 32 + tx) * m + blockIdx.y * 32 + ty + j] = x[(blockIdx.y * 32 + ty + j) * m + blockIdx.x * 32 + tx];\n");
    add("naive_write_rows", 32, 8, 32, "  for (int j = 0; j < 32; j += 8) y[(blockIdx.x * 32 + ty + j) * m + blockIdx.y * 32 + tx] = x[(blockIdx.y * 32 + tx) * m + blockIdx.x * 32 + ty + j];\n");
    const auto tiled = [](int pad, int tile, int by) {
      return "  __shared__ float s[" + std::to_string(tile) + "][" + std::to_string(tile + pad) + "];\n"
             "  for (int j = 0; j < " + std::to_string(tile) + "; j += " + std::to_string(by) + ") s[ty + j][tx] = x[(blockIdx.y * " + std::to_string(tile) + " + ty + j) * m + blockIdx.x * " + std::to_string(tile) + " + tx];\n  __syncthreads();\n"
             "  for (int j = 0; j < " + std::to_string(tile) + "; j += " + std::to_string(by) + ") y[(blockIdx.x * " + std::to_string(tile) + " + ty + j) * m + blockIdx.y * " + std::to_string(tile) + " + tx] = s[tx][ty + j];\n";
    };
    add("tile_32_conflicts", 32, 8, 32, tiled(0, 32, 8));
    add("tile_32_padded", 32, 8, 32, tiled(1, 32, 8));
    add("tile_32_padded_32x32", 32, 32, 32, tiled(1, 32, 32));
    add("tile_16_padded", 16, 16, 16, tiled(1, 16, 16));
    add("tile_8_padded", 8, 8, 8, tiled(1, 8, 8));
  }

  // --- matrix product: 2048^3 floats ---
  {
    const int64_t m = 2048;
    const auto add = [&](const std::string& name, int64_t bx, int64_t by, int64_t tile_x, int64_t tile_y, const std::string& body) {
      SimVariant v;
      v.family = "matmul";
      v.name = name;
      v.source = "__global__ void k(const float* __restrict__ x, float* __restrict__ y, const int* __restrict__ index, int n) {\n  const int tx = threadIdx.x, ty = threadIdx.y; const int m = 2048; const float* a = x; const float* b = x + m * m;\n" + body + "}\n";
      v.grid[0] = m / tile_x;
      v.grid[1] = m / tile_y;
      v.block[0] = bx;
      v.block[1] = by;
      v.bytes_x = 2 * m * m * 4;
      v.bytes_y = m * m * 4;
      v.n = static_cast<int>(m);
      all.push_back(v);
    };
    const std::string naive = "  float s = 0; for (int q = 0; q < m; ++q) s += a[row * m + q] * b[q * m + col]; y[row * m + col] = s;\n";
    add("naive_columns_by_x", 32, 8, 32, 8, "  const int row = blockIdx.y * 8 + ty, col = blockIdx.x * 32 + tx;\n" + naive);
    add("naive_rows_by_x", 32, 8, 8, 32, "  const int row = blockIdx.y * 32 + tx, col = blockIdx.x * 8 + ty;\n" + naive);
    const auto tiled = [](int tile, bool conflicts) {
      const std::string t = std::to_string(tile);
      return "  __shared__ float sa[" + t + "][" + t + "], sb[" + t + "][" + t + "]; const int row = blockIdx.y * " + t + " + ty, col = blockIdx.x * " + t + " + tx; float s = 0;\n"
             "  for (int q = 0; q < m; q += " + t + ") {\n    sa[ty][tx] = a[row * m + q + tx]; " +
             (conflicts ? "sb[tx][ty] = b[(q + ty) * m + col];" : "sb[ty][tx] = b[(q + ty) * m + col];") +
             " __syncthreads();\n    for (int p = 0; p < " + t + "; ++p) s += sa[ty][p] * " + (conflicts ? "sb[tx][p]" : "sb[p][tx]") + ";\n    __syncthreads();\n  }\n  y[row * m + col] = s;\n";
    };
    add("tile_8", 8, 8, 8, 8, tiled(8, false));
    add("tile_16", 16, 16, 16, 16, tiled(16, false));
    add("tile_32", 32, 32, 32, 32, tiled(32, false));
    add("tile_32_conflicts", 32, 32, 32, 32, tiled(32, true));
    // Each of 16 x 16 threads computes an R x R piece of a (16 R)-wide tile.
    const auto registers = [](int r) {
      const std::string R = std::to_string(r), T = std::to_string(16 * r);
      return "  const int R = " + R + ", T = " + T + "; __shared__ float sa[16][T + 4], sb[16][T + 4]; const int t = ty * 16 + tx; float c[R][R];\n"
             "  #pragma unroll\n  for (int u = 0; u < R; ++u)\n  #pragma unroll\n    for (int w = 0; w < R; ++w) c[u][w] = 0;\n"
             "  for (int q = 0; q < m; q += 16) {\n"
             "    for (int j = t; j < T * 16; j += 256) sa[j % 16][j / 16] = a[(blockIdx.y * T + j / 16) * m + q + j % 16];\n"
             "    for (int j = t; j < T * 16; j += 256) sb[j / T][j % T] = b[(q + j / T) * m + blockIdx.x * T + j % T];\n    __syncthreads();\n"
             "    for (int p = 0; p < 16; ++p) {\n      float ra[R], rb[R];\n"
             "      #pragma unroll\n      for (int u = 0; u < R; ++u) ra[u] = sa[p][ty * R + u];\n"
             "      #pragma unroll\n      for (int w = 0; w < R; ++w) rb[w] = sb[p][tx * R + w];\n"
             "      #pragma unroll\n      for (int u = 0; u < R; ++u)\n      #pragma unroll\n        for (int w = 0; w < R; ++w) c[u][w] += ra[u] * rb[w];\n    }\n    __syncthreads();\n  }\n"
             "  #pragma unroll\n  for (int u = 0; u < R; ++u)\n  #pragma unroll\n    for (int w = 0; w < R; ++w) y[(blockIdx.y * T + ty * R + u) * m + blockIdx.x * T + tx * R + w] = c[u][w];\n";
    };
    add("registers_2x2", 16, 16, 32, 32, registers(2));
    add("registers_4x4", 16, 16, 64, 64, registers(4));
    add("registers_8x8", 16, 16, 128, 128, registers(8));
  }

  // --- rows gathered by index: 262144 rows of 128 floats out of a million ---
  {
    const int64_t rows = 1 << 18, d = 128, nodes = 1 << 20;
    const auto add = [&](const std::string& name, int64_t threads, int64_t blocks, const std::string& body) {
      SimVariant v;
      v.family = "gather";
      v.name = name;
      v.source = head + body + "}\n";
      v.grid[0] = blocks;
      v.block[0] = threads;
      v.bytes_x = nodes * d * 4;
      v.bytes_y = rows * d * 4;
      v.elements_index = rows;
      v.index_bound = nodes;
      v.n = static_cast<int>(rows);
      all.push_back(v);
    };
    add("thread_an_element", 256, rows * d / 256, "  y[i] = x[(long long)index[i / 128] * 128 + i % 128];\n");
    add("warp_a_row_float4", 256, rows / 8, "  reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[(long long)index[i / 32] * 32 + i % 32];\n");
    add("thread_a_row", 256, rows / 256, "  const float* from = x + (long long)index[i] * 128; for (int c = 0; c < 128; ++c) y[i * 128 + c] = from[c];\n");
    add("thread_a_row_float4", 256, rows / 256, "  const float4* from = reinterpret_cast<const float4*>(x) + (long long)index[i] * 32; for (int c = 0; c < 32; ++c) reinterpret_cast<float4*>(y)[i * 32 + c] = from[c];\n");
  }

  // --- root mean square over features that lie far apart: 16 x 64 x 65536 floats, normalised ---
  {
    const int64_t batch = 16, features = 64, inner = 65536;
    const auto add = [&](const std::string& name, int64_t threads, int64_t a_thread, const std::string& type,
                         const std::string& sum, const std::string& scale) {
      SimVariant v;
      v.family = "positions";
      v.name = name;
      v.source = head + "  const long long per = 65536 / " + std::to_string(a_thread) + ", first = i / per * 64 * per + i % per;\n" +
                 "  const " + type + "* from = reinterpret_cast<const " + type + "*>(x) + first; " + type + "* to = reinterpret_cast<" + type + "*>(y) + first; float s = 0;\n" +
                 "  for (int f = 0; f < n; ++f) { const " + type + " v = from[f * per]; s += " + sum + "; }\n  s = rsqrtf(s / n + 1e-6f);\n" +
                 "  for (int f = 0; f < n; ++f) { " + type + " v = from[f * per]; " + scale + " to[f * per] = v; }\n}\n";
      v.grid[0] = batch * inner / a_thread / threads;
      v.block[0] = threads;
      v.bytes_x = v.bytes_y = batch * features * inner * 4;
      v.n = static_cast<int>(features);
      all.push_back(v);
    };
    for (const int threads : {128, 256, 512, 1024}) {
      add("float4_" + std::to_string(threads), threads, 4, "float4", "v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w",
          "v.x *= s; v.y *= s; v.z *= s; v.w *= s;");
    }
    for (const int threads : {256, 1024}) add("scalar_" + std::to_string(threads), threads, 1, "float", "v * v", "v *= s;");
  }

  // --- the mean of 32 rows of 64 floats, gathered by index out of 2.4 million, for 100000 vertices ---
  {
    const int64_t vertices = 100000, fanout = 32, d = 64, nodes = 2400000;
    const auto add = [&](const std::string& name, int64_t threads, const std::string& body) {
      SimVariant v;
      v.family = "neighbors";
      v.name = name;
      v.source = head + "  const long long vertex = i / 32; const int lane = t % 32; const float2* rows = reinterpret_cast<const float2*>(x); float2 s = {0, 0};\n" +
                 body + "  s.x /= n; s.y /= n; reinterpret_cast<float2*>(y)[vertex * 32 + lane] = s;\n}\n";
      v.grid[0] = vertices * 32 / threads;
      v.block[0] = threads;
      v.bytes_x = nodes * d * 4;
      v.bytes_y = vertices * d * 4;
      v.elements_index = vertices * fanout;
      v.index_bound = nodes;
      v.n = static_cast<int>(fanout);
      all.push_back(v);
    };
    const std::string plain = "  for (int j = 0; j < n; ++j) { const float2 v = rows[(long long)index[vertex * n + j] * 32 + lane]; s.x += v.x; s.y += v.y; }\n";
    for (const int threads : {64, 128, 256, 640}) add("plain_" + std::to_string(threads), threads, plain);
    const auto broadcast = [](const std::string& unroll) {
      return "  const int mine = index[vertex * n + lane];\n" + unroll +
             "  for (int j = 0; j < n; ++j) { const float2 v = rows[(long long)__shfl_sync(0xffffffffu, mine, j) * 32 + lane]; s.x += v.x; s.y += v.y; }\n";
    };
    add("broadcast_256", 256, broadcast(""));
    add("broadcast_by_8_256", 256, broadcast("  #pragma unroll 8\n"));
    add("broadcast_by_32_256", 256,
        "  const int mine = index[vertex * n + lane]; float2 v[32];\n"
        "  #pragma unroll\n  for (int j = 0; j < 32; ++j) v[j] = rows[(long long)__shfl_sync(0xffffffffu, mine, j) * 32 + lane];\n"
        "  #pragma unroll\n  for (int j = 0; j < 32; ++j) { s.x += v[j].x; s.y += v[j].y; }\n");
    add("half_warps_float4_256", 256,
        "  const float4* wide = reinterpret_cast<const float4*>(x); float4 w = {0, 0, 0, 0};\n"
        "  for (int j = lane / 16; j < n; j += 2) { const float4 v = wide[(long long)index[vertex * n + j] * 16 + lane % 16]; w.x += v.x; w.y += v.y; w.z += v.z; w.w += v.w; }\n"
        "  w.x += __shfl_xor_sync(0xffffffffu, w.x, 16); w.y += __shfl_xor_sync(0xffffffffu, w.y, 16); w.z += __shfl_xor_sync(0xffffffffu, w.z, 16); w.w += __shfl_xor_sync(0xffffffffu, w.w, 16);\n"
        "  s = lane < 16 ? float2{w.x, w.y} : float2{w.z, w.w};\n");
    add("thread_a_value", 256,
        "  s = {0, 0}; for (int half = 0; half < 2; ++half) { float a = 0; for (int j = 0; j < n; ++j) a += x[(long long)index[vertex * n + j] * 64 + half * 32 + lane]; (half == 0 ? s.x : s.y) = a; }\n");
  }

  // --- histogram of 16 M values in 256 bins ---
  {
    const int64_t n = 1 << 24;
    const auto add = [&](const std::string& name, int64_t blocks, const std::string& body) {
      SimVariant v;
      v.family = "histogram";
      v.name = name;
      v.source = head + body + "}\n";
      v.grid[0] = blocks;
      v.block[0] = 256;
      v.bytes_x = n * 4;
      v.bytes_y = 1024;
      v.n = static_cast<int>(n);
      all.push_back(v);
    };
    const std::string bin = "((unsigned)__float_as_int(x[j]) >> 10 & 255u)";
    add("global_atomics", 1056, "  for (long long j = i; j < n; j += (long long)gridDim.x * blockDim.x) atomicAdd(reinterpret_cast<int*>(y) + " + bin + ", 1);\n");
    add("shared_atomics", 1056, "  __shared__ int s[256]; s[t] = 0; __syncthreads();\n  for (long long j = i; j < n; j += (long long)gridDim.x * blockDim.x) atomicAdd(&s[" + bin + "], 1);\n  __syncthreads(); atomicAdd(reinterpret_cast<int*>(y) + t, s[t]);\n");
  }
  return all;
}

}  // namespace hone
