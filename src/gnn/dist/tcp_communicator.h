// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Communicates between ranks that have TCP connections to each other, on one host or several.
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
  std::vector<std::string> names;  // names of all ranks, by rank
  std::vector<UniqueFd> links;     // by rank: a connected, non-blocking socket; none for this rank
  double timeout_seconds = 600;    // per operation
  // Called when a connection breaks, with the error: the monitor of the ranks may know the reason, which need not be
  // the rank at the other end. May wait a little.
  std::function<Status(const Status& seen)> reason;
};

std::unique_ptr<Communicator> MakeTcpCommunicator(TcpCommunicatorOptions options);

}  // namespace hone::gnn
