// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the functions that -fsanitize=thread makes device code call before every load and store.
//
// Images are linked with --wrap for each of these names, so that they call __wrap___tsan_read4 and so on: a build of
// Hone with the real ThreadSanitizer keeps its own hooks. sim_compiler.cc takes the list of names from
// WrappedSymbols(), which is made from the same table as the functions.
#include "tuner/device/sim/worker/hooks.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "tuner/device/sim/worker/worker_access.h"

using hone::sim::Access;
using hone::sim::AccessRange;
using hone::sim::current_worker;
using hone::sim::Ordering;

namespace {

inline uint64_t Address(const volatile void* p) { return reinterpret_cast<uint64_t>(p); }

// Handles accesses of types without the alignment of their size: in smaller pieces, as on a GPU.
template <bool kWrites>
inline void Unaligned(uint64_t address, uint64_t bytes, uint64_t pc) {
  if ((address & (bytes - 1)) == 0 && bytes <= 4) {
    Access<kWrites, !kWrites, Ordering::kPlain, true>(address, bytes, pc);
  } else {
    AccessRange<kWrites>(address, bytes, pc);
  }
}

// Lets other fibers run when this one spins. Called before the bookkeeping: the access itself follows the hook at once,
// so its value matches the records.
inline void Spin() {
  hone::sim::Worker* const w = current_worker;
  if (w != nullptr && w->fiber != nullptr) w->Spin();
}

// Reports a volatile access. One that waits in a loop lets the threads run for which it may be waiting.
template <bool kWrites>
inline void Volatile(uint64_t address, uint64_t bytes, uint64_t pc) {
  if (!kWrites) Spin();
  if (hone::sim::Worker* const w = current_worker; w != nullptr && w->fiber != nullptr && w->block != nullptr) {
    if (kWrites) {
      w->LetOthersIn(address);
    } else if (address - hone::sim::kGlobalBase < hone::sim::kGlobalSpan) {
      w->fiber->volatile_read = address;
    }
  }
  Access<kWrites, !kWrites, Ordering::kVolatile, /*kAligned=*/true>(address, bytes, pc);
  hone::sim::OrderAccess(address, !kWrites, kWrites, /*acquire=*/false, /*release=*/false);
}

// Interprets memory_order of the C++ ABI: 0 relaxed, 1 consume, 2 acquire, 3 release, 4 acq_rel, 5 seq_cst.
inline bool Acquires(int order) { return order != 0 && order != 3; }
inline bool Releases(int order) { return order >= 3; }

template <bool kWrites, bool kReads>
inline void Atomic(const volatile void* p, uint64_t bytes, int order, uint64_t pc) {
  Spin();
  Access<kWrites, kReads, Ordering::kAtomic, true>(Address(p), bytes, pc);
  hone::sim::OrderAccess(Address(p), kReads, kWrites, kReads && Acquires(order), kWrites && Releases(order));
}

}  // namespace

#define HONE_PC reinterpret_cast<uint64_t>(__builtin_return_address(0))

extern "C" {

constinit thread_local uint64_t hone_sim_work[6] = {};

// The first two arguments of Access are kWrites and kReads, the last is kAligned.
#define HONE_PLAIN(N)                                                                                        \
  void __wrap___tsan_read##N(void* p) { Access<false, true, Ordering::kPlain, true>(Address(p), N, HONE_PC); }  \
  void __wrap___tsan_write##N(void* p) { Access<true, false, Ordering::kPlain, true>(Address(p), N, HONE_PC); } \
  void __wrap___tsan_unaligned_read##N(void* p) { Unaligned<false>(Address(p), N, HONE_PC); }                \
  void __wrap___tsan_unaligned_write##N(void* p) { Unaligned<true>(Address(p), N, HONE_PC); }                \
  void __wrap___tsan_volatile_read##N(void* p) { Volatile<false>(Address(p), N, HONE_PC); }                  \
  void __wrap___tsan_volatile_write##N(void* p) { Volatile<true>(Address(p), N, HONE_PC); }                  \
  void __wrap___tsan_unaligned_volatile_read##N(void* p) { Unaligned<false>(Address(p), N, HONE_PC); }       \
  void __wrap___tsan_unaligned_volatile_write##N(void* p) { Unaligned<true>(Address(p), N, HONE_PC); }
HONE_PLAIN(1)
HONE_PLAIN(2)
HONE_PLAIN(4)
HONE_PLAIN(8)
HONE_PLAIN(16)
#undef HONE_PLAIN

void __wrap___tsan_read_range(void* p, unsigned long n) { AccessRange<false>(Address(p), n, HONE_PC); }
void __wrap___tsan_write_range(void* p, unsigned long n) { AccessRange<true>(Address(p), n, HONE_PC); }

void* __wrap_memcpy(void* to, const void* from, unsigned long n) {
  AccessRange<false>(Address(from), n, HONE_PC);
  AccessRange<true>(Address(to), n, HONE_PC);
  return std::memcpy(to, from, n);
}
void* __wrap_memmove(void* to, const void* from, unsigned long n) {
  AccessRange<false>(Address(from), n, HONE_PC);
  AccessRange<true>(Address(to), n, HONE_PC);
  return std::memmove(to, from, n);
}
int __wrap_memcmp(const void* a, const void* b, unsigned long n) {
  AccessRange<false>(Address(a), n, HONE_PC);
  AccessRange<false>(Address(b), n, HONE_PC);
  return std::memcmp(a, b, n);
}
void* __wrap_memset(void* to, int value, unsigned long n) {
  AccessRange<true>(Address(to), n, HONE_PC);
  return std::memset(to, value, n);
}

// Mathematical functions that return a value through a pointer: the store is announced here, since the C library's own
// code has no hooks. nan takes a text, of which a GPU ignores what it says.
#define HONE_SPLIT(SUFFIX, T)                                              \
  T __wrap_modf##SUFFIX(T value, T* whole) {                               \
    AccessRange<true>(Address(whole), sizeof(T), HONE_PC);                 \
    return std::modf(value, whole);                                        \
  }                                                                        \
  T __wrap_frexp##SUFFIX(T value, int* exponent) {                         \
    AccessRange<true>(Address(exponent), sizeof(int), HONE_PC);            \
    return std::frexp(value, exponent);                                    \
  }                                                                        \
  T __wrap_remquo##SUFFIX(T value, T by, int* quotient) {                  \
    AccessRange<true>(Address(quotient), sizeof(int), HONE_PC);            \
    return std::remquo(value, by, quotient);                               \
  }                                                                        \
  void __wrap_sincos##SUFFIX(T value, T* sine, T* cosine) {                \
    AccessRange<true>(Address(sine), sizeof(T), HONE_PC);                  \
    AccessRange<true>(Address(cosine), sizeof(T), HONE_PC);                \
    const T s = std::sin(value), c = std::cos(value);                      \
    *sine = s;                                                             \
    *cosine = c;                                                           \
  }                                                                        \
  T __wrap_nan##SUFFIX(const char* tag) {                                  \
    AccessRange<false>(Address(tag), 1, HONE_PC);                          \
    return std::numeric_limits<T>::quiet_NaN();                            \
  }
HONE_SPLIT(, double)
HONE_SPLIT(f, float)
#undef HONE_SPLIT

#define HONE_RMW(BITS, T, NAME, BUILTIN)                                               \
  T __wrap___tsan_atomic##BITS##_##NAME(volatile void* p, T value, int order) {        \
    Atomic<true, true>(p, sizeof(T), order, HONE_PC);                                  \
    return BUILTIN(static_cast<volatile T*>(p), value, __ATOMIC_SEQ_CST);              \
  }
#define HONE_ATOMICS(BITS, T)                                                          \
  T __wrap___tsan_atomic##BITS##_load(const volatile void* p, int order) {             \
    Atomic<false, true>(p, sizeof(T), order, HONE_PC);                                 \
    return __atomic_load_n(static_cast<const volatile T*>(p), __ATOMIC_SEQ_CST);       \
  }                                                                                    \
  void __wrap___tsan_atomic##BITS##_store(volatile void* p, T value, int order) {      \
    Atomic<true, false>(p, sizeof(T), order, HONE_PC);                                 \
    __atomic_store_n(static_cast<volatile T*>(p), value, __ATOMIC_SEQ_CST);            \
  }                                                                                    \
  HONE_RMW(BITS, T, exchange, __atomic_exchange_n)                                     \
  HONE_RMW(BITS, T, fetch_add, __atomic_fetch_add)                                     \
  HONE_RMW(BITS, T, fetch_sub, __atomic_fetch_sub)                                     \
  HONE_RMW(BITS, T, fetch_and, __atomic_fetch_and)                                     \
  HONE_RMW(BITS, T, fetch_or, __atomic_fetch_or)                                       \
  HONE_RMW(BITS, T, fetch_xor, __atomic_fetch_xor)                                     \
  HONE_RMW(BITS, T, fetch_nand, __atomic_fetch_nand)                                   \
  int __wrap___tsan_atomic##BITS##_compare_exchange_strong(volatile void* p, void* expected, T desired, int order, \
                                                           int) {                      \
    Atomic<true, true>(p, sizeof(T), order, HONE_PC);                                  \
    return __atomic_compare_exchange_n(static_cast<volatile T*>(p), static_cast<T*>(expected), desired, false,     \
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
  }                                                                                    \
  int __wrap___tsan_atomic##BITS##_compare_exchange_weak(volatile void* p, void* expected, T desired, int order,   \
                                                         int) {                        \
    Atomic<true, true>(p, sizeof(T), order, HONE_PC);                                  \
    return __atomic_compare_exchange_n(static_cast<volatile T*>(p), static_cast<T*>(expected), desired, false,     \
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
  }                                                                                    \
  T __wrap___tsan_atomic##BITS##_compare_exchange_val(volatile void* p, T expected, T desired, int order, int) {   \
    Atomic<true, true>(p, sizeof(T), order, HONE_PC);                                  \
    __atomic_compare_exchange_n(static_cast<volatile T*>(p), &expected, desired, false, __ATOMIC_SEQ_CST,          \
                                __ATOMIC_SEQ_CST);                                     \
    return expected;                                                                   \
  }
HONE_ATOMICS(8, unsigned char)
HONE_ATOMICS(16, unsigned short)
HONE_ATOMICS(32, unsigned int)
HONE_ATOMICS(64, unsigned long long)
#undef HONE_ATOMICS
#undef HONE_RMW

void __wrap___tsan_atomic_thread_fence(int) {
  hone::sim::Worker* const w = current_worker;
  if (w != nullptr && w->block != nullptr) w->block->order.Fence(w->self);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __wrap___tsan_atomic_signal_fence(int) {}

void __wrap___tsan_init() {}
void __wrap___tsan_func_entry(void*) {}
void __wrap___tsan_func_exit() {}
void __wrap___tsan_vptr_update(void**, void*) {}
void __wrap___tsan_vptr_read(void**) {}

}  // extern "C"

namespace hone::sim {

std::vector<std::string> WrappedSymbols() {
  std::vector<std::string> names{"memcpy", "memmove", "memset", "memcmp", "modf", "modff", "frexp", "frexpf",
                                 "remquo", "remquof", "sincos", "sincosf", "nan", "nanf", "__tsan_read_range", "__tsan_write_range",
                                 "__tsan_atomic_thread_fence", "__tsan_atomic_signal_fence", "__tsan_init",
                                 "__tsan_func_entry", "__tsan_func_exit", "__tsan_vptr_update", "__tsan_vptr_read"};
  for (const char* bytes : {"1", "2", "4", "8", "16"}) {
    for (const char* kind : {"", "unaligned_", "volatile_", "unaligned_volatile_"}) {
      for (const char* direction : {"read", "write"}) {
        names.push_back(std::string("__tsan_") + kind + direction + bytes);
      }
    }
  }
  for (const char* bits : {"8", "16", "32", "64"}) {
    for (const char* name : {"load", "store", "exchange", "fetch_add", "fetch_sub", "fetch_and", "fetch_or",
                             "fetch_xor", "fetch_nand", "compare_exchange_strong", "compare_exchange_weak",
                             "compare_exchange_val"}) {
      names.push_back(std::string("__tsan_atomic") + bits + "_" + name);
    }
  }
  return names;
}

}  // namespace hone::sim
