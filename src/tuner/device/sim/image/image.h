// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A compiled image inside the child process: loaded by the system's dynamic linker, its kernels found, its shared
// memory (a thread-local segment) and its writable globals located.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/sim/worker/launch_types.h"

namespace hone::sim {

// What the compiler noted down about an image (see sim_compiler.cc).
struct ImageNotes {
  uint32_t static_shared = 0;   // bytes
  uint32_t dynamic_offset = 0;  // of dynamic shared memory in the thread-local segment
  bool has_dynamic = false;
  std::vector<std::pair<uint32_t, uint32_t>> guards;
  std::vector<std::pair<uint64_t, uint64_t>> constants;  // as in ImageSymbols
};

// Stays loaded for the life of the process. Used from several OS threads once loaded.
class Image {
 public:
  // Runs the image's static initialisers: call in a sandboxed process only. kInvalidArgument carries the linker's
  // words (an unresolved symbol, say).
  static Result<Image> Load(int fd, const ImageNotes& notes);

  const ImageLayout& layout() const { return layout_; }
  // Null when there is no such kernel.
  KernelEntry Entry(const std::string& symbol) const;
  // The calling OS thread's shared memory.
  uint8_t* ThreadShared() const;

  // Writable globals: back to what they were when the image was loaded; whether they differ from it.
  void RestoreGlobals();
  bool GlobalsChanged() const;

 private:
  Image() = default;
  void* handle_ = nullptr;
  ImageLayout layout_;
  std::vector<uint8_t> initial_;
};

}  // namespace hone::sim
