// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the table of opcodes.
#include <algorithm>
#include <functional>
#include <map>

#include "tuner/device/sim/cuda/ptx_emitter.h"

namespace hone {

Result<std::string> PtxEmitter::Run() {
  using Handler = std::function<Status(PtxEmitter&)>;
  static const std::map<std::string, Handler> handlers = [] {
    std::map<std::string, Handler> h;
    h["ld"] = [](PtxEmitter& e) { return e.LoadStore(/*load=*/true); };
    h["st"] = [](PtxEmitter& e) { return e.LoadStore(/*load=*/false); };
    h["ldu"] = h["ld"];
    h["atom"] = [](PtxEmitter& e) { return e.AtomicOrReduction(/*has_result=*/true); };
    h["red"] = [](PtxEmitter& e) { return e.AtomicOrReduction(/*has_result=*/false); };
    h["mov"] = [](PtxEmitter& e) { return e.Move(); };
    h["cvt"] = [](PtxEmitter& e) { return e.Convert(); };
    for (const char* op : {"add", "sub", "mul", "min", "max", "div", "rem", "neg", "abs"})
      h[op] = [](PtxEmitter& e) { return e.Arithmetic(); };
    for (const char* op : {"fma", "mad"}) h[op] = [](PtxEmitter& e) { return e.MultiplyAdd(); };
    for (const char* op : {"setp", "selp"}) h[op] = [](PtxEmitter& e) { return e.Compare(); };
    for (const char* op : {"ex2", "lg2", "rcp", "rsqrt", "sqrt", "tanh", "sin", "cos"})
      h[op] = [](PtxEmitter& e) { return e.Approximation(); };
    for (const char* op : {"and", "or", "xor", "not", "shl", "shr", "prmt", "lop3", "shf", "bfe", "bfi", "brev", "popc",
                           "clz", "dp4a"}) {
      h[op] = [](PtxEmitter& e) { return e.Bits(); };
    }
    for (const char* op : {"shfl", "vote", "match", "redux", "activemask", "elect"})
      h[op] = [](PtxEmitter& e) { return e.WarpOperation(); };
    for (const char* op : {"bar", "barrier", "membar", "fence"})
      h[op] = [](PtxEmitter& e) { return e.BarrierOrFence(); };
    for (const char* op : {"cvta", "isspacep"}) h[op] = [](PtxEmitter& e) { return e.AddressConversion(); };
    h["mma"] = [](PtxEmitter& e) { return e.MatrixMultiply(); };
    h["ldmatrix"] = [](PtxEmitter& e) { return e.MatrixMove(/*load=*/true); };
    h["stmatrix"] = [](PtxEmitter& e) { return e.MatrixMove(/*load=*/false); };
    h["wgmma"] = [](PtxEmitter& e) { return e.WarpGroup(); };
    // Hints and profiling need no code. (`discard` allows any contents afterwards; here the bytes stay.)
    for (const char* op :
         {"prefetch", "prefetchu", "applypriority", "discard", "pmevent", "setmaxnreg"}) {
      h[op] = [](PtxEmitter& e) { return e.Nothing(); };
    }
    return h;
  }();
  const std::string& op = i_.parts[0];
  if (op == "cp" && i_.parts.size() > 1 && i_.parts[1] == "async") {
    HONE_RETURN_IF_ERROR(CpAsync());
    return out_;
  }
  if (op == "griddepcontrol") {
    const bool waits = i_.parts.size() > 1 && i_.parts[1] == "wait";
    return waits ? std::string("hone_sim_grid_dependency_wait(); ") : std::string();
  }
  if (op == "trap" || op == "brkpt") return std::string("hone_sim_trap(); ");
  if (op == "nanosleep" && Count() == 1) return "hone_sim_nanosleep(static_cast<uint32_t>(" + Value(0) + ")); ";
  if (op == "createpolicy" && Count() >= 1) {
    Set(Op(0), "0");  // a cache policy, used only by hints
    return out_;
  }
  if (op == "copysign" && Count() == 3 && Has("f32")) {
    Call(0, "hone_ptx::CopySign", {Value(1), Value(2)});
    return out_;
  }
  const auto handler = handlers.find(op);
  if (handler == handlers.end()) return Unsupported();
  HONE_RETURN_IF_ERROR(handler->second(*this));
  return out_;
}

bool PtxInstruction::Has(std::string_view part) const {
  return std::find(parts.begin() + 1, parts.end(), part) != parts.end();
}

Result<std::string> EmitPtx(const PtxInstruction& instruction) { return PtxEmitter(instruction).Run(); }

}  // namespace hone
