// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/dist/store_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "gnn/dist/store_server.h"

namespace hone::gnn {
namespace {

constexpr double kRetrySeconds = 0.05;  // between two tries of all ports
constexpr double kAnswerSeconds = 5;  // that one connection attempt or answer may take
constexpr double kFlushSeconds = 1;  // time for the last messages of a rank that ends

std::chrono::duration<double> AsDuration(double seconds) { return std::chrono::duration<double>(seconds); }

// Returns the loss that a message `lost CODE REASON` reports.
Status LossIn(const Message& message) {
  int code = 0;
  std::from_chars(message[1].data(), message[1].data() + message[1].size(), code);
  const bool is_status_code =
      code > static_cast<int>(StatusCode::kOk) && code <= static_cast<int>(StatusCode::kInternal);
  return {is_status_code ? static_cast<StatusCode>(code) : StatusCode::kUnavailable, message[2]};
}

}  // namespace

Result<std::unique_ptr<StoreClient>> StoreClient::Join(StoreClientOptions options) {
  std::unique_ptr<StoreClient> client(new StoreClient(std::move(options)));
  HONE_RETURN_IF_ERROR(client->Connect());
  client->thread_ = std::thread([c = client.get()] { c->RunWatchdog(); });
  std::unique_lock lock(client->mutex_);
  // The store reports which rank is missing; five seconds more let its message arrive.
  client->changed_.wait_for(lock, AsDuration(client->options_.join_seconds + 5),
                            [&] { return client->welcome_ || client->loss_; });
  if (client->loss_) return *client->loss_;
  if (!client->welcome_) {
    return Status::TimedOut(
        fmt::format("the ranks of this run did not all join within {:.3g} s", client->options_.join_seconds));
  }
  lock.unlock();
  return client;
}

StoreClient::StoreClient(StoreClientOptions options)
    : options_(std::move(options)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

StoreClient::~StoreClient() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof(one));
  if (thread_.joinable()) thread_.join();
}

Status StoreClient::Connect() {
  const double deadline = SteadySeconds() + options_.join_seconds;
  for (;;) {
    Status problem;
    for (const int port : options_.ports) {
      // Rank 0 may not listen yet, or on another of its ports.
      Result<UniqueFd> fd = ConnectTo(options_.host, port, std::clamp(deadline - SteadySeconds(), 0.1, kAnswerSeconds));
      problem = fd.status();
      if (!fd.ok()) continue;
      auto stream = std::make_unique<MessageStream>(std::move(*fd));
      problem = SendGreeting(*stream);
      if (problem.ok()) {
        stream_ = std::move(stream);
        own_address_ = OwnAddress(stream_->fd());
        return Status::Ok();
      }
      if (problem.code() != StatusCode::kNotFound) return problem;
      problem = Status::Unavailable(fmt::format("port {} of {}: {}", port, options_.host, problem.message()));
    }
    if (SteadySeconds() > deadline) {
      return Status::TimedOut(fmt::format("rank {} did not reach rank 0 within {:.3g} s: {}", options_.rank,
                                          options_.join_seconds, problem.message()));
    }
    usleep(static_cast<useconds_t>(kRetrySeconds * 1e6));
  }
}

// Introduces this rank and waits for the answer. kNotFound: the listener is not the store of this run.
Status StoreClient::SendGreeting(MessageStream& stream) const {
  stream.Queue({"join", kStoreVersion, options_.job, std::to_string(options_.rank), std::to_string(options_.size),
                HostName(), std::to_string(getpid())});
  const double deadline = SteadySeconds() + kAnswerSeconds;
  while (SteadySeconds() < deadline) {
    bool open = stream.Flush();
    pollfd polled{stream.fd(), POLLIN, 0};
    poll(&polled, 1, 100);
    open = stream.Receive() && open;
    const std::optional<Message> answer = stream.Pop();
    if (!answer) {
      if (open) continue;
      break;
    }
    if ((*answer)[0] == "joined") return Status::Ok();
    if (answer->size() == 2 && (*answer)[0] == "refused") {
      return (*answer)[1] == "other job" ? Status::NotFound("another run's rank 0 listens there")
                                         : Status::InvalidArgument((*answer)[1]);
    }
    if (answer->size() == 3 && (*answer)[0] == "lost") return LossIn(*answer);
    break;
  }
  return Status::NotFound("what listens there does not answer as rank 0 of this run");
}

void StoreClient::RunWatchdog() {
  double before = SteadySeconds(), heard = before, beaten = before;
  std::optional<double> lost_at;
  std::optional<double> stop_at;
  bool open = true, gave_up = false;
  for (bool first = true;; first = false) {
    pollfd polled[2] = {
        {wake_.get(), POLLIN, 0},
        {open ? stream_->fd() : -1, static_cast<short>(POLLIN | (stream_->wants_to_write() ? POLLOUT : 0)), 0}};
    const double wait = std::min(options_.heartbeat_interval / 2, 0.25);
    // The first poll does not wait, because more messages may have arrived together with the answer to SendGreeting.
    poll(polled, 2, first ? 0 : std::max(1, static_cast<int>(wait * 1e3)));
    uint64_t ignored = 0;
    (void)!read(wake_.get(), &ignored, sizeof(ignored));
    const double now = SteadySeconds();
    // Time in which this thread did not run is not counted as rank 0's silence; the store does the same for other
    // ranks.
    if (now - before > wait + options_.heartbeat_interval) heard += now - before;
    before = now;

    std::vector<Message> outgoing;
    bool leaving = false, stop = false;
    {
      const std::lock_guard lock(mutex_);
      outgoing.swap(to_send_);
      leaving = leaving_;
      stop = stop_;
      if (loss_ && !lost_at) lost_at = now;
    }
    if (open) {
      for (const Message& message : outgoing) stream_->Queue(message);
      if (now - beaten >= options_.heartbeat_interval) {
        beaten = now;
        stream_->Queue({"beat"});
        if (options_.check && !lost_at) {
          if (const Status status = options_.check(); !status.ok()) Fail(status);
        }
      }
      open = stream_->Receive();
      while (std::optional<Message> message = stream_->Pop()) {
        heard = now;
        if (!HandleMessage(*message)) open = false;
      }
      open = stream_->Flush() && open;
      const std::string rank_0 = RankName(0, hosts_.empty() ? options_.host : hosts_[0]);
      if (!open && !leaving) {
        RecordLoss(Status::Unavailable(fmt::format("{} was lost: its connection closed", rank_0)));
      } else if (!leaving && now - heard > options_.heartbeat_timeout) {
        RecordLoss(Status::Unavailable(
            fmt::format("{} was lost: no heartbeat for {:.3g} s (it hangs, or its host is not to be reached)", rank_0,
                        options_.heartbeat_timeout)));
      }
    }
    if (stop) {
      if (!stop_at) stop_at = now + kFlushSeconds;
      if (!open || !stream_->wants_to_write() || now > *stop_at) return;
    }
    if (lost_at && !gave_up && !leaving && !stop && now - *lost_at > options_.grace_seconds) {
      gave_up = true;
      Status why;
      {
        const std::lock_guard lock(mutex_);
        why = *loss_;
      }
      if (options_.give_up) options_.give_up(why);
    }
  }
}

bool StoreClient::HandleMessage(const Message& message) {
  const std::string& verb = message[0];
  if (verb == "beat") return true;
  if (verb == "welcome" && static_cast<int>(message.size()) == options_.size + 1) {
    const std::lock_guard lock(mutex_);
    hosts_.assign(message.begin() + 1, message.end());
    welcome_ = true;
    changed_.notify_all();
    return true;
  }
  if (verb == "value" && message.size() == 3) {
    const std::lock_guard lock(mutex_);
    values_[message[1]] = message[2];
    changed_.notify_all();
    return true;
  }
  if (verb == "lost" && message.size() == 3) {
    RecordLoss(LossIn(message));
    return true;
  }
  RecordLoss(Status::Internal("what listens at rank 0's address is not this program"));
  return false;
}

void StoreClient::RecordLoss(const Status& why) {
  {
    const std::lock_guard lock(mutex_);
    if (loss_ || leaving_) return;
    loss_ = why;
    changed_.notify_all();
  }
  if (options_.on_loss) options_.on_loss(why);
}

void StoreClient::QueueMessage(const Message& message) {
  {
    const std::lock_guard lock(mutex_);
    to_send_.push_back(message);
  }
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof(one));
}

Status StoreClient::Set(const std::string& key, const std::string& value) {
  HONE_RETURN_IF_ERROR(WaitForLoss(0));
  QueueMessage({"set", key, value});
  return Status::Ok();
}

Result<std::string> StoreClient::Get(const std::string& key, double timeout_seconds) {
  QueueMessage({"get", key});
  std::unique_lock lock(mutex_);
  const bool heard =
      changed_.wait_for(lock, AsDuration(timeout_seconds), [&] { return loss_ || values_.contains(key); });
  if (loss_) return *loss_;
  if (!heard) return Status::TimedOut(fmt::format("no rank gave '{}' within {:.3g} s", key, timeout_seconds));
  std::string value = values_[key];
  values_.erase(key);
  return value;
}

Status StoreClient::WaitForLoss(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, AsDuration(seconds), [&] { return loss_.has_value(); });
  return loss_ ? *loss_ : Status::Ok();
}

void StoreClient::Fail(const Status& why) {
  QueueMessage({"fail", std::to_string(static_cast<int>(why.code())), why.message()});
  RecordLoss(why);
}

void StoreClient::Leave() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  QueueMessage({"leave"});
}

}  // namespace hone::gnn
