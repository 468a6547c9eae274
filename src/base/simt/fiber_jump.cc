// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the instructions at which fibers begin. The arguments of the fiber's function are in their registers already: they
// are the two that FiberJump hands on. The return address is marked as undefined, so that debuggers, profilers and the
// search for an exception's handler end here.
#include "base/simt/fiber_jump.h"

#if defined(HONE_FIBER_JUMP_X86_64)
asm(R"(
  .pushsection .text
  .p2align 4
  .globl hone_fiber_begin
  .hidden hone_fiber_begin
  .type hone_fiber_begin, @function
hone_fiber_begin:
  .cfi_startproc
  .cfi_undefined rip
  callq *(%rsp)
  ud2
  .cfi_endproc
  .size hone_fiber_begin, .-hone_fiber_begin
  .popsection
)");
#elif defined(HONE_FIBER_JUMP_AARCH64)
asm(R"(
  .pushsection .text
  .p2align 4
  .globl hone_fiber_begin
  .hidden hone_fiber_begin
  .type hone_fiber_begin, %function
hone_fiber_begin:
  .cfi_startproc
  .cfi_undefined x30
  hint #36
  ldr x9, [sp]
  blr x9
  brk #1000
  .cfi_endproc
  .size hone_fiber_begin, .-hone_fiber_begin
  .popsection
)");
#endif
