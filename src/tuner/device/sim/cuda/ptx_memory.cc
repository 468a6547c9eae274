// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Translates loads, stores, atomics, asynchronous copies and address conversions.
#include <map>
#include <vector>

#include "tuner/device/sim/cuda/ptx_emitter.h"

namespace hone {

// Translates ld (`load`) and st.
Status PtxEmitter::LoadStore(bool load) {
  if (!MemoryModifiersKnown({})) return Unsupported();
  const PtxType* type = TypeAt(0);
  if (type == nullptr || type->kind == PtxType::kPredicate) return Unsupported();
  // A cache-policy operand may follow; it has no effect here.
  if (Count() < 2) return Malformed("needs two operands");
  const PtxOperand& data_operand = Op(load ? 0 : 1);
  const PtxOperand& address = Op(load ? 1 : 0);
  if (address.kind != PtxOperand::Kind::kAddress) return Malformed("has no address in brackets");
  const int width = VectorWidth();
  if (width * type->bits > 128) return Unsupported();
  const std::vector<PtxOperand> elements =
      data_operand.kind == PtxOperand::Kind::kVector ? data_operand.elements : std::vector<PtxOperand>{data_operand};
  if (elements.size() != static_cast<size_t>(width)) return Malformed("vector of the wrong length");
  const std::string shape = "<" + type->element + ", " + std::to_string(width) + ">";
  const bool ordered = Has("relaxed") || Has("acquire") || Has("release");
  const std::string suffix = Has("volatile") ? "Volatile" : ordered ? "Ordered" : "";
  const std::string tail = ordered && !Has("volatile") ? ", " + Order() + ", " + Scope() + ")" : ")";
  if (load) {
    out_ += "{ const auto hone_v = hone_ptx::Load" + suffix + shape + "(" + Pointer(address) + tail + "; ";
    for (size_t k = 0; k < elements.size(); ++k) {
      if (!IsRegister(elements[k])) return Malformed("loads into something that is no register");
      // Narrow signed values are extended into wider registers.
      Set(elements[k],
          "hone_ptx::Out<" + type->cpp + ">(hone_ptx::In<" + type->cpp + ">(hone_v.v[" + std::to_string(k) + "]))");
    }
    out_ += "} ";
  } else {
    out_ += "{ hone_ptx::Pack" + shape + " hone_v; ";
    for (size_t k = 0; k < elements.size(); ++k) {
      out_ += "hone_v.v[" + std::to_string(k) + "] = static_cast<" + type->element + ">(" + Value(elements[k], type) +
              "); ";
    }
    out_ += "hone_ptx::Store" + suffix + shape + "(" + Pointer(address) + ", hone_v" + tail + "; } ";
  }
  return Status::Ok();
}

// Translates atom (`has_result`) and red.
Status PtxEmitter::AtomicOrReduction(bool has_result) {
  static const std::map<std::string, std::string> kUpdates = {
      {"add", "kAdd"}, {"min", "kMin"},       {"max", "kMax"},       {"and", "kAnd"},      {"or", "kOr"},
      {"xor", "kXor"}, {"exch", "kExchange"}, {"inc", "kIncrement"}, {"dec", "kDecrement"}};
  if (!MemoryModifiersKnown({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"}))
    return Unsupported();
  const PtxType* type = TypeAt(0);
  if (type == nullptr || type->bits < 16) return Unsupported();
  const size_t first = has_result ? 1 : 0;
  if (Count() < first + 2 || Op(first).kind != PtxOperand::Kind::kAddress)
    return Malformed("needs an address and a value");
  const std::string pointer = Pointer(Op(first)), order = Order() + ", " + Scope();
  if (Has("cas")) {
    if (!has_result || Count() < 4 || VectorWidth() != 1) return Malformed("needs a result, an address and two values");
    Call(0, "hone_ptx::AtomicCompare<" + type->element + ">", {pointer, Value(2), Value(3), order});
    return Status::Ok();
  }
  std::string update;
  for (const auto& [name, value] : kUpdates) {
    if (Has(name)) update = value;
  }
  if (update.empty()) return Unsupported();
  const bool bitwise = update == "kAnd" || update == "kOr" || update == "kXor" || update == "kExchange";
  if (!bitwise && type->kind == PtxType::kBitsOnly) return Unsupported();
  const std::string tag = bitwise ? type->element : type->cpp;
  const std::string function = "hone_ptx::Atomic<" + tag + ", hone_ptx::Update::" + update + ">";
  const int width = VectorWidth();
  const PtxOperand& data_operand = Op(first + 1);
  if (width == 1) {
    const std::string call = function + "(" + pointer + ", " + Value(data_operand, type) + ", " + order + ")";
    if (has_result)
      Set(Op(0), call);
    else
      out_ += call + "; ";
    return Status::Ok();
  }
  // Each element of a vector is atomic on its own.
  if (data_operand.kind != PtxOperand::Kind::kVector || data_operand.elements.size() != static_cast<size_t>(width))
    return Malformed("vector of the wrong length");
  if (has_result && (Op(0).kind != PtxOperand::Kind::kVector || Op(0).elements.size() != data_operand.elements.size()))
    return Malformed("vector of the wrong length");
  out_ += "{ char* const hone_a = static_cast<char*>(" + pointer + "); ";
  for (size_t k = 0; k < data_operand.elements.size(); ++k) {
    const std::string call = function + "(hone_a + " + std::to_string(k * static_cast<size_t>(type->bits) / 8) + ", " +
                             Value(data_operand.elements[k], type) + ", " + order + ")";
    if (has_result)
      Set(Op(0).elements[k], call);
    else
      out_ += call + "; ";
  }
  out_ += "} ";
  return Status::Ok();
}

// Translates cp.async, cp.async.commit_group, cp.async.wait_group and cp.async.wait_all.
Status PtxEmitter::CpAsync() {
  if (Has("commit_group")) {
    HONE_RETURN_IF_ERROR(Need(0));
    out_ += "hone_sim_cp_async_commit(); ";
    return Status::Ok();
  }
  if (Has("wait_all")) {
    HONE_RETURN_IF_ERROR(Need(0));
    out_ += "hone_sim_cp_async_wait_all(); ";
    return Status::Ok();
  }
  if (Has("wait_group")) {
    HONE_RETURN_IF_ERROR(Need(1));
    out_ += "hone_sim_cp_async_wait(static_cast<uint32_t>(" + Value(0) + ")); ";
    return Status::Ok();
  }
  if (i_.parts.size() < 4 || (!Has("ca") && !Has("cg")) || !(Has("shared") || Has("shared::cta")) || !Has("global"))
    return Unsupported();
  for (size_t k = 2; k < i_.parts.size(); ++k) {
    const std::string& part = i_.parts[k];
    if (part != "ca" && part != "cg" && part != "shared" && part != "shared::cta" && part != "global" &&
        part.rfind("L2::", 0) != 0)
      return Unsupported();
  }
  if (Count() < 3 || Op(0).kind != PtxOperand::Kind::kAddress || Op(1).kind != PtxOperand::Kind::kAddress)
    return Malformed("needs two addresses and a size");
  // The fourth operand is a source size, or a predicate that ignores the source, or (with a cache hint) a policy.
  std::string source_bytes = Value(2);
  const size_t operand_count = Count() - (Has("L2::cache_hint") ? 1 : 0);
  if (operand_count >= 4) {
    if (Op(3).kind == PtxOperand::Kind::kPredicate)
      source_bytes = "(" + Op(3).text + ") ? 0 : " + source_bytes;
    else
      source_bytes = Value(3);
  }
  out_ += "hone_ptx::CopyAsync(" + Op(0).text + ", " + Op(1).text + ", " + Value(2) + ", " + source_bytes + "); ";
  return Status::Ok();
}

// Translates cvta and isspacep.
Status PtxEmitter::AddressConversion() {
  HONE_RETURN_IF_ERROR(Need(2));
  if (i_.parts[0] == "isspacep") {
    if (!Has("shared") && !Has("shared::cta") && !Has("global")) return Unsupported();
    Set(Op(0), std::string("hone_sim_is_") + (Has("global") ? "global" : "shared") + "(hone_ptx::Generic(" + Value(1) +
                   ")) != 0");
    return Status::Ok();
  }
  if (!OnlyKnown({"to", "shared", "shared::cta", "global", "const", "local", "param"})) return Unsupported();
  const bool shared = Has("shared") || Has("shared::cta");
  if (!shared)
    Set(Op(0), Value(1));
  else if (Has("to"))
    Set(Op(0), "hone_sim_to_shared(hone_ptx::Generic(" + Value(1) + "))");
  else
    Set(Op(0), "reinterpret_cast<uint64_t>(hone_ptx::Shared(" + Value(1) + "))");
  return Status::Ok();
}

}  // namespace hone
