// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements CUDA's atomic functions: each is announced to the runtime (address check, race bookkeeping, a chance for
// other threads when one spins), then done by a real atomic instruction, because blocks may run on several OS threads.
// All relaxed, as in CUDA. The `_block` and `_system` variants differ from the plain ones only in the announced scope.
#pragma once

#include "math.h"
#include "sim_abi.h"

namespace hone_sim {

template <typename T>
HONE_SIM_HIDDEN auto FetchAdd(T* address, T value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
template <typename T>
HONE_SIM_HIDDEN auto FetchAnd(T* address, T value) {
  return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
}
template <typename T>
HONE_SIM_HIDDEN auto FetchOr(T* address, T value) {
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}
template <typename T>
HONE_SIM_HIDDEN auto FetchXor(T* address, T value) {
  return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}
template <typename T>
HONE_SIM_HIDDEN auto FetchExchange(T* address, T value) {
  return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);
}
template <typename T>
HONE_SIM_HIDDEN auto FetchCompare(T* address, T expected, T desired) {
  __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
template <typename T>
HONE_SIM_HIDDEN T LoadRelaxed(const volatile T* address) {
  return __atomic_load_n(address, __ATOMIC_RELAXED);
}
template <typename T>
HONE_SIM_HIDDEN void StoreRelaxed(volatile T* address, T value) {
  __atomic_store_n(address, value, __ATOMIC_RELAXED);
}

template <size_t kBytes>
struct WordOf;
template <>
struct WordOf<2> {
  typedef unsigned short Type;
};
template <>
struct WordOf<4> {
  typedef unsigned Type;
};
template <>
struct WordOf<8> {
  typedef unsigned long long Type;
};

// Replaces *address by step(*address) and returns the old value; for updates without an instruction of their own. Pairs
// of 16-bit floats go as one word, which is stronger than the GPU's promise for each half.
template <typename T, typename Step>
HONE_SIM_HIDDEN auto FetchUpdate(T* address, T operand, Step step) {
  typedef typename WordOf<sizeof(T)>::Type Word;
  Word* word = reinterpret_cast<Word*>(address);
  Word old_word = __atomic_load_n(word, __ATOMIC_RELAXED), new_word;
  do {
    new_word = __builtin_bit_cast(Word, step(__builtin_bit_cast(T, old_word), operand));
  } while (!__atomic_compare_exchange_n(word, &old_word, new_word, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return __builtin_bit_cast(T, old_word);
}

template <typename T>
struct StepAdd {
  HONE_SIM_HIDDEN_INLINE auto operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct StepMin {
  HONE_SIM_HIDDEN_INLINE auto operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct StepMax {
  HONE_SIM_HIDDEN_INLINE auto operator()(T a, T b) const { return b > a ? b : a; }
};
struct StepIncrement {
  HONE_SIM_HIDDEN_INLINE unsigned operator()(unsigned old, unsigned top) const { return old >= top ? 0u : old + 1u; }
};
struct StepDecrement {
  HONE_SIM_HIDDEN_INLINE unsigned operator()(unsigned old, unsigned top) const {
    return old == 0 || old > top ? top : old - 1u;
  }
};

HONE_SIM_INLINE void AnnounceAtomic(const volatile void* address, unsigned bytes, int scope) {
  hone_sim_atomic(address, bytes, HONE_SIM_UPDATE, HONE_SIM_RELAXED, scope);
}

}  // namespace hone_sim

// Defines one CUDA function in its three scopes. `...` is the expression that computes it from `address` and `value`.
#define HONE_SIM_ATOMIC_SCOPES(NAME, T, ...)                              \
  HONE_SIM_ATOMIC_ONE(NAME, T, HONE_SIM_SCOPE_DEVICE, __VA_ARGS__)        \
  HONE_SIM_ATOMIC_ONE(NAME##_block, T, HONE_SIM_SCOPE_BLOCK, __VA_ARGS__) \
  HONE_SIM_ATOMIC_ONE(NAME##_system, T, HONE_SIM_SCOPE_SYSTEM, __VA_ARGS__)
#define HONE_SIM_ATOMIC_ONE(NAME, T, SCOPE, ...)         \
  HONE_SIM_INLINE T NAME(T* address, T value) {          \
    hone_sim::AnnounceAtomic(address, sizeof(T), SCOPE); \
    return __VA_ARGS__;                                  \
  }
#define HONE_SIM_ATOMIC_INTEGER(T)                                                                    \
  HONE_SIM_ATOMIC_SCOPES(atomicAdd, T, hone_sim::FetchAdd(address, value))                            \
  HONE_SIM_ATOMIC_SCOPES(atomicExch, T, hone_sim::FetchExchange(address, value))                      \
  HONE_SIM_ATOMIC_SCOPES(atomicMin, T, hone_sim::FetchUpdate(address, value, hone_sim::StepMin<T>())) \
  HONE_SIM_ATOMIC_SCOPES(atomicMax, T, hone_sim::FetchUpdate(address, value, hone_sim::StepMax<T>())) \
  HONE_SIM_ATOMIC_SCOPES(atomicAnd, T, hone_sim::FetchAnd(address, value))                            \
  HONE_SIM_ATOMIC_SCOPES(atomicOr, T, hone_sim::FetchOr(address, value))                              \
  HONE_SIM_ATOMIC_SCOPES(atomicXor, T, hone_sim::FetchXor(address, value))
HONE_SIM_ATOMIC_INTEGER(int)
HONE_SIM_ATOMIC_INTEGER(unsigned)
HONE_SIM_ATOMIC_INTEGER(unsigned long long)
#undef HONE_SIM_ATOMIC_INTEGER
HONE_SIM_ATOMIC_SCOPES(atomicMin, long long, hone_sim::FetchUpdate(address, value, hone_sim::StepMin<long long>()))
HONE_SIM_ATOMIC_SCOPES(atomicMax, long long, hone_sim::FetchUpdate(address, value, hone_sim::StepMax<long long>()))
HONE_SIM_ATOMIC_SCOPES(atomicSub, int, hone_sim::FetchAdd(address, static_cast<int>(0u - static_cast<unsigned>(value))))
HONE_SIM_ATOMIC_SCOPES(atomicSub, unsigned, hone_sim::FetchAdd(address, 0u - value))
HONE_SIM_ATOMIC_SCOPES(atomicInc, unsigned, hone_sim::FetchUpdate(address, value, hone_sim::StepIncrement()))
HONE_SIM_ATOMIC_SCOPES(atomicDec, unsigned, hone_sim::FetchUpdate(address, value, hone_sim::StepDecrement()))
HONE_SIM_ATOMIC_SCOPES(atomicAdd, float, hone_sim::FetchUpdate(address, value, hone_sim::StepAdd<float>()))
HONE_SIM_ATOMIC_SCOPES(atomicAdd, double, hone_sim::FetchUpdate(address, value, hone_sim::StepAdd<double>()))
HONE_SIM_ATOMIC_SCOPES(atomicExch, float,
                       __uint_as_float(hone_sim::FetchExchange(reinterpret_cast<unsigned*>(address),
                                                               __float_as_uint(value))))

#define HONE_SIM_ATOMIC_CAS(NAME, T, SCOPE)                    \
  HONE_SIM_INLINE T NAME(T* address, T expected, T desired) {  \
    hone_sim::AnnounceAtomic(address, sizeof(T), SCOPE);       \
    return hone_sim::FetchCompare(address, expected, desired); \
  }
#define HONE_SIM_ATOMIC_CAS_SCOPES(T)                           \
  HONE_SIM_ATOMIC_CAS(atomicCAS, T, HONE_SIM_SCOPE_DEVICE)      \
  HONE_SIM_ATOMIC_CAS(atomicCAS_block, T, HONE_SIM_SCOPE_BLOCK) \
  HONE_SIM_ATOMIC_CAS(atomicCAS_system, T, HONE_SIM_SCOPE_SYSTEM)
HONE_SIM_ATOMIC_CAS_SCOPES(unsigned short)
HONE_SIM_ATOMIC_CAS_SCOPES(int)
HONE_SIM_ATOMIC_CAS_SCOPES(unsigned)
HONE_SIM_ATOMIC_CAS_SCOPES(unsigned long long)
#undef HONE_SIM_ATOMIC_CAS_SCOPES
#undef HONE_SIM_ATOMIC_CAS

// Compute capability 9.0 adds vectors of floats; each element is atomic, the vector is not.
HONE_SIM_INLINE float2 atomicAdd(float2* address, float2 value) {
  return float2(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y));
}
HONE_SIM_INLINE float4 atomicAdd(float4* address, float4 value) {
  return float4(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y), atomicAdd(&address->z, value.z),
                atomicAdd(&address->w, value.w));
}
