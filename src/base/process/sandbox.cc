// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See sandbox.h. Landlock is called by number and with constants defined here, since the headers of Debian 12 know only
// its second version, while kernels in use have the seventh. The filter itself is in sandbox_filter.cc.
#include "base/process/sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/process/sandbox_filter.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HONE_SANITIZER_RESERVES_MEMORY 1
#else
#define HONE_SANITIZER_RESERVES_MEMORY 0
#endif

namespace hone {
namespace {

namespace landlock {

constexpr long kCreateRuleset = 444, kAddRule = 445,
               kRestrictSelf = 446;  // system calls; the same on every architecture
constexpr uint32_t kVersionFlag = 1;
constexpr int kPathBeneath = 1;

enum FileRight : uint64_t {
  kExecute = 1u << 0,
  kWriteFile = 1u << 1,
  kReadFile = 1u << 2,
  kReadDir = 1u << 3,
  kRemoveDir = 1u << 4,
  kRemoveFile = 1u << 5,
  kMakeChar = 1u << 6,
  kMakeDir = 1u << 7,
  kMakeReg = 1u << 8,
  kMakeSock = 1u << 9,
  kMakeFifo = 1u << 10,
  kMakeBlock = 1u << 11,
  kMakeSym = 1u << 12,
  kRefer = 1u << 13,     // version 2
  kTruncate = 1u << 14,  // version 3
  kIoctlDev = 1u << 15,  // version 5
};
constexpr uint64_t kVersion1Rights = (1u << 13) - 1;
constexpr uint64_t kBindTcp = 1, kConnectTcp = 2;            // version 4
constexpr uint64_t kScopeAbstractSocket = 1, kScopeSignal = 2;  // version 6

struct RulesetAttributes {
  uint64_t handled_files = 0;
  uint64_t handled_network = 0;
  uint64_t scoped = 0;
};
struct [[gnu::packed]] PathBeneathAttributes {
  uint64_t allowed = 0;
  int32_t parent_fd = -1;
};

// Returns the size of the attributes that each version knows; a larger size is refused with E2BIG.
size_t AttributeBytes(int abi) {
  if (abi >= 6) return 24;
  if (abi >= 4) return 16;
  return 8;
}

// Returns the file rights that this version of Landlock can restrict.
uint64_t HandledFileRights(int abi) {
  uint64_t rights = kVersion1Rights;
  if (abi >= 2) rights |= kRefer;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDev;
  return rights;
}

constexpr uint64_t kReadRights = kReadFile | kReadDir;
constexpr uint64_t kExecRights = kReadRights | kExecute;
// Rights on ordinary files, directories and links; not on devices, sockets or pipes.
constexpr uint64_t kWriteRights = kReadRights | kWriteFile | kTruncate | kMakeReg | kMakeDir | kMakeSym |
                                  kRemoveFile | kRemoveDir | kRefer;
constexpr uint64_t kDeviceRights = kReadRights | kWriteFile | kIoctlDev;
// Rights that may be granted on anything but a directory; others are refused with EINVAL.
constexpr uint64_t kRightsOnFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDev;

// Rule descriptors are numbered above every number that a child may be given: a child with a socket as descriptor 3 and
// the rules as descriptor 3 would confine itself with the socket.
constexpr int kFirstRulesetDescriptor = 100;

// Returns the version of Landlock that the kernel offers; 0: none.
int LandlockVersion() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kVersionFlag);
  return version > 0 ? static_cast<int>(version) : 0;
}

// Adds a rule that grants `rights` at a path and below. A path that does not exist grants nothing.
Status Allow(int ruleset, const std::string& path, uint64_t rights, uint64_t handled) {
  UniqueFd fd(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return Status::Ok();
    const bool out_of_resources = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    if (out_of_resources) return Status::Unavailable(ErrnoMessage("open for the sandbox", path, errno));
    return Status::InvalidArgument(ErrnoMessage("open for the sandbox", path, errno));
  }
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return Status::InvalidArgument(ErrnoMessage("look at", path, errno));
  if (!S_ISDIR(info.st_mode)) rights &= kRightsOnFiles;
  const PathBeneathAttributes rule{rights & handled, fd.get()};
  if (rule.allowed == 0) return Status::Ok();
  if (syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0) {
    return Status::Unavailable(ErrnoMessage("let the sandbox use", path, errno));
  }
  return Status::Ok();
}

}  // namespace landlock

bool SeccompAvailable() {
  // Asks whether an action is available: this requires that the filter mode is compiled in, and changes nothing.
  const uint32_t action = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// Counts tasks (threads) of the calling user: RLIMIT_NPROC counts all of them, not only those of this process.
int64_t TasksOfThisUser() {
  int64_t tasks = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.empty() || !std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) continue;
    struct stat info {};
    if (stat(entry.path().c_str(), &info) != 0 || info.st_uid != getuid()) continue;
    std::error_code gone;
    std::filesystem::directory_iterator task(entry.path() / "task", gone), end;
    while (!gone && task != end) {
      ++tasks;
      task.increment(gone);
    }
  }
  return tasks;
}

// Drops every capability but reading files of other users: Landlock confines reading, and a root user's compiler must
// be able to read a source that belongs to someone else.
Sandbox::Failure DropCapabilities() {
  // 64 is above every capability that Linux has; PR_CAPBSET_READ fails for numbers that it does not know.
  for (int capability = 0; capability < 64; ++capability) {
    if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) != 1) continue;
    // EPERM means that the process is not privileged, so there is nothing to drop.
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM) return {"drop capabilities", errno};
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (syscall(SYS_capget, &header, data) != 0) return {"read capabilities", errno};
  const uint32_t keep = 1u << CAP_DAC_READ_SEARCH;
  data[0].effective &= keep;
  data[0].permitted &= keep;
  data[0].inheritable = 0;
  data[1] = {};
  header = {_LINUX_CAPABILITY_VERSION_3, 0};
  if (syscall(SYS_capset, &header, data) != 0) return {"set capabilities", errno};
  return {};
}

}  // namespace

std::vector<std::string> SandboxReport::Warnings() const {
  std::vector<std::string> warnings;
  if (landlock_abi == 0) {
    warnings.push_back(
        "this kernel has no Landlock: compilers, simulated kernels and host-mode candidates can read and write every file "
        "that you can");
  }
  if (!seccomp) {
    warnings.push_back("this kernel has no seccomp filters: candidates' compilers can open network connections");
  }
  if (!process_limit) {
    warnings.push_back(
        "the number of processes is not limited, because the kernel does not count those of root: "
        "a runaway process is ended by its time limit only");
  }
  return warnings;
}

SandboxReport ProbeSandbox() {
  SandboxReport report;
  report.landlock_abi = landlock::LandlockVersion();
  report.landlock_network = report.landlock_abi >= 4;
  report.landlock_signals = report.landlock_abi >= 6;
  report.seccomp = SeccompAvailable();
  report.process_limit = report.seccomp;
  return report;
}

std::vector<std::string> SystemReadPaths() {
  return {"/lib",          "/lib64",   "/usr/lib",  "/usr/lib64",   "/usr/local/lib",   "/etc/ld.so.cache",
          "/etc/ld.so.preload", "/dev/null", "/dev/zero", "/dev/urandom", "/etc/alternatives"};
}

std::vector<std::string> SystemExecPaths() {
  return {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"};
}

Result<Sandbox> Sandbox::Prepare(const SandboxPolicy& policy) {
  Sandbox sandbox;
  sandbox.report_ = ProbeSandbox();
  SandboxReport& report = sandbox.report_;

  if (report.landlock_abi > 0) {
    landlock::RulesetAttributes attributes;
    const uint64_t handled = landlock::HandledFileRights(report.landlock_abi);
    attributes.handled_files = handled;
    sandbox.handled_rights_ = handled;
    sandbox.own_process_files_ = policy.own_process_files;
    if (report.landlock_network && !policy.network) {
      attributes.handled_network = landlock::kBindTcp | landlock::kConnectTcp;
    }
    if (report.landlock_signals) attributes.scoped = landlock::kScopeAbstractSocket | landlock::kScopeSignal;
    if (policy.network) attributes.scoped &= ~landlock::kScopeAbstractSocket;
    const long fd = syscall(landlock::kCreateRuleset, &attributes, landlock::AttributeBytes(report.landlock_abi), 0);
    if (fd < 0) {
      return Status::Unavailable("could not make Landlock rules: " + std::generic_category().message(errno));
    }
    const UniqueFd low_descriptor(static_cast<int>(fd));
    sandbox.ruleset_.Reset(fcntl(low_descriptor.get(), F_DUPFD_CLOEXEC, landlock::kFirstRulesetDescriptor));
    if (!sandbox.ruleset_.valid()) {
      return Status::Unavailable("could not keep Landlock rules: " + std::generic_category().message(errno));
    }
    const struct {
      const std::vector<std::string>& paths;
      uint64_t rights;
    } grants[] = {{policy.read_paths, landlock::kReadRights},
                  {policy.write_paths, landlock::kWriteRights},
                  {policy.exec_paths, landlock::kExecRights},
                  {policy.device_paths, landlock::kDeviceRights}};
    for (const auto& grant : grants) {
      for (const std::string& path : grant.paths) {
        HONE_RETURN_IF_ERROR(landlock::Allow(sandbox.ruleset_.get(), path, grant.rights, handled));
      }
    }
  }

  if (report.seccomp) {
    SandboxFilterOptions options;
    options.network = policy.network;
    options.unix_listeners = policy.unix_listeners;
    options.new_processes = policy.processes != 0;
    options.exec = !policy.exec_paths.empty();
    options.truncate = report.landlock_abi >= 3 || report.landlock_abi == 0;
    SandboxFilter filter = BuildSandboxFilter(options);
    sandbox.filter_ = std::move(filter.instructions);
    sandbox.own_pid_slots_ = std::move(filter.own_pid_slots);
  }

  const auto add_limit = [&](int resource, int64_t value, int64_t slack = 0) {
    sandbox.limits_.push_back({resource, static_cast<uint64_t>(value), static_cast<uint64_t>(value + slack)});
  };
  add_limit(RLIMIT_CORE, 0);
  // The soft limit sends SIGXCPU, which ends the process by default; the hard limit cannot be caught.
  if (policy.cpu_seconds > 0) add_limit(RLIMIT_CPU, policy.cpu_seconds, 1);
  if (policy.memory_bytes > 0 && !HONE_SANITIZER_RESERVES_MEMORY) add_limit(RLIMIT_AS, policy.memory_bytes);
  if (policy.file_bytes > 0) add_limit(RLIMIT_FSIZE, policy.file_bytes);
  if (policy.open_files > 0) add_limit(RLIMIT_NOFILE, policy.open_files);
  if (policy.processes > 0) {
    report.process_limit = getuid() != 0;
    if (report.process_limit) add_limit(RLIMIT_NPROC, TasksOfThisUser() + policy.processes);
  } else if (policy.processes < 0) {
    report.process_limit = true;  // enforced: no limit was requested
  }
  return sandbox;
}

// Runs in the child, since only there /proc/self is the child's; exec keeps the rule. The rule is bound to the folder
// of this process, so it opens no other folder to processes that enter the same rules later. Allocates nothing.
Sandbox::Failure Sandbox::AllowOwnProcessFiles() const {
  const struct {
    const char* path;
    uint64_t rights;
  } grants[] = {{"/proc/self", landlock::kReadRights}, {"/proc/self/task", landlock::kReadRights | landlock::kWriteFile | landlock::kTruncate}};
  for (const auto& grant : grants) {
    const int fd = open(grant.path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
      if (errno == ENOENT) continue;  // no /proc: nothing to allow
      return {"open its own /proc/self", errno};
    }
    const landlock::PathBeneathAttributes rule{grant.rights & handled_rights_, fd};
    const long added = syscall(landlock::kAddRule, ruleset_.get(), landlock::kPathBeneath, &rule, 0);
    const int error = errno;
    close(fd);
    if (added != 0) return {"allow its own /proc/self", error};
  }
  return {};
}

// Runs in the child, and allocates nothing. A failure names the step.
Sandbox::Failure Sandbox::Enter() const {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return {"set no_new_privs", errno};
  for (const Limit& add_limit : limits_) {
    rlimit wanted{add_limit.soft, add_limit.hard};
    rlimit current{};
    // A limit must not exceed the one that this process has.
    if (getrlimit(static_cast<__rlimit_resource>(add_limit.resource), &current) == 0 &&
        current.rlim_max != RLIM_INFINITY) {
      wanted.rlim_max = std::min(wanted.rlim_max, current.rlim_max);
      wanted.rlim_cur = std::min(wanted.rlim_cur, wanted.rlim_max);
    }
    if (setrlimit(static_cast<__rlimit_resource>(add_limit.resource), &wanted) != 0)
      return {"set a resource limit", errno};
  }
  if (const Failure failure = DropCapabilities(); failure.step != nullptr) return failure;
  if (ruleset_.valid() && own_process_files_) {
    if (const Failure failure = AllowOwnProcessFiles(); failure.step != nullptr) return failure;
  }
  if (ruleset_.valid() && syscall(landlock::kRestrictSelf, ruleset_.get(), 0) != 0) {
    return {"confine with Landlock", errno};
  }
  if (!filter_.empty()) {
    sock_filter local[kMaxSandboxFilterInstructions];  // a copy with this process's id; the child must not allocate
    std::memcpy(local, filter_.data(), filter_.size() * sizeof(sock_filter));
    for (const size_t slot : own_pid_slots_) local[slot].k = static_cast<uint32_t>(getpid());
    const sock_fprog program{static_cast<unsigned short>(filter_.size()), local};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) return {"install the seccomp filter", errno};
  }
  return {};
}

}  // namespace hone
