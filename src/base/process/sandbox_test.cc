// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the sandbox by trying to escape. Each attempt is first shown to succeed without the sandbox, so that a refusal
// proves something.
#include "base/process/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process/sandbox_filter.h"
#include "base/process/subprocess.h"

namespace hone {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

#define SKIP_WITHOUT_LANDLOCK(version) \
  if (ProbeSandbox().landlock_abi < (version)) GTEST_SKIP() << "this kernel's Landlock is older than version " << (version)
#define SKIP_WITHOUT_SECCOMP() \
  if (!ProbeSandbox().seccomp) GTEST_SKIP() << "this kernel has no seccomp filters"

// Runs `attempt` in a forked child, confined when `policy` is given; returns its result (0 to 100), or 1000 + signal.
// Attempts below return 0 for success, otherwise an errno.
int Attempt(const SandboxPolicy* policy, const std::function<int()>& attempt) {
  std::optional<Sandbox> sandbox;
  if (policy != nullptr) {
    auto prepared = Sandbox::Prepare(*policy);
    EXPECT_TRUE(prepared.ok()) << prepared.status().message();
    sandbox.emplace(std::move(*prepared));
  }
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(300);  // ends an attempt that hangs
    if (sandbox && sandbox->Enter().step != nullptr) _exit(99);
    _exit(attempt());
  }
  int raw = 0;
  EXPECT_EQ(waitpid(pid, &raw, 0), pid);
  return WIFSIGNALED(raw) ? 1000 + WTERMSIG(raw) : WEXITSTATUS(raw);
}

int ErrnoOf(long result) { return result < 0 ? errno : 0; }
int TryOpen(const std::string& path, int flags) { return ErrnoOf(open(path.c_str(), flags, 0600)); }

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto directory = MakeTemporaryDirectory();
    ASSERT_TRUE(directory.ok());
    directory_ = std::move(*directory);
    ASSERT_TRUE(MakeDirectories(directory_ / "in").ok());
    ASSERT_TRUE(MakeDirectories(directory_ / "read").ok());
    ASSERT_TRUE(WriteFileAtomically(directory_ / "outside", "secret").ok());
    ASSERT_TRUE(WriteFileAtomically(directory_ / "read/file", "given").ok());
    policy_.write_paths = {directory_ / "in"};
    policy_.read_paths = {directory_ / "read"};
  }
  TemporaryDirectory directory_;
  SandboxPolicy policy_;
};

TEST_F(SandboxTest, ReadsOnlyWhatIsListed) {
  SKIP_WITHOUT_LANDLOCK(1);
  for (const std::string& path : {std::string("/etc/hostname"), std::string("/etc/passwd"), directory_ / "outside",
                                  std::string("/proc/self/environ")}) {
    if (!FileExists(path)) continue;
    EXPECT_EQ(Attempt(nullptr, [&] { return TryOpen(path, O_RDONLY); }), 0) << path;
    EXPECT_EQ(Attempt(&policy_, [&] { return TryOpen(path, O_RDONLY); }), EACCES) << path;
  }
  EXPECT_EQ(Attempt(&policy_, [&] { return TryOpen(directory_ / "read/file", O_RDONLY); }), 0);
  EXPECT_EQ(Attempt(&policy_, [&] { return TryOpen(directory_ / "read/../outside", O_RDONLY); }), EACCES);
  EXPECT_EQ(Attempt(&policy_, [&] { return TryOpen(directory_ / "read/file", O_RDWR); }), EACCES);
}

TEST_F(SandboxTest, KnowsItselfAndNamesItsThreadsWhereThatIsAllowed) {
  SKIP_WITHOUT_LANDLOCK(1);
  // CUDA's driver does this with each thread it starts.
  const auto name_a_thread = [] {
    pthread_t thread;
    int pipes[2];
    if (pipe(pipes) != 0) return 98;
    const auto wait = [](void* end) -> void* {
      char byte;
      (void)!read(*static_cast<int*>(end), &byte, 1);
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, wait, &pipes[0]) != 0) return 97;
    return pthread_setname_np(thread, "cuda-thread");
  };
  const std::string parent = "/proc/" + std::to_string(getpid());
  // fopen(path, "w") opens with these flags; Landlock requires the right to truncate for them.
  const auto its_name = [] {
    return TryOpen("/proc/self/task/" + std::to_string(getpid()) + "/comm", O_WRONLY | O_CREAT | O_TRUNC);
  };
  EXPECT_EQ(Attempt(&policy_, name_a_thread), EACCES);
  EXPECT_EQ(Attempt(&policy_, its_name), EACCES);
  policy_.own_process_files = true;
  EXPECT_EQ(Attempt(&policy_, name_a_thread), 0);
  EXPECT_EQ(Attempt(&policy_, its_name), 0);
  EXPECT_EQ(Attempt(&policy_, [] { return TryOpen("/proc/self/maps", O_RDONLY); }), 0);
  EXPECT_EQ(Attempt(&policy_, [] { return TryOpen("/proc/self/oom_score_adj", O_WRONLY); }), EACCES);
  for (const char* file : {"/maps", "/environ", "/task"}) {
    EXPECT_EQ(Attempt(nullptr, [&] { return TryOpen(parent + file, O_RDONLY); }), 0) << file;
    EXPECT_EQ(Attempt(&policy_, [&] { return TryOpen(parent + file, O_RDONLY); }), EACCES) << file;
  }
}

TEST_F(SandboxTest, ASymbolicLinkDoesNotLeadOut) {
  SKIP_WITHOUT_LANDLOCK(1);
  const std::string link = directory_ / "in/link", target = directory_ / "outside";
  const auto through = [&] {
    if (symlink(target.c_str(), link.c_str()) != 0 && errno != EEXIST) return 98;
    return TryOpen(link, O_RDONLY);
  };
  EXPECT_EQ(Attempt(nullptr, through), 0);
  EXPECT_EQ(Attempt(&policy_, through), EACCES);
}

TEST_F(SandboxTest, WritesOnlyWhatIsListed) {
  SKIP_WITHOUT_LANDLOCK(1);
  EXPECT_EQ(Attempt(&policy_, [&] { return TryOpen(directory_ / "in/new", O_WRONLY | O_CREAT); }), 0);
  EXPECT_EQ(Attempt(&policy_, [&] { return TryOpen(directory_ / "new", O_WRONLY | O_CREAT); }), EACCES);
  EXPECT_EQ(Attempt(&policy_, [&] { return TryOpen("/tmp/hone-escape", O_WRONLY | O_CREAT); }), EACCES);
  EXPECT_EQ(Attempt(&policy_, [&] { return ErrnoOf(unlink((directory_ / "outside").c_str())); }), EACCES);
  EXPECT_EQ(Attempt(&policy_, [&] { return ErrnoOf(mkdir((directory_ / "new").c_str(), 0700)); }), EACCES);
  EXPECT_NE(Attempt(&policy_, [&] { return ErrnoOf(truncate((directory_ / "outside").c_str(), 0)); }), 0);
  EXPECT_NE(Attempt(&policy_, [&] {
              return ErrnoOf(rename((directory_ / "outside").c_str(), (directory_ / "in/stolen").c_str()));
            }), 0);
  EXPECT_NE(Attempt(&policy_, [&] {
              return ErrnoOf(link((directory_ / "outside").c_str(), (directory_ / "in/stolen").c_str()));
            }), 0);
  EXPECT_EQ(ReadFile(directory_ / "outside").value(), "secret");
}

TEST_F(SandboxTest, ChangesNoModeOwnerOrTime) {
  SKIP_WITHOUT_SECCOMP();
  const std::string outside = directory_ / "outside";
  EXPECT_EQ(Attempt(nullptr, [&] { return ErrnoOf(chmod(outside.c_str(), 0666)); }), 0);
  EXPECT_EQ(Attempt(&policy_, [&] { return ErrnoOf(chmod(outside.c_str(), 0777)); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [&] { return ErrnoOf(chown(outside.c_str(), getuid(), getgid())); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [&] { return ErrnoOf(utimensat(AT_FDCWD, outside.c_str(), nullptr, 0)); }), EPERM);
}

TEST_F(SandboxTest, OpensNoSockets) {
  SKIP_WITHOUT_SECCOMP();
  for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK}) {
    EXPECT_EQ(Attempt(&policy_, [=] { return ErrnoOf(socket(family, SOCK_DGRAM, 0)); }), EPERM) << family;
  }
  EXPECT_EQ(Attempt(nullptr, [] { return ErrnoOf(socket(AF_INET, SOCK_STREAM, 0)); }), 0);
  // CUDA's driver does exactly this at start.
  SandboxPolicy listening = policy_;
  listening.unix_listeners = true;
  const auto listen_at = [](const std::string& name, int type) {
    const int fd = socket(AF_UNIX, type, 0);
    if (fd < 0) return errno;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());  // an abstract name
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), bytes) != 0) return errno;
    if (listen(fd, 1) != 0) return errno;
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), bytes) == 0 || errno != ECONNREFUSED) return 99;
    if (accept(fd, nullptr, nullptr) >= 0) return 98;
    return errno == EPERM ? 0 : errno;
  };
  const std::string name = "hone-sandbox-test-" + std::to_string(getpid());
  EXPECT_EQ(Attempt(&listening, [&] { return listen_at(name, SOCK_SEQPACKET | SOCK_CLOEXEC); }), 0);
  EXPECT_EQ(Attempt(&listening, [&] { return listen_at(name, SOCK_STREAM); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [&] { return listen_at(name, SOCK_SEQPACKET | SOCK_CLOEXEC); }), EPERM);
  EXPECT_EQ(Attempt(&listening, [] { return ErrnoOf(socket(AF_INET, SOCK_SEQPACKET, 0)); }), EPERM);
  EXPECT_EQ(Attempt(&listening, [] { return ErrnoOf(socket(AF_UNIX, SOCK_DGRAM, 0)); }), EPERM);
  int pair[2];
  EXPECT_EQ(Attempt(&policy_, [&] { return ErrnoOf(socketpair(AF_UNIX, SOCK_STREAM, 0, pair)); }), 0);
  EXPECT_EQ(Attempt(&policy_, [&] { return ErrnoOf(socketpair(AF_INET, SOCK_STREAM, 0, pair)); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [] { return ErrnoOf(syscall(SYS_io_uring_setup, 1, nullptr)); }), ENOSYS);
  SandboxPolicy networked = policy_;
  networked.network = true;
  EXPECT_EQ(Attempt(&networked, [] { return ErrnoOf(socket(AF_INET, SOCK_STREAM, 0)); }), 0);
}

// Connects to a listener outside the sandbox through a socket made before entering it: only Landlock can refuse that.
TEST_F(SandboxTest, ConnectsNowhereEvenOverAnOldSocket) {
  SKIP_WITHOUT_LANDLOCK(4);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener, 4), 0);
  socklen_t size = sizeof(address);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  const auto connect_it = [&] {
    return ErrnoOf(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  };
  EXPECT_NE(Attempt(&policy_, connect_it), 0);
  EXPECT_EQ(Attempt(nullptr, connect_it), 0);
  close(client);
  close(listener);
}

TEST_F(SandboxTest, AForkBombMakesNotOneProcess) {
  SKIP_WITHOUT_SECCOMP();
  EXPECT_EQ(Attempt(&policy_, [] {
              int processes_made = 0;
              for (int i = 0; i < 100; ++i) {
                const pid_t pid = fork();
                if (pid == 0) {
                  sleep(1);
                  _exit(0);
                }
                if (pid > 0) ++processes_made;
              }
              return processes_made;
            }), 0);
  EXPECT_EQ(Attempt(&policy_, [] { return ErrnoOf(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [] { return ErrnoOf(syscall(SYS_clone3, nullptr, 0)); }), ENOSYS);
#ifdef SYS_vfork
  EXPECT_EQ(Attempt(&policy_, [] { return ErrnoOf(syscall(SYS_vfork)); }), EPERM);
#endif
}

TEST_F(SandboxTest, ThreadsAreAllowedWhereProcessesAreNot) {
  EXPECT_EQ(Attempt(&policy_, [] {
              pthread_t thread;
              int value = 0;
              const int error = pthread_create(&thread, nullptr, [](void* p) -> void* {
                *static_cast<int*>(p) = 1;
                return nullptr;
              }, &value);
              if (error != 0) return error;
              pthread_join(thread, nullptr);
              return value == 1 ? 0 : 98;
            }), 0);
}

TEST_F(SandboxTest, ACountOfProcessesIsKeptWhereTheKernelKeepsIt) {
  policy_.processes = 5;
  const auto sandbox = Sandbox::Prepare(policy_);
  ASSERT_TRUE(sandbox.ok());
  if (!sandbox->report().process_limit) {
    EXPECT_EQ(getuid(), 0u);
    EXPECT_THAT(sandbox->report().Warnings(), ::testing::Contains(HasSubstr("number of processes")));
    return;
  }
  // The kernel counts all processes of this user, and others start and end meanwhile. So the test does not check how
  // many can be made, only that the limit is reached, and that some can be made in one of several tries.
  bool some_made = false;
  for (int attempt = 0; attempt < 50 && !some_made; ++attempt) {
    const int threads_made = Attempt(&policy_, [] {
      rlimit limit{};
      getrlimit(RLIMIT_NPROC, &limit);
      for (rlim_t count = 0; count <= limit.rlim_cur; ++count) {
        const pid_t pid = fork();
        if (pid == 0) _exit(0);  // an ended process counts until its parent waits for it
        if (pid < 0) return errno == EAGAIN ? static_cast<int>(std::min<rlim_t>(count, 50)) : 98;
      }
      return 99;
    });
    EXPECT_LE(threads_made, 50) << "98: another error, 99: no limit";
    some_made = threads_made > 0;
  }
  EXPECT_TRUE(some_made);
}

TEST_F(SandboxTest, TouchesNoOtherProcess) {
  SKIP_WITHOUT_SECCOMP();
  const pid_t parent = getpid();
  EXPECT_EQ(Attempt(nullptr, [=] { return ErrnoOf(kill(parent, 0)); }), 0);
  EXPECT_EQ(Attempt(&policy_, [=] { return ErrnoOf(kill(parent, 0)); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [=] { return ErrnoOf(kill(-1, 0)); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [=] { return ErrnoOf(syscall(SYS_tgkill, parent, parent, 0)); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [=] { return ErrnoOf(ptrace(PTRACE_ATTACH, parent, nullptr, nullptr)); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [=] {
              char byte;
              iovec local{&byte, 1}, remote{&byte, 1};
              return ErrnoOf(process_vm_readv(parent, &local, 1, &remote, 1, 0));
            }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [=] {
              rlimit limit{};
              return ErrnoOf(prlimit(parent, RLIMIT_CORE, nullptr, &limit));
            }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [] { return ErrnoOf(setsid()); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [] { return ErrnoOf(setpgid(0, 0)); }), EPERM);
}

TEST_F(SandboxTest, AbortStillEndsTheProcessByItsOwnSignal) {
  EXPECT_EQ(Attempt(&policy_, [] {
              abort();
              return 0;
            }), 1000 + SIGABRT);
}

TEST_F(SandboxTest, ReachesNoKernelInterface) {
  SKIP_WITHOUT_SECCOMP();
  const struct {
    const char* name;
    long number;
  } calls[] = {{"mount", SYS_mount},       {"unshare", SYS_unshare},   {"setns", SYS_setns},
               {"keyctl", SYS_keyctl},     {"bpf", SYS_bpf},           {"perf_event_open", SYS_perf_event_open},
               {"userfaultfd", SYS_userfaultfd}, {"init_module", SYS_init_module}, {"reboot", SYS_reboot},
               {"shmget", SYS_shmget},     {"personality", SYS_personality}, {"setuid", SYS_setuid},
               {"pidfd_open", SYS_pidfd_open}, {"chroot", SYS_chroot}, {"execve", SYS_execve}};
  for (const auto& call : calls) {
    EXPECT_EQ(Attempt(&policy_, [&] { return ErrnoOf(syscall(call.number, 0, 0, 0, 0, 0, 0)); }), EPERM) << call.name;
  }
  EXPECT_EQ(Attempt(&policy_, [] { return ErrnoOf(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)); }), EPERM);
  EXPECT_EQ(Attempt(&policy_, [] { return ErrnoOf(syscall(1000)); }), ENOSYS);
}

TEST_F(SandboxTest, RootKeepsNoPowers) {
  if (getuid() != 0) GTEST_SKIP() << "not root";
  EXPECT_EQ(Attempt(&policy_, [] {
              for (int capability = 0; capability < 41; ++capability) {
                if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1) return 1;
              }
              return 0;
            }), 0);
}

TEST_F(SandboxTest, MemoryFilesAndTimeAreLimited) {
  policy_.memory_bytes = int64_t{1} << 30;
  policy_.file_bytes = 1000;
  policy_.open_files = 20;
  policy_.cpu_seconds = 1;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(Attempt(&policy_, [] {
              return mmap(nullptr, size_t{2} << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
            }), ENOMEM);
#endif
  EXPECT_EQ(Attempt(&policy_, [&] {
              signal(SIGXFSZ, SIG_IGN);
              const int fd = open((directory_ / "in/big").c_str(), O_WRONLY | O_CREAT, 0600);
              const std::string bytes(2000, 'x');
              if (write(fd, bytes.data(), bytes.size()) != 1000) return 98;
              return ErrnoOf(write(fd, "x", 1));
            }), EFBIG);
  EXPECT_EQ(Attempt(&policy_, [] {
              for (int i = 0; i < 40; ++i) {
                if (dup(0) < 0) return errno;
              }
              return 0;
            }), EMFILE);
  EXPECT_EQ(Attempt(&policy_, [] {
              volatile uint64_t turns = 0;
              while (turns < ~uint64_t{0}) turns = turns + 1;
              return 0;
            }), 1000 + SIGXCPU);
}

TEST_F(SandboxTest, AProgramRunsInsideAndReadsOnlyItsFiles) {
  SKIP_WITHOUT_LANDLOCK(1);
  SubprocessOptions options;
  options.argv = {"/bin/cat", directory_ / "read/file", "/etc/hostname", directory_ / "outside"};
  SandboxPolicy policy = policy_;
  for (const std::string& path : SystemReadPaths()) policy.read_paths.push_back(path);
  policy.exec_paths = SystemExecPaths();
  policy.exec_paths.push_back("/bin/cat");
  options.sandbox = policy;
  const auto result = RunSubprocess(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->out, "given");
  EXPECT_THAT(result->err, HasSubstr("/etc/hostname: Permission denied"));
  EXPECT_THAT(result->err, HasSubstr("outside: Permission denied"));
  EXPECT_EQ(result->exit.exit_status, 1);

  policy.own_process_files = true;
  options.sandbox = policy;
  options.argv = {"/bin/cat", "/proc/self/comm", "/proc/" + std::to_string(getpid()) + "/comm"};
  const auto itself = RunSubprocess(options);
  ASSERT_TRUE(itself.ok()) << itself.status().message();
  EXPECT_EQ(itself->out, "cat\n") << "exec keeps the rule";
  EXPECT_THAT(itself->err, HasSubstr("/comm: Permission denied"));

  options.argv = {"/bin/ls"};
  EXPECT_EQ(RunSubprocess(options).status().code(), StatusCode::kUnavailable) << "a program that is not listed ran";
}

TEST_F(SandboxTest, PathsThatDoNotExistGrantNothing) {
  policy_.read_paths.push_back("/nonexistent/a");
  EXPECT_TRUE(Sandbox::Prepare(policy_).ok());
}

TEST(SandboxReport, WarnsOfEachMissingLayer) {
  SandboxReport full_report;
  full_report.landlock_abi = 7;
  full_report.seccomp = full_report.process_limit = true;
  EXPECT_THAT(full_report.Warnings(), IsEmpty());
  EXPECT_EQ(SandboxReport{}.Warnings().size(), 3u);
}

TEST(SandboxFilter, FitsItsBufferWhateverTheOptions) {
  for (int bits = 0; bits < 32; ++bits) {
    const SandboxFilter filter = BuildSandboxFilter({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0});
    EXPECT_LE(filter.instructions.size(), kMaxSandboxFilterInstructions);
    EXPECT_EQ(filter.own_pid_slots.size(), 2u);
  }
}

}  // namespace
}  // namespace hone
