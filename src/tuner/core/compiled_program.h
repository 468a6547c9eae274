// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Values on either side of a compiler: the translation unit that goes in, the module that comes out, and a
// candidate's modules together.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"

namespace hone {

// One thing that a launch of the plan demands of its kernel's signature.
struct PlanCheck {
  size_t kernel = 0;      // index into TranslationUnit::kernels
  int line = 1;           // of the [[launch]]
  std::string condition;  // a constant expression over the templates of translation_unit.cc; kKernelType is its type
  std::string message;    // what to say where it does not hold
};

// What a launch of the plan passes to a kernel of machine code, whose own types nobody knows.
struct PlanSignature {
  size_t kernel = 0;                     // index into TranslationUnit::kernels
  int line = 1;                          // of the [[launch]]
  std::vector<int64_t> argument_bytes;   // in the order of the parameters
  std::optional<std::array<int64_t, 3>> block;  // threads, where the plan gives them as numbers and tunables alone
};

// Built by core/translation_unit.h: what follows the precompiled headers.
struct TranslationUnit {
  std::string file;                  // name for messages and #line
  std::string body;                  // tunable defines and the source
  std::vector<std::string> kernels;  // name expressions to resolve
  std::vector<PlanCheck> checks;     // stand behind the body as PlanCheckText writes them
  std::vector<std::string> options;  // the plan's compiler options
  std::string include_set;
  // Machine code, which is not compiled: `body` is the candidate's whole text, and the image with this name in it the module.
  std::string image;
  std::vector<PlanSignature> signatures;
  // Parameter C++ types the launcher passes, per kernel: the simulator generates typed trampolines from
  // the function's own type, so it needs only the names above.
};

// A variable in a module's device memory.
struct DeviceGlobal {
  std::string symbol;
  int64_t bytes = 0;
  bool writable = true;
  bool reachable = true;  // false: memory without a name, which cannot be found and so not be restored
};

struct CompiledModule {
  // kOk, kCompileError, kResourceLimit, kUnsupported, kRuleViolation or kTimedOut.
  Verdict verdict = Verdict::kOk;
  std::string digest;                          // short: first errors with their lines
  std::string log;                             // everything the compiler said
  std::string image;                           // cubin, or shared-library bytes for the simulator
  std::map<std::string, std::string> lowered;  // name expression -> symbol
  std::vector<KernelResources> resources;
  std::vector<DeviceGlobal> globals;
  std::vector<std::string> labels;             // from the machine code: "emulated_fp32", "tensor_cores", …
  bool from_cache = false;
  bool pch_used = false;
  double seconds = 0;
};

// A candidate compiled for one choice of tunables: one module per binding that its plan needs.
struct CompiledProgram {
  Candidate candidate;
  Binding binding;
  std::map<std::string, CompiledModule> modules;  // by BindingKey
};

}  // namespace hone
