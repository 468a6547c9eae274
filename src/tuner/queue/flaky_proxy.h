// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: a FlakyProxy acts as a bad network. It forwards connections to a port of this machine, slowly, and cuts
// each after a random number of bytes, possibly within a command or a reply.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/files/file.h"
#include "base/numbers/random.h"

namespace hone {

class FlakyProxy {
 public:
  // Each connection carries from `least` to `most` bytes, both directions together, and each piece takes `delay`.
  FlakyProxy(int to_port, uint64_t least, uint64_t most, std::chrono::microseconds delay, uint64_t seed)
      : to_port_(to_port), least_(least), most_(most), delay_(delay), rng_(seed) {
    listener_.Reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_.get(), 64) != 0) return;
    if (getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0) port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this](std::stop_token stop) { Run(stop); });
  }
  int port() const { return port_; }  // to connect to; 0: the proxy could not listen
  int cuts() const { return cuts_; }  // number of connections that were cut

 private:
  struct Connection {
    UniqueFd client, server;
    uint64_t left = 0;  // bytes until the cut
  };
  static sockaddr_in Loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    return address;
  }

  // Passes bytes between clients and the server, with the faults that the test asks for, until stopped.
  void Run(const std::stop_token& stop) {
    std::vector<std::unique_ptr<Connection>> connections;
    while (!stop.stop_requested()) {
      std::vector<pollfd> waits = {{listener_.get(), POLLIN, 0}};
      for (const auto& one : connections) {
        waits.push_back({one->client.get(), POLLIN, 0});
        waits.push_back({one->server.get(), POLLIN, 0});
      }
      if (poll(waits.data(), waits.size(), 20) < 0) return;
      std::vector<const Connection*> ended_connections;
      for (size_t i = 0; i < connections.size(); ++i) {
        Connection& one = *connections[i];
        const bool goes_on = (waits[2 * i + 1].revents == 0 || Pass(one, one.client.get(), one.server.get())) &&
                             (waits[2 * i + 2].revents == 0 || Pass(one, one.server.get(), one.client.get()));
        if (!goes_on) ended_connections.push_back(&one);
      }
      std::erase_if(connections, [&](const auto& one) {
        return std::find(ended_connections.begin(), ended_connections.end(), one.get()) != ended_connections.end();
      });
      if (waits[0].revents != 0) {
        auto one = std::make_unique<Connection>();
        one->client.Reset(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        one->server.Reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        one->left = least_ + rng_.Below(most_ - least_ + 1);
        const sockaddr_in to = Loopback(to_port_);
        if (connect(one->server.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0)
          connections.push_back(std::move(one));
      }
    }
  }

  // Forwards the bytes that have arrived. Returns false if the connection is over.
  bool Pass(Connection& connection, int from, int to) {
    char bytes[4096];
    const ssize_t got = read(from, bytes, sizeof(bytes));
    if (got <= 0) return false;
    std::this_thread::sleep_for(delay_);
    const auto part = static_cast<size_t>(std::min(static_cast<uint64_t>(got), connection.left));
    for (size_t sent = 0; sent < part;) {
      const ssize_t put = send(to, bytes + sent, part - sent, MSG_NOSIGNAL);
      if (put <= 0) return false;
      sent += static_cast<size_t>(put);
    }
    connection.left -= part;
    if (connection.left > 0) return true;
    ++cuts_;
    return false;
  }

  const int to_port_;
  const uint64_t least_, most_;
  const std::chrono::microseconds delay_;
  Rng rng_;
  int port_ = 0;
  std::atomic<int> cuts_{0};
  UniqueFd listener_;
  std::jthread thread_;  // declared last, because it uses the other members
};

}  // namespace hone
