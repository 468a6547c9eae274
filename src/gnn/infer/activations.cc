// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/infer/activations.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files/file.h"

namespace hone::gnn {

Activations& Activations::operator=(Activations&& other) noexcept {
  std::swap(matrix_, other.matrix_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Activations::~Activations() {
  if (matrix_.data != nullptr) munmap(matrix_.data, bytes_);
}

Result<Activations> Activations::Make(int64_t rows, int64_t cols, const std::string& folder) {
  const int64_t bytes = std::max<int64_t>(rows * cols, 1) * static_cast<int64_t>(sizeof(float));
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  UniqueFd file;
  if (!folder.empty()) {
    HONE_RETURN_IF_ERROR(MakeDirectories(folder));
    std::string path = folder + "/activations-XXXXXX";
    file.Reset(mkostemp(path.data(), O_CLOEXEC));
    if (!file.valid()) return Status::Io(ErrnoMessage("create", path, errno));
    unlink(path.c_str());
    // Reserves the space now, so that a full disk is an error here and not a signal at the first write.
    if (const int error = posix_fallocate(file.get(), 0, bytes); error != 0) {
      return Status::Io(fmt::format("{}; make room there, or choose another folder with --scratch",
                                    ErrnoMessage(fmt::format("reserve {} bytes in", bytes), folder, error)));
    }
    flags = MAP_SHARED;
  }
  void* memory = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, flags, file.get(), 0);
  if (memory == MAP_FAILED) {
    return Status::ResourceExhausted(
        fmt::format("no {} bytes for the activations of {} nodes; --scratch FOLDER keeps them in a file", bytes, rows));
  }
  if (folder.empty()) madvise(memory, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  Activations made;
  made.matrix_ = {static_cast<float*>(memory), rows, cols, cols};
  made.bytes_ = static_cast<size_t>(bytes);
  return made;
}

}  // namespace hone::gnn
