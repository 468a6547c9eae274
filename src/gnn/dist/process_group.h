// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The ranks of one run, as one of them sees them: how they join, how they talk, and how all of them end when one does.
//
// Rank 0 serves the store (store_server.h); every rank has a watchdog (store_client.h) and a connection to each other
// rank. When a rank is lost, every other one's communicator is aborted, which wakes whoever waits in it with the
// reason. A training thread that does not come back within the grace time is given up: the program ends itself.
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

// A device's communicator (NCCL) under the watchdog's eyes. Both are called from threads of the group's.
class WatchedDevice {
 public:
  virtual ~WatchedDevice() = default;
  // An error that came up since; must not block.
  virtual Status Poll() = 0;
  // Ends what is under way on the device, so that the thread waiting for it goes on. May take its time.
  virtual void Abort() = 0;
};

struct GroupOptions {
  RankPlace place;
  double join_seconds = 120;
  double heartbeat_timeout = 10;  // a rank silent for so long is lost
  double operation_seconds = 600;
  // After a loss; heartbeat_timeout + grace_seconds is how long a rank can outlive another.
  double grace_seconds = 10;
  // Called from the watchdog when the grace time is over: ends the process. Empty: nobody does.
  std::function<void(const Status&)> give_up;
};

class ProcessGroup {
 public:
  // Returns when all ranks are connected to each other; at once for a size of 1. Errors: kInvalidArgument, ranks of
  // different sizes, numbers or versions; kUnavailable, the port is taken; kTimedOut, some did not come.
  static Result<std::unique_ptr<ProcessGroup>> Join(GroupOptions options);
  ~ProcessGroup();

  Communicator& communicator() { return *communicator_; }
  int rank() const { return options_.place.rank; }
  int size() const { return options_.place.size; }
  int local_rank() const { return options_.place.local_rank; }  // which of the host's GPUs is this rank's
  int ranks_on_this_host() const { return ranks_here_; }
  // The loss of a rank, or Ok.
  Status loss();
  // From now on the watchdog polls `device` and aborts it on a loss. Only for a size above 1.
  void Watch(std::shared_ptr<WatchedDevice> device);
  // Tells the others that this rank ends, and why; theirs ends with the same reason. A loss told before stays.
  void Fail(const Status& why);
  // Waits for all ranks to come here, then lets go of them. After it no operation may be begun.
  Status Leave();
  // For what is exchanged beside the communicator; null when alone.
  StoreClient* store() { return client_.get(); }

 private:
  explicit ProcessGroup(GroupOptions options) : options_(std::move(options)) {}
  Status Connect();
  Status Link(const std::string& token, int listener);
  void Abort(const Status& why);

  const GroupOptions options_;
  int ranks_here_ = 1;
  std::mutex mutex_;  // of the two below: the watchdog may find a loss before they are there
  std::unique_ptr<Communicator> communicator_;
  std::shared_ptr<WatchedDevice> device_;
  Status loss_;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<StoreClient> client_;
};

}  // namespace hone::gnn
