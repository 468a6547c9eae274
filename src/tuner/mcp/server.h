// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A server of the Model Context Protocol over two descriptors: answers requests line by line, runs calls of tools
// beside one another, reports their progress, and lets go of those that are cancelled.
//
// It keeps no state from one request to the next, besides the calls under way: what a tool hands out (a run, an
// evaluation) is a name that any later server takes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tuner/mcp/line_io.h"
#include "tuner/mcp/tool.h"

namespace hone::mcp {

struct ServerOptions {
  std::string name, title, version;
  std::string instructions;        // for a model: what the server is for
  std::vector<Tool> tools;         // in the order in which they are listed
  Resources* resources = nullptr;  // not owned; outlives the server's calls
  size_t longest_line = 32 << 20;
  size_t most_calls = 16;  // under way at a time; more are refused
  LineWriter::Options writer;
  double finish_seconds = 10;  // for the client to take what is left once the input has ended
};

struct ServerEnd {
  int abandoned_calls = 0;   // still running: nobody waits for them any more
  bool client_lost = false;  // the output was closed, or never read, before everything was written
};

// Serves until the input ends or nobody reads the output. When the input ends, calls under way are finished and
// answered, as long as somebody reads. An abandoned call goes on in a thread of its own, with its stop requested.
ServerEnd Serve(const ServerOptions& options, int input, int output);

}  // namespace hone::mcp
