// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how little time a small graph kernel can take, and how fast a large one can be.
//
// A sampled hop of 1024 seeds moves 8 to 13 MB, which takes 2 to 3 us as a copy. But a row's address is known only
// after a slot was loaded, and a slot's only after an offset, so that loads wait for loads. The kernels here make the
// same look-ups with almost no arithmetic, each line one more than the line before. They use the smallest timed shapes
// of gather_mean_backward (9700 sources, 1024 x 15 slots, rows of 512 bytes) and edge_softmax (1024 destinations, each
// with 15 slots and itself):
//
//   empty      nothing: what a launch costs
//   write      rows of zeros
//   copy       as many bytes as the task must move at least, one dense load before each store
//   offsets    loads where a source's slots begin, then writes its row of zeros
//   slots      also loads the source's first slot
//   one_row    also loads the row to which that slot points, as if each source were drawn at most once
//   rows       edge_softmax: ids, then the unweighted sum of all rows to which they point; by one, two and four warps
//
// For the middle hop (91000 sources of 9700 destinations, whose rows fit in L2) there is also "gather": for each row
// written, one row is read anywhere, and nothing is added.
//
// Each kernel is the node of a CUDA graph that has as many nodes as there are buffer sets (together larger than L2). L2
// is flushed before the graph. A line gives the median of 60 graphs divided by the number of nodes, so that the step
// from one kernel to the next is included as in hone eval; of several block sizes, the least such time.
//
//   nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 -O2 -o graph_latency_floor benchmarks/graph_latency_floor.cu
//
// Needs a GPU of compute capability 9.0. Prints one JSON object per line.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <type_traits>
#include <vector>

namespace {

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

constexpr int kVectors = 32;  // words of 16 bytes in a row
constexpr int kSources = 9700, kDestinations = 1024, kFanout = 15, kSlots = kDestinations * kFanout;
constexpr int kSets = 16;

__global__ void Empty() {}

__global__ void Write(uint4* out, int rows) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row < rows) __stcs(out + row * kVectors + threadIdx.x % 32, make_uint4(0, 0, 0, 0));
}

// Reads `reads` vectors and writes `writes`, by consecutive threads.
__global__ void Copy(const uint4* in, uint4* out, int reads, int writes) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  uint4 value = make_uint4(0, 0, 0, 0);
  if (i < reads) value = __ldg(in + i);
  if (i < writes) {
    __stcs(out + i, value);
  } else if (value.x == 1) {
    out[0] = value;  // never happens: no value is 1
  }
}

// Makes the first kLoads of these dependent loads: offset, slot, row.
template <int kLoads>
__global__ void Chain(const int* offsets, const int* slots, const uint4* rows, uint4* out, int sources) {
  const int source = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (source >= sources) return;
  const int begin = __ldg(offsets + source), end = __ldg(offsets + source + 1);
  uint4 value = make_uint4(begin, 0, 0, 0);
  if (kLoads > 1 && begin < end) {
    const int row = __ldg(slots + begin) / kFanout;
    value.x = row;
    if (kLoads > 2) value = __ldg(rows + row * kVectors + lane);
  }
  __stcs(out + source * kVectors + lane, value);
}

// Uses kSplit warps per destination, with all of its rows in flight at once.
template <int kSplit>
__global__ void Rows(const int* self, const int* index, const uint4* x, uint4* out, int destinations) {
  constexpr int kEach = (kFanout + 1) / kSplit;
  __shared__ uint4 parts[32][kVectors];
  const int warp = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int vertex = warp / kSplit, first = warp % kSplit * kEach;
  const bool present = vertex < destinations;
  uint4 pack[kEach], sum = make_uint4(0, 0, 0, 0);
  if (present) {
    const int held = lane < kFanout ? __ldg(index + vertex * kFanout + lane) : __ldg(self + vertex);
#pragma unroll
    for (int j = 0; j < kEach; ++j) pack[j] = __ldg(x + __shfl_sync(~0u, held, first + j) * kVectors + lane);
  }
  const auto add = [&](const uint4& v) { sum = make_uint4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w); };
#pragma unroll
  for (int j = 0; j < kEach; ++j) add(pack[j]);
  if (kSplit > 1) {
    const int mine = threadIdx.x / 32;
    parts[mine][lane] = sum;
    __syncthreads();
    if (first > 0) return;
    for (int other = 1; other < kSplit; ++other) add(parts[mine + other][lane]);
  }
  if (present) __stcs(out + vertex * kVectors + lane, sum);
}

// Computes out[i] = x[index[i]], kEach rows per warp.
template <int kEach>
__global__ void GatherCopy(const int* index, const uint4* x, uint4* out, int rows) {
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32 * kEach, lane = threadIdx.x % 32;
  uint4 pack[kEach];
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    if (first + j < rows) pack[j] = __ldg(x + static_cast<size_t>(__ldg(index + first + j)) * kVectors + lane);
  }
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    if (first + j < rows) __stcs(out + static_cast<size_t>(first + j) * kVectors + lane, pack[j]);
  }
}

__global__ void Flush(const uint4* from, size_t n, uint4* sink) {
  uint4 all = make_uint4(0, 0, 0, 0);
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += threads) all.x |= from[i].x;
  if (all.x == 1) *sink = all;
}

// Returns the offsets of lists as skewed as a sample's: each half of the sources gets a quarter to three quarters of
// the slots, and so on within each half, down to one source.
std::vector<int> SkewedOffsets(int sources, int total, std::mt19937& random) {
  std::vector<int> offsets(sources + 1, 0);
  offsets[sources] = total;
  const std::function<void(int, int)> split = [&](int first, int last) {
    const int middle = first + (last - first) / 2;
    if (middle == first) return;
    const double share = 0.25 + 0.5 * (random() % 32768) / 32768.0;
    const double length = offsets[last] - offsets[first];
    offsets[middle] = offsets[first] + static_cast<int>(length * share + (random() % 32768) / 32768.0);
    split(first, middle);
    split(middle, last);
  };
  split(0, sources);
  return offsets;
}

struct Set {
  int *offsets, *slots, *self, *index;
  uint4 *grad_out, *x, *out;
};

template <typename T>
T* OnDevice(const std::vector<T>& values) {
  T* to = nullptr;
  Check(cudaMalloc(&to, values.size() * sizeof(T)), "cudaMalloc");
  Check(cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return to;
}

uint4* ZeroRows(int rows) {
  uint4* to = nullptr;
  Check(cudaMalloc(&to, static_cast<size_t>(rows) * kVectors * sizeof(uint4)), "cudaMalloc");
  Check(cudaMemset(to, 0, static_cast<size_t>(rows) * kVectors * sizeof(uint4)), "cudaMemset");
  return to;
}

}  // namespace

int main() {
  std::mt19937 random(1);
  std::vector<Set> sets;
  for (int s = 0; s < kSets; ++s) {
    const auto indexes = [&](int n, int bound) {
      std::vector<int> values(n);
      for (int& v : values) v = static_cast<int>(random() % bound);
      return OnDevice(values);
    };
    sets.push_back({OnDevice(SkewedOffsets(kSources, kSlots, random)), indexes(kSlots, kSlots),
                    indexes(kDestinations, kSources), indexes(kSlots, kSources), ZeroRows(kDestinations),
                    ZeroRows(kSources), ZeroRows(kSources)});
  }
  const size_t flush = 256u << 20;
  uint4* past = nullptr;
  Check(cudaMalloc(&past, flush), "cudaMalloc");
  Check(cudaMemset(past, 0, flush), "cudaMemset");
  cudaStream_t stream;
  Check(cudaStreamCreate(&stream), "cudaStreamCreate");
  cudaEvent_t begin, end;
  Check(cudaEventCreate(&begin), "cudaEventCreate");
  Check(cudaEventCreate(&end), "cudaEventCreate");

  using Launch = std::function<void(const Set&, int block)>;
  const auto time = [&](const char* task, const char* name, const Launch& launch, const std::vector<int>& blocks) {
    double least = 1e9;
    int best = 0;
    for (const int block : blocks) {
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
      for (const Set& set : sets) launch(set, block);
      Check(cudaStreamEndCapture(stream, &graph), "capture");
      Check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
      std::vector<float> times;
      for (int round = 0; round < 61; ++round) {
        Flush<<<264, 512, 0, stream>>>(past, flush / sizeof(uint4), past);
        Check(cudaEventRecord(begin, stream), "cudaEventRecord");
        Check(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
        Check(cudaEventRecord(end, stream), "cudaEventRecord");
        Check(cudaEventSynchronize(end), "cudaEventSynchronize");
        float ms = 0;
        Check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
        if (round > 0) times.push_back(ms);
      }
      std::sort(times.begin(), times.end());
      const double us = times[times.size() / 2] * 1000.0 / static_cast<double>(sets.size());
      if (us < least) {
        least = us;
        best = block;
      }
      Check(cudaGraphExecDestroy(exec), "cudaGraphExecDestroy");
      Check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    }
    std::printf("{\"task\":\"%s\",\"kernel\":\"%s\",\"us\":%.3f,\"block\":%d}\n", task, name, least, best);
  };
  const std::vector<int> all = {64, 128, 256, 512, 1024};
  const auto grid = [](int rows, int block) { return (rows * 32 + block - 1) / block; };
  time(
      "any", "empty", [&](const Set&, int block) { Empty<<<132, block, 0, stream>>>(); }, all);

  const char* backward = "gather_mean_backward";
  const int read_once = (kDestinations * 98 / 100 * 516 + kSlots * 4 + (kSources + 1) * 4) / 16;
  const int written = kSources * kVectors;
  time(
      backward, "write", [&](const Set& s, int b) { Write<<<grid(kSources, b), b, 0, stream>>>(s.out, kSources); },
      all);
  time(
      backward, "copy",
      [&](const Set& s, int b) {
        Copy<<<(std::max(read_once, written) + b - 1) / b, b, 0, stream>>>(s.x, s.out, read_once, written);
      },
      all);
  time(
      backward, "offsets",
      [&](const Set& s, int b) {
        Chain<1><<<grid(kSources, b), b, 0, stream>>>(s.offsets, s.slots, s.grad_out, s.out, kSources);
      },
      all);
  time(
      backward, "slots",
      [&](const Set& s, int b) {
        Chain<2><<<grid(kSources, b), b, 0, stream>>>(s.offsets, s.slots, s.grad_out, s.out, kSources);
      },
      all);
  time(
      backward, "one_row",
      [&](const Set& s, int b) {
        Chain<3><<<grid(kSources, b), b, 0, stream>>>(s.offsets, s.slots, s.grad_out, s.out, kSources);
      },
      all);

  const char* softmax = "edge_softmax";
  const int attended = kSources * 78 / 100 * kVectors, out = kDestinations * kVectors;
  time(
      softmax, "write",
      [&](const Set& s, int b) { Write<<<grid(kDestinations, b), b, 0, stream>>>(s.out, kDestinations); }, all);
  time(
      softmax, "copy",
      [&](const Set& s, int b) { Copy<<<(attended + b - 1) / b, b, 0, stream>>>(s.x, s.out, attended, out); }, all);
  const auto rows = [&](const char* name, auto split) {
    constexpr int kSplit = decltype(split)::value;
    time(softmax, name,
         [&](const Set& s, int b) {
           Rows<kSplit><<<grid(kDestinations * kSplit, b), b, 0, stream>>>(s.self, s.index, s.x, s.out, kDestinations);
         },
         {32 * kSplit, 64 * kSplit, 128 * kSplit, 256 * kSplit});
  };
  rows("rows", std::integral_constant<int, 1>());
  rows("rows, two warps each", std::integral_constant<int, 2>());
  rows("rows, four warps each", std::integral_constant<int, 4>());

  // The middle hop has 91000 sources and 9700 destinations whose rows fit in L2. One row is read and one written for
  // each source.
  constexpr int kManySources = 91000, kManyDestinations = 9700;
  std::vector<Set> many;
  for (int s = 0; s < 4; ++s) {
    std::vector<int> values(kManySources);
    for (int& v : values) v = static_cast<int>(random() % kManyDestinations);
    many.push_back(
        {OnDevice(values), nullptr, nullptr, nullptr, ZeroRows(kManyDestinations), nullptr, ZeroRows(kManySources)});
  }
  sets = many;
  time(
      "gather_mean_backward 91000", "write",
      [&](const Set& s, int b) { Write<<<grid(kManySources, b), b, 0, stream>>>(s.out, kManySources); }, all);
  const auto gather_copy = [&](const char* name, auto each) {
    constexpr int kEach = decltype(each)::value;
    time(
        "gather_mean_backward 91000", name,
        [&](const Set& s, int b) {
          const int blocks = grid((kManySources + kEach - 1) / kEach, b);
          GatherCopy<kEach><<<blocks, b, 0, stream>>>(s.offsets, s.grad_out, s.out, kManySources);
        },
        all);
  };
  gather_copy("gather, one row a warp", std::integral_constant<int, 1>());
  gather_copy("gather, two rows a warp", std::integral_constant<int, 2>());
  gather_copy("gather, four rows a warp", std::integral_constant<int, 4>());
  Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return 0;
}
