// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the state of one instruction's translation, shared by the families of opcodes.
//
// Internal to the rewriter. Handlers append C++ to out_ and return a Status; they are spread over ptx_memory.cc,
// ptx_arithmetic.cc and ptx_warp.cc, and ptx_instruction.cc chooses among them. Each handler reads the modifiers it
// understands; an unknown modifier that could change the result makes the instruction unsupported, so nothing is
// emulated approximately by accident.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "tuner/device/sim/cuda/ptx_instruction.h"

namespace hone {

struct PtxType {
  std::string cpp;      // C++ tag type of ptx_ops.h: "float"
  std::string element;  // C++ unsigned integer of the same size, as which memory is read and written
  int bits = 0;
  enum Kind { kBitsOnly, kUnsigned, kSigned, kFloat, kPackedFloat, kPredicate } kind = kBitsOnly;
};

// Returns the type that PTX calls `name` ("u32"); null if there is none.
const PtxType* FindPtxType(std::string_view name);

class PtxEmitter {
 public:
  explicit PtxEmitter(const PtxInstruction& i) : i_(i) {}
  Result<std::string> Run();

 private:
  Status Unsupported() const {
    return Status::InvalidArgument("inline PTX '" + i_.opcode + "' is not emulated by the simulated GPU");
  }
  Status Malformed(const std::string& why) const {
    return Status::InvalidArgument("inline PTX '" + i_.opcode + "': " + why);
  }
  bool Has(std::string_view part) const { return i_.Has(part); }
  size_t Count() const { return i_.operands.size(); }
  const PtxOperand& Op(size_t n) const { return i_.operands[n]; }
  Status Need(size_t count) const;
  // Returns whether every part after the first is one of `known`, a type, or begins with one of the harmless prefixes.
  bool OnlyKnown(std::initializer_list<std::string_view> known) const;
  // Returns the n-th type among the modifiers, or null.
  const PtxType* TypeAt(size_t n) const;
  std::string Tag(const PtxType& type) const {
    return type.cpp == "float" && Has("ftz") ? "hone_ptx::F32Ftz" : type.cpp;
  }
  // Returns an operand as register bits.
  std::string Value(const PtxOperand& operand, const PtxType* type = nullptr) const;
  std::string Value(size_t n, const PtxType* type = nullptr) const { return Value(Op(n), type); }
  static bool IsRegister(const PtxOperand& o) {
    return o.kind == PtxOperand::Kind::kRegister || o.kind == PtxOperand::Kind::kSink;
  }
  void Set(const PtxOperand& target, const std::string& value);
  void Call(size_t target, const std::string& function, std::initializer_list<std::string> arguments);
  std::string Rounding() const;

  // Memory: state space, order, scope, vector width.
  std::string Pointer(const PtxOperand& address) const {
    const bool shared = Has("shared") || Has("shared::cta");
    return std::string(shared ? "hone_ptx::Shared(" : "hone_ptx::Generic(") + address.text + ")";
  }
  bool MemoryModifiersKnown(std::initializer_list<std::string_view> extra) const;
  std::string Order() const;
  std::string Scope() const;
  int VectorWidth() const { return Has("v4") ? 4 : Has("v2") ? 2 : 1; }

  Status LoadStore(bool load);
  Status AtomicOrReduction(bool has_result);
  Status Move();
  Status Convert();
  Status Arithmetic();
  Status MultiplyAdd();
  Status Compare();
  Status Approximation();
  Status Bits();
  Status CpAsync();
  Status WarpOperation();
  Status BarrierOrFence();
  Status AddressConversion();
  Status MatrixMultiply();
  Status MatrixMove(bool load);
  Status WarpGroup();
  Status WarpGroupMultiply();
  Status Nothing() { return Status::Ok(); }

  const PtxInstruction& i_;
  std::string out_;
};

}  // namespace hone
