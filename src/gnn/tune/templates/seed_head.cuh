#include <cuda_bf16.h>
#include <cuda_fp16.h>

// kWidth consecutive elements in one load or store.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T v[kWidth];
};
