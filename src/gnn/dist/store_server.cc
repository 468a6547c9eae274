// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/dist/store_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/clock.h"

namespace hone::gnn {
namespace {

constexpr double kLingerSeconds = 5;  // that a stopped store still waits for its clients to leave
// Seconds after which a connection that has not introduced itself is closed.
constexpr double kSilentStrangerSeconds = 10;

bool ToInt(const std::string& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string RankName(int rank, const std::string& host) { return fmt::format("rank {} on host {}", rank, host); }

StoreServer::StoreServer(StoreServerOptions options)
    : options_(std::move(options)),
      hosts_(static_cast<size_t>(options_.size)),
      started_(SteadySeconds()),
      last_beat_(started_),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::thread([this] { RunServer(); });
}

StoreServer::~StoreServer() {
  stop_.store(true);
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof(one));
  thread_.join();
}

void StoreServer::RunServer() {
  std::optional<double> stop_at;
  double before = SteadySeconds();
  std::vector<pollfd> polled;
  for (;;) {
    polled.clear();
    polled.push_back({wake_.get(), static_cast<short>(stop_at ? 0 : POLLIN), 0});
    polled.push_back({options_.listener.get(), POLLIN, 0});
    for (const auto& client : clients_) {
      polled.push_back(
          {client->stream.fd(), static_cast<short>(POLLIN | (client->stream.wants_to_write() ? POLLOUT : 0)), 0});
    }
    const double wait = std::min(options_.heartbeat_interval / 2, 0.25);
    poll(polled.data(), polled.size(), std::max(1, static_cast<int>(wait * 1e3)));
    const double now = SteadySeconds();
    // Time in which this thread did not run (on a suspended or overloaded machine) is not counted as the ranks'
    // silence.
    if (now - before > wait + options_.heartbeat_interval) {
      for (const auto& client : clients_) client->heard += now - before;
      started_ += now - before;
    }
    before = now;

    if (stop_.load() && !stop_at) stop_at = now + kLingerSeconds;
    if (polled[1].revents != 0) Accept(now);
    for (const auto& client : clients_) {
      const bool open = client->stream.Receive();
      bool keep = true;
      while (std::optional<Message> message = client->stream.Pop()) {
        client->heard = now;
        if (!(keep = HandleMessage(*client, *message))) break;
      }
      if (!open && keep) NoteLostClient(*client, "its connection closed");
      if (client->stream.overflows()) NoteLostClient(*client, "it takes no messages");
      client->closing = client->closing || !open || !keep || client->stream.overflows();
    }
    CheckTimes(now);
    for (const auto& client : clients_) {
      if (!client->stream.Flush()) client->closing = true;
    }
    std::erase_if(clients_, [](const auto& client) { return client->closing; });
    if (stop_at && (clients_.empty() || now >= *stop_at)) return;
  }
}

void StoreServer::Accept(double now) {
  for (;;) {
    UniqueFd fd(accept4(options_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) return;
    PrepareSocket(fd.get());
    clients_.push_back(std::make_unique<Client>(std::move(fd)));
    clients_.back()->heard = now;
  }
}

bool StoreServer::HandleMessage(Client& client, const Message& message) {
  const std::string& verb = message[0];
  if (client.rank < 0) return verb == "join" && HandleJoin(client, message);
  if (verb == "beat") return true;
  if (verb == "leave") {
    client.left = true;
    return true;
  }
  if (verb == "fail" && message.size() == 3) {
    int code = 0;
    if (!ToInt(message[1], code)) return false;
    client.left = true;  // its end is expected
    ReportLoss(code, message[2]);
    return true;
  }
  if (verb == "set" && message.size() == 3) {
    values_[message[1]] = message[2];
    for (const int rank : waiting_[message[1]]) {
      for (const auto& other : clients_) {
        if (other->rank == rank) other->stream.Queue({"value", message[1], message[2]});
      }
    }
    waiting_.erase(message[1]);
    return true;
  }
  if (verb == "get" && message.size() == 2) {
    const auto found = values_.find(message[1]);
    if (found == values_.end()) {
      waiting_[message[1]].push_back(client.rank);
    } else {
      client.stream.Queue({"value", message[1], found->second});
    }
    return true;
  }
  NoteLostClient(client, "it sent a message that is none of this program's");
  return false;
}

bool StoreServer::HandleJoin(Client& client, const Message& message) {
  const auto refuse = [&](const std::string& why) {
    client.stream.Queue({"refused", why});
    client.stream.Flush();
    return false;
  };
  int rank = 0, size = 0;
  if (message.size() != 7 || !ToInt(message[3], rank) || !ToInt(message[4], size)) return false;
  const std::string& host = message[5];
  if (message[2] != options_.job) return refuse("other job");
  // From here on this rank belongs to the run, which cannot start without it. A problem found below is reported to all
  // ranks.
  if (lost_) {
    client.stream.Queue(*lost_);
    client.stream.Flush();
    return false;
  }
  std::string problem;
  if (message[1] != kStoreVersion) {
    problem = fmt::format("{} runs another version of this program ({}; rank 0 has {})", RankName(rank, host),
                          message[1], kStoreVersion);
  } else if (size != options_.size) {
    problem = fmt::format("{} was started as one of {} ranks, rank 0 as one of {}: start all with the same number",
                          RankName(rank, host), size, options_.size);
  } else if (rank < 0 || rank >= options_.size) {
    problem = fmt::format("{} is not one of ranks 0 to {}", RankName(rank, host), options_.size - 1);
  } else if (!hosts_[static_cast<size_t>(rank)].empty()) {
    // The other ranks are not notified: their run is complete.
    return refuse(
        fmt::format("{} has joined already; this one (process {} on host {}) must be of another run on the "
                    "same port: give each run its own MASTER_PORT",
                    RankName(rank, hosts_[static_cast<size_t>(rank)]), message[6], host));
  }
  if (!problem.empty()) {
    ReportLoss(static_cast<int>(StatusCode::kInvalidArgument), problem);
    return refuse(problem);
  }
  client.rank = rank;
  client.host = host;
  hosts_[static_cast<size_t>(rank)] = host;
  client.stream.Queue({"joined"});
  if (++joined_ < options_.size) return true;
  Message welcome{"welcome"};
  welcome.insert(welcome.end(), hosts_.begin(), hosts_.end());
  SendToAll(welcome);
  return true;
}

void StoreServer::NoteLostClient(const Client& client, const std::string& reason) {
  if (client.rank < 0 || client.left || client.closing) return;
  ReportLoss(static_cast<int>(StatusCode::kUnavailable),
             fmt::format("{} was lost: {}", RankName(client.rank, client.host), reason));
}

void StoreServer::ReportLoss(int code, const std::string& reason) {
  if (lost_) return;
  lost_ = Message{"lost", std::to_string(code), reason};
  SendToAll(*lost_);
}

void StoreServer::SendToAll(const Message& message) {
  for (const auto& client : clients_) {
    if (client->rank >= 0) client->stream.Queue(message);
  }
}

void StoreServer::CheckTimes(double now) {
  if (now - last_beat_ >= options_.heartbeat_interval) {
    last_beat_ = now;
    SendToAll({"beat"});
  }
  for (const auto& client : clients_) {
    if (client->closing) continue;
    if (client->rank < 0) {
      client->closing = now - client->heard > kSilentStrangerSeconds;
    } else if (!client->left && now - client->heard > options_.heartbeat_timeout) {
      NoteLostClient(*client, fmt::format("no heartbeat for {:.3g} s (it hangs, or its host is not to be reached)",
                                          options_.heartbeat_timeout));
      client->closing = true;
    }
  }
  if (joined_ < options_.size && !lost_ && now - started_ > options_.join_seconds) {
    std::string missing;
    for (int r = 0; r < options_.size; ++r) {
      if (hosts_[static_cast<size_t>(r)].empty()) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", r);
    }
    ReportLoss(static_cast<int>(StatusCode::kTimedOut),
               fmt::format("of {} ranks these did not join within {:.3g} s: {}", options_.size, options_.join_seconds,
                           missing));
  }
}

}  // namespace hone::gnn
