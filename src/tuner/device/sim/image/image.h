// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads a compiled image inside the child process by the system's dynamic linker, and locates its kernels, its shared
// memory (a thread-local segment) and its writable globals.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/sim/worker/launch_types.h"

namespace hone::sim {

// The compiler's notes about an image (see sim_compiler.cc).
struct ImageNotes {
  uint32_t static_shared = 0;   // bytes
  uint32_t dynamic_offset = 0;  // offset of dynamic shared memory in the thread-local segment
  bool has_dynamic = false;
  std::vector<std::pair<uint32_t, uint32_t>> guards;
  std::vector<std::pair<uint64_t, uint64_t>> constants;  // ranges of __constant__ variables (ImageSymbols)
};

// A loaded image. It stays loaded for the life of the process; several OS threads use it.
class Image {
 public:
  // Loads an image and runs its static initialisers: call in a sandboxed process only. kInvalidArgument carries the
  // linker's message (an unresolved symbol, say).
  static Result<Image> Load(int fd, const ImageNotes& notes);

  const ImageLayout& layout() const { return layout_; }
  // Returns null when there is no such kernel.
  KernelEntry Entry(const std::string& symbol) const;
  // Returns the calling OS thread's shared memory.
  uint8_t* ThreadShared() const;

  // Sets the key by which the next launches displace approximate results (sim_abi.h). The key is the simulator's own:
  // RestoreGlobals keeps it, and GlobalsChanged ignores it.
  void SetDisplacement(uint32_t key);

  // RestoreGlobals sets the writable globals to their values at load time. GlobalsChanged returns whether one differs
  // from that.
  void RestoreGlobals();
  // Globals returns the bytes of all writable globals. SetGlobals sets them to such bytes.
  std::vector<uint8_t> Globals() const;
  void SetGlobals(const std::vector<uint8_t>& globals);
  bool GlobalsChanged() const;

 private:
  Image() = default;
  void* handle_ = nullptr;
  ImageLayout layout_;
  std::vector<uint8_t> initial_;
};

}  // namespace hone::sim
