// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines a compiler's input and output: the translation unit, the module compiled from it, and all modules of a
// candidate.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"

namespace hone {

// One requirement that a launch in the plan sets for its kernel's signature.
struct PlanCheck {
  size_t kernel = 0;      // index into TranslationUnit::kernels
  int line = 1;           // line of the [[launch]]
  std::string condition;  // a constant expression over the templates in translation_unit.cc, where kKernelType stands
                          // for the kernel's type
  std::string message;    // error message if the condition is false
};

// Arguments that a launch passes to a kernel of machine code, whose parameter types are unknown.
struct PlanSignature {
  size_t kernel = 0;                     // index into TranslationUnit::kernels
  int line = 1;                          // line of the [[launch]]
  std::vector<int64_t> argument_bytes;   // in the order of the parameters
  std::optional<std::array<int64_t, 3>> block;  // block size; nullopt if it depends on the case's dimensions
};

// Input of a compiler after the precompiled headers. Built by core/program/translation_unit.h.
struct TranslationUnit {
  std::string file;                  // name for messages and #line
  std::string body;                  // tunable defines and the source
  std::vector<std::string> kernels;  // name expressions to resolve
  std::vector<PlanCheck> checks;     // PlanCheckText writes them after the body
  std::vector<std::string> options;  // the plan's compiler options
  std::string include_set;
  // Machine code only: name of the image that is the module; `body` is then the candidate's whole text, which contains
  // the image. Empty: `body` is compiled.
  std::string image;
  std::vector<PlanSignature> signatures;
  // Parameter types are not listed: the simulator generates typed trampolines from the function's own type.
};

// A variable in a module's device memory.
struct DeviceGlobal {
  std::string symbol;
  int64_t bytes = 0;
  bool writable = true;
  bool reachable = true;  // false: memory without a name, which cannot be found and therefore not restored
};

struct CompiledModule {
  // kOk, kCompileError, kResourceLimit, kUnsupported, kRuleViolation or kTimedOut.
  Verdict verdict = Verdict::kOk;
  std::string digest;                          // the compiler's first errors with their source lines
  std::string log;                             // the compiler's whole output
  std::string image;                           // cubin, or shared-library bytes for the simulator
  std::map<std::string, std::string> lowered;  // keyed by name expression: the kernel's symbol in the image
  std::vector<KernelResources> resources;
  std::vector<DeviceGlobal> globals;
  std::vector<std::string> labels;             // from the machine code: "emulated_fp32", "tensor_cores", …
  bool from_cache = false;
  bool pch_used = false;
  double seconds = 0;  // wall-clock time of the compile, or of reading it from the cache
};

// A candidate compiled for one choice of tunables: one module per binding that its plan uses.
struct CompiledProgram {
  Candidate candidate;
  Binding binding;
  std::map<std::string, CompiledModule> modules;  // keyed by BindingKey
};

}  // namespace hone
