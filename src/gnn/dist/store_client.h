// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A rank's side of the store, and its watchdog: one thread that sends heartbeats, hears of losses, and acts on them.
//
// The thread owns nothing that the training thread holds for longer than a few instructions, so a training thread that
// is stuck (in a sum with a dead rank, in a device call) cannot stop it.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gnn/dist/socket.h"

namespace hone::gnn {

struct StoreClientOptions {
  std::string host;        // of the store
  std::vector<int> ports;  // tried in turn, until the store of this job answers
  std::string job;
  int rank = 0, size = 1;
  double join_seconds = 120;  // to find the store, and for all ranks to join
  double heartbeat_timeout = 10;
  double heartbeat_interval = 1;
  // Called once, from the thread, when a rank is lost: abort what the training thread may wait in. Must not block.
  std::function<void(const Status&)> on_loss;
  // Called at each heartbeat; an error is a loss that this rank reports. Must not block. May be empty.
  std::function<Status()> check;
  // Called once, from the thread, `grace_seconds` after a loss if this client is still there: the training thread did
  // not come back. May end the process. May be empty.
  double grace_seconds = 10;
  std::function<void(const Status&)> give_up;
};

class StoreClient {
 public:
  // Connects and waits until all ranks have joined. kUnavailable, kTimedOut or kInvalidArgument with the reason.
  static Result<std::unique_ptr<StoreClient>> Join(StoreClientOptions options);
  ~StoreClient();  // without Leave, the other ranks take this one for lost

  const std::vector<std::string>& hosts() const { return hosts_; }  // by rank
  std::string own_address() const { return own_address_; }          // of the connection to the store

  Status Set(const std::string& key, const std::string& value);
  // Waits until some rank has set it. The loss, or kTimedOut.
  Result<std::string> Get(const std::string& key, double timeout_seconds);

  // Ok while every rank is there. Waits up to `seconds` for bad news.
  Status WaitForLoss(double seconds);
  // Tells all ranks that this one ends, and why. Theirs and this one's loss is then `why`.
  void Fail(const Status& why);
  // This rank is done; its connection may close. After the last collective operation.
  void Leave();

 private:
  explicit StoreClient(StoreClientOptions options);
  Status Connect();
  Status Introduce(MessageStream& stream) const;
  void Run();
  bool Handle(const Message& message);
  void Lose(const Status& why);
  void Send(const Message& message);

  const StoreClientOptions options_;
  std::unique_ptr<MessageStream> stream_;  // the thread's own after Connect
  std::string own_address_;
  std::vector<std::string> hosts_;
  UniqueFd wake_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Message> to_send_;
  std::map<std::string, std::string> values_;
  bool welcome_ = false, leaving_ = false, stop_ = false;
  std::optional<Status> loss_;
  std::thread thread_;
};

}  // namespace hone::gnn
