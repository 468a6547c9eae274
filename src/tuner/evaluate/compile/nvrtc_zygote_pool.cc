// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See nvrtc_zygote_pool.h.
#include "tuner/evaluate/compile/nvrtc_zygote_pool.h"

#include <poll.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/text/json_text.h"

namespace hone {
namespace {

// Limit on a zygote's start. CuTe's precompiled header takes 3 s on an idle core; a busy machine may need ten times
// that.
constexpr double kStartSeconds = 120;
// Time that is added to a compile's own limit, so that the zygote can notice an overdue child and report it.
constexpr double kGraceSeconds = 10;
constexpr int64_t kMaxReplyBytes = int64_t{512} << 20;
constexpr int kChildFd = 3;  // descriptor of the socket in the zygote

// Waits until one of two sockets is readable or closed.
Status PollFor(pollfd (&sockets)[2], double timeout_seconds) {
  const Stopwatch watch;
  for (;;) {
    const double seconds_left = timeout_seconds - watch.Seconds();
    if (seconds_left <= 0) return Status::Unavailable("the compiler's parent process does not answer");
    const int ready = poll(sockets, 2, static_cast<int>(seconds_left * 1e3) + 1);
    if (ready > 0) {
      // poll() looks at the first socket before the second. Poll the first again, in case both became readable in
      // between.
      if (sockets[0].revents == 0) poll(sockets, 1, 0);
      return Status::Ok();
    }
    if (ready < 0 && errno != EINTR) return Status::Io("waiting for a compiler failed: " + std::generic_category().message(errno));
  }
}

}  // namespace

Result<std::shared_ptr<ZygoteHandle>> ZygoteHandle::Start(const std::vector<std::string>& argv, ZygoteSetup setup,
                                                          const std::string& scratch) {
  std::shared_ptr<ZygoteHandle> handle(new ZygoteHandle);
  HONE_ASSIGN_OR_RETURN(handle->directory_, MakeTemporaryDirectory(scratch, "hone-pch-"));
  setup.nvrtc.pch_directory = handle->directory_ / "pch";
  setup.scratch_directory = handle->directory_ / "tmp";
  HONE_RETURN_IF_ERROR(MakeDirectories(setup.nvrtc.pch_directory));
  HONE_RETURN_IF_ERROR(MakeDirectories(setup.scratch_directory));
  HONE_ASSIGN_OR_RETURN(SocketPair pair, MakeSocketPair());
  ChildOptions options;
  options.argv = argv;
  options.argv.insert(options.argv.end(), {"--fd", std::to_string(kChildFd)});
  options.descriptors = {{pair.theirs.get(), kChildFd}};
  options.environment = {"TMPDIR=" + setup.scratch_directory};
  HONE_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start(options));
  handle->child_.emplace(std::move(child));
  handle->socket_ = std::move(pair.ours);
  pair.theirs.Reset();

  const WireMessage message = EncodeSetup(setup);
  HONE_RETURN_IF_ERROR(SendFrame(handle->socket_.get(), message.header, message.blobs, {}, kStartSeconds)
                           .WithContext("starting a compiler process"));
  Result<Frame> frame = ReceiveFrame(handle->socket_.get(), kStartSeconds);
  if (!frame.ok()) {
    const std::optional<ExitState> state = handle->child_->Wait(1.0);
    return Status::Unavailable(fmt::format("a compiler process did not start: {}{}", frame.status().message(),
                                           state ? " (" + state->Describe() + ")" : ""));
  }
  HONE_ASSIGN_OR_RETURN(const ZygoteGreeting greeting, DecodeGreeting(*frame));
  if (!greeting.error.empty()) return Status::Unavailable(greeting.error);
  handle->pch_ = greeting.pch;
  return handle;
}

ZygoteHandle::~ZygoteHandle() = default;

Result<ZygoteHandle::Outcome> ZygoteHandle::Compile(const NvrtcJob& job, double limit_seconds) {
  HONE_ASSIGN_OR_RETURN(SocketPair work, MakeSocketPair());
  HONE_ASSIGN_OR_RETURN(SocketPair status, MakeSocketPair());
  {
    const std::string header = DumpJson(nlohmann::json{{"limit_seconds", limit_seconds}});
    const std::lock_guard<std::mutex> lock(send_mutex_);
    const Status sent = SendFrame(socket_.get(), header, {}, {work.theirs.get(), status.theirs.get()}, kGraceSeconds);
    if (!sent.ok()) return Status::Unavailable("the compiler's parent process has ended");
  }
  work.theirs.Reset();
  status.theirs.Reset();

  Outcome outcome;
  const WireMessage message = EncodeJob(job);
  const Status sent = SendFrame(work.ours.get(), message.header, message.blobs, {}, limit_seconds + kGraceSeconds);
  // Wait until one of the two sockets is readable. The child sends its reply before it ends, so the zygote's report of
  // the end never arrives before the reply.
  pollfd sockets[2] = {{work.ours.get(), POLLIN, 0}, {status.ours.get(), POLLIN, 0}};
  HONE_RETURN_IF_ERROR(PollFor(sockets, limit_seconds + kGraceSeconds));
  if (sent.ok() && sockets[0].revents != 0) {
    Result<Frame> frame = ReceiveFrame(work.ours.get(), limit_seconds + kGraceSeconds, kMaxReplyBytes);
    if (frame.ok()) {
      Result<NvrtcReply> reply = DecodeReply(*frame);
      if (reply.ok()) {
        outcome.reply = std::move(*reply);
        return outcome;
      }
    }
  }
  // There is no valid reply, so read the zygote's report of how the child ended. A zygote that does not report has
  // ended too.
  Result<Frame> frame = ReceiveFrame(status.ours.get(), kGraceSeconds, 1 << 20);
  if (!frame.ok()) return Status::Unavailable("the compiler's parent process has ended");
  HONE_ASSIGN_OR_RETURN(outcome.end, DecodeChildEnd(*frame));
  return outcome;
}

Result<std::shared_ptr<ZygoteHandle>> ZygotePool::Get(const std::string& key, const ZygoteSetup& setup) {
  std::shared_ptr<ZygoteHandle> retired;  // the zygote to end, which is done after mutex_ is unlocked
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    Slot& slot = slots_[key];
    if (slot.handle != nullptr) {
      slot.last_used = ++clock_;
      return slot.handle;
    }
    if (!slot.starting) {
      slot.starting = true;
      break;
    }
    started_condition_.wait(lock);
  }
  if (slots_.size() > max_zygotes_) {
    auto idlest = slots_.end();
    for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
      const bool idle = slot->second.handle != nullptr && slot->second.handle.use_count() == 1;
      if (idle && (idlest == slots_.end() || slot->second.last_used < idlest->second.last_used)) idlest = slot;
    }
    if (idlest != slots_.end()) {
      retired = std::move(idlest->second.handle);
      slots_.erase(idlest);
    }
  }
  ++started_;
  lock.unlock();
  retired.reset();
  Result<std::shared_ptr<ZygoteHandle>> handle = ZygoteHandle::Start(argv_, setup, scratch_);
  lock.lock();
  if (handle.ok()) {
    Slot& slot = slots_[key];
    slot.starting = false;
    slot.handle = *handle;
    slot.last_used = ++clock_;
  } else {
    slots_.erase(key);
  }
  started_condition_.notify_all();
  return handle;
}

void ZygotePool::Discard(const std::string& key, const std::shared_ptr<ZygoteHandle>& handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto slot = slots_.find(key);
  if (slot == slots_.end() || slot->second.handle != handle) return;  // another thread has discarded it already
  ++lost_;
  slots_.erase(slot);
}

int64_t ZygotePool::started() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return started_;
}
int64_t ZygotePool::lost() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lost_;
}

}  // namespace hone
