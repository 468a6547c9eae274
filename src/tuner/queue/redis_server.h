// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests and benchmarks: a private Redis server that can be killed and restarted.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/files/file.h"
#include "tuner/queue/redis_connection.h"

namespace hone {

inline int FreePort() {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.sin_port);
}

// A server on this machine's loopback interface that writes every change to disk before it replies. It is killed when
// this object is destroyed.
class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> options = {}) : options_(std::move(options)) {
    folder_ = MakeTemporaryDirectory().value();
    port_ = FreePort();
    // One program has several names, and runs as a server if it is called redis-server. Packages without the service
    // omit that name.
    program_ = folder_ / "redis-server";
    for (const char* program : {"/usr/bin/redis-server", "/usr/bin/redis-check-rdb", "/usr/bin/valkey-check-rdb"}) {
      if (FileExists(program)) {
        std::filesystem::create_symlink(program, program_);
        is_installed_ = true;
        break;
      }
    }
  }
  ~RedisServer() { Kill(); }
  bool is_installed() const { return is_installed_; }
  int port() const { return port_; }
  const std::string& folder() const { return folder_.path(); }
  std::string address(const std::string& queue = "q", const std::string& user = "") const {
    return "redis://" + user + "127.0.0.1:" + std::to_string(port_) + "/" + queue;
  }

  // Starts the server. Returns kUnavailable, with the server's log, if it did not start.
  Status TryStart() {
    std::vector<std::string> server_command{
        program_,       "--port",    std::to_string(port_), "--bind", "127.0.0.1", "--dir", folder_.path(),
        "--appendonly", "yes",       "--appendfsync",       "always", "--save",    "",      "--daemonize",
        "no",           "--logfile", folder_ / "log"};
    server_command.insert(server_command.end(), options_.begin(), options_.end());
    std::vector<char*> argv;
    for (std::string& word : server_command) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      execv(argv[0], argv.data());
      _exit(127);
    }
    const RedisAddress address = ParseRedisAddress(this->address()).value();
    for (int i = 0; i < 500; ++i) {
      Result<std::unique_ptr<RedisConnection>> connection = ConnectRedis(address);
      if (connection.ok() && (*connection)->Command({"PING"}).ok()) return Status::Ok();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const Result<std::string> log = ReadFile(folder_ / "log", 1 << 20);
    return Status::Unavailable("the server did not start: " + (log.ok() ? *log : log.status().message()));
  }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  const std::vector<std::string> options_;
  TemporaryDirectory folder_;
  std::string program_;
  int port_ = 0;
  pid_t pid_ = 0;
  bool is_installed_ = false;  // the server was started and answers
};

}  // namespace hone
