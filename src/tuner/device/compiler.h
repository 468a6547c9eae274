// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a translation unit into an image a device can load. Implementations: NVRTC with precompiled
// headers in sandboxed zygotes (nvrtc_compiler), the simulator's host compiler (sim_compiler), and a
// content-hash cache over either (compile_cache). Thread-safe: Compile may be called from many threads.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/core/program/compiled_program.h"

namespace hone {

class Compiler {
 public:
  virtual ~Compiler() = default;
  // Compiles a unit. A Status means that the compiler itself is missing or its process could not be made.
  virtual Result<CompiledModule> Compile(const TranslationUnit& unit) = 0;
  // Returns compiler, version, architecture and header set as text: part of every cache key.
  virtual std::string Fingerprint() const = 0;
};

}  // namespace hone
