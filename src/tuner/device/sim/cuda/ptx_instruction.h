// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes one parsed PTX instruction, and translates it to C++ that uses hone_ptx (ptx_ops.h).
//
// Internal to the rewriter: ptx_translate.cc parses, ptx_instruction.cc knows the opcodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

struct PtxOperand {
  enum class Kind {
    kRegister,   // `text` names a uint64_t
    kPredicate,  // `text` names a bool, or is `!name`
    kInteger,    // `text` is a C++ expression: a literal, an "n" operand, a macro parameter, a special register
    kFloat,      // `text` is a decimal C++ literal
    kBits,       // `text` is the value of a hexadecimal float literal: bits already
    kVector,     // `elements`
    kAddress,    // `text` is the address as a uint64_t expression
    kSink,       // `_`
  };
  Kind kind = Kind::kInteger;
  std::string text;
  std::vector<PtxOperand> elements;
  std::string pair;  // the predicate after `|`, or empty; "_" for a sink
};

struct PtxInstruction {
  std::string opcode;              // as written, for messages: "ld.global.nc.v4.u32"
  std::vector<std::string> parts;  // split at dots; "L1::no_allocate" is one part
  std::vector<PtxOperand> operands;

  bool Has(std::string_view part) const;
};

// Returns C++ statements for the instruction. kInvalidArgument with "inline PTX '<opcode>' is not emulated" for opcodes
// that the simulator does not know, and with the error for a malformed one. The caller adds the line.
Result<std::string> EmitPtx(const PtxInstruction& instruction);

}  // namespace hone
