// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The server speaks the Model Context Protocol over two descriptors: it answers requests line by line, runs tool calls
// concurrently, reports their progress, and stops waiting for cancelled ones.
//
// The server keeps no state between requests except for calls in progress. A tool names what it made (a run, an
// evaluation), and any later server accepts that name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tuner/mcp/line_io.h"
#include "tuner/mcp/tool.h"

namespace hone::mcp {

struct ServerOptions {
  std::string name, title, version;
  std::string instructions;        // purpose of the server, for a model
  std::vector<Tool> tools;         // in the order in which they are listed
  Resources* resources = nullptr;  // not owned; outlives the server's calls
  size_t longest_line = 32 << 20;  // limit on the bytes of a request's line
  size_t most_calls = 16;          // limit on concurrent calls; further ones are refused
  LineWriter::Options writer;
  double finish_seconds = 10;  // time for the client to read the rest once the input has ended
};

struct ServerEnd {
  int abandoned_calls = 0;   // number of calls that still run, and whose results nobody waits for
  bool client_lost = false;  // the output was closed, or never read, before everything was written
};

// Serves a client that writes to `input` and reads `output`, until the input ends or the output is closed. When the
// input ends, calls in progress are finished and answered, as long as the client reads. An abandoned call continues on
// its own thread, with its stop requested.
ServerEnd Serve(const ServerOptions& options, int input, int output);

}  // namespace hone::mcp
