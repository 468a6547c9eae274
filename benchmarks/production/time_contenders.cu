// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Times several implementations of one serving task against each other, in one process and on the same buffers.
//
//   time_contenders --case TASK:16,4096 … --contender NAME=LIBRARY.so … [--rounds 40] [--seed 1]
//
// A library is one contender (contender.h says what it exports). The first library that serves a case's task is the one
// with which the others are compared. Two more contenders are built in, "floor4" and "floor1": kernels that read and
// write as many bytes as the case requires, in other memory, with four words or one word per thread, as the evaluator's
// floor does (docs/timing.md).
//
// For each case, every contender's output is compared with one computed in double precision. Then, in each round, all
// contenders run in a new random order. A run is a CUDA graph with as many launches as there are buffer sets. The sets
// are at least four times the L2 cache, so that every launch finds its data in memory and not in the cache. Before the
// timed interval, in-place tensors get their inputs back, reads flush the cache, and a gate holds the stream until the
// host has queued everything. A time is the interval divided by the number of launches. The ratio of two contenders is
// computed round by round.
//
// Prints one JSON object. Exit status 1 if an output was wrong beyond the task's tolerance, 2 for bad arguments.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "contender.h"

namespace {

[[noreturn]] void Stop(const std::string& why) {
  std::fprintf(stderr, "time_contenders: %s\n", why.c_str());
  std::exit(2);
}

void Check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) Stop(std::string(what) + ": " + cudaGetErrorString(error));
}

// ---- Inputs -----------------------------------------------------------------------------------------------------

__device__ unsigned Mix(unsigned long long n) {
  n = (n ^ (n >> 31)) * 0x7fb5d329728ea185ull;
  n = (n ^ (n >> 27)) * 0x81dadef4bc2dd44dull;
  return static_cast<unsigned>(n >> 32);
}

template <typename T>
__global__ void FillNormal(T* to, size_t count, unsigned long long seed, float scale, float offset) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    const float u = (Mix(seed + 2 * i) + 0.5f) * 0x1p-32f, v = (Mix(seed + 2 * i + 1) + 0.5f) * 0x1p-32f;
    to[i] = static_cast<T>(sqrtf(-2.0f * logf(u)) * cospif(2.0f * v) * scale + offset);
  }
}

// Fills with numbers whose logarithms are spread evenly.
__global__ void FillLogUniform(float* to, size_t count, unsigned long long seed, float low, float high) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    to[i] = low * expf((Mix(seed + i) + 0.5f) * 0x1p-32f * logf(high / low));
  }
}

// ---- Answers in double precision --------------------------------------------------------------------------------

__global__ void SiluAndMul(const __half* x, double* out, size_t tokens, size_t d) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < tokens * d; i += size_t{gridDim.x} * blockDim.x) {
    const size_t row = i / d, column = i % d;
    const double gate = __half2float(x[row * 2 * d + column]), value = __half2float(x[row * 2 * d + d + column]);
    out[i] = gate / (1 + exp(-gate)) * value;
  }
}

// Uses one thread per row, which is slow, but adds in the order of a calculation by hand.
__global__ void FusedAddRmsnorm(const __half* x, const __half* residual, const __half* weight, double* x_out,
                                double* residual_out, size_t tokens, size_t d, float eps) {
  const size_t row = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (row >= tokens) return;
  double squares = 0;
  for (size_t i = row * d; i < (row + 1) * d; ++i) {
    residual_out[i] = static_cast<double>(__half2float(x[i])) + __half2float(residual[i]);
    squares += residual_out[i] * residual_out[i];
  }
  const double scale = 1 / sqrt(squares / d + eps);
  for (size_t i = row * d; i < (row + 1) * d; ++i)
    x_out[i] = residual_out[i] * scale * __half2float(weight[i - row * d]);
}

__global__ void MergeAttnStates(const __half* v_a, const float* s_a, const __half* v_b, const float* s_b, double* v_out,
                                double* s_out, size_t heads, size_t dim, bool log2_base) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < heads * dim; i += size_t{gridDim.x} * blockDim.x) {
    const size_t head = i / dim;
    const double unit = log2_base ? 0.69314718055994530942 : 1.0;
    const double a = s_a[head] * unit, b = s_b[head] * unit, largest = fmax(a, b);
    const double sum = exp(a - largest) + exp(b - largest);
    v_out[i] = (exp(a - largest) * __half2float(v_a[i]) + exp(b - largest) * __half2float(v_b[i])) / sum;
    if (i % dim == 0) s_out[head] = (largest + log(sum)) / unit;
  }
}

// Dimensions of paged_decode_attention, as in its task.toml. mla_decode_attention has one head of keys and values, and
// rank + rope in place of head_dim.
struct DecodeDims {
  int64_t batch, kv_heads, group, head_dim, page_size, max_pages;
};

// scores [batch * heads][max_pages * page_size], scaled.
__global__ void DecodeScores(DecodeDims n, const __nv_bfloat16* q, const __nv_bfloat16* keys, const int* table,
                             const int* lengths, double* scores, float scale) {
  const int64_t head = blockIdx.y, sequence = head / (n.kv_heads * n.group), most = n.max_pages * n.page_size;
  const int64_t kv_head = head % (n.kv_heads * n.group) / n.group;
  const int64_t token = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (token >= lengths[sequence]) return;
  const int64_t page = table[sequence * n.max_pages + token / n.page_size];
  const int64_t at = ((page * n.page_size + token % n.page_size) * n.kv_heads + kv_head) * n.head_dim;
  double sum = 0;
  for (int64_t d = 0; d < n.head_dim; ++d) {
    sum += static_cast<double>(__bfloat162float(q[head * n.head_dim + d])) * __bfloat162float(keys[at + d]);
  }
  scores[head * most + token] = sum * scale;
}

// One block for each head: weights in the scores' place, then the weighted sum of the values. As many threads as
// results of a head, which are the first numbers of a row.
__global__ void DecodeValues(DecodeDims n, const __nv_bfloat16* values, const int* table, const int* lengths,
                             double* scores, double* out) {
  __shared__ double shared[1024];
  const int64_t head = blockIdx.x, sequence = head / (n.kv_heads * n.group), most = n.max_pages * n.page_size;
  const int64_t kv_head = head % (n.kv_heads * n.group) / n.group, length = lengths[sequence];
  double* const row = scores + head * most;
  double largest = -INFINITY, sum = 0, value = 0;
  for (int64_t t = threadIdx.x; t < length; t += blockDim.x) largest = fmax(largest, row[t]);
  shared[threadIdx.x] = largest;
  __syncthreads();
  for (unsigned i = 0; i < blockDim.x; ++i) largest = fmax(largest, shared[i]);
  for (int64_t t = threadIdx.x; t < length; t += blockDim.x) row[t] = exp(row[t] - largest);
  __syncthreads();
  for (int64_t t = 0; t < length; ++t) {
    const int64_t page = table[sequence * n.max_pages + t / n.page_size];
    const int64_t at = ((page * n.page_size + t % n.page_size) * n.kv_heads + kv_head) * n.head_dim;
    sum += row[t];
    value += row[t] * __bfloat162float(values[at + threadIdx.x]);
  }
  out[head * blockDim.x + threadIdx.x] = length > 0 ? value / sum : 0.0;
}

// The first `count` elements of c.
__global__ void Fp8BlockMatmul(const __nv_fp8_e4m3* a, const float* a_scale, const __nv_fp8_e4m3* b,
                               const float* b_scale, double* c, size_t count, size_t n, size_t k) {
  const size_t steps = (k + 127) / 128;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    const size_t row = i / n, column = i % n;
    double sum = 0;
    for (size_t step = 0; step < steps; ++step) {
      double part = 0;
      for (size_t j = step * 128; j < min(k, step * 128 + 128); ++j) {
        part += static_cast<double>(static_cast<float>(a[row * k + j])) * static_cast<float>(b[column * k + j]);
      }
      sum += part * a_scale[row * steps + step] * b_scale[column / 128 * steps + step];
    }
    c[i] = sum;
  }
}

// The worst error of moe_gating's weights, after they are made to add up to 1, and how many experts are not those of
// the token's largest logits in descending order.
std::pair<double, int64_t> GatingErrors(const HoneProblem& p) {
  const size_t tokens = p.dims[0], experts = p.dims[1], top_k = p.dims[2];
  std::vector<float> logits(tokens * experts), weights(tokens * top_k);
  std::vector<int> named(tokens * top_k);
  Check(cudaMemcpy(logits.data(), p.tensors[0], logits.size() * 4, cudaMemcpyDeviceToHost), "logits");
  Check(cudaMemcpy(weights.data(), p.tensors[1], weights.size() * 4, cudaMemcpyDeviceToHost), "weights");
  Check(cudaMemcpy(named.data(), p.tensors[2], named.size() * 4, cudaMemcpyDeviceToHost), "experts");
  double worst = 0;
  int64_t wrong = 0;
  for (size_t t = 0; t < tokens; ++t) {
    const float* const row = &logits[t * experts];
    std::vector<float> sorted(row, row + experts);
    std::partial_sort(sorted.begin(), sorted.begin() + static_cast<long>(top_k), sorted.end(), std::greater<float>());
    double all = 0, given = 0;
    for (size_t j = 0; j < top_k; ++j) {
      all += std::exp(static_cast<double>(sorted[j]) - sorted[0]);
      given += weights[t * top_k + j];
    }
    for (size_t j = 0; j < top_k; ++j) {
      const int expert = named[t * top_k + j];
      wrong += expert < 0 || expert >= static_cast<int>(experts) || row[expert] != sorted[j];
      for (size_t i = 0; i < j; ++i) wrong += named[t * top_k + i] == expert;
      const double want = std::exp(static_cast<double>(sorted[j]) - sorted[0]) / all;
      const double error = std::fabs(weights[t * top_k + j] / given - want);
      if (!(error <= worst)) worst = std::isnan(error) ? HUGE_VAL : error;
    }
  }
  return {worst, wrong};
}

// How many places of top_k do not hold a number of the row's k largest in descending order, or are named twice.
int64_t TopKErrors(const HoneProblem& p) {
  const size_t rows = p.dims[0], d = p.dims[1], k = p.dims[2];
  std::vector<float> x(rows * d), values(rows * k);
  std::vector<int> ids(rows * k);
  Check(cudaMemcpy(x.data(), p.tensors[0], x.size() * 4, cudaMemcpyDeviceToHost), "x");
  Check(cudaMemcpy(values.data(), p.tensors[1], values.size() * 4, cudaMemcpyDeviceToHost), "values");
  Check(cudaMemcpy(ids.data(), p.tensors[2], ids.size() * 4, cudaMemcpyDeviceToHost), "ids");
  int64_t wrong = 0;
  for (size_t r = 0; r < rows; ++r) {
    std::vector<float> sorted(&x[r * d], &x[r * d] + d);
    std::partial_sort(sorted.begin(), sorted.begin() + static_cast<long>(k), sorted.end(), std::greater<float>());
    for (size_t j = 0; j < k; ++j) {
      const int id = ids[r * k + j];
      wrong += values[r * k + j] != sorted[j] || id < 0 || id >= static_cast<int>(d) || x[r * d + id] != sorted[j];
      for (size_t i = 0; i < j; ++i) wrong += ids[r * k + i] == id;
    }
  }
  return wrong;
}

// Returns the worst |error| / max(|reference|, rms of the reference): the measure of docs/precision.md over a whole
// tensor.
template <typename T>
double WorstError(const T* got_on_device, const double* want_on_device, size_t count) {
  std::vector<T> got(count);
  std::vector<double> want(count);
  Check(cudaMemcpy(got.data(), got_on_device, count * sizeof(T), cudaMemcpyDeviceToHost), "outputs");
  Check(cudaMemcpy(want.data(), want_on_device, count * sizeof(double), cudaMemcpyDeviceToHost), "answers");
  double squares = 0, worst = 0;
  for (double value : want) squares += value * value;
  const double typical = std::sqrt(squares / static_cast<double>(std::max<size_t>(count, 1)));
  for (size_t i = 0; i < count; ++i) {
    const double error = std::fabs(static_cast<double>(static_cast<float>(got[i])) - want[i]);
    const double scaled = error / std::max(std::fabs(want[i]), typical);
    if (!(scaled <= worst)) worst = std::isnan(scaled) ? HUGE_VAL : scaled;
  }
  return worst;
}

// ---- Tasks ------------------------------------------------------------------------------------------------------

struct TensorPlan {
  const char* name;
  size_t elements;
  size_t width;  // bytes of an element
  bool in, out;
  float scale, offset;
  double tolerance;  // tolerance of an output
  char type = 'h';   // half, bfloat16 'b', float8_e4m3 '8', float 'f', scales 's' from scale to offset, 'p' and 'l':
                     // pages and lengths
  double read = 1;   // part of an input that a run reads
};

// Returns the tensors with sizes and values as in tasks/NAME/task.toml.
std::vector<TensorPlan> Tensors(const std::string& task, const std::vector<int64_t>& n) {
  if (task == "silu_and_mul" && n.size() == 2) {
    const size_t count = n[0] * n[1];
    return {{"x", 2 * count, 2, true, false, 1, 0, 0}, {"out", count, 2, false, true, 0, 0, 2e-3}};
  }
  if (task == "fused_add_rmsnorm" && n.size() == 2) {
    const size_t count = n[0] * n[1];
    return {{"x", count, 2, true, true, 1.5f, 0, 2e-3},
            {"residual", count, 2, true, true, 4, 0, 6e-4},
            {"weight", static_cast<size_t>(n[1]), 2, true, false, 0.3f, 1, 0}};
  }
  if (task == "merge_attn_states" && n.size() == 3) {
    const size_t heads = n[0] * n[1], count = heads * n[2];
    return {{"v_a", count, 2, true, false, 1, 0, 0},        {"s_a", heads, 4, true, false, 1.5f, 8, 0, 'f'},
            {"v_b", count, 2, true, false, 2, 0, 0},        {"s_b", heads, 4, true, false, 1.5f, 8, 0, 'f'},
            {"v_out", count, 2, false, true, 0, 0, 1.5e-3}, {"s_out", heads, 4, false, true, 0, 0, 2e-5, 'f'}};
  }
  if (task == "paged_decode_attention" && n.size() == 8) {
    const size_t query = n[0] * n[1] * n[2] * n[3], cache = n[6] * n[4] * n[1] * n[3];
    const double mean = (n[7] + n[5] * n[4]) / 2.0, read = n[0] * mean / static_cast<double>(n[6] * n[4]);
    if (n[6] < n[0] * n[5] || n[3] > 1024) Stop("paged_decode_attention: too few pages, or too wide a head");
    return {{"q", query, 2, true, false, 2, 0, 0, 'b'},
            {"k_cache", cache, 2, true, false, 1, 0, 0, 'b', read},
            {"v_cache", cache, 2, true, false, 1, 0.25f, 0, 'b', read},
            {"block_table", static_cast<size_t>(n[0] * n[5]), 4, true, false, 0, 0, 0, 'p'},
            {"seq_lens", static_cast<size_t>(n[0]), 4, true, false, 0, 0, 0, 'l'},
            {"out", query, 2, false, true, 0, 0, 2e-2, 'b'}};
  }
  if (task == "fp8_block_matmul" && n.size() == 3) {
    const size_t m = n[0], columns = n[1], k = n[2], steps = (k + 127) / 128;
    return {{"a", m * k, 1, true, false, 64, 0, 0, '8'},
            {"a_scale", m * steps, 4, true, false, 0.001f, 0.008f, 0, 's'},
            {"b", columns * k, 1, true, false, 64, 0, 0, '8'},
            {"b_scale", (columns + 127) / 128 * steps, 4, true, false, 0.0005f, 0.004f, 0, 's'},
            {"c", m * columns, 2, false, true, 0, 0, 3e-2, 'b'}};
  }
  if (task == "moe_gating" && n.size() == 3) {
    const size_t chosen = n[0] * n[2];
    return {{"logits", static_cast<size_t>(n[0] * n[1]), 4, true, false, 1.5f, 0, 0, 'f'},
            {"weights", chosen, 4, false, true, 0, 0, 4e-5, 'f'},
            {"experts", chosen, 4, false, true, 0, 0, 0, 'i'}};
  }
  if (task == "top_k" && n.size() == 3) {
    if (n[2] > n[1]) Stop("top_k: more are to be taken than there are");
    return {{"x", static_cast<size_t>(n[0] * n[1]), 4, true, false, 1, 0, 0, 'f'},
            {"values", static_cast<size_t>(n[0] * n[2]), 4, false, true, 0, 0, 0, 'f'},
            {"ids", static_cast<size_t>(n[0] * n[2]), 4, false, true, 0, 0, 0, 'i'}};
  }
  if (task == "mla_decode_attention" && n.size() == 8) {
    const size_t width = n[2] + n[3], cache = n[6] * n[4] * width;
    const double mean = (n[7] + n[5] * n[4]) / 2.0, read = n[0] * mean / static_cast<double>(n[6] * n[4]);
    if (n[6] < n[0] * n[5] || n[2] > 1024) Stop("mla_decode_attention: too few pages, or too wide a row");
    return {{"q", n[0] * n[1] * width, 2, true, false, 1, 0, 0, 'b'},
            {"cache", cache, 2, true, false, 1, 0.25f, 0, 'b', read},
            {"block_table", static_cast<size_t>(n[0] * n[5]), 4, true, false, 0, 0, 0, 'p'},
            {"seq_lens", static_cast<size_t>(n[0]), 4, true, false, 0, 0, 0, 'l'},
            {"out", static_cast<size_t>(n[0] * n[1] * n[2]), 2, false, true, 0, 0, 2e-2, 'b'}};
  }
  Stop("unknown case '" + task +
       "' (silu_and_mul:TOKENS,D fused_add_rmsnorm:TOKENS,D merge_attn_states:TOKENS,HEADS,DIM "
       "fp8_block_matmul:M,N,K moe_gating:TOKENS,EXPERTS,TOP_K top_k:ROWS,D,K "
       "mla_decode_attention:BATCH,HEADS,RANK,ROPE,PAGE_SIZE,MAX_PAGES,PAGES,MIN_LEN "
       "paged_decode_attention:BATCH,KV_HEADS,GROUP,HEAD_DIM,PAGE_SIZE,MAX_PAGES,PAGES,MIN_LEN)");
}

struct Contender {
  std::string name, task;
  HoneLaunchFunction launch = nullptr;
  HonePrepareFunction prepare = nullptr;
  bool log2_base = false;
};

Contender Load(const std::string& argument) {
  const size_t at = argument.find('=');
  if (at == std::string::npos) Stop("--contender wants NAME=LIBRARY.so, not '" + argument + "'");
  const std::string path = argument.substr(at + 1);
  void* library =
      dlopen(path.find('/') == std::string::npos ? ("./" + path).c_str() : path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) Stop(dlerror());
  Contender c;
  c.name = argument.substr(0, at);
  auto task = reinterpret_cast<HoneTaskFunction>(dlsym(library, "contender_task"));
  c.launch = reinterpret_cast<HoneLaunchFunction>(dlsym(library, "contender_launch"));
  if (task == nullptr || c.launch == nullptr) Stop(path + " does not export what contender.h asks for");
  c.task = task();
  c.prepare = reinterpret_cast<HonePrepareFunction>(dlsym(library, "contender_prepare"));
  auto base = reinterpret_cast<HoneLog2Function>(dlsym(library, "contender_log2"));
  c.log2_base = base != nullptr && base() == 1;
  return c;
}

// ---- Timing -----------------------------------------------------------------------------------------------------

__global__ void Gate(const volatile int* open, int number) {
  while (*open < number) __nanosleep(200);
}

__global__ void Flush(const uint4* from, size_t count, unsigned* sink) {
  unsigned sum = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    const uint4 v = from[i];
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x9e3779b9u) *sink = sum;  // never true, but the compiler must assume that it might be
}

// The floor kernel. A block reads its share of the words, with four loads per thread in flight, and writes its share.
__global__ void __launch_bounds__(256) Stream(const uint4* from, uint4* to, size_t reads, size_t writes) {
  const size_t read_end = (blockIdx.x + 1) * reads / gridDim.x, write_end = (blockIdx.x + 1) * writes / gridDim.x;
  uint4 sum = make_uint4(0x9e3779b9u, 0x7f4a7c15u, 0xbf58476du, 0x1ce4e5b9u);
  for (size_t i = blockIdx.x * reads / gridDim.x + threadIdx.x; i < read_end; i += 4 * 256) {
    uint4 loaded[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) loaded[k] = i + k * 256 < read_end ? from[i + k * 256] : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      sum = make_uint4(sum.x ^ loaded[k].x, sum.y ^ loaded[k].y, sum.z ^ loaded[k].z, sum.w ^ loaded[k].w);
    }
  }
  for (size_t i = blockIdx.x * writes / gridDim.x + threadIdx.x; i < write_end; i += 256) to[i] = sum;
}

// The same kernel with one word per thread, which is faster from some size on.
__global__ void __launch_bounds__(256) StreamEach(const uint4* from, uint4* to, size_t reads, size_t writes) {
  const size_t at = blockIdx.x * size_t{256} + threadIdx.x;
  const uint4 word = at < reads ? from[at] : make_uint4(0x9e3779b9u, 0x7f4a7c15u, 0xbf58476du, 0x1ce4e5b9u);
  if (at < writes) {
    to[at] = word;
  } else if ((word.x ^ word.y ^ word.z ^ word.w) == 0x9e3779b9u) {
    *to = word;  // never runs, but the compiler must assume that it might
  }
}

struct Summary {
  double median, low, high;
};

// Returns the median, and the order statistics that contain the true median with a probability of at least 95 %.
Summary Summarise(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const int n = static_cast<int>(values.size());
  int k = 0;  // largest k with P(Binomial(n, 1/2) < k) <= 0.025, and the interval from the k-th to the (n + 1 - k)-th
  double term = std::pow(0.5, n), sum = 0;
  while (k < n / 2 && sum + term <= 0.025) {
    sum += term;
    term *= static_cast<double>(n - k) / (k + 1);
    ++k;
  }
  const double median = n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
  return {median, values[std::max(k - 1, 0)], values[std::min(n - std::max(k, 1), n - 1)]};
}

struct Options {
  std::vector<std::string> cases;
  std::vector<Contender> contenders;
  int rounds = 40;
  unsigned seed = 1;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), random_(options.seed) {
    Check(cudaGetDeviceProperties(&device_, 0), "device");
    Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    Check(cudaHostAlloc(&gate_, sizeof(int), cudaHostAllocMapped), "gate");
    *gate_ = 0;
    flush_bytes_ = size_t{3} * device_.l2CacheSize;
    Check(cudaMalloc(&flush_, flush_bytes_), "flush buffer");
    Check(cudaMemset(flush_, 1, flush_bytes_), "flush buffer");
    Check(cudaEventCreate(&begin_), "event");
    Check(cudaEventCreate(&end_), "event");
  }

  // Runs one case and returns its JSON. `right` becomes false if an output was wrong.
  std::string Run(const std::string& text, bool* right) {
    const size_t colon = text.find(':');
    const std::string task = text.substr(0, colon);
    std::vector<int64_t> dims;
    for (const char* p = text.c_str() + (colon == std::string::npos ? text.size() : colon + 1); *p != 0;) {
      char* rest = nullptr;
      dims.push_back(std::strtoll(p, &rest, 10));
      if (rest == p || dims.back() <= 0) Stop("bad sizes in '" + text + "'");
      p = *rest == ',' ? rest + 1 : rest;
    }
    const std::vector<TensorPlan> tensors = Tensors(task, dims);

    size_t bytes = 0, met = 0, read = 0,
           written = 0;  // of a set: in all, accessed by a run, and what that must read and write
    for (const TensorPlan& t : tensors) {
      bytes += Rounded(t.elements * t.width) * (t.in && t.out ? 2 : 1);
      met += Rounded(t.elements * t.width);
      read += static_cast<size_t>(static_cast<double>(t.elements * t.width) * t.in * t.read);
      written += t.elements * t.width * t.out;
    }
    const size_t touched = read + written, of_floor = Rounded(read) + Rounded(written);
    const size_t pool = size_t{4} * device_.l2CacheSize;
    size_t free_bytes = 0, all_bytes = 0;
    Check(cudaMemGetInfo(&free_bytes, &all_bytes), "memory");
    const size_t fits = (free_bytes - (size_t{4} << 30)) / (bytes + of_floor);
    const size_t wanted = touched > (size_t{256} << 20) ? 4 : std::max<size_t>((pool + met - 1) / met, 16);
    const size_t sets = std::min(wanted, fits);
    if (sets < 2) Stop("'" + text + "' does not fit into the device's memory twice");

    char* memory = nullptr;
    Check(cudaMalloc(&memory, bytes * sets), "tensors");
    char* floor_memory = nullptr;
    Check(cudaMalloc(&floor_memory, of_floor * sets), "the floor's memory");
    Check(cudaMemsetAsync(floor_memory, 1, of_floor * sets, stream_), "the floor's memory");
    std::vector<HoneProblem> problems(sets);
    std::vector<std::vector<void*>> pristine(sets);
    size_t at = 0;
    for (size_t s = 0; s < sets; ++s) {
      HoneProblem& p = problems[s];
      std::memset(&p, 0, sizeof(p));
      std::copy(dims.begin(), dims.end(), p.dims);
      p.eps = task == "paged_decode_attention" ? 1 / std::sqrt(static_cast<float>(dims[3]))
              : task == "mla_decode_attention" ? 0.07216878364870323f
                                               : 1e-6f;
      for (size_t i = 0; i < tensors.size(); ++i) {
        const TensorPlan& t = tensors[i];
        p.tensors[i] = memory + at;
        at += Rounded(t.elements * t.width);
        void* fill = p.tensors[i];
        if (t.in && t.out) {
          fill = memory + at;
          at += Rounded(t.elements * t.width);
        }
        pristine[s].push_back(t.in && t.out ? fill : nullptr);
        if (!t.in) continue;
        const unsigned long long seed = random_();
        FillInput(t, fill, seed << 32, dims);
      }
    }
    Check(cudaStreamSynchronize(stream_), "inputs");
    const auto restore = [&](size_t s) {
      for (size_t i = 0; i < tensors.size(); ++i) {
        if (pristine[s][i] == nullptr) continue;
        Check(cudaMemcpyAsync(problems[s].tensors[i], pristine[s][i], tensors[i].elements * tensors[i].width,
                              cudaMemcpyDeviceToDevice, stream_),
              "restoring inputs");
      }
    };

    struct Entry {
      std::string name;
      cudaGraphExec_t graph;
      std::vector<double> us;
      std::string errors;
    };
    std::vector<Entry> entries;
    std::string out, absent;
    for (const Contender& c : options_.contenders) {
      if (c.task != task) continue;
      restore(0);
      for (size_t i = 0; i < tensors.size(); ++i) {
        if (!tensors[i].in) {
          Check(cudaMemsetAsync(problems[0].tensors[i], 0xff, tensors[i].elements * tensors[i].width, stream_),
                "poison");
        }
      }
      int status = 0;
      if (c.prepare != nullptr) {
        Check(cudaStreamSynchronize(stream_), "inputs");
        for (size_t set = 0; set < sets && status == 0; ++set) status = c.prepare(&problems[set]);
        if (status > 1) Stop(c.name + " could not be prepared for " + text);
      }
      if (status == 0) status = c.launch(&problems[0], stream_);
      if (status == 1) {
        absent += (absent.empty() ? "\"" : ", \"") + c.name + "\"";
        continue;
      }
      if (status != 0) Stop(c.name + " could not be launched for " + text);
      Check(cudaStreamSynchronize(stream_), c.name.c_str());
      std::string errors = Errors(task, dims, tensors, problems[0], pristine[0], c.log2_base, right);
      const auto launch = [&](size_t set) {
        if (c.launch(&problems[set], stream_) != 0) Stop(c.name + " could not be captured for " + text);
      };
      entries.push_back({c.name, Capture(sets, launch), {}, std::move(errors)});
    }
    if (!entries.empty()) {
      // The number of blocks is that of the evaluator's floor: four words per thread, or fewer if an SM would get fewer
      // than 16 blocks.
      const size_t reads = (read + 15) / 16, writes = (written + 15) / 16, most = std::max(reads, writes);
      const size_t fair = (most / (static_cast<size_t>(device_.multiProcessorCount) * 16) + 255) / 256 * 256;
      const size_t words = std::clamp<size_t>(fair, 256, 1024);
      const unsigned blocks = static_cast<unsigned>((most + words - 1) / words);
      for (const bool one : {false, true}) {
        const auto launch = [&](size_t set) {
          auto* from = reinterpret_cast<uint4*>(floor_memory + of_floor * set);
          auto* to = reinterpret_cast<uint4*>(floor_memory + of_floor * set + Rounded(read));
          if (one) {
            StreamEach<<<static_cast<unsigned>((most + 255) / 256), 256, 0, stream_>>>(from, to, reads, writes);
          } else {
            Stream<<<blocks, 256, 0, stream_>>>(from, to, reads, writes);
          }
          Check(cudaGetLastError(), "the floor");
        };
        entries.push_back({one ? "floor1" : "floor4", Capture(sets, launch), {}, ""});
      }
    }
    for (int round = -2; round < options_.rounds && !entries.empty(); ++round) {
      std::vector<size_t> order(entries.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), random_);
      for (size_t i : order) {
        const double us = Time(entries[i].graph, sets, restore) / static_cast<double>(sets);
        if (round >= 0) entries[i].us.push_back(us);
      }
    }
    for (Entry& e : entries) {
      const Summary time = Summarise(e.us);
      char line[512];
      std::snprintf(line, sizeof(line),
                    "%s\n    {\"name\": \"%s\", \"us\": %.3f, \"ci95\": [%.3f, %.3f], \"errors\": {%s}",
                    out.empty() ? "" : ",", e.name.c_str(), time.median, time.low, time.high, e.errors.c_str());
      out += line;
      if (&e != &entries[0]) {
        std::vector<double> ratios;
        for (size_t i = 0; i < e.us.size(); ++i) ratios.push_back(e.us[i] / entries[0].us[i]);
        const Summary ratio = Summarise(ratios);
        std::snprintf(line, sizeof(line), ", \"over_first\": %.4f, \"over_first_ci95\": [%.4f, %.4f]", ratio.median,
                      ratio.low, ratio.high);
        out += line;
      }
      out += "}";
      Check(cudaGraphExecDestroy(e.graph), "graph");
    }
    Check(cudaFree(memory), "tensors");
    Check(cudaFree(floor_memory), "the floor's memory");
    return "{\"case\": \"" + text + "\", \"bytes\": " + std::to_string(touched) +
           ", \"sets\": " + std::to_string(sets) + ", \"not_served_by\": [" + absent + "], \"contenders\": [" + out +
           "]}";
  }

  const cudaDeviceProp& device() const { return device_; }

 private:
  static constexpr size_t kCompared = size_t{1} << 21;

  static size_t Rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

  // Fills one input. Pages are distinct and drawn for all sequences, lengths from min_len to what the pages hold.
  void FillInput(const TensorPlan& t, void* to, unsigned long long seed, const std::vector<int64_t>& dims) {
    const size_t n = t.elements;
    if (t.type == 'p' || t.type == 'l') {
      std::vector<int> values(t.type == 'p' ? static_cast<size_t>(dims[6]) : n);
      std::iota(values.begin(), values.end(), 0);
      if (t.type == 'p') std::shuffle(values.begin(), values.end(), random_);
      std::uniform_int_distribution<int> length(static_cast<int>(dims.back()), static_cast<int>(dims[4] * dims[5]));
      if (t.type == 'l') std::generate(values.begin(), values.end(), [&] { return length(random_); });
      Check(cudaMemcpyAsync(to, values.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream_), "inputs");
      Check(cudaStreamSynchronize(stream_), "inputs");
    } else if (t.type == 'h') {
      FillNormal<<<1024, 256, 0, stream_>>>(static_cast<__half*>(to), n, seed, t.scale, t.offset);
    } else if (t.type == 'b') {
      FillNormal<<<1024, 256, 0, stream_>>>(static_cast<__nv_bfloat16*>(to), n, seed, t.scale, t.offset);
    } else if (t.type == '8') {
      FillNormal<<<1024, 256, 0, stream_>>>(static_cast<__nv_fp8_e4m3*>(to), n, seed, t.scale, t.offset);
    } else if (t.type == 's') {
      FillLogUniform<<<1024, 256, 0, stream_>>>(static_cast<float*>(to), n, seed, t.scale, t.offset);
    } else {
      FillNormal<<<1024, 256, 0, stream_>>>(static_cast<float*>(to), n, seed, t.scale, t.offset);
    }
    Check(cudaGetLastError(), "inputs");
  }

  std::string Errors(const std::string& task, const std::vector<int64_t>& n, const std::vector<TensorPlan>& tensors,
                     const HoneProblem& problem, const std::vector<void*>& pristine, bool log2_base, bool* right) {
    const auto input = [&](size_t i) { return pristine[i] != nullptr ? pristine[i] : problem.tensors[i]; };
    const auto half = [&](size_t i) { return static_cast<const __half*>(input(i)); };
    const auto single = [&](size_t i) { return static_cast<const float*>(input(i)); };
    if (task == "moe_gating") {
      const auto [worst, wrong] = GatingErrors(problem);
      char text[96];
      std::snprintf(text, sizeof(text), "\"weights\": %.3g, \"experts\": %lld", std::min(worst, 1e30),
                    static_cast<long long>(wrong));
      const bool fine = worst <= tensors[1].tolerance && wrong == 0;
      *right = *right && fine;
      return std::string(text) + (fine ? "" : ", \"beyond_tolerance\": true");
    }
    if (task == "top_k") {
      const int64_t wrong = TopKErrors(problem);
      *right = *right && wrong == 0;
      return "\"ids\": " + std::to_string(wrong) + (wrong == 0 ? "" : ", \"beyond_tolerance\": true");
    }
    std::vector<double*> answers(tensors.size(), nullptr);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].out) Check(cudaMalloc(&answers[i], tensors[i].elements * sizeof(double)), "answers");
    }
    if (task == "silu_and_mul") {
      SiluAndMul<<<2048, 256, 0, stream_>>>(half(0), answers[1], n[0], n[1]);
    } else if (task == "fused_add_rmsnorm") {
      const unsigned blocks = static_cast<unsigned>((n[0] + 31) / 32);
      FusedAddRmsnorm<<<blocks, 32, 0, stream_>>>(half(0), half(1), half(2), answers[0], answers[1], n[0], n[1],
                                                  problem.eps);
    } else if (task == "paged_decode_attention" || task == "mla_decode_attention") {
      const bool shared = task == "mla_decode_attention";  // keys and values are one tensor, of one head
      const DecodeDims d =
          shared ? DecodeDims{n[0], 1, n[1], n[2] + n[3], n[4], n[5]} : DecodeDims{n[0], n[1], n[2], n[3], n[4], n[5]};
      const int64_t heads = d.batch * d.kv_heads * d.group, most = n[4] * n[5];
      const size_t values = shared ? 1 : 2;
      const auto brain = [&](size_t i) { return static_cast<const __nv_bfloat16*>(input(i)); };
      const int* const table = static_cast<const int*>(input(values + 1));
      const int* const lengths = static_cast<const int*>(input(values + 2));
      double* scores = nullptr;
      Check(cudaMalloc(&scores, heads * most * sizeof(double)), "scores");
      const dim3 blocks(static_cast<unsigned>((most + 127) / 128), static_cast<unsigned>(heads));
      DecodeScores<<<blocks, 128, 0, stream_>>>(d, brain(0), brain(1), table, lengths, scores, problem.eps);
      DecodeValues<<<static_cast<unsigned>(heads), static_cast<unsigned>(shared ? n[2] : n[3]), 0, stream_>>>(
          d, brain(values), table, lengths, scores, answers[values + 3]);
      Check(cudaStreamSynchronize(stream_), "answers");
      Check(cudaFree(scores), "scores");
    } else if (task == "fp8_block_matmul") {
      const auto bytes = [&](size_t i) { return static_cast<const __nv_fp8_e4m3*>(input(i)); };
      const size_t count = std::min(tensors[4].elements, kCompared);
      Fp8BlockMatmul<<<4096, 256, 0, stream_>>>(bytes(0), single(1), bytes(2), single(3), answers[4], count, n[1],
                                                n[2]);
    } else {
      MergeAttnStates<<<2048, 256, 0, stream_>>>(half(0), single(1), half(2), single(3), answers[4], answers[5],
                                                 n[0] * n[1], n[2], log2_base);
    }
    Check(cudaStreamSynchronize(stream_), "answers");
    std::string out;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!tensors[i].out) continue;
      // Only a part of a large tensor is compared, because it must be copied to the host.
      const size_t count = std::min(tensors[i].elements, kCompared);
      const void* const got = problem.tensors[i];
      const double worst = tensors[i].type == 'h' ? WorstError(static_cast<const __half*>(got), answers[i], count)
                           : tensors[i].type == 'b'
                               ? WorstError(static_cast<const __nv_bfloat16*>(got), answers[i], count)
                               : WorstError(static_cast<const float*>(got), answers[i], count);
      char text[96];
      std::snprintf(text, sizeof(text), "%s\"%s\": %.3g", out.empty() ? "" : ", ", tensors[i].name,
                    std::min(worst, 1e30));
      out += text;
      if (!(worst <= tensors[i].tolerance)) {
        out += ", \"beyond_tolerance\": true";
        *right = false;
      }
      Check(cudaFree(answers[i]), "answers");
    }
    return out;
  }

  // Captures a graph of `sets` launches in sequence.
  cudaGraphExec_t Capture(size_t sets, const std::function<void(size_t)>& launch) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    Check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture");
    for (size_t s = 0; s < sets; ++s) launch(s);
    Check(cudaStreamEndCapture(stream_, &graph), "capture");
    Check(cudaGraphInstantiate(&executable, graph, 0), "graph");
    Check(cudaGraphDestroy(graph), "graph");
    return executable;
  }

  // Runs the graph once. Returns the microseconds.
  double Time(cudaGraphExec_t graph, size_t sets, const std::function<void(size_t)>& restore) {
    for (size_t s = 0; s < sets; ++s) restore(s);
    Flush<<<1024, 256, 0, stream_>>>(static_cast<const uint4*>(flush_), flush_bytes_ / sizeof(uint4), nullptr);
    Gate<<<1, 1, 0, stream_>>>(gate_, ++gates_);
    Check(cudaEventRecord(begin_, stream_), "event");
    Check(cudaGraphLaunch(graph, stream_), "launch");
    Check(cudaEventRecord(end_, stream_), "event");
    *static_cast<volatile int*>(gate_) = gates_;
    Check(cudaStreamSynchronize(stream_), "run");
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, begin_, end_), "event");
    return ms * 1000.0;
  }

  Options options_;
  std::mt19937_64 random_;
  cudaDeviceProp device_;
  cudaStream_t stream_;
  cudaEvent_t begin_, end_;
  int* gate_;
  int gates_ = 0;
  void* flush_;
  size_t flush_bytes_;
};

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (i + 1 >= argc) Stop(flag + " needs a value");
    const std::string value = argv[++i];
    if (flag == "--case") {
      options.cases.push_back(value);
    } else if (flag == "--contender") {
      options.contenders.push_back(Load(value));
    } else if (flag == "--rounds") {
      options.rounds = std::max(std::atoi(value.c_str()), 6);
    } else if (flag == "--seed") {
      options.seed = static_cast<unsigned>(std::atoi(value.c_str()));
    } else {
      Stop("unknown option '" + flag + "' (--case --contender --rounds --seed)");
    }
  }
  if (options.cases.empty() || options.contenders.empty()) Stop("wants at least one --case and one --contender");
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  Bench bench(options);
  bool right = true;
  std::printf("{\"device\": \"%s\", \"rounds\": %d, \"cases\": [", bench.device().name, options.rounds);
  for (size_t i = 0; i < options.cases.size(); ++i) {
    std::printf("%s\n  %s", i == 0 ? "" : ",", bench.Run(options.cases[i], &right).c_str());
    std::fflush(stdout);
  }
  std::printf("\n]}\n");
  return right ? 0 : 1;
}
