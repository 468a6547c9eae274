// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes fibers, and jumps from one to another on the same OS thread.
//
// FiberJump is inline assembly that names every register but three as overwritten. The compiler therefore saves only
// the registers that it needs after the jump, and the jump itself is eight instructions. It neither calls nor returns:
// a processor predicts the target of each `ret` from a stack of the calls that it has seen, and Boost's jump_fcontext,
// which is called but leaves by a jump, puts that stack out of step, so that the returns after it are mispredicted.
// Lanes of a warp have the same return addresses, and each finds the predictions that the lane before it left.
//
// Boost's function takes its place on other processors, with shadow stacks (-fcf-protection), and where the compiler
// may use registers that the assembly does not name.
//
// A jump keeps neither the rounding mode nor other control bits of floating point: all fibers of a thread share them.
// An exception ends in the fiber that throws it, and a fiber does not jump while it handles one.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__GNUC__) && defined(__x86_64__) && defined(__LP64__) && !defined(__CET__) && !defined(__SHSTK__) && \
    !defined(__APX_F__)
#define HONE_FIBER_JUMP_X86_64 1
#elif defined(__GNUC__) && defined(__aarch64__) && defined(__linux__) && !defined(__ARM_FEATURE_GCS_DEFAULT)
#define HONE_FIBER_JUMP_AARCH64 1
#else
#include <boost/context/detail/fcontext.hpp>
#endif

namespace hone::simt {

// Where a fiber that has jumped away goes on. It lies on that fiber's stack, and is valid for one jump.
struct FiberPoint {
  void* stack_pointer;
  const void* instruction;
  void* frame_pointer;
};

// What a fiber finds when it is jumped to.
struct FiberTransfer {
  FiberPoint* from;  // where the fiber that jumped goes on
  void* data;        // second argument of its FiberJump
};

#if defined(HONE_FIBER_JUMP_X86_64) || defined(HONE_FIBER_JUMP_AARCH64)

// The first instructions of each fiber (fiber_jump.cc). They call the function whose address is at the stack pointer.
extern "C" __attribute__((visibility("hidden"))) void hone_fiber_begin();

// Returns the point at which a new fiber begins: the first jump to it calls kMain, which must never return. The stack
// is the `bytes` bytes below `top`.
template <void (*kMain)(FiberTransfer)>
FiberPoint* MakeFiber(void* top, [[maybe_unused]] size_t bytes) {
  void (*const main)(FiberTransfer) = kMain;
  const uintptr_t at = (reinterpret_cast<uintptr_t>(top) - sizeof(FiberPoint)) & ~uintptr_t{15};
  void** const stack_pointer = reinterpret_cast<void**>(at - 16);
  *stack_pointer = reinterpret_cast<void*>(main);
  auto* const point = reinterpret_cast<FiberPoint*>(at);
  *point = {stack_pointer, reinterpret_cast<const void*>(&hone_fiber_begin), nullptr};
  return point;
}

// Goes on at `to`, and returns when another fiber jumps to where this one has left.
[[gnu::always_inline]] inline FiberTransfer FiberJump(FiberPoint* to, void* data) {
  FiberPoint here;
  FiberPoint* from = &here;
#if defined(HONE_FIBER_JUMP_X86_64)
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rsp, (%%rdi)\n\t"
      "movq %%rax, 8(%%rdi)\n\t"
      "movq %%rbp, 16(%%rdi)\n\t"  // the compiler lets no assembly name the frame's register as overwritten
      "movq (%%rdx), %%rsp\n\t"
      "movq 16(%%rdx), %%rbp\n\t"
      "jmpq *8(%%rdx)\n"
      "1:"
      : "+D"(from), "+S"(data), "+d"(to)
      :
      : "memory", "cc", "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
        "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)",
        "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
        "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#if defined(__AVX512F__)
        , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",
        "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31",
        "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#endif
  );
  return {from, data};
#else
  register FiberPoint* x0 asm("x0") = from;
  register void* x1 asm("x1") = data;
  register FiberPoint* x2 asm("x2") = to;
  asm volatile(
      "adr x3, 1f\n\t"
      "mov x4, sp\n\t"
      "stp x4, x3, [x0]\n\t"
      "str x29, [x0, #16]\n\t"
      "ldp x4, x16, [x2]\n\t"
      "ldr x29, [x2, #16]\n\t"
      "mov sp, x4\n\t"
      "br x16\n"
      "1: hint #36"  // bti j
      : "+r"(x0), "+r"(x1), "+r"(x2)
      :
      : "memory", "cc", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18",
        "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30",
        "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
        "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
#if defined(__ARM_FEATURE_SVE)
        , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15"
#endif
  );
  return {x0, x1};
#endif
}

#else

// A FiberPoint is what Boost calls fcontext_t here, and is never read.
template <void (*kMain)(FiberTransfer)>
FiberPoint* MakeFiber(void* top, size_t bytes) {
  return static_cast<FiberPoint*>(boost::context::detail::make_fcontext(
      top, bytes, [](boost::context::detail::transfer_t t) { kMain({static_cast<FiberPoint*>(t.fctx), t.data}); }));
}

inline FiberTransfer FiberJump(FiberPoint* to, void* data) {
  const boost::context::detail::transfer_t t = boost::context::detail::jump_fcontext(to, data);
  return {static_cast<FiberPoint*>(t.fctx), t.data};
}

#endif

}  // namespace hone::simt
