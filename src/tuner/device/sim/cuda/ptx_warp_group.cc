// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Translates wgmma, the matrix products of a warp group (detail/wgmma.h).
#include <charconv>
#include <string>
#include <vector>

#include "tuner/device/sim/cuda/ptx_emitter.h"

namespace hone {

// Translates wgmma's fence, commit_group and wait_group, and passes mma_async on.
Status PtxEmitter::WarpGroup() {
  if (i_.parts.size() > 1 && i_.parts[1] == "mma_async") return WarpGroupMultiply();
  if (i_.parts.size() != 4 || i_.parts[2] != "sync" || i_.parts[3] != "aligned") return Unsupported();
  if (i_.parts[1] == "fence" || i_.parts[1] == "commit_group") {
    HONE_RETURN_IF_ERROR(Need(0));
    out_ += i_.parts[1] == "fence" ? "hone_sim_wgmma_fence(); " : "hone_sim_wgmma_commit(); ";
    return Status::Ok();
  }
  if (i_.parts[1] != "wait_group") return Unsupported();
  HONE_RETURN_IF_ERROR(Need(1));
  out_ += "hone_sim_wgmma_wait(static_cast<uint32_t>(" + Value(0) + ")); ";
  return Status::Ok();
}

// Translates wgmma.mma_async.
Status PtxEmitter::WarpGroupMultiply() {
  // wgmma.mma_async.sync.aligned.m64nNkK.f32.A.B d, a, b, add, sign of a, sign of b {, a is transposed}, b is
  // transposed
  if (i_.parts.size() != 8 || i_.parts[2] != "sync" || i_.parts[3] != "aligned" || i_.parts[5] != "f32")
    return Unsupported();
  const std::string &shape = i_.parts[4], &a = i_.parts[6], &b = i_.parts[7];
  const auto is_float8 = [](const std::string& format) { return format == "e4m3" || format == "e5m2"; };
  const bool of_8_bits = is_float8(a) && is_float8(b), of_16_bits = (a == "f16" || a == "bf16") && a == b;
  const std::string depth = of_8_bits ? "k32" : "k16";
  if ((!of_8_bits && !of_16_bits) || shape.rfind("m64n", 0) != 0 || shape.size() < 8 ||
      shape.compare(shape.size() - 3, 3, depth) != 0)
    return Unsupported();
  int n = 0;
  const char* const end = shape.data() + shape.size() - 3;
  if (std::from_chars(shape.data() + 4, end, n).ptr != end || n < 8 || n > 256 || n % 8 != 0) return Unsupported();
  if (Count() < 6) return Malformed("needs results, two factors, a predicate and two signs");
  const PtxOperand& d = Op(0);
  const bool registers = Op(1).kind == PtxOperand::Kind::kVector;
  HONE_RETURN_IF_ERROR(Need(of_8_bits ? 6 : registers ? 7 : 8));
  if (d.kind != PtxOperand::Kind::kVector || d.elements.size() != static_cast<size_t>(n / 2))
    return Malformed("needs " + std::to_string(n / 2) + " registers of results");
  if (registers && Op(1).elements.size() != 4) return Malformed("needs four registers of a");
  std::string results;
  for (const PtxOperand& element : d.elements) {
    if (!IsRegister(element)) return Malformed("has a result that is no register");
    results += (results.empty() ? "" : ", ") + std::string("hone_ptx::In<float>(") + Value(element) + ")";
  }
  out_ += "{ float hone_d[] = {" + results + "}; ";
  if (registers) {
    out_ += "const unsigned hone_m[] = {";
    for (const PtxOperand& element : Op(1).elements) out_ += "static_cast<unsigned>(" + Value(element) + "), ";
    out_ += "}; ";
  }
  std::string transposed = "false";
  for (size_t i = 6; i < Count(); ++i) transposed += " || " + Value(i) + " != 0";
  const auto format = [](const std::string& name) {
    return "hone_sim::" + std::string(name == "bf16"   ? "Bf16"
                                      : name == "f16"  ? "F16"
                                      : name == "e4m3" ? "E4m3"
                                                       : "E5m2");
  };
  out_ += "hone_sim::WarpGroupMultiply<" + std::to_string(n) + ", " + depth.substr(1) + ", " + format(a) + ", " +
          format(b) + ">(hone_d, " + (registers ? "hone_m, 0" : "nullptr, " + Value(1)) + ", " + Value(2) + ", (" +
          Op(3).text + ") != 0, static_cast<int>(" + Value(4) + ") * static_cast<int>(" + Value(5) + "), " +
          transposed + "); ";
  for (size_t i = 0; i < d.elements.size(); ++i)
    Set(d.elements[i], "hone_ptx::Out<float>(hone_d[" + std::to_string(i) + "])");
  out_ += "} ";
  return Status::Ok();
}

}  // namespace hone
