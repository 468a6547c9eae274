// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/agent/agent_channel.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "base/files/file.h"
#include "tuner/model/wire_json.h"

namespace hone {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostLineBytes = 8 << 20;  // enough for an escaped candidate of 1 MiB
constexpr double kQuestionSeconds = 2;      // for a whole line to arrive, and for its answer to be sent

// Returns the address of a Unix socket; kInvalidArgument if the path is too long for one.
Result<sockaddr_un> SocketAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Status::InvalidArgument(
        fmt::format("the path of the socket {} is too long: set TMPDIR to a shorter folder", path));
  }
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// Waits until `fd` can be read or written (`events`). Returns false at `until`, or if `wake` became readable.
bool SocketReady(int fd, short events, double until, int wake) {
  while (true) {
    const double seconds_left = until - SteadySeconds();
    if (seconds_left <= 0) return false;
    pollfd both[2] = {{fd, events, 0}, {wake, POLLIN, 0}};
    const int n = poll(both, wake >= 0 ? 2 : 1, static_cast<int>(std::min(seconds_left * 1000 + 1, 1e6)));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 || (wake >= 0 && both[1].revents != 0)) return false;
    if (both[0].revents != 0) return true;
  }
}

// Reads one line; ignores what follows its newline. nullopt: no line came in time, or it is too long.
std::optional<std::string> ReadChannelLine(int fd, double until, int wake) {
  std::string line;
  char block[65536];
  while (SocketReady(fd, POLLIN, until, wake)) {
    const ssize_t got = recv(fd, block, sizeof block, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return std::nullopt;
    const char* end = static_cast<const char*>(memchr(block, '\n', static_cast<size_t>(got)));
    line.append(block, end == nullptr ? static_cast<size_t>(got) : static_cast<size_t>(end - block));
    if (end != nullptr) return line;
    if (line.size() > kMostLineBytes) return std::nullopt;
  }
  return std::nullopt;
}

// Writes one line of JSON. Returns false if it is not written until `until`, or if `wake` became readable.
bool WriteChannelLine(int fd, const Json& json, double until, int wake) {
  const std::string text = DumpWireJson(json) + "\n";
  for (size_t sent = 0; sent < text.size();) {
    if (!SocketReady(fd, POLLOUT, until, wake)) return false;
    const ssize_t put = send(fd, text.data() + sent, text.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (put > 0) sent += static_cast<size_t>(put);
  }
  return true;
}

class SocketChannel : public AgentChannel {
 public:
  SocketChannel(TemporaryDirectory folder, std::string path, UniqueFd listener, UniqueFd wake, Handler handler)
      : folder_(std::move(folder)),
        path_(std::move(path)),
        listener_(std::move(listener)),
        wake_(std::move(wake)),
        handler_(std::move(handler)),
        thread_([this] { Serve(); }) {}
  ~SocketChannel() override {
    const uint64_t one = 1;
    while (write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
    thread_.join();
  }
  const std::string& path() const override { return path_; }

 private:
  // Answers connections one after another, until wake_ is written to.
  void Serve() {
    while (true) {
      if (!SocketReady(listener_.get(), POLLIN, SteadySeconds() + 3600, wake_.get())) {
        pollfd woken{wake_.get(), POLLIN, 0};
        if (poll(&woken, 1, 0) > 0) return;
        continue;
      }
      UniqueFd one(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!one.valid()) continue;
      const double until = SteadySeconds() + kQuestionSeconds;
      const std::optional<std::string> line = ReadChannelLine(one.get(), until, wake_.get());
      if (!line) continue;
      const Json question = ParseWireJson(*line);
      const Json answer = question.is_object()
                              ? handler_(question)
                              : Json{{"error", "this is no question: a line with one JSON object is expected"}};
      WriteChannelLine(one.get(), answer, until, wake_.get());
    }
  }

  TemporaryDirectory folder_;
  std::string path_;
  UniqueFd listener_, wake_;
  Handler handler_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<AgentChannel>> AgentChannel::Open(Handler handler) {
  HONE_ASSIGN_OR_RETURN(TemporaryDirectory folder, MakeTemporaryDirectory({}, "hone-agent-"));
  std::string path = folder.path() + "/run";
  HONE_ASSIGN_OR_RETURN(const sockaddr_un address, SocketAddress(path));
  UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.valid() || bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), 16) != 0) {
    return Status::Io(ErrnoMessage("listen at", path, errno));
  }
  UniqueFd wake(eventfd(0, EFD_CLOEXEC));
  if (!wake.valid()) return Status::Io(ErrnoMessage("make an event for", path, errno));
  return std::unique_ptr<AgentChannel>(std::make_unique<SocketChannel>(
      std::move(folder), std::move(path), std::move(listener), std::move(wake), std::move(handler)));
}

Result<Json> AskAgentChannel(const std::string& path, const Json& question, double limit_seconds) {
  HONE_ASSIGN_OR_RETURN(const sockaddr_un address, SocketAddress(path));
  const double until = SteadySeconds() + limit_seconds;
  UniqueFd link(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!link.valid() || connect(link.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Status::Unavailable(fmt::format(
        "the run does not listen at {} ({}): it is over or was stopped; end now, and what was judged is kept", path,
        strerror(errno)));
  }
  std::optional<std::string> line;
  if (WriteChannelLine(link.get(), question, until, -1)) line = ReadChannelLine(link.get(), until, -1);
  if (!line) {
    if (SteadySeconds() >= until)
      return Status::TimedOut(fmt::format("the run at {} did not answer within {:g} s", path, limit_seconds));
    return Status::Unavailable(fmt::format("the run at {} closed the connection: it is over or was stopped", path));
  }
  Json answer = ParseWireJson(*line);
  if (!answer.is_object())
    return Status::Internal(fmt::format("the run at {} answered with what is no JSON object", path));
  if (const std::string error = TextOf(answer, "error"); !error.empty()) return Status::InvalidArgument(error);
  return answer;
}

}  // namespace hone
