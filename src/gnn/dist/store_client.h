// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A rank's side of the store, and its watchdog: one thread that sends heartbeats, receives losses, and acts on them.
//
// The training thread holds the watchdog's locks only for a few instructions, so a training thread that is stuck (in a
// sum with a dead rank, in a device call) cannot stop it.
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
  std::string host;        // the store's host
  std::vector<int> ports;  // tried in turn, until this job's store answers
  std::string job;         // the job of this run's ranks (RankPlace::job)
  int rank = 0, size = 1;
  double join_seconds = 120;      // time to find the store, and for all ranks to join
  double heartbeat_timeout = 10;  // seconds of rank 0's silence after which it is lost
  double heartbeat_interval = 1;  // seconds between two heartbeats
  // Called once, from the watchdog, when a rank is lost. Aborts the operations in which the training thread may wait.
  // Must not block.
  std::function<void(const Status&)> on_loss;
  // Called at each heartbeat; this rank reports an error as a loss. Must not block. May be empty.
  std::function<Status()> check;
  // `give_up` is called once, from the watchdog, `grace_seconds` after a loss if this client still exists, which means
  // that the training thread did not return. It may end the process, and may be empty.
  double grace_seconds = 10;
  std::function<void(const Status&)> give_up;
};

class StoreClient {
 public:
  // Connects and waits until all ranks have joined. kUnavailable, kTimedOut or kInvalidArgument with the reason.
  static Result<std::unique_ptr<StoreClient>> Join(StoreClientOptions options);
  ~StoreClient();  // without Leave, the other ranks consider this rank lost

  const std::vector<std::string>& hosts() const { return hosts_; }  // indexed by rank
  // Returns this rank's address, as its connection to the store has it.
  std::string own_address() const { return own_address_; }

  // Stores a value under a key, for all ranks. Returns the loss if a rank was lost.
  Status Set(const std::string& key, const std::string& value);
  // Waits until a rank has set the key. Returns the loss, or kTimedOut.
  Result<std::string> Get(const std::string& key, double timeout_seconds);

  // Returns OK while every rank is there. Waits up to `seconds` for a loss.
  Status WaitForLoss(double seconds);
  // Reports to all ranks that this rank ends, and why; all of them then have `why` as the loss.
  void Fail(const Status& why);
  // Declares this rank done, so that its connection may close. Call after the last collective operation.
  void Leave();

 private:
  explicit StoreClient(StoreClientOptions options);
  Status Connect();
  // Sends this rank's job, number and host to the store.
  Status SendGreeting(MessageStream& stream) const;
  void RunWatchdog();  // body of thread_
  // Applies a message from the store. Returns false if the connection has to end.
  bool HandleMessage(const Message& message);
  // Records the loss, if it is the first, wakes the threads that wait, and calls on_loss.
  void RecordLoss(const Status& why);
  void QueueMessage(const Message& message);

  const StoreClientOptions options_;
  std::unique_ptr<MessageStream> stream_;  // used only by the watchdog thread after Connect
  std::string own_address_;
  std::vector<std::string> hosts_;  // hosts of the ranks, by rank; empty until the store has sent them
  UniqueFd wake_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Message> to_send_;
  std::map<std::string, std::string> values_;  // values received from the store, by key
  bool welcome_ = false, leaving_ = false, stop_ = false;
  std::optional<Status> loss_;
  std::thread thread_;
};

}  // namespace hone::gnn
