// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds counting to compiled device code: of its arithmetic and its traffic with large local arrays, which no hook sees.
//
// Every straight-line piece of the assembly that computes with floating-point numbers adds its operations to four
// counters of the host's thread (hone_sim_work, in worker/hooks.h). The counts are lower bounds for a GPU:
//   * additions, products, fused ones, minima and maxima in single precision; an operation whose result is rounded to
//     16 bits counts half, for a GPU does two of them at a time. Divisions, roots and elementary functions count one
//     and occupy the special-function unit once.
//   * loads and stores that are not global and not shared, in functions whose frame is larger than a GPU's registers:
//     arrays of that size lie in local memory there, whatever a compiler does.
// Double precision, integers, comparisons, conversions and moves are not counted: for these the host's code differs too
// much from a GPU's, and some of CUDA's functions use doubles here. Nor are functions of the simulator, such as those
// for tensor cores.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::sim {

// Meanings of hone_sim_work[i].
enum : int { kWorkOperations, kWorkSpecial, kWorkLocalReads, kWorkLocalWrites, kWorkKinds };
inline constexpr uint64_t kWorkPerOperation = 4;  // units of kWorkOperations per operation; the last two kinds count
                                                  // bytes
// A thread has 255 registers of four bytes; larger arrays cannot be in registers.
inline constexpr int64_t kRegisterBytes = 255 * 4;

// Returns the program with counting added: x86-64 in AT&T syntax, as g++ -S writes it without a red zone. Flags and
// registers keep their values.
std::string CountWork(std::string_view assembly);

}  // namespace hone::sim
