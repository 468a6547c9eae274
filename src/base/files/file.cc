// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See file.h. The code makes plain POSIX calls, because the user needs to read the errno of the failed call.
#include "base/files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/numbers/random.h"

namespace hone {
namespace {

// Returns the directory part of a path; "." when there is none.
std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<UniqueFd> OpenForReading(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.valid()) return fd;
  const int error = errno;
  const std::string message = ErrnoMessage("open", path, error);
  return error == ENOENT || error == ENOTDIR ? Status::NotFound(message) : Status::Io(message);
}

// Reads up to `most` bytes where the descriptor stands; 0: the file ends here.
Result<size_t> ReadSome(int fd, char* to, size_t most, const std::string& path) {
  for (;;) {
    const ssize_t n = read(fd, to, most);
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return Status::Io(ErrnoMessage("read", path, errno));
  }
}

// Returns whether `path` is a stream of bytes that cannot be replaced: a terminal, a pipe, /dev/null.
bool IsStream(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode));
}

// Writes to a terminal, a pipe or a device, which cannot be replaced by a file.
Status WriteThrough(const std::string& path, std::string_view bytes) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.valid()) return Status::Io(ErrnoMessage("open", path, errno));
  return WriteAll(fd.get(), bytes, path);
}

// Writes a temporary file beside the target and renames it; with `flush`, after writing it to disk.
Status WriteAside(const std::string& given_path, std::string_view bytes, int mode, bool flush) {
  if (IsStream(given_path)) return WriteThrough(given_path, bytes);
  HONE_ASSIGN_OR_RETURN(const std::string path, ReplaceablePath(given_path));
  const std::string parent = ParentOf(path);
  HONE_RETURN_IF_ERROR(MakeDirectories(parent));
  // The new file is in the same directory, so that the rename stays within one file system.
  std::string temporary;
  HONE_ASSIGN_OR_RETURN(UniqueFd fd, CreateBeside(path, temporary, mode));

  // The mode is set before the contents are written: private contents are never readable by others on the way.
  Status status = KeepModeOf(path, fd.get());
  if (status.ok()) status = WriteAll(fd.get(), bytes, temporary);
  if (status.ok() && flush && fsync(fd.get()) != 0) status = Status::Io(ErrnoMessage("flush", temporary, errno));
  // A full network disk may report its error only at close().
  if (const int raw = fd.Release(); close(raw) != 0 && status.ok()) {
    status = Status::Io(ErrnoMessage("close", temporary, errno));
  }
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = Status::Io(ErrnoMessage("rename to", path, errno));
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  if (flush) {
    // The rename is recorded in the directory. Some file systems refuse to flush directories; that is not an error.
    UniqueFd directory(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.valid()) (void)!fsync(directory.get());
  }
  return Status::Ok();
}

}  // namespace

void UniqueFd::Reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

std::string ErrnoMessage(std::string_view action, std::string_view path, int error) {
  return fmt::format("could not {} '{}': {}", action, path, std::generic_category().message(error));
}

Result<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  HONE_ASSIGN_OR_RETURN(const UniqueFd fd, OpenForReading(path));
  std::string bytes;
  struct stat info {};
  if (fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode)) {
    if (max_bytes > 0 && info.st_size > max_bytes) {
      return Status::InvalidArgument(
          fmt::format("'{}' holds {} bytes; at most {} are accepted", path, info.st_size, max_bytes));
    }
    bytes.reserve(static_cast<size_t>(info.st_size));
  }
  // The size is not trusted: files in /proc report 0, and a file may grow while it is read.
  char buffer[64 * 1024];
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const size_t n, ReadSome(fd.get(), buffer, sizeof(buffer), path));
    if (n == 0) return bytes;
    bytes.append(buffer, n);
    if (max_bytes > 0 && static_cast<int64_t>(bytes.size()) > max_bytes) {
      return Status::InvalidArgument(fmt::format("'{}' holds more than the {} bytes accepted", path, max_bytes));
    }
  }
}

Result<std::string> ReadHead(const std::string& path, size_t most) {
  HONE_ASSIGN_OR_RETURN(const UniqueFd fd, OpenForReading(path));
  std::string bytes(most, '\0');
  size_t filled = 0;
  while (filled < most) {
    HONE_ASSIGN_OR_RETURN(const size_t n, ReadSome(fd.get(), bytes.data() + filled, most - filled, path));
    if (n == 0) break;
    filled += n;
  }
  bytes.resize(filled);
  return bytes;
}

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return Status::Io(ErrnoMessage("write", path, errno));
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return Status::Ok();
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes, int mode) {
  return WriteAside(path, bytes, mode, /*flush=*/true);
}

Status WriteFileAtomicallyUnflushed(const std::string& path, std::string_view bytes, int mode) {
  return WriteAside(path, bytes, mode, /*flush=*/false);
}

// mkostemp is not used, since it makes every file 0600: open() respects the umask and a folder's default access list.
Result<UniqueFd> CreateBeside(const std::string& path, std::string& temporary, int mode) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  for (int attempt = 0;; ++attempt) {
    temporary = path + ".aside-";
    uint64_t random = SystemSeed();
    for (int i = 0; i < 6; ++i, random /= kLetters.size()) temporary += kLetters[random % kLetters.size()];
    UniqueFd fd(open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, static_cast<mode_t>(mode)));
    if (fd.valid()) return fd;
    if (errno != EEXIST || attempt > 100) return Status::Io(ErrnoMessage("create", temporary, errno));
  }
}

Status KeepModeOf(const std::string& path, int fd) {
  struct stat old {}, made {};
  if (stat(path.c_str(), &old) != 0 || fstat(fd, &made) != 0) return Status::Ok();
  const mode_t mode = old.st_mode & 0777;
  if (mode == (made.st_mode & 0777) || fchmod(fd, mode) == 0) return Status::Ok();
  return Status::Io(ErrnoMessage("keep the mode of", path, errno));
}

Result<std::string> ReplaceablePath(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return path;  // absent or unreachable: the write will report it
  if (S_ISDIR(info.st_mode)) return Status::InvalidArgument(fmt::format("'{}' is a folder: name a file in it", path));
  if (!S_ISREG(info.st_mode)) {
    return Status::InvalidArgument(fmt::format("'{}' is no regular file and would be replaced by one: name another file", path));
  }
  if (lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error) return Status::Io(ErrnoMessage("follow the link", path, error.value()));
  return target.string();
}

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Status::Io(ErrnoMessage("make directory", path, error.value()));
  if (!std::filesystem::is_directory(path, error)) return Status::Io(ErrnoMessage("make directory", path, ENOTDIR));
  return Status::Ok();
}

bool FileExists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

Result<std::string> FindExecutable(const std::string& name, const std::vector<std::string>& directories) {
  const auto executable = [](const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    if (executable(name)) return name;
    return Status::NotFound(fmt::format("'{}' is not an executable file", name));
  }
  for (const std::string& directory : directories) {
    const std::string path = directory + "/" + name;
    if (executable(path)) return path;
  }
  return Status::NotFound(
      fmt::format("no executable '{}' in any of: {}", name, fmt::join(directories, ", ")));
}

std::vector<std::string> SplitSearchPath(std::string_view colon_separated) {
  std::vector<std::string> directories;
  while (!colon_separated.empty()) {
    const size_t colon = colon_separated.find(':');
    const std::string_view part = colon_separated.substr(0, colon);
    // POSIX reads an empty part as the working directory; programs there must not run by accident.
    if (!part.empty()) directories.emplace_back(part);
    if (colon == std::string_view::npos) break;
    colon_separated.remove_prefix(colon + 1);
  }
  return directories;
}

}  // namespace hone
