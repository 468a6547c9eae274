// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The communicator of ranks that have a TCP connection to each other, on one host or several.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn {

struct TcpCommunicatorOptions {
  int rank = 0;
  std::vector<std::string> names;  // of all ranks, by rank
  std::vector<UniqueFd> links;     // by rank: a connected socket that does not block; none to oneself
  double timeout_seconds = 600;    // of one operation
  // Asked when a connection breaks, with what was seen: whoever watches the ranks may know the reason, which need not
  // be the rank at the other end. May wait a little.
  std::function<Status(const Status& seen)> reason;
};

std::unique_ptr<Communicator> MakeTcpCommunicator(TcpCommunicatorOptions options);

}  // namespace hone::gnn
