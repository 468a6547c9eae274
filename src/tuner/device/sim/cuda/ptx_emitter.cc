// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See ptx_emitter.h.
#include "tuner/device/sim/cuda/ptx_emitter.h"

#include <algorithm>
#include <map>
#include <set>

namespace hone {

namespace {

// Returns PTX's types by name, with the C++ types that hold their values and their bits.
const std::map<std::string, PtxType, std::less<>>& PtxTypes() {
  static const std::map<std::string, PtxType, std::less<>> types = {
      {"pred", {"bool", "bool", 1, PtxType::kPredicate}},
      {"b8", {"uint8_t", "uint8_t", 8, PtxType::kBitsOnly}},
      {"u8", {"uint8_t", "uint8_t", 8, PtxType::kUnsigned}},
      {"s8", {"int8_t", "uint8_t", 8, PtxType::kSigned}},
      {"b16", {"uint16_t", "uint16_t", 16, PtxType::kBitsOnly}},
      {"u16", {"uint16_t", "uint16_t", 16, PtxType::kUnsigned}},
      {"s16", {"int16_t", "uint16_t", 16, PtxType::kSigned}},
      {"f16", {"__half", "uint16_t", 16, PtxType::kFloat}},
      {"bf16", {"__nv_bfloat16", "uint16_t", 16, PtxType::kFloat}},
      {"b32", {"uint32_t", "uint32_t", 32, PtxType::kBitsOnly}},
      {"u32", {"uint32_t", "uint32_t", 32, PtxType::kUnsigned}},
      {"s32", {"int32_t", "uint32_t", 32, PtxType::kSigned}},
      {"f32", {"float", "uint32_t", 32, PtxType::kFloat}},
      {"f16x2", {"__half2", "uint32_t", 32, PtxType::kPackedFloat}},
      {"bf16x2", {"__nv_bfloat162", "uint32_t", 32, PtxType::kPackedFloat}},
      {"b64", {"uint64_t", "uint64_t", 64, PtxType::kBitsOnly}},
      {"u64", {"uint64_t", "uint64_t", 64, PtxType::kUnsigned}},
      {"s64", {"int64_t", "uint64_t", 64, PtxType::kSigned}},
      {"f64", {"double", "uint64_t", 64, PtxType::kFloat}},
  };
  return types;
}

}  // namespace

const PtxType* FindPtxType(std::string_view name) {
  const auto found = PtxTypes().find(name);
  return found == PtxTypes().end() ? nullptr : &found->second;
}

Status PtxEmitter::Need(size_t count) const {
  return Count() == count
             ? Status::Ok()
             : Malformed("has " + std::to_string(Count()) + " operands where " + std::to_string(count) + " are due");
}

bool PtxEmitter::OnlyKnown(std::initializer_list<std::string_view> known) const {
  for (size_t k = 1; k < i_.parts.size(); ++k) {
    const std::string& part = i_.parts[k];
    if (FindPtxType(part) != nullptr) continue;
    if (std::find(known.begin(), known.end(), part) == known.end()) return false;
  }
  return true;
}

const PtxType* PtxEmitter::TypeAt(size_t n) const {
  for (size_t k = 1; k < i_.parts.size(); ++k) {
    const PtxType* type = FindPtxType(i_.parts[k]);
    if (type != nullptr && n-- == 0) return type;
  }
  return nullptr;
}

std::string PtxEmitter::Value(const PtxOperand& operand, const PtxType* type) const {
  switch (operand.kind) {
    case PtxOperand::Kind::kFloat:
      return std::string(type != nullptr && type->bits == 64 ? "hone_ptx::DoubleBits(" : "hone_ptx::FloatBits(") +
             operand.text + ")";
    case PtxOperand::Kind::kInteger:
      return "static_cast<uint64_t>(" + operand.text + ")";
    default:
      return operand.text;
  }
}

void PtxEmitter::Set(const PtxOperand& target, const std::string& value) {
  out_ += target.kind == PtxOperand::Kind::kSink ? "static_cast<void>(" + value + "); "
                                                 : target.text + " = " + value + "; ";
}

void PtxEmitter::Call(size_t target, const std::string& function, std::initializer_list<std::string> arguments) {
  std::string text = function + "(";
  for (const std::string& argument : arguments) text += (text.back() == '(' ? "" : ", ") + argument;
  Set(Op(target), text + ")");
}

std::string PtxEmitter::Rounding() const {
  if (Has("rz") || Has("rzi")) return "hone_ptx::Rounding::kZero";
  if (Has("rm") || Has("rmi")) return "hone_ptx::Rounding::kDown";
  if (Has("rp") || Has("rpi")) return "hone_ptx::Rounding::kUp";
  return "hone_ptx::Rounding::kNearest";
}

// Returns whether all parts of the instruction behind its name are modifiers of memory accesses, types, or in `extra`.
bool PtxEmitter::MemoryModifiersKnown(std::initializer_list<std::string_view> extra) const {
  static const std::set<std::string, std::less<>> kKnown = {
      "global", "shared",  "shared::cta", "const", "volatile", "relaxed", "acquire", "release", "acq_rel",
      "weak",   "nc",      "ca",          "cg",    "cs",       "lu",      "cv",      "wb",      "wt",
      "cta",    "cluster", "gpu",         "sys",   "v2",       "v4",      "noftz"};
  for (size_t k = 1; k < i_.parts.size(); ++k) {
    const std::string& part = i_.parts[k];
    if (FindPtxType(part) != nullptr || kKnown.count(part) > 0) continue;
    if (part.rfind("L1::", 0) == 0 || part.rfind("L2::", 0) == 0) continue;  // hints: value and legality unchanged
    if (std::find(extra.begin(), extra.end(), part) != extra.end()) continue;
    return false;
  }
  return true;
}

std::string PtxEmitter::Order() const {
  if (Has("acq_rel")) return "HONE_SIM_ACQ_REL";
  if (Has("acquire")) return "HONE_SIM_ACQUIRE";
  if (Has("release")) return "HONE_SIM_RELEASE";
  return "HONE_SIM_RELAXED";
}

std::string PtxEmitter::Scope() const {
  if (Has("cta")) return "HONE_SIM_SCOPE_BLOCK";
  if (Has("sys")) return "HONE_SIM_SCOPE_SYSTEM";
  return "HONE_SIM_SCOPE_DEVICE";
}

}  // namespace hone
