// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins a process to the other ranks of its run: connects them, lets them communicate, and ends all of them when one
// ends.
//
// Rank 0 serves the store (store_server.h); every rank has a watchdog (store_client.h) and a connection to each other
// rank. When a rank is lost, every other rank's communicator is aborted, which wakes waiting threads with the reason.
// If a training thread does not return within the grace time, the program ends itself.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gnn/dist/rank_environment.h"
#include "gnn/dist/store_client.h"
#include "gnn/dist/store_server.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn {

// A device's communicator (NCCL) that the watchdog monitors. Both functions are called from the group's threads.
class WatchedDevice {
 public:
  virtual ~WatchedDevice() = default;
  // Returns an error that has occurred since the last call; must not block.
  virtual Status Poll() = 0;
  // Ends operations in progress on the device, so that a thread waiting for them continues. May take long.
  virtual void Abort() = 0;
};

struct GroupOptions {
  RankPlace place;
  // Seconds within which all ranks must join.
  double join_seconds = 120;
  double heartbeat_timeout = 10;   // silence in seconds after which a rank is lost
  double operation_seconds = 600;  // limit on each collective operation
  // Seconds from a loss until `give_up` is called. A rank can outlive another by heartbeat_timeout + grace_seconds.
  double grace_seconds = 10;
  // Called from the watchdog when the grace time is over: ends the process. Empty: nothing happens.
  std::function<void(const Status&)> give_up;
};

class ProcessGroup {
 public:
  // Joins the group, and returns when all ranks are connected to each other; at once for a size of 1. Errors:
  // kInvalidArgument, ranks differ in size or version, or two have the same number; kUnavailable, the port is taken;
  // kTimedOut, some ranks did not come.
  static Result<std::unique_ptr<ProcessGroup>> Join(GroupOptions options);
  ~ProcessGroup();

  Communicator& communicator() { return *communicator_; }
  int rank() const { return options_.place.rank; }
  int size() const { return options_.place.size; }
  int local_rank() const { return options_.place.local_rank; }  // index on this host; selects its GPU
  int ranks_on_this_host() const { return ranks_here_; }
  // Returns the reason why a rank was lost; OK if none was.
  Status loss();
  // Makes the watchdog poll `device` from now on and abort it on a loss. Only for a size above 1.
  void Watch(std::shared_ptr<WatchedDevice> device);
  // Reports to the other ranks that this rank ends, and why; they end with the same reason. An earlier loss takes
  // precedence.
  void Fail(const Status& why);
  // Waits until all ranks have called this, then disconnects. No operation may begin afterwards.
  Status Leave();
  // Returns the store, for small data that the communicator does not carry; null for a single rank.
  StoreClient* store() { return client_.get(); }

 private:
  explicit ProcessGroup(GroupOptions options) : options_(std::move(options)) {}
  Status Connect();
  // Connects to the lower ranks and accepts the higher ones, so that no ranks wait in a circle.
  Status Link(const std::string& token, int listener);
  void Abort(const Status& why);

  const GroupOptions options_;
  int ranks_here_ = 1;
  std::mutex mutex_;  // guards the next two members, because the watchdog may find a loss before they are set
  std::unique_ptr<Communicator> communicator_;
  std::shared_ptr<WatchedDevice> device_;
  Status loss_;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<StoreClient> client_;
};

}  // namespace hone::gnn
