// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See nvrtc_zygote.h. The zygote has one thread, because in a fork of a threaded process, locks would stay held by
// threads that do not exist in the child.
#include "tuner/evaluate/compile/nvrtc_zygote.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <list>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/process/sandbox.h"
#include "base/text/json_text.h"

namespace hone {
namespace {

using nlohmann::json;

constexpr double kJobArrivalSeconds = 30;  // limit from the fork until the child has read the job
constexpr double kMemoryWatchSeconds = 0.1;  // interval of checks of the children's memory
constexpr int64_t kMaxJobBytes = int64_t{256} << 20;

struct Child {
  pid_t pid = -1;
  UniqueFd status;
  TemporaryDirectory temporary;  // removed when the child has been reaped
  double deadline = 0;
  bool timed_out = false, out_of_memory = false;  // the zygote has killed the child for this reason and reported it
};

// Returns the resident bytes of a process; 0 when it is gone.
int64_t ResidentBytes(pid_t pid) {
  const Result<std::string> statm = ReadFile(fmt::format("/proc/{}/statm", pid));
  if (!statm.ok()) return 0;
  const size_t space = statm->find(' ');
  return space == std::string::npos ? 0 : std::strtoll(statm->c_str() + space, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

// Is the forked child's main function. It confines itself before it reads a byte of the source.
[[noreturn]] void RunChild(const NvrtcSession& session, const Sandbox& sandbox, pid_t zygote,
                           const std::string& temporary, int job_fd) {
  // The kernel kills the child when the zygote ends for whatever reason. The zygote has one thread, so "parent" is
  // exact.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != zygote) _exit(120);
  setenv("TMPDIR", temporary.c_str(), 1);  // where NVRTC's front end puts its temporary files
  const Sandbox::Failure failure = sandbox.Enter();
  NvrtcReply reply;
  if (failure.step != nullptr) {
    reply.error = fmt::format("could not {}: {}", failure.step, std::generic_category().message(failure.error));
  } else {
    Result<Frame> frame = ReceiveFrame(job_fd, kJobArrivalSeconds, kMaxJobBytes);
    if (!frame.ok()) _exit(121);
    const Result<NvrtcJob> job = DecodeJob(*frame);
    if (!job.ok()) _exit(122);
    reply = session.Compile(*job);
  }
  const WireMessage message = EncodeReply(reply);
  const Status sent = SendFrame(job_fd, message.header, message.blobs);
  // The child ends by _exit and not by exit, because NVRTC's destructors need not run.
  _exit(sent.ok() ? 0 : 123);
}

class Zygote {
 public:
  Zygote(int fd, std::unique_ptr<NvrtcSession> session, SandboxPolicy policy, std::string scratch, int64_t memory_bytes)
      : fd_(fd),
        session_(std::move(session)),
        policy_(std::move(policy)),
        scratch_(std::move(scratch)),
        memory_bytes_(memory_bytes) {}

  bool pch() const { return session_->pch(); }

  // Serves until the socket closes; returns the exit status.
  int Serve() {
    sigset_t child_signal;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_signal, nullptr);
    signals_.Reset(signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_.valid()) return 3;
    for (;;) {
      pollfd items[2] = {{fd_, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
      const int ready = poll(items, 2, MillisecondsToNextLook());
      if (ready < 0 && errno != EINTR) return 3;
      if (ready > 0 && (items[1].revents & POLLIN)) {
        signalfd_siginfo info;
        while (read(signals_.get(), &info, sizeof(info)) > 0) {
        }
      }
      ReapChildren();
      EndOverdue();
      if (ready > 0 && (items[0].revents & (POLLIN | POLLHUP | POLLERR))) {
        Result<Frame> frame = ReceiveFrame(fd_, 10, 1 << 20);
        if (!frame.ok()) break;  // the owner has closed the socket or sent nonsense
        StartChild(*frame);
      }
    }
    for (const Child& child : children_) kill(child.pid, SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    return 0;
  }

 private:
  int MillisecondsToNextLook() const {
    if (children_.empty()) return -1;
    double first = SteadySeconds() + (memory_bytes_ > 0 ? kMemoryWatchSeconds : 1e6);
    for (const Child& child : children_) first = std::min(first, child.deadline);
    return static_cast<int>(std::clamp(std::ceil((first - SteadySeconds()) * 1e3), 0.0, 1e9));
  }

  // Forks a child for one job. The frame's two descriptors lead to the requester: one for the reply, one for the
  // child's end.
  void StartChild(Frame& frame) {
    double limit = 60;
    const json header = ReadJsonText(frame.header);
    if (header.is_object()) limit = header.value("limit_seconds", limit);
    if (frame.fds.size() != 2) return;  // both ends close, and the requester sees that
    UniqueFd job = std::move(frame.fds[0]);
    Child child;
    child.status = std::move(frame.fds[1]);
    child.deadline = SteadySeconds() + limit;
    const auto fail = [&] { (void)Report(child, 0, kNoProcess).ok(); };
    Result<TemporaryDirectory> temporary = MakeTemporaryDirectory(scratch_, "compile-");
    if (!temporary.ok()) return fail();
    child.temporary = std::move(*temporary);
    SandboxPolicy policy = policy_;
    policy.write_paths = {child.temporary.path()};
    const Result<Sandbox> sandbox = Sandbox::Prepare(policy);
    if (!sandbox.ok()) return fail();
    const pid_t self = getpid();
    child.pid = fork();
    if (child.pid == 0) {
      // The child closes the descriptors of the zygote and of other compiles, with which a compiler under hostile
      // control could forge replies.
      const int own = job.Release();
      close(fd_);
      signals_.Reset();
      child.status.Reset();
      for (Child& other : children_) other.status.Reset();
      sigset_t none;
      sigemptyset(&none);
      sigprocmask(SIG_SETMASK, &none, nullptr);
      RunChild(*session_, *sandbox, self, child.temporary.path(), own);
    }
    if (child.pid < 0) return fail();
    children_.push_back(std::move(child));
  }

  static Status Report(const Child& child, int signal, int exit_status) {
    const json header = {{"signal", signal},
                         {"exit", exit_status},
                         {"timed_out", child.timed_out},
                         {"out_of_memory", child.out_of_memory}};
    return SendFrame(child.status.get(), DumpJson(header), {}, {}, 1.0);
  }

  // Collects the children that have ended, and reports how each ended to its requester.
  void ReapChildren() {
    for (auto child = children_.begin(); child != children_.end();) {
      int raw = 0;
      if (waitpid(child->pid, &raw, WNOHANG) != child->pid) {
        ++child;
        continue;
      }
      // A requester that no longer listens is not an error here.
      if (!child->timed_out && !child->out_of_memory) (void)Report(*child, WIFSIGNALED(raw) ? WTERMSIG(raw) : 0, WIFEXITED(raw) ? WEXITSTATUS(raw) : 0).ok();
      child = children_.erase(child);
    }
  }

  // Ends the children that have exceeded their time or their memory.
  void EndOverdue() {
    const double now = SteadySeconds();
    for (Child& child : children_) {
      const bool late = now >= child.deadline;
      const bool large = memory_bytes_ > 0 && ResidentBytes(child.pid) > memory_bytes_;
      if (!late && !large) continue;
      kill(child.pid, SIGKILL);
      // The report is sent before the child has ended: on a busy machine a process has taken 7 s from the signal to its
      // end.
      if (!child.timed_out && !child.out_of_memory) {
        (large ? child.out_of_memory : child.timed_out) = true;
        (void)Report(child, SIGKILL, 0).ok();
      }
      child.deadline = now + 1;  // looks at the child again after a second, when it should have ended
    }
  }

  int fd_;
  UniqueFd signals_;
  std::unique_ptr<NvrtcSession> session_;
  SandboxPolicy policy_;
  std::string scratch_;
  int64_t memory_bytes_;
  std::list<Child> children_;
};

// Receives the setup on the socket `fd`, makes session and sandbox, and returns the zygote that serves the socket.
Result<Zygote> MakeZygote(int fd) {
  HONE_ASSIGN_OR_RETURN(Frame frame, ReceiveFrame(fd, 60));
  HONE_ASSIGN_OR_RETURN(ZygoteSetup setup, DecodeSetup(frame));
  SandboxPolicy policy;
  policy.read_paths = setup.read_paths;
  policy.read_paths.push_back(setup.nvrtc.pch_directory);
  policy.cpu_seconds = setup.cpu_seconds;
  policy.file_bytes = setup.temporary_bytes;
  // The sandbox is made now and not at the first compile, because the zygote must not start if there can be no sandbox.
  HONE_RETURN_IF_ERROR(Sandbox::Prepare(policy).status());
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<NvrtcSession> session, NvrtcSession::Make(std::move(setup.nvrtc)));
  return Zygote(fd, std::move(session), std::move(policy), std::move(setup.scratch_directory), setup.memory_bytes);
}

}  // namespace

int NvrtcZygoteMain(int fd) {
  signal(SIGPIPE, SIG_IGN);
  HONE_CHECK(fd >= 0, "the zygote was started without a socket");
  Result<Zygote> zygote = MakeZygote(fd);
  if (!zygote.ok()) {
    (void)SendFrame(fd, DumpJson(json{{"error", zygote.status().message()}})).ok();
    return 3;
  }
  const bool pch = zygote->pch();
  if (!SendFrame(fd, DumpJson(json{{"ok", true}, {"pch", pch}})).ok()) return 3;
  return zygote->Serve();
}

}  // namespace hone
