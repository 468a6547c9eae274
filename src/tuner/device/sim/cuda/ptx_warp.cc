// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Translates operations of a warp or a block: shuffles, votes, barriers, matrix products and moves.
#include <map>
#include <utility>
#include <vector>

#include "tuner/device/sim/cuda/ptx_emitter.h"

namespace hone {

// Translates operations of a whole warp: shfl, vote, match, redux and others.
Status PtxEmitter::WarpOperation() {
  const std::string& op = i_.parts[0];
  auto word = [this](size_t n) { return "static_cast<uint32_t>(" + Value(n) + ")"; };
  if (op == "shfl") {
    static const std::map<std::string, std::string> kKinds = {
        {"idx", "INDEX"}, {"up", "UP"}, {"down", "DOWN"}, {"bfly", "XOR"}};
    if (!Has("sync") || i_.parts.size() != 4) return Unsupported();
    HONE_RETURN_IF_ERROR(Need(5));
    const auto kind = kKinds.find(i_.parts[2]);
    if (kind == kKinds.end()) return Unsupported();
    out_ += "{ bool hone_t; ";
    Call(0, "hone_ptx::Shuffle",
         {"HONE_SIM_SHUFFLE_" + kind->second, Value(1), Value(2), Value(3), Value(4), "&hone_t"});
    if (!Op(0).pair.empty() && Op(0).pair != "_") out_ += Op(0).pair + " = hone_t; ";
    out_ += "} ";
  } else if (op == "vote") {
    if (!Has("sync") || i_.parts.size() != 4) return Unsupported();
    HONE_RETURN_IF_ERROR(Need(3));
    const std::string& kind = i_.parts[2];
    const std::string constant = kind == "ballot" ? "BALLOT"
                                 : kind == "all"  ? "ALL"
                                 : kind == "any"  ? "ANY"
                                 : kind == "uni"  ? "UNI"
                                                  : "";
    if (constant.empty()) return Unsupported();
    Set(Op(0), "hone_sim_vote(HONE_SIM_VOTE_" + constant + ", " + word(2) + ", (" + Op(1).text + ") ? 1 : 0)" +
                   (kind == "ballot" ? "" : " != 0"));
  } else if (op == "match") {
    const PtxType* type = TypeAt(0);
    if (!Has("sync") || type == nullptr) return Unsupported();
    HONE_RETURN_IF_ERROR(Need(3));
    const std::string value =
        "hone_ptx::Out<" + type->element + ">(hone_ptx::In<" + type->element + ">(" + Value(1) + "))";
    if (Has("any")) {
      Set(Op(0), "hone_sim_match_any(" + word(2) + ", " + value + ")");
    } else {
      out_ += "{ int hone_t = 0; ";
      Set(Op(0), "hone_sim_match_all(" + word(2) + ", " + value + ", &hone_t)");
      if (!Op(0).pair.empty() && Op(0).pair != "_") out_ += Op(0).pair + " = hone_t != 0; ";
      out_ += "} ";
    }
  } else if (op == "redux") {
    const PtxType* type = TypeAt(0);
    if (!Has("sync") || type == nullptr || type->bits != 32 || i_.parts.size() != 4) return Unsupported();
    HONE_RETURN_IF_ERROR(Need(3));
    const std::string& kind = i_.parts[2];
    std::string constant = kind == "add"   ? "ADD"
                           : kind == "and" ? "AND"
                           : kind == "or"  ? "OR"
                           : kind == "xor" ? "XOR"
                                           : "";
    if (kind == "min" || kind == "max")
      constant = (kind == "min" ? "MIN_" : "MAX_") + std::string(type->kind == PtxType::kSigned ? "S32" : "U32");
    if (constant.empty() || type->kind == PtxType::kFloat) return Unsupported();
    Set(Op(0), "hone_sim_warp_reduce(HONE_SIM_REDUCE_" + constant + ", " + word(2) + ", " + word(1) + ")");
  } else if (op == "activemask") {
    HONE_RETURN_IF_ERROR(Need(1));
    Set(Op(0), "hone_sim_activemask()");
  } else if (op == "elect") {
    HONE_RETURN_IF_ERROR(Need(2));
    out_ += "{ bool hone_t; ";
    Set(Op(0), "hone_ptx::Elect(" + Value(1) + ", &hone_t)");
    if (!Op(0).pair.empty() && Op(0).pair != "_") out_ += Op(0).pair + " = hone_t; ";
    out_ += "} ";
  } else {
    return Unsupported();
  }
  return Status::Ok();
}

// Translates barriers and fences.
Status PtxEmitter::BarrierOrFence() {
  const std::string& op = i_.parts[0];
  auto word = [this](size_t n) { return "static_cast<uint32_t>(" + Value(n) + ")"; };
  if (op == "bar" && Has("warp")) {
    HONE_RETURN_IF_ERROR(Need(1));
    out_ += "hone_sim_syncwarp(" + word(0) + "); ";
    return Status::Ok();
  }
  if (op == "bar" || op == "barrier") {
    if (Has("cluster") || Has("red") || !OnlyKnown({"sync", "arrive", "cta", "aligned"})) return Unsupported();
    if (Count() < 1 || Count() > 2) return Malformed("needs a barrier and perhaps a number of threads");
    if (Has("arrive") && Count() != 2) return Malformed("an arrival needs the number of threads");
    out_ += "hone_sim_named_barrier(" + word(0) + ", " + (Count() == 2 ? word(1) : "0") +
            (Has("arrive") ? ", 0); " : ", 1); ");
    return Status::Ok();
  }
  if (Has("proxy")) {
    // Other proxies belong to instructions that are not emulated.
    if (!Has("async") || !OnlyKnown({"proxy", "async", "shared::cta", "global"}) || Count() != 0) return Unsupported();
    out_ += "hone_sim_fence_proxy_async(); ";
    return Status::Ok();
  }
  // membar, fence.
  if (!OnlyKnown({"cta", "gl", "sys", "gpu", "sc", "acq_rel", "acquire", "release"})) return Unsupported();
  out_ += "hone_sim_fence(" + Scope() + "); ";
  return Status::Ok();
}

namespace {
bool IsFloat8(const std::string& format) { return format == "e4m3" || format == "e5m2"; }
}  // namespace

Status PtxEmitter::MatrixMultiply() {
  // mma.sync.aligned.SHAPE.row.col.D.A.B.C
  if (i_.parts.size() < 10 || i_.parts[1] != "sync" || i_.parts[2] != "aligned" || i_.parts[4] != "row" ||
      i_.parts[5] != "col")
    return Unsupported();
  static const std::map<std::string, std::pair<int, int>> kShapes = {{"m16n8k4", {16, 4}},   {"m16n8k8", {16, 8}},
                                                                     {"m16n8k16", {16, 16}}, {"m16n8k32", {16, 32}},
                                                                     {"m8n8k16", {8, 16}},   {"m8n8k4", {8, 4}}};
  static const std::map<std::string, std::pair<std::string, int>> kFormats = {
      {"f16", {"F16", 16}}, {"bf16", {"Bf16", 16}}, {"tf32", {"Tf32", 32}},
      {"f64", {"F64", 64}}, {"s8", {"S8", 8}},      {"u8", {"U8", 8}},
      {"e4m3", {"E4m3", 8}}, {"e5m2", {"E5m2", 8}}};
  const auto shape = kShapes.find(i_.parts[3]);
  size_t operand_index = 6;
  const std::string& d_type = i_.parts[operand_index++];
  const auto a = kFormats.find(i_.parts[operand_index]);
  const auto b = kFormats.find(i_.parts[operand_index + 1]);
  const std::string& c_type = i_.parts[operand_index + 2];
  if (shape == kShapes.end() || a == kFormats.end() || b == kFormats.end() || i_.parts.size() != 10 || c_type != d_type)
    return Unsupported();
  const auto [m, k] = shape->second;
  const int width = a->second.second;
  // Lists the emulated combinations among those of PTX.
  const std::string formats = a->first + "," + b->first;
  const bool legal =
      (width == 16 && m == 16 && (k == 8 || k == 16) && formats != "f16,bf16" && formats != "bf16,f16" &&
       (d_type == "f32" || (d_type == "f16" && a->first == "f16"))) ||
      (a->first == "tf32" && m == 16 && (k == 4 || k == 8) && d_type == "f32") ||
      (IsFloat8(a->first) && IsFloat8(b->first) && d_type == "f32" && m == 16 && k == 32) ||
      (width == 8 && b->second.second == 8 && d_type == "s32" && !IsFloat8(a->first) && !IsFloat8(b->first) &&
       ((m == 16 && (k == 16 || k == 32)) || (m == 8 && k == 16))) ||
      (a->first == "f64" && d_type == "f64" && ((m == 8 && k == 4) || (m == 16 && (k == 4 || k == 8 || k == 16))));
  if (!legal || b->second.second != width) return Unsupported();
  HONE_RETURN_IF_ERROR(Need(4));
  const int register_bits = width == 64 ? 64 : 32;
  const size_t a_count = static_cast<size_t>(m * k * width / 32 / register_bits),
               b_count = static_cast<size_t>(8 * k * width / 32 / register_bits);
  const bool half_result = d_type == "f16";
  const size_t c_elements = static_cast<size_t>(m / 4), c_count = half_result ? c_elements / 2 : c_elements;
  auto list = [](const PtxOperand& o) {
    return o.kind == PtxOperand::Kind::kVector ? o.elements : std::vector<PtxOperand>{o};
  };
  const auto ds = list(Op(0)), as = list(Op(1)), bs = list(Op(2)), cs = list(Op(3));
  if (ds.size() != c_count || as.size() != a_count || bs.size() != b_count || cs.size() != c_count)
    return Malformed("register lists of the wrong length");
  const std::string c_cpp = half_result       ? "unsigned short"
                            : d_type == "f32" ? "float"
                            : d_type == "f64" ? "double"
                                              : "int";
  const std::string reg = register_bits == 64 ? "uint64_t" : "unsigned";
  std::string offer;
  for (const auto* group : {&as, &bs}) {
    for (const PtxOperand& o : *group)
      offer += (offer.empty() ? "" : ", ") + std::string("static_cast<") + reg + ">(" + Value(o) + ")";
  }
  out_ += "{ const " + reg + " hone_m[] = {" + offer + "}; const " + c_cpp + " hone_c[] = {";
  for (size_t n = 0; n < c_elements; ++n) {
    if (n) out_ += ", ";
    if (half_result) out_ += "static_cast<unsigned short>(" + Value(cs[n / 2]) + (n % 2 ? " >> 16)" : ")");
    // A literal zero accumulator is common: it reads the same as a float and as bits.
    else if (d_type == "s32")
      out_ += "static_cast<int>(" + Value(cs[n]) + ")";
    else
      out_ += "hone_ptx::In<" + c_cpp + ">(" + Value(cs[n], FindPtxType(d_type)) + ")";
  }
  out_ += "}; " + c_cpp + " hone_d[" + std::to_string(c_elements) + "]; hone_ptx::Mma<" + std::to_string(m) + ", " +
          std::to_string(k) + ", hone_sim::" + a->second.first + ", hone_sim::" + b->second.first +
          ">(hone_m, hone_c, hone_d); ";
  for (size_t n = 0; n < ds.size(); ++n) {
    if (half_result) {
      Set(ds[n], "hone_d[" + std::to_string(2 * n) + "] | (static_cast<uint64_t>(hone_d[" + std::to_string(2 * n + 1) +
                     "]) << 16)");
    } else {
      const std::string tag = d_type == "s32" ? "int32_t" : c_cpp;
      Set(ds[n], "hone_ptx::Out<" + tag + ">(hone_d[" + std::to_string(n) + "])");
    }
  }
  out_ += "} ";
  return Status::Ok();
}

// Translates ldmatrix (`load`) and stmatrix.
Status PtxEmitter::MatrixMove(bool load) {
  // {ld,st}matrix.sync.aligned.m8n8.xN{.trans}.shared.b16
  if (!OnlyKnown({"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"}) || !Has("m8n8") ||
      !Has("b16"))
    return Unsupported();
  HONE_RETURN_IF_ERROR(Need(2));
  const int count = Has("x4") ? 4 : Has("x2") ? 2 : 1;
  const PtxOperand& data_operand = Op(load ? 0 : 1);
  const PtxOperand& address = Op(load ? 1 : 0);
  const std::vector<PtxOperand> registers =
      data_operand.kind == PtxOperand::Kind::kVector ? data_operand.elements : std::vector<PtxOperand>{data_operand};
  if (address.kind != PtxOperand::Kind::kAddress || registers.size() != static_cast<size_t>(count))
    return Malformed("needs an address and as many registers as matrices");
  const std::string shape = "<" + std::to_string(count) + ", " + (Has("trans") ? "true" : "false") + ">";
  if (!Has("shared") && !Has("shared::cta")) return Unsupported();
  if (load) {
    out_ += "{ unsigned hone_m[" + std::to_string(count) + "]; hone_ptx::LoadMatrix" + shape + "(" + address.text +
            ", hone_m); ";
    for (size_t n = 0; n < registers.size(); ++n) Set(registers[n], "hone_m[" + std::to_string(n) + "]");
  } else {
    out_ += "{ const unsigned hone_m[] = {";
    for (size_t n = 0; n < registers.size(); ++n)
      out_ += (n ? ", " : "") + std::string("static_cast<unsigned>(") + Value(registers[n]) + ")";
    out_ += "}; hone_ptx::StoreMatrix" + shape + "(" + address.text + ", hone_m); ";
  }
  out_ += "} ";
  return Status::Ok();
}

}  // namespace hone
