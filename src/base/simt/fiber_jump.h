// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// FiberJump does what Boost's jump_fcontext does, but faster for fibers that switch at every warp operation.
//
// A processor predicts the target of each `ret` from a stack of the calls that it has seen. jump_fcontext is called and
// never returns: it jumps to where the other fiber called it. One entry too many therefore stays on that stack, and
// every `ret` of the other fiber after the jump is mispredicted. FiberJump removes the entry by one extra return, to
// the very address that the entry holds. All lanes of a warp have the same return addresses, so each lane finds the
// predictions that the lane before it left.
#pragma once

#include <boost/context/detail/fcontext.hpp>

namespace hone::simt {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SHSTK__)
// The function is local to each file that includes this header. %rbx, which Boost restores, belongs to the resumed
// fiber: 0 at first, 1 after the extra return. The result stays in %rax and %rdx.
asm(R"(
  .pushsection .text
  .p2align 4
  .type hone_fiber_jump, @function
hone_fiber_jump:
  .cfi_startproc
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbx, 0
  xorl %ebx, %ebx
  call jump_fcontext
1:
  testl %ebx, %ebx
  jnz 2f
  incl %ebx
  leaq 1b(%rip), %rcx
  pushq %rcx
  ret
2:
  popq %rbx
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size hone_fiber_jump, .-hone_fiber_jump
  .popsection
)");
extern "C" __attribute__((visibility("hidden"))) boost::context::detail::transfer_t hone_fiber_jump(
    boost::context::detail::fcontext_t to, void* data);

inline boost::context::detail::transfer_t FiberJump(boost::context::detail::fcontext_t to, void* data) {
  return hone_fiber_jump(to, data);
}
#else
inline boost::context::detail::transfer_t FiberJump(boost::context::detail::fcontext_t to, void* data) {
  return boost::context::detail::jump_fcontext(to, data);
}
#endif

}  // namespace hone::simt
