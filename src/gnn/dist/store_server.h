// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Serves the store through which a run's ranks find and monitor one another, on a thread of rank 0's process.
//
// The store keeps a few keys and values (addresses, a library's unique id). It notifies every rank when all have
// joined, and when one is lost: its connection closed without notice, its heartbeat stopped, it reported a failure, or
// it never joined. Only the first loss is reported, because later ones are its consequences.
//
// Messages (socket.h) from a rank: join VERSION JOB RANK SIZE HOST PID; set KEY VALUE; get KEY; beat; fail CODE REASON;
// leave. To a rank: joined; welcome HOST… (all have joined); refused REASON; value KEY VALUE; beat; lost CODE REASON.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/files/file.h"
#include "gnn/dist/socket.h"

namespace hone::gnn {

inline constexpr const char* kStoreVersion = "hone-store-1";

// Returns "rank 2 on host node7".
std::string RankName(int rank, const std::string& host);

struct StoreServerOptions {
  UniqueFd listener;
  std::string job;  // ranks of another job are refused
  int size = 1;
  double join_seconds = 120;      // for all ranks to join
  double heartbeat_timeout = 10;  // silence after which a rank counts as lost
  double heartbeat_interval = 1;  // seconds between two heartbeats
};

class StoreServer {
 public:
  explicit StoreServer(StoreServerOptions options);
  // The destructor waits until every rank has closed its connection, but a few seconds at most, so that all of them
  // learn how the run ended.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

 private:
  struct Client {
    explicit Client(UniqueFd fd) : stream(std::move(fd)) {}
    MessageStream stream;
    int rank = -1;  // -1: has not joined
    std::string host;
    double heard = 0;
    bool left = false, closing = false;
  };

  void RunServer();         // body of thread_
  void Accept(double now);  // times here and below: seconds of the steady clock
  // Handle a client's message, and its first one, with which its rank joins. Return false to drop the connection.
  bool HandleMessage(Client& client, const Message& message);
  bool HandleJoin(Client& client, const Message& message);
  void NoteLostClient(const Client& client, const std::string& reason);
  // Records the loss, if it is the first, and reports it to all ranks. `code`: a StatusCode.
  void ReportLoss(int code, const std::string& reason);
  void SendToAll(const Message& message);
  // Sends heartbeats, and finds ranks that are silent or join too late.
  void CheckTimes(double now);

  StoreServerOptions options_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::map<std::string, std::string> values_;  // values that ranks have set, by key
  std::map<std::string, std::vector<int>> waiting_;  // ranks that asked for a key that is not set yet
  std::vector<std::string> hosts_;                   // indexed by rank; empty: has not joined
  int joined_ = 0;
  std::optional<Message> lost_;  // the reported loss
  double started_ = 0, last_beat_ = 0;
  UniqueFd wake_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace hone::gnn
