// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes compiled device code count its own arithmetic and its traffic with large local arrays, which no hook sees.
//
// Every straight piece of the compiler's assembly that computes with floating-point numbers adds what it holds to four
// counters of the host's thread (hone_sim_work, in worker/hooks.h). What is counted is a lower bound of what a GPU
// executes:
//   * additions, products, fused ones, minima and maxima in single precision; an operation whose result is rounded to 16 bits
//     counts half, for a GPU does two of them at a time. Divisions, roots and elementary functions count one and occupy the
//     special-function unit once.
//   * loads and stores that are not global and not shared, in functions whose frame is larger than a GPU's registers: arrays
//     of that size lie in local memory there, whatever a compiler does.
// Double precision, integers, comparisons, conversions and moves are not counted: of those the host's code says too little
// about a GPU's, and some of CUDA's functions are made of doubles here. Nor are functions of the simulator, which do the
// tensor cores' work, say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::sim {

// What hone_sim_work[i] counts.
enum : int { kWorkOperations, kWorkSpecial, kWorkLocalReads, kWorkLocalWrites, kWorkKinds };
inline constexpr uint64_t kWorkPerOperation = 4;  // in units of which kWorkOperations counts; bytes for the last two
// A thread has 255 registers of four bytes. What is larger cannot be in them.
inline constexpr int64_t kRegisterBytes = 255 * 4;

// The program with the counting added: x86-64 in AT&T syntax, as g++ -S writes it without a red zone. No flag and no
// register changes.
std::string CountWork(std::string_view assembly);

}  // namespace hone::sim
