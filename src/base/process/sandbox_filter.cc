// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See sandbox_filter.h. The filter makes one compare and one return per refused call: linear, some 200 instructions,
// 0.2 us a call, which is negligible for confined programs.
#include "base/process/sandbox_filter.h"

#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "hone/base/status.h"

namespace hone {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the sandbox knows the system calls of x86-64 and AArch64"
#endif

// The newest call known when this list was written (cachestat); later calls have not been judged. The numbers of x32,
// with bit 30 set, are larger too.
constexpr uint32_t kNewestKnownCall = 451;

// Calls that are always refused. Calls that an architecture or a header does not have are left out below.
constexpr uint32_t kRefused[] = {
    // These calls reach other processes.
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise, SYS_process_mrelease, SYS_kcmp,
    SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_tkill,
    SYS_migrate_pages, SYS_move_pages,
    // Leaving the process group, through which the parent ends the process.
    SYS_setsid, SYS_setpgid,
    // File systems and name spaces.
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_move_mount, SYS_open_tree,
    SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_swapon, SYS_swapoff, SYS_quotactl,
    SYS_quotactl_fd, SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init, SYS_fanotify_mark,
    // Mode, owner, times and attributes of files: Landlock does not judge them.
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_mknodat,
    // These calls reach keys and kernel interfaces.
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_kexec_load,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_acct, SYS_syslog, SYS_personality,
    SYS_memfd_secret,
    // The machine's clock and names.
    SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname,
    // These calls change identities.
    SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid,
    SYS_setgroups, SYS_capset,
    // These calls change priority over other processes.
    SYS_sched_setscheduler, SYS_sched_setattr, SYS_sched_setparam, SYS_ioprio_set,
    // These calls make objects that outlive the process, or reach processes outside.
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_msgget, SYS_msgsnd,
    SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#if defined(__x86_64__)
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_mknod, SYS_iopl, SYS_ioperm,
    SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS__sysctl, SYS_lookup_dcookie, SYS_vhangup,
#endif
};

constexpr uint32_t kMissing[] = {SYS_clone3, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register};

constexpr uint32_t kAccepting[] = {SYS_accept, SYS_accept4};
constexpr uint32_t kListening[] = {SYS_socket, SYS_connect, SYS_bind, SYS_listen};

class Assembler {
 public:
  void LoadWord(size_t offset) { Emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(offset)); }
  void LoadCall() { LoadWord(offsetof(seccomp_data, nr)); }
  // Loads the low half of an argument: all that the kernel reads of an int.
  void LoadArgument(int index) { LoadWord(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(index)); }
  void KeepBits(uint32_t bits) { Emit(BPF_ALU | BPF_AND | BPF_K, 0, 0, bits); }
  void Return(uint32_t action) { Emit(BPF_RET | BPF_K, 0, 0, action); }
  void ReturnError(int error) { Return(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)); }
  // Skip the next `skip` instructions unless, or if, the loaded word equals, has a bit of, or exceeds the constant.
  void UnlessEqualSkip(uint32_t value, uint8_t skip) { Emit(BPF_JMP | BPF_JEQ | BPF_K, 0, skip, value); }
  void IfEqualSkip(uint32_t value, uint8_t skip) { Emit(BPF_JMP | BPF_JEQ | BPF_K, skip, 0, value); }
  void UnlessAnyBitSkip(uint32_t bits, uint8_t skip) { Emit(BPF_JMP | BPF_JSET | BPF_K, 0, skip, bits); }
  void IfAnyBitSkip(uint32_t bits, uint8_t skip) { Emit(BPF_JMP | BPF_JSET | BPF_K, skip, 0, bits); }
  void UnlessAboveSkip(uint32_t value, uint8_t skip) { Emit(BPF_JMP | BPF_JGT | BPF_K, 0, skip, value); }

  void RefuseCall(uint32_t call, int error) {
    UnlessEqualSkip(call, 1);
    ReturnError(error);
  }
  void MarkOwnPid() { filter_.own_pid_slots.push_back(filter_.instructions.size()); }

  SandboxFilter Finish() {
    HONE_CHECK(filter_.instructions.size() <= kMaxSandboxFilterInstructions, "the sandbox filter grew too long");
    return std::move(filter_);
  }

 private:
  void Emit(int code, uint8_t if_true, uint8_t if_false, uint32_t k) {
    filter_.instructions.push_back({static_cast<uint16_t>(code), if_true, if_false, k});
  }
  SandboxFilter filter_;
};

}  // namespace

SandboxFilter BuildSandboxFilter(const SandboxFilterOptions& options) {
  Assembler assembler;
  assembler.LoadWord(offsetof(seccomp_data, arch));
  assembler.IfEqualSkip(kArchitecture, 1);
  assembler.Return(SECCOMP_RET_KILL_PROCESS);  // on another architecture the numbers below mean other calls
  assembler.LoadCall();
  assembler.UnlessAboveSkip(kNewestKnownCall, 1);
  assembler.ReturnError(ENOSYS);

  for (const uint32_t call : kMissing) assembler.RefuseCall(call, ENOSYS);
  for (const uint32_t call : kRefused) assembler.RefuseCall(call, EPERM);
  if (!options.network) {
    for (const uint32_t call : kAccepting) assembler.RefuseCall(call, EPERM);
    if (options.unix_listeners) {
      // Only sockets that transfer nothing until they are connected are allowed. connect() reports that no peer
      // listens.
      assembler.RefuseCall(SYS_connect, ECONNREFUSED);
      assembler.UnlessEqualSkip(SYS_socket, 8);
      assembler.LoadArgument(0);
      assembler.IfEqualSkip(AF_UNIX, 1);
      assembler.ReturnError(EPERM);
      assembler.LoadArgument(1);
      assembler.KeepBits(~static_cast<uint32_t>(SOCK_CLOEXEC | SOCK_NONBLOCK));
      assembler.UnlessEqualSkip(SOCK_SEQPACKET, 1);
      assembler.Return(SECCOMP_RET_ALLOW);
      assembler.LoadCall();
      assembler.RefuseCall(SYS_socket, EPERM);
    } else {
      for (const uint32_t call : kListening) assembler.RefuseCall(call, EPERM);
    }
    assembler.UnlessEqualSkip(SYS_socketpair, 4);
    assembler.LoadArgument(0);
    assembler.IfEqualSkip(AF_UNIX, 1);
    assembler.ReturnError(EPERM);
    assembler.LoadCall();
  }
  if (!options.exec) {
    assembler.RefuseCall(SYS_execve, EPERM);
    assembler.RefuseCall(SYS_execveat, EPERM);
  }
  if (!options.truncate) assembler.RefuseCall(SYS_truncate, EPERM);

  // clone may never make new name spaces, and without new processes may make only threads.
  constexpr uint32_t kNameSpaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                   CLONE_NEWPID | CLONE_NEWNET;
  assembler.UnlessEqualSkip(SYS_clone, options.new_processes ? 4 : 6);
  assembler.LoadArgument(0);
  assembler.UnlessAnyBitSkip(kNameSpaces, 1);
  assembler.ReturnError(EPERM);
  if (!options.new_processes) {
    assembler.IfAnyBitSkip(CLONE_THREAD, 1);
    assembler.ReturnError(EPERM);
  }
  assembler.LoadCall();
#if defined(__x86_64__)
  if (!options.new_processes) {
    assembler.RefuseCall(SYS_fork, EPERM);
    assembler.RefuseCall(SYS_vfork, EPERM);
  }
#endif

  // Signals, and limits of other processes.
  for (const uint32_t call : {uint32_t{SYS_kill}, uint32_t{SYS_tgkill}}) {
    assembler.UnlessEqualSkip(call, 4);
    assembler.LoadArgument(0);
    assembler.MarkOwnPid();
    assembler.IfEqualSkip(0, 1);
    assembler.ReturnError(EPERM);
    assembler.LoadCall();
  }
  assembler.UnlessEqualSkip(SYS_prlimit64, 4);
  assembler.LoadArgument(0);
  assembler.IfEqualSkip(0, 1);
  assembler.ReturnError(EPERM);
  assembler.LoadCall();

  // TIOCSTI would insert input into the terminal that started the program.
  assembler.UnlessEqualSkip(SYS_ioctl, 5);
  assembler.LoadArgument(1);
  assembler.UnlessEqualSkip(TIOCSTI, 1);
  assembler.ReturnError(EPERM);
  assembler.UnlessEqualSkip(TIOCLINUX, 1);
  assembler.ReturnError(EPERM);
  assembler.Return(SECCOMP_RET_ALLOW);
  return assembler.Finish();
}

}  // namespace hone
