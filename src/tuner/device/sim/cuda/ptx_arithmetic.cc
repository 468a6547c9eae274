// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Translates moves, conversions, arithmetic, comparisons, approximations and bit operations.
#include <map>

#include "tuner/device/sim/cuda/ptx_emitter.h"

namespace hone {

// Translates mov, also between a register and a vector of registers that share its bits.
Status PtxEmitter::Move() {
  if (!OnlyKnown({})) return Unsupported();
  HONE_RETURN_IF_ERROR(Need(2));
  const PtxType* type = TypeAt(0);
  if (type == nullptr) return Unsupported();
  const PtxOperand &to = Op(0), &from = Op(1);
  if (type->kind == PtxType::kPredicate) {
    Set(to, from.kind == PtxOperand::Kind::kInteger ? "(" + from.text + ") != 0" : from.text);
    return Status::Ok();
  }
  if (from.kind == PtxOperand::Kind::kVector) {
    const size_t n = from.elements.size();
    if (n != 2 && n != 4) return Malformed("packs two or four registers");
    const int bits = type->bits / static_cast<int>(n);
    std::string packed;
    for (size_t k = 0; k < n; ++k) {
      std::string element(1, '(');
      element.append(Value(from.elements[k])).append(" & ").append(std::to_string((1ull << bits) - 1)).append("ull)");
      if (k == 0) {
        packed = element;
      } else {
        packed.append(" | (")
            .append(element)
            .append(" << ")
            .append(std::to_string(static_cast<int>(k) * bits))
            .append(")");
      }
    }
    Set(to, packed);
    return Status::Ok();
  }
  if (to.kind == PtxOperand::Kind::kVector) {
    const size_t n = to.elements.size();
    if (n != 2 && n != 4) return Malformed("unpacks into two or four registers");
    const int bits = type->bits / static_cast<int>(n);
    out_ += "{ const uint64_t hone_v = " + Value(from, type) + "; ";
    for (size_t k = 0; k < n; ++k) {
      Set(to.elements[k], "(hone_v >> " + std::to_string(static_cast<int>(k) * bits) + ") & " +
                              std::to_string((1ull << bits) - 1) + "ull");
    }
    out_ += "} ";
    return Status::Ok();
  }
  if (!IsRegister(to) || from.kind == PtxOperand::Kind::kAddress) return Unsupported();
  Set(to, Value(from, type));
  return Status::Ok();
}

Status PtxEmitter::Convert() {
  // cvt.rn.satfinite.e4m3x2.f32 d, hi, lo; cvt.rn.satfinite.e4m3x2.f16x2 d, a; cvt.rn.f16x2.e4m3x2 d, a.
  const std::string &source = i_.parts.back(), &target = i_.parts[i_.parts.size() - 2];
  const auto mantissa = [](const std::string& type) { return type == "e4m3x2" ? "3" : type == "e5m2x2" ? "2" : ""; };
  const bool rounds = i_.parts.size() >= 4 && i_.parts[1] == "rn";
  if (rounds && *mantissa(target) != '\0' && i_.parts.size() == 5 && i_.parts[2] == "satfinite") {
    const bool floats = source == "f32";
    if (!floats && source != "f16x2") return Unsupported();
    HONE_RETURN_IF_ERROR(Need(floats ? 3 : 2));
    const std::string call = std::string("hone_ptx::") + (floats ? "FloatsToFloat8<" : "HalvesToFloat8<") + mantissa(target) + ">";
    if (floats) {
      Call(0, call, {Value(1), Value(2)});
    } else {
      Call(0, call, {Value(1)});
    }
    return Status::Ok();
  }
  if (rounds && *mantissa(source) != '\0' && i_.parts.size() == 4 && target == "f16x2") {
    HONE_RETURN_IF_ERROR(Need(2));
    Call(0, std::string("hone_ptx::Float8ToHalves<") + mantissa(source) + ">", {Value(1)});
    return Status::Ok();
  }
  if (Has("pack") || !(OnlyKnown({"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna", "ftz", "sat", "relu",
                                  "tf32", "satfinite"}))) {
    return Unsupported();
  }
  if (Has("tf32")) {
    HONE_RETURN_IF_ERROR(Need(2));
    if (Has("relu") || Has("satfinite")) return Unsupported();
    Call(0, Has("rna") ? "hone_ptx::ToTf32Away" : Has("rn") ? "hone_ptx::ToTf32Even" : "", {Value(1)});
    return Has("rna") || Has("rn") ? Status::Ok() : Unsupported();
  }
  const PtxType *to = TypeAt(0), *from = TypeAt(1);
  if (to == nullptr || from == nullptr || Has("satfinite") || Has("rna")) return Unsupported();
  if (to->kind == PtxType::kPackedFloat) {
    if (from->cpp != "float") return Unsupported();
    HONE_RETURN_IF_ERROR(Need(3));
    Call(0,
         std::string("hone_ptx::ConvertPair<") + (to->cpp == "__half2" ? "__half" : "__nv_bfloat16") + ", " +
             Rounding() + (Has("relu") ? ", true>" : ", false>"),
         {Value(1), Value(2)});
    return Status::Ok();
  }
  HONE_RETURN_IF_ERROR(Need(2));
  if (from->kind == PtxType::kPackedFloat) return Unsupported();
  const bool to_float = to->kind == PtxType::kFloat, from_float = from->kind == PtxType::kFloat;
  const bool integral = Has("rni") || Has("rzi") || Has("rmi") || Has("rpi");
  if (to_float && !from_float && from->bits == 64 && Rounding() != "hone_ptx::Rounding::kNearest") return Unsupported();
  const std::string call = "hone_ptx::Convert<" + Tag(*to) + ", " + Tag(*from) + ", " + Rounding() + ", " +
                           (Has("sat") ? "true" : "false") + ", " +
                           (to_float && from_float && integral ? "true" : "false") + ">";
  if (Has("relu"))
    Call(0, "hone_ptx::Relu<" + Tag(*to) + ">", {call + "(" + Value(1) + ")"});
  else
    Call(0, call, {Value(1)});
  return Status::Ok();
}

// add, sub, mul, min, max, div, rem, neg, abs, and the integer forms of mul.
Status PtxEmitter::Arithmetic() {
  const std::string& op = i_.parts[0];
  if (!OnlyKnown({"rn", "rz", "rm", "rp", "ftz", "sat", "lo", "hi", "wide", "approx", "full", "NaN", "relu"}))
    return Unsupported();
  const PtxType* type = TypeAt(0);
  if (type == nullptr || type->kind == PtxType::kBitsOnly || type->kind == PtxType::kPredicate || Has("NaN"))
    return Unsupported();
  const std::string tag = Tag(*type);
  const bool is_integer = type->kind == PtxType::kSigned || type->kind == PtxType::kUnsigned;
  if (is_integer && Has("sat")) return Unsupported();
  if (op == "neg" || op == "abs") {
    HONE_RETURN_IF_ERROR(Need(2));
    Call(0, std::string("hone_ptx::") + (op == "neg" ? "Negate<" : "Abs<") + tag + ">", {Value(1, type)});
    return Status::Ok();
  }
  HONE_RETURN_IF_ERROR(Need(3));
  const std::string a = Value(1, type), b = Value(2, type);
  if (op == "min" || op == "max") {
    if (Has("relu")) return Unsupported();
    Call(0, std::string("hone_ptx::") + (op == "min" ? "Min<" : "Max<") + tag + ">", {a, b});
    return Status::Ok();
  }
  if (op == "rem") {
    if (!is_integer) return Unsupported();
    Call(0, "hone_ptx::Remainder<" + tag + ">", {a, b});
    return Status::Ok();
  }
  std::string result;
  if (is_integer && op == "mul") {
    if (Has("wide")) {
      const std::string wide =
          (type->kind == PtxType::kSigned ? "int" : "uint") + std::to_string(2 * type->bits) + "_t";
      if (type->bits > 32) return Unsupported();
      result = "hone_ptx::MulWide<" + tag + ", " + wide + ">(" + a + ", " + b + ")";
    } else {
      result = (Has("hi") ? "hone_ptx::MulHigh<" : "hone_ptx::Mul<") + tag + ">(" + a + ", " + b + ")";
    }
  } else if (type->cpp == "float" && op == "div" && (Has("approx") || Has("full"))) {
    result = "hone_ptx::DivideApprox<" + tag + ">(" + a + ", " + b + ")";
  } else {
    const std::string name = op == "add" ? "Add" : op == "sub" ? "Sub" : op == "mul" ? "Mul" : "Div";
    const bool stated = Has("rn") || Has("rz") || Has("rm") || Has("rp");
    if (type->cpp == "float" && stated) {
      result = "hone_ptx::Float" + name + "<" + tag + ", " + Rounding() + ">(" + a + ", " + b + ")";
    } else {
      if (Rounding() != "hone_ptx::Rounding::kNearest") return Unsupported();
      result = "hone_ptx::" + std::string(name == "Div" ? "Divide" : name) + "<" + tag + ">(" + a + ", " + b + ")";
    }
  }
  if (Has("sat")) {
    if (type->cpp != "float") return Unsupported();
    result = "hone_ptx::Saturate<" + tag + ">(" + result + ")";
  }
  Set(Op(0), result);
  return Status::Ok();
}

// Translates mad and fma.
Status PtxEmitter::MultiplyAdd() {
  if (!OnlyKnown({"rn", "rz", "rm", "rp", "ftz", "sat", "lo", "hi", "wide", "relu"})) return Unsupported();
  HONE_RETURN_IF_ERROR(Need(4));
  const PtxType* type = TypeAt(0);
  if (type == nullptr) return Unsupported();
  const std::string tag = Tag(*type), a = Value(1, type), b = Value(2, type), c = Value(3, type);
  std::string result;
  if (type->kind == PtxType::kSigned || type->kind == PtxType::kUnsigned) {
    if (Has("sat")) return Unsupported();
    if (Has("wide")) {
      if (type->bits > 32) return Unsupported();
      const std::string wide =
          (type->kind == PtxType::kSigned ? "int" : "uint") + std::to_string(2 * type->bits) + "_t";
      result =
          "hone_ptx::Add<" + wide + ">(hone_ptx::MulWide<" + tag + ", " + wide + ">(" + a + ", " + b + "), " + c + ")";
    } else {
      result = "hone_ptx::Add<" + tag + ">(hone_ptx::" + (Has("hi") ? "MulHigh<" : "Mul<") + tag + ">(" + a + ", " + b +
               "), " + c + ")";
    }
  } else if (type->cpp == "float") {
    result = "hone_ptx::FloatFma<" + tag + ", " + Rounding() + ">(" + a + ", " + b + ", " + c + ")";
    if (Has("sat")) result = "hone_ptx::Saturate<" + tag + ">(" + result + ")";
  } else {
    if (Has("sat") || Rounding() != "hone_ptx::Rounding::kNearest" || type->kind == PtxType::kBitsOnly)
      return Unsupported();
    result = "hone_ptx::Fma<" + tag + ">(" + a + ", " + b + ", " + c + ")";
  }
  if (Has("relu")) result = "hone_ptx::Relu<" + tag + ">(" + result + ")";
  Set(Op(0), result);
  return Status::Ok();
}

// Translates setp, also when it combines the comparison with a predicate, and selp.
Status PtxEmitter::Compare() {
  static const std::map<std::string, std::string> kComparisons = {{"eq", "Equal"},
                                                                  {"ne", "NotEqual"},
                                                                  {"lt", "Less"},
                                                                  {"le", "LessEqual"},
                                                                  {"gt", "Greater"},
                                                                  {"ge", "GreaterEqual"},
                                                                  {"lo", "Less"},
                                                                  {"ls", "LessEqual"},
                                                                  {"hi", "Greater"},
                                                                  {"hs", "GreaterEqual"},
                                                                  {"equ", "EqualOrUnordered"},
                                                                  {"neu", "NotEqualOrUnordered"},
                                                                  {"ltu", "LessOrUnordered"},
                                                                  {"leu", "LessEqualOrUnordered"},
                                                                  {"gtu", "GreaterOrUnordered"},
                                                                  {"geu", "GreaterEqualOrUnordered"}};
  const PtxType* type = TypeAt(0);
  if (i_.parts[0] == "selp") {
    HONE_RETURN_IF_ERROR(Need(4));
    Set(Op(0), "(" + Op(3).text + ") ? " + Value(1, type) + " : " + Value(2, type));
    return Status::Ok();
  }
  if (type == nullptr || type->kind == PtxType::kPackedFloat || i_.parts.size() < 3) return Unsupported();
  const std::string tag = Tag(*type), a = Count() > 1 ? Value(1, type) : "", b = Count() > 2 ? Value(2, type) : "";
  std::string test, combine;
  for (size_t k = 1; k < i_.parts.size(); ++k) {
    const std::string& part = i_.parts[k];
    const auto found = kComparisons.find(part);
    if (found != kComparisons.end() && test.empty())
      test = "hone_ptx::" + found->second + "<" + tag + ">(" + a + ", " + b + ")";
    else if (part == "num")
      test = "!hone_ptx::Unordered<" + tag + ">(" + a + ", " + b + ")";
    else if (part == "nan")
      test = "hone_ptx::Unordered<" + tag + ">(" + a + ", " + b + ")";
    else if (part == "and" || part == "or" || part == "xor")
      combine = part == "and" ? " && " : part == "or" ? " || " : " != ";
    else if (part != "ftz" && FindPtxType(part) == nullptr)
      return Unsupported();
  }
  HONE_RETURN_IF_ERROR(Need(combine.empty() ? 3 : 4));
  if (test.empty()) return Unsupported();
  if (combine.empty()) {
    out_ += "{ const bool hone_t = " + test + "; ";
    Set(Op(0), "hone_t");
    if (!Op(0).pair.empty() && Op(0).pair != "_") out_ += Op(0).pair + " = !hone_t; ";
  } else {
    out_ += "{ const bool hone_t = " + test + ", hone_c = " + Op(3).text + "; ";
    Set(Op(0), "hone_t" + combine + "hone_c");
    if (!Op(0).pair.empty() && Op(0).pair != "_") out_ += Op(0).pair + " = !hone_t" + combine + "hone_c; ";
  }
  out_ += "} ";
  return Status::Ok();
}

// Translates the approximate functions: ex2, lg2, rcp, rsqrt, sqrt, tanh, sin and cos.
Status PtxEmitter::Approximation() {
  static const std::map<std::string, std::string> kFunctions = {
      {"ex2", "Exp2"},  {"lg2", "Log2"},  {"rcp", "Reciprocal"}, {"rsqrt", "ReciprocalRoot"},
      {"sqrt", "Root"}, {"tanh", "Tanh"}, {"sin", "Sine"},       {"cos", "Cosine"}};
  if (!OnlyKnown({"approx", "ftz", "rn"})) return Unsupported();
  HONE_RETURN_IF_ERROR(Need(2));
  const PtxType* type = TypeAt(0);
  if (type == nullptr || (type->kind != PtxType::kFloat && type->kind != PtxType::kPackedFloat)) return Unsupported();
  const std::string& op = i_.parts[0];
  std::string function = kFunctions.at(op);
  if (Has("rn")) {
    if (op != "sqrt" && op != "rcp") return Unsupported();
    if (type->cpp != "float" && type->cpp != "double") return Unsupported();
    function = op == "sqrt" ? "RootExact" : "ReciprocalExact";
  } else if (type->cpp == "double" || !Has("approx")) {
    return Unsupported();
  }
  Call(0, "hone_ptx::" + function + "<" + Tag(*type) + ">", {Value(1, type)});
  return Status::Ok();
}

// Translates operations on bits, bytes and predicates: and, not, shifts, bit fields, prmt, dp4a and others.
Status PtxEmitter::Bits() {
  const std::string& op = i_.parts[0];
  if (!OnlyKnown({"l", "r", "wrap", "clamp", "wide", "b4e"})) return Unsupported();
  const PtxType* type = TypeAt(0);
  if (op == "dp4a") {
    const PtxType* second = TypeAt(1);
    HONE_RETURN_IF_ERROR(Need(4));
    if (type == nullptr || second == nullptr || type->kind != second->kind) return Unsupported();
    const std::string cast = "static_cast<" + type->cpp + ">(";
    Call(0, "__dp4a", {cast + Value(1) + ")", cast + Value(2) + ")", cast + Value(3) + ")"});
    return Status::Ok();
  }
  if (type == nullptr) return Unsupported();
  if (type->kind == PtxType::kPredicate) {
    if (op == "not") {
      HONE_RETURN_IF_ERROR(Need(2));
      Set(Op(0), "!(" + Op(1).text + ")");
      return Status::Ok();
    }
    const std::string sign = op == "and" ? " && " : op == "or" ? " || " : op == "xor" ? " != " : "";
    HONE_RETURN_IF_ERROR(Need(3));
    if (sign.empty()) return Unsupported();
    Set(Op(0), "(" + Op(1).text + ")" + sign + "(" + Op(2).text + ")");
    return Status::Ok();
  }
  const std::string tag = type->cpp;
  if (op == "and" || op == "or" || op == "xor") {
    HONE_RETURN_IF_ERROR(Need(3));
    Set(Op(0), Value(1) + (op == "and" ? " & " : op == "or" ? " | " : " ^ ") + Value(2));
  } else if (op == "not") {
    HONE_RETURN_IF_ERROR(Need(2));
    Set(Op(0), "~" + Value(1));
  } else if (op == "shl" || op == "shr") {
    HONE_RETURN_IF_ERROR(Need(3));
    Call(0, std::string("hone_ptx::Shift") + (op == "shl" ? "Left<" : "Right<") + tag + ">", {Value(1), Value(2)});
  } else if (op == "prmt") {
    HONE_RETURN_IF_ERROR(Need(4));
    if (i_.parts.size() != 2) return Unsupported();
    Call(0, "hone_ptx::Permute", {Value(1), Value(2), Value(3)});
  } else if (op == "lop3") {
    HONE_RETURN_IF_ERROR(Need(5));
    Call(0, "hone_ptx::Lop3", {Value(1), Value(2), Value(3), Value(4)});
  } else if (op == "shf") {
    HONE_RETURN_IF_ERROR(Need(4));
    const std::string name = std::string("__funnelshift_") + (Has("l") ? "l" : "r") + (Has("clamp") ? "c" : "");
    const std::string cast = "static_cast<unsigned>(";
    Call(0, name, {cast + Value(1) + ")", cast + Value(2) + ")", cast + Value(3) + ")"});
  } else if (op == "bfe") {
    HONE_RETURN_IF_ERROR(Need(4));
    Call(0, "hone_ptx::BitFieldExtract<" + tag + ">", {Value(1), Value(2), Value(3)});
  } else if (op == "bfi") {
    HONE_RETURN_IF_ERROR(Need(5));
    Call(0, "hone_ptx::BitFieldInsert<" + tag + ">", {Value(1), Value(2), Value(3), Value(4)});
  } else if (op == "brev" || op == "popc" || op == "clz") {
    HONE_RETURN_IF_ERROR(Need(2));
    const bool wide = type->bits == 64;
    const std::string name = op == "brev" ? "__brev" : op == "popc" ? "__popc" : "__clz";
    const std::string cast = op == "clz" ? (wide ? "static_cast<long long>(" : "static_cast<int>(")
                                         : (wide ? "(" : "static_cast<unsigned>(");
    Set(Op(0), "static_cast<uint64_t>(" + name + (wide ? "ll(" : "(") + cast + Value(1) + ")))");
  } else {
    return Unsupported();
  }
  return Status::Ok();
}

}  // namespace hone
