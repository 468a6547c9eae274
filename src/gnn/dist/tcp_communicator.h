// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Communicates between ranks that have TCP connections to each other, on one host or several.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn {

struct TcpCommunicatorOptions {
  int rank = 0;
  std::vector<std::string> names;  // names of all ranks, by rank
  std::vector<UniqueFd> links;     // indexed by rank: a connected, non-blocking socket; none for this rank
  double timeout_seconds = 600;    // limit on each operation
  // Called with the error when a connection breaks; returns the error to report. The monitor of the ranks may know the
  // true reason, which need not be the rank at the other end. The function may wait a little.
  std::function<Status(const Status& transport_error)> reason;
};

std::unique_ptr<Communicator> MakeTcpCommunicator(TcpCommunicatorOptions options);

}  // namespace hone::gnn
