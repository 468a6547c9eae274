// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/infer/write_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/file.h"

namespace hone::gnn {

Status WriteOutput(const std::string& path, std::string_view bytes) {
  const Status status = WriteFileAtomically(path, bytes);
  if (status.ok()) return status;
  return {status.code(),
          fmt::format("{}; {}; it takes {} KiB in a folder that can be written: make room (or raise the limit that "
                      "`ulimit -f` shows), or choose another place",
                      status.message(),
                      FileExists(path) ? fmt::format("'{}' is as it was", path) : fmt::format("no '{}' was left", path),
                      (bytes.size() + 1023) / 1024)};
}

Status CheckOutput(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  HONE_RETURN_IF_ERROR(MakeDirectories(folder));
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Status::InvalidArgument(fmt::format("'{}' is a folder: name a file in it", path));
  }
  // Tests by writing: for root, and on a read-only disk, the permissions may allow what writing does not.
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(const std::string target, ReplaceablePath(path));
  std::string temporary;
  const Result<UniqueFd> temporary_file = CreateBeside(target, temporary, 0600);
  if (!temporary_file.ok())
    return Status(temporary_file.status().code(), temporary_file.status().message() + "; choose another place");
  unlink(temporary.c_str());
  return Status::Ok();
}

}  // namespace hone::gnn
