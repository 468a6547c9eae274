// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds counters to compiled device code, for its arithmetic and its traffic with large local arrays, which no hook
// sees.
//
// Every straight-line piece of the assembly that computes adds its operations to counters of the host's thread
// (hone_sim_work, in worker/hooks.h). The counts are lower bounds for a GPU:
//   * additions, products, fused ones, minima and maxima in single precision; an operation whose result is rounded to
//     16 bits counts half, for a GPU does two of them at a time. Divisions, roots and elementary functions count one
//     and occupy the special-function unit once.
//   * the same in double precision, separately. A division, a root or an elementary function counts as many operations
//     as a GPU needs at least. What the simulator's own headers compute in double, to round as a GPU does, counts as
//     one operation of single precision, where the result is rounded.
//   * operations on integers in the candidate's own text. Of 32 bits: those of two registers, shifts, products and
//     quotients. Of 64 bits: those that do not compute addresses. A GPU's compiler may fold the others into a load or
//     an unrolled loop.
//   * loads and stores that are not global and not shared, in functions whose frame, with those of the functions that
//     call it and that it calls, is larger than a GPU's registers: arrays of that size lie in local
//     memory there, whatever a compiler does.
// Comparisons, conversions and moves are not counted, nor is the text of the simulator's functions, such as those for
// tensor cores. The assembly's line directives tell which text belongs to whom; no name that a candidate gives to a
// function or to a file does. A mathematical function that is called through its address counts as if called by its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::sim {

// Meanings of hone_sim_work[i]. Local reads and writes count bytes; kWorkOperations counts quarters of an operation
// (kWorkPerOperation); the others count operations.
enum : int { kWorkOperations, kWorkSpecial, kWorkLocalReads, kWorkLocalWrites, kWorkDoubles, kWorkIntegers, kWorkKinds };
inline constexpr uint64_t kWorkPerOperation = 4;
// A thread has 255 registers of four bytes; larger arrays cannot be in registers.
inline constexpr int64_t kRegisterBytes = 255 * 4;

// Name of the file, in line directives, that holds the entries which the compiler appends to a candidate.
inline constexpr std::string_view kEntryFile = "hone-entries";

// Returns the program with counting added: x86-64 in AT&T syntax, as g++ -S writes it without a red zone. Flags and
// registers keep their values. `headers`: the absolute path of the folder with the simulator's headers, as line
// directives name it. Relative paths are the candidate's (see PlainFileNames in source_guard.h).
std::string CountWork(std::string_view assembly, std::string_view headers);

// Returns whether a function of the candidate makes room on its stack whose size is known only when it runs. `headers`
// as above.
bool HasVariableFrame(std::string_view assembly, std::string_view headers);

}  // namespace hone::sim
