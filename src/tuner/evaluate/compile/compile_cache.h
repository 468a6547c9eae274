// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The compile cache keeps compiled modules on disk, under the hash of everything that went into them. It wraps any
// Compiler.
//
// Any number of processes may share the folder, and each may be killed at any moment: an entry is written to a
// temporary file and renamed. Each entry carries a checksum; an entry that does not match its checksum is removed and
// compiled again. A full disk costs speed, never a verdict. An outcome that depends on the moment (a time limit, a
// crash of the compiler) is not kept.
//
// An entry is DIR/<2 hex digits>/<64 hex digits>.module. The file's modification time is its last use, and the least
// recently used entries are removed when the folder exceeds its bound.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "tuner/device/compiler.h"

namespace hone {

struct CompileCacheOptions {
  std::string directory;
  int64_t max_bytes = int64_t{2} << 30;
};

struct CompileCacheCounters {
  int64_t hits = 0, misses = 0;
  int64_t corrupt = 0;         // entries found damaged and removed
  int64_t failed_writes = 0;   // entries that could not be written: a full or read-only disk
  int64_t evicted = 0;         // entries removed because the folder exceeded its bound
};

class CachedCompiler : public Compiler {
 public:
  virtual CompileCacheCounters counters() const = 0;
};

// Makes a compiler that looks into the cache before it calls `inner`. Returns kIo when the folder cannot be made. Two
// threads that ask for the same unit at the same time cause one compile.
Result<std::unique_ptr<CachedCompiler>> MakeCachedCompiler(std::unique_ptr<Compiler> inner,
                                                           const CompileCacheOptions& options);

// Returns the cache's name for `unit` when the compiler with this fingerprint compiles it: 64 hexadecimal digits.
std::string CompileCacheKey(const TranslationUnit& unit, std::string_view fingerprint);

// Encode a module as bytes, checksum included, and decode it; `seconds` and `from_cache` are not kept. DecodeModule
// returns kInvalidArgument for bytes that are not exactly what EncodeModule made.
std::string EncodeModule(const CompiledModule& module);
Result<CompiledModule> DecodeModule(std::string_view bytes);

}  // namespace hone
