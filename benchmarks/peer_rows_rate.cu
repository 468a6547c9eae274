// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how fast feature rows can be read from other GPUs' memory in the order of a mini-batch, which is random.
//
//   nvcc -O3 -std=c++20 -arch=sm_90a -o peer_rows_rate benchmarks/peer_rows_rate.cu && ./peer_rows_rate [gigabytes]
//
// One process maps a part of an array from each GPU that it sees into one address range, as the ranks of `--features
// peers` do (src/gnn/cuda/graph/peer_rows.h). Every GPU reads rows of 256 bytes: from its own part, from all parts, and
// from the others' parts; one GPU alone, and all at once. The program prints the GB/s of the slowest GPU, and checks
// every row that was read. The time is that of events around kLaunches launches of kRows rows each, after one launch
// that is not counted.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr uint32_t kRows = 4u << 20;
constexpr int kLaunches = 10, kBlock = 256, kLanes = 16;  // a row is read by kLanes lanes, 16 bytes each

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "peer_rows_rate: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

void Check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "peer_rows_rate: %s: error %d of the driver\n", what, static_cast<int>(result));
  std::exit(3);
}

template <typename Function>
Function* Driver(Function*, const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  Check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found), name);
  if (found != cudaDriverEntryPointSuccess) Check(CUDA_ERROR_NOT_FOUND, name);
  return reinterpret_cast<Function*>(function);
}
#define DRIVER(name) Driver(&name, #name)

enum class Which { kOwn, kAll, kOthers };

struct Part {
  uint32_t rows;       // rows of each GPU
  uint32_t all, mine;  // rows of the whole array; number of this GPU
};

__device__ uint32_t Scrambled(uint32_t x) {  // murmur3's finalizer
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

__device__ uint32_t RowOf(uint32_t i, uint32_t seed, Part part, Which which) {
  const uint32_t span = which == Which::kOwn ? part.rows : which == Which::kAll ? part.all : part.all - part.rows;
  const uint32_t row = __umulhi(Scrambled(i * 2654435761u + seed), span), first = part.mine * part.rows;
  if (which == Which::kOwn) return first + row;
  return which == Which::kOthers && row >= first ? row + part.rows : row;
}

__global__ void FillKernel(uint4* rows, uint32_t first, uint32_t count) {
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < uint64_t{count} * kLanes; i += threads) {
    rows[uint64_t{first} * kLanes + i] = make_uint4(first + static_cast<uint32_t>(i / kLanes), 0, 0, i % kLanes);
  }
}

// Reads rows; each group of sixteen lanes has four rows in flight.
__global__ void __launch_bounds__(kBlock) ReadKernel(const uint4* rows, Part part, Which which, uint32_t seed, uint32_t* wrong) {
  constexpr int kUnderWay = 4;
  const uint32_t lane = threadIdx.x % kLanes, groups = gridDim.x * kBlock / kLanes;
  uint32_t bad = 0;
  for (uint32_t i = (blockIdx.x * kBlock + threadIdx.x) / kLanes * kUnderWay; i < kRows; i += groups * kUnderWay) {
    uint4 value[kUnderWay];
    uint32_t row[kUnderWay];
#pragma unroll
    for (int n = 0; n < kUnderWay; ++n) {
      row[n] = RowOf(i + n, seed, part, which);
      value[n] = rows[uint64_t{row[n]} * kLanes + lane];
    }
#pragma unroll
    for (int n = 0; n < kUnderWay; ++n) bad += value[n].x != row[n] || value[n].w != lane;
  }
  if (bad != 0) atomicAdd(wrong, bad);
}

}  // namespace

int main(int argc, char** argv) {
  const double gigabytes = argc > 1 ? std::atof(argv[1]) : 28.4;  // papers100M's features
  int gpus = 0;
  Check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
  for (int g = gpus; g-- > 0;) {
    Check(cudaSetDevice(g), "cudaSetDevice");
    Check(cudaFree(nullptr), "cudaFree");
  }
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t granule = 0;
  Check(DRIVER(cuMemGetAllocationGranularity)(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED), "granularity");
  const size_t wanted = static_cast<size_t>(gigabytes * 1e9 / gpus), bytes = (wanted + granule - 1) / granule * granule;
  CUdeviceptr array = 0;
  Check(DRIVER(cuMemAddressReserve)(&array, bytes * gpus, granule, 0, 0), "cuMemAddressReserve");
  std::vector<CUmemAccessDesc> access(gpus);
  for (int g = 0; g < gpus; ++g) {
    properties.location.id = g;
    access[g] = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory = 0;
    Check(DRIVER(cuMemCreate)(&memory, bytes, &properties, 0), "cuMemCreate");
    Check(DRIVER(cuMemMap)(array + bytes * g, bytes, 0, memory, 0), "cuMemMap");
  }
  Check(DRIVER(cuMemSetAccess)(array, bytes * gpus, access.data(), access.size()), "cuMemSetAccess");
  auto* const rows = reinterpret_cast<uint4*>(array);
  const auto part_rows = static_cast<uint32_t>(bytes / (kLanes * sizeof(uint4)));
  std::vector<uint32_t*> wrong(gpus);
  for (int g = 0; g < gpus; ++g) {
    Check(cudaSetDevice(g), "cudaSetDevice");
    FillKernel<<<2048, 256>>>(rows, g * part_rows, part_rows);
    Check(cudaMalloc(&wrong[g], sizeof(uint32_t)), "cudaMalloc");
    Check(cudaMemset(wrong[g], 0, sizeof(uint32_t)), "cudaMemset");
    Check(cudaDeviceSynchronize(), "FillKernel");
  }

  for (const int readers : {1, gpus}) {
    for (const Which which : {Which::kOwn, Which::kAll, Which::kOthers}) {
      for (const int blocks : {264, 1056}) {
        if (gpus == 1 && which == Which::kOthers) continue;
        std::vector<float> ms(readers);
        std::vector<std::thread> threads;
        for (int g = 0; g < readers; ++g) {
          threads.emplace_back([&, g] {
            Check(cudaSetDevice(g), "cudaSetDevice");
            cudaStream_t stream;
            cudaEvent_t begin, end;
            Check(cudaStreamCreate(&stream), "cudaStreamCreate");
            Check(cudaEventCreate(&begin), "cudaEventCreate");
            Check(cudaEventCreate(&end), "cudaEventCreate");
            const Part part{part_rows, part_rows * gpus, static_cast<uint32_t>(g)};
            for (int launch = 0; launch <= kLaunches; ++launch) {
              ReadKernel<<<blocks, kBlock, 0, stream>>>(rows, part, which, 1000u * launch + g, wrong[g]);
              if (launch == 0) Check(cudaEventRecord(begin, stream), "cudaEventRecord");
            }
            Check(cudaEventRecord(end, stream), "cudaEventRecord");
            Check(cudaEventSynchronize(end), "ReadKernel");
            Check(cudaEventElapsedTime(&ms[g], begin, end), "cudaEventElapsedTime");
          });
        }
        for (std::thread& thread : threads) thread.join();
        const char* const names[] = {"its own rows", "rows of all", "the others' rows"};
        std::printf("%d of %d GPUs read %s, %d blocks: %.1f GB/s each\n", readers, gpus, names[static_cast<int>(which)], blocks,
                    1e-6 * kRows * kLanes * sizeof(uint4) * kLaunches / *std::max_element(ms.begin(), ms.end()));
      }
    }
    if (gpus == 1) break;
  }
  for (int g = 0; g < gpus; ++g) {
    uint32_t bad = 0;
    Check(cudaMemcpy(&bad, wrong[g], sizeof(bad), cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (bad == 0) continue;
    std::fprintf(stderr, "peer_rows_rate: GPU %d read %u wrong values\n", g, bad);
    return 1;
  }
  return 0;
}
